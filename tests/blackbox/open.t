#!/usr/bin/env bash
# show --open: a page that only the user reads, in a browser of the user.
. "${BASH_SOURCE%/*}/lib.sh"
unset BROWSER DISPLAY WAYLAND_DISPLAY

cat >m.toml <<-'END'
	[routines.r]
	[[routines.r.steps]]
	name = "s"
	type = "script"
	command = "echo"
	args = ["hello"]
END
mkdir -m 755 bin
# browser NAME STATUS: a program that notes its arguments
browser() {
	printf '#!/bin/sh\nfor a; do echo "%s $a"; done >>%s/opened\nexit %s\n' \
		"$1" "$T" "$2" >"bin/$1"
	chmod 755 "bin/$1"
}
browser mine 0
browser broken 3
browser xdg-open 0
PATH=$T/bin:$PATH
pages=$T/state/matins/pages
run_matins run -c m.toml r

# ---- without a display ----

run_matins show last --open
exit_is "without a display" 0
out_is "the path is printed" "$pages/run-1.html"
err_like "which is said" 'there is no display here'
not_ok "and nothing is started" test -e opened
file_has "the page is the report" "$pages/run-1.html" '<!DOCTYPE html>'
file_has "of the run" "$pages/run-1.html" hello
is "the page is the user's alone" "$(stat -c %a "$pages/run-1.html")" 600
is "and so is its folder" "$(stat -c %a "$pages")" 700
ok "no umask counts" bash -c "umask 0; '$BIN' show last --open >/dev/null 2>&1
	[[ \$(stat -c %a '$pages/run-1.html') == 600 ]]"

# ---- programs ----

run_matins show last --open --browser mine
exit_is "a browser of the option" 0
out_is "prints nothing" ""
is "gets one URL" "$(cat opened)" "mine file://$pages/run-1.html"
rm opened
BROWSER=mine run_matins show 1 --html --open
is "that of the environment" "$(cat opened)" "mine file://$pages/run-1.html"
rm opened
DISPLAY=:9 run_matins stats r --open -c m.toml
is "else xdg-open, for statistics as well" "$(cat opened)" \
	"xdg-open file://$pages/stats.html"
file_has "whose page has the chart" "$pages/stats.html" '<svg role="img"'
rm opened
BROWSER='mine %s:links' run_matins show 1 --open
is "a list of browsers is left to xdg-open" "$(cat opened)" \
	"xdg-open file://$pages/run-1.html"
rm opened
run_matins show 1 --open -o 'a b;#.html' --browser mine
is "a file of one's own, in the URL as it must be" "$(cat opened)" \
	"mine file://$T/a%20b%3B%23.html"
rm opened
run_matins show 1 --open -o /dev/stdout --browser mine
exit_is "a stream is nothing that a browser opens" 64
err_like "with what to do" 'shows a file, and /dev/stdout is none: .*-o FILE'
run_matins show 1 --open --browser broken
exit_is "a browser that fails is an error" 1
err_like "with its status and the page" \
	"the page $pages/run-1.html was not opened: .*broken ended with status 3"
run_matins show 1 --open --browser absent
exit_is "and one that is not there" 127
err_like "with the page" "the page $pages/run-1.html was not opened: .*absent"

# ---- refused ----

rm -f opened
cat >matins.toml <<-'END'
	browser = "mine"
	[servers.s]
	url = "https://127.0.0.1:1/"
	auth = { browser = "mine" }
END
DISPLAY=:9 run_matins show 1 --open
not_ok "no configuration names the browser" grep -q mine opened
rm -f matins.toml opened
export MATINS_CAVEATS='{"fs_read":"all","fs_write":"all","net":"all","exec":{"only":["true"]},"max_calls":"unlimited","valid_for_generation":"all"}'
run_matins show 1 --open --browser mine
exit_is "a leash without the browser refuses it" 126
err_like "and says so, with the page" \
	"the page $pages/run-1.html was not opened: .*leash"
export MATINS_CAVEATS=${MATINS_CAVEATS/\"true\"/\"mine\",\"/bin/sh\"}
run_matins show 1 --open --browser mine
exit_is "one that names it does not" 0
ok "and it is opened" grep -q mine opened
unset MATINS_CAVEATS
rm -f opened
run_matins show 1 --open --json
exit_is "--open is HTML" 64
run_matins show 1 --browser mine
exit_is "--browser is for --open" 64
not_ok "nothing was opened by these" test -e opened

# ---- old pages ----

touch -d '2 days ago' "$pages/run-7.html"
touch "$pages/run-8.html"
ln -s "$T/m.toml" "$pages/run-1.html.link"
rm "$pages/run-1.html"
ln -s "$T/m.toml" "$pages/run-1.html"
run_matins show 1 --open
not_ok "a page of two days ago is removed" test -e "$pages/run-7.html"
ok "a newer one stays" test -e "$pages/run-8.html"
not_ok "a link in the place of the page is replaced" test -L "$pages/run-1.html"
file_has "and where it led nothing is written" m.toml 'type = "script"'
chmod 755 "$pages"
run_matins show 1 --open
exit_is "a folder that others enter is refused" 1
err_like "with what to do" 'pages is no folder of yours alone: .*-o FILE'
rm -r "$pages"
mkdir elsewhere
ln -s "$T/elsewhere" "$pages"
run_matins show 1 --open
exit_is "a link is none" 1
is "and nothing is behind it" "$(ls elsewhere)" ''

done_testing
