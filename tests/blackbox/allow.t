#!/usr/bin/env bash
# A configuration that lies in the current folder is used only when somebody
# has allowed it: the denied case first, then what allows it.
# shellcheck disable=SC2016,SC2088
. "${BASH_SOURCE%/*}/lib.sh"
unset MATINS_ALLOW

# on_terminal ANSWERS ARGS...: run it where a person is
on_terminal() {
	local answers=$1

	shift
	run_program /dev/null "$PYTHON" \
		"$TOP/tests/blackbox/on_terminal.py" "$answers" "$BIN" "$@"
}

# config [LINE]: $T/p/matins.toml with one routine, which says that it ran
config() {
	cat >"$T/p/matins.toml" <<-END
		[servers.s]
		command = "$PEER"
		args = ["$T/s.peer"]
		[[routines.r.steps]]
		name = "a"
		type = "script"
		command = "echo"
		args = ["it ran"]
		$*
	END
}

script s <<-'END'
	touch started
END
mkdir p
cd p || exit

# ---- what is not allowed does nothing ----

config 'env = { T = { file = "'"$T"'/key" } }'
mkfifo "$T/key" # who opens it waits
LIMIT_S=20
for words in 'run r' 'run r --dry-run' 'step r a' 'trace r a' 'tools -s s' \
	'call t -s s' 'resources -s s' 'read x:y -s s' 'prompts -s s' \
	'prompt p -s s' 'complete prompt:p a -s s' 'doctor --deep' \
	'golden record r' 'golden check r' 'auth login s' 'auth logout s' \
	'auth status s' 'auth status' "tools -- $BIN brief" \
	'tools --url http://127.0.0.1:1/'; do
	# shellcheck disable=SC2086
	run_matins $words
	# 1 of a comparison says that something differs
	want=1
	[[ $words != 'golden check r' ]] || want=2
	exit_is "a file that is not allowed stops $words" $want
	err_like "a message of $words says how to allow the file" \
		"^matins: $T/p/matins.toml lies in the current folder and has not been allowed yet; .*: matins allow\$"
	out_unlike "nothing of the file is run by $words" 'it ran'
done
not_ok "nothing was recorded or kept" test -e "$T/state/matins/ledger.jsonl"
run_matins run r --json
json_is "the error is of kind not_allowed" error.kind not_allowed
rm "$T/key"
echo secret-value >"$T/key"
chmod 600 "$T/key"

# ---- what only looks needs no allowance ----

for words in 'list' 'list --servers' 'steps' 'check' 'history' 'history r' 'show last r' \
	'completion bash' '__complete step r ' 'golden list' 'golden accept r --report x'; do
	# shellcheck disable=SC2086
	run_matins $words
	err_unlike "a command that runs nothing asks for no allowance: $words" '^matins: .*: matins allow$'
done
run_matins check
exit_is "check passes a file that is not allowed" 0
err_like "check: a note says that it is not allowed" 'note: .*: matins allow$'
run_matins doctor --json
exit_is "doctor: a run would not work" 1
json_is "doctor names the remedy for a file that is not allowed" 'checks[0].area' configuration \
	'checks[0].level' failed 'checks[0].remedy' 'matins allow'

# ---- named, or the user's own ----

run_matins run -c matins.toml r
exit_is "named by -c: no allowance is needed" 0
MATINS_CONFIG=matins.toml run_matins run r
exit_is "named by the variable: no allowance is needed" 0
mkdir "$T/config/matins" "$T/empty"
cp matins.toml "$T/config/matins/config.toml"
cd "$T/empty" || exit
run_matins run r
exit_is "the user's own: no allowance is needed" 0
cd "$T/p" || exit

# ---- matins allow ----

run_matins allow
exit_is "allow ends with status 0" 0
err_like "allow: shows what it starts" "^  starts      echo 'it ran'\$"
err_like "allow: shows programs of servers" "^ {14}$PEER $T/s.peer\$"
err_like "allow shows the credentials that a file reads" "^  credential  $T/key\$"
err_like "allow: shows what it is used instead of" \
	"^Used instead of your own $T/config/matins/config.toml\\.\$"
run_matins run r
exit_is "a routine of an allowed file runs" 0
out_like "the program of an allowed file prints" '^ *it ran$'
rm "$T/config/matins/config.toml"
run_matins allow --list
out_is "allow --list names the file that is allowed" "allowed     $T/p/matins.toml"
run_matins allow --list --json
json_is "allow --list --json names file, state and edits" 'allowed[0].path' "$T/p/matins.toml" \
	'allowed[0].state' allowed 'allowed[0].edits' false \
	'allowed[0].sha256' "$(sha256sum <matins.toml | cut -d' ' -f1)"

# ---- changed ----

config 'sandbox = { read = ["/etc/ssh"], net = "all" }'
run_matins run r
exit_is "a file that changed is not allowed" 1
err_like "changed: says what changed in its grants" \
	"has changed since it was allowed \\(\\+ reads /etc/ssh; \\+ connects all; - credential $T/key\\); .*: matins allow\$"
run_matins allow --list
out_is "the list calls a changed file changed" "changed     $T/p/matins.toml"
run_matins allow
same=$(printf 'the-same-%.0s' {1..9})
config "[[routines.long.steps]]
name = 'b'
type = 'script'
command = 'echo'
args = ['$same', 'old']"
run_matins allow
sed -i "s/'old'/'new words'/" matins.toml
run_matins run r
err_like "changed: a long row is shown where it differs" \
	'\(\+ starts …[a-z-]* .new words.; - starts …[a-z-]* old\)'
mkdir -p "$HOME/.ssh"
: >"$HOME/.ssh/id_rsa"
sed -i "s,'new words','$HOME/.ssh/id_rsa'," matins.toml
run_matins allow
err_like "a key that an argument names is a row" "reads  *$HOME/.ssh/id_rsa"
rm "$HOME/.ssh/id_rsa"
config 'sandbox = { read = ["/etc/ssh"], net = "all" }'
run_matins allow
config 'sandbox = { read = ["/etc/ssh"], net = "all" } # only words'
run_matins run r
err_like "changed in words only: not allowed either" \
	'has changed since it was allowed; .*: matins allow$'
run_matins allow ../p
run_matins run r
exit_is "allowed anew, by its folder" 0
run_matins allow matins.toml
exit_is "allowed by its name" 0

# ---- moved, copied, linked ----

cd "$T" || exit
mv p q
cd q || exit
run_matins run r
exit_is "the folder has another name: not allowed" 1
cd "$T" || exit
mv q p
cd p || exit
run_matins run r
exit_is "the folder has its name again: allowed" 0
mkdir "$T/copy" "$T/link"
cp matins.toml "$T/copy"
ln -s ../p/matins.toml "$T/link/matins.toml"
cd "$T/copy" || exit
run_matins run r
exit_is "a copy elsewhere: not allowed" 1
cd "$T/link" || exit
run_matins run r
exit_is "a link to what is allowed: not allowed" 1
run_matins allow
err_like "a link: allow says where it leads" "^A link to $T/p/matins.toml\\.\$"
run_matins run r
exit_is "a link that was allowed: allowed" 0
ln -sf ../copy/matins.toml matins.toml
run_matins run r
exit_is "a link that leads to an equal file elsewhere is not allowed" 1
cd "$T/p" || exit

# ---- disallow ----

run_matins disallow
exit_is "disallow ends with status 0" 0
run_matins run r
exit_is "a file is not run after disallow" 1
run_matins disallow "$T/p"
exit_is "disallow what is not allowed: status 1" 1
run_matins allow
rm matins.toml
run_matins allow --list
out_like "a file that is gone: listed as such" "^gone        $T/p/matins.toml"
mkfifo matins.toml
LIMIT_S=20
run_matins allow --list
out_like "a FIFO in its place: nothing waits" "^unreadable  $T/p/matins.toml"
unset LIMIT_S
rm matins.toml
run_matins disallow "$T/p/matins.toml"
exit_is "disallow what is gone" 0
run_matins allow
exit_is "allow without a file: status 1" 1
err_like "allow names the files that it looks for" 'has neither matins\.toml nor modulex\.toml'

# ---- modulex.toml ----

config
mv matins.toml modulex.toml
run_matins run r
exit_is "a modulex.toml is not run before allow" 1
run_matins allow
run_matins run r
exit_is "a modulex.toml is run after allow" 0
rm modulex.toml
config

# ---- for machines ----

for value in "$T" / "/nowhere:$T/p" "$T/p/"; do
	MATINS_ALLOW=$value run_matins run r
	exit_is "MATINS_ALLOW=${value/"$T"/.}: allowed" 0
done
ln -s "$T/p" "$T/by-link"
MATINS_ALLOW=$T/by-link run_matins run r
exit_is "MATINS_ALLOW names it by a link: allowed" 0
for value in "$T/pp" "$T/p/matins" /nowhere '' :; do
	MATINS_ALLOW=$value run_matins run r
	exit_is "MATINS_ALLOW=${value/"$T"/.}: not allowed" 1
done
MATINS_ALLOW=. run_matins run r
err_like "MATINS_ALLOW with a relative path: said" 'takes absolute paths'
mkdir "$T/p/sub"
ln -s "$T/copy/matins.toml" "$T/p/sub/matins.toml"
cd sub || exit
MATINS_ALLOW=$T/p run_matins run r
exit_is "MATINS_ALLOW of a folder with a link that leads out: not allowed" 1
cd "$T/p" || exit

# ---- a person ----

on_terminal n run r
exit_is "no on a terminal: status 1" 1
out_like "no: shows what it starts" "^  starts      echo 'it ran'\$"
out_unlike "nothing runs after a no on a terminal" '^ *it ran$'
on_terminal '' run r
exit_is "an empty answer is no" 1
on_terminal y run r
exit_is "yes on a terminal" 0
out_like "the routine runs after a yes on a terminal" '^ *it ran$'
run_matins run r
exit_is "a yes on a terminal is kept" 0
config 'sandbox = { read = ["/1","/2","/3","/4","/5","/6","/7","/8","/9"] }'
on_terminal '?,y' run r --dry-run
out_like "changed: asked again, with what changed" '^  \+ reads /1$'
out_like "a long list is cut" 'and [0-9]+ more$'
out_like "a long list is shown whole when asked for" '^ {14}/9$'
config "sandbox = { exec = [\"/$(printf 'x%.0s' {1..200})/end\"] }"
on_terminal n run r
out_unlike "a row is one line" '/end$'
on_terminal '?,n' run r
out_like "a long row is shown to its end when asked for" 'x/end$'
# rows TEXT: 99 of them, as TOML
rows() {
	printf '["%s"' "$1"
	printf ',"%s"' "$1"{1..98}
	printf ']'
}
long=$(printf 'd%.0s' {1..150})
config "sandbox = { read = $(rows "/$long"), exec = $(rows "/$long"), net = $(rows "${long:0:50}.h"), isolate = \"off\" }"
mkdir -p "$T/$(printf 'l%.0s' {1..250})/$(printf 'm%.0s' {1..250})"
cp matins.toml "$_"
cd "$_" || exit
on_terminal n run r
sed '/^Allow it/q' "$out" | tail -n +2 >"$T/question"
ok "long rows, many rows and a long folder leave the question on a screen" \
	test "$(fold -w 80 "$T/question" | wc -l)" -le 23
file_like "the question shows what the file starts" "$T/question" "^  starts      echo"
file_like "the question shows what the file weakens" "$T/question" "^  weakens     isolate = off"
cd "$T/p" || exit
config '# typed ahead'
on_terminal '^y,n' run r
exit_is "what was typed before the question is no answer" 1
on_terminal '^n,y' run r
exit_is "the answer is what is typed at it" 0
config "sandbox = { read = [\"/\\u001b[2J\\u202e\"] }"
on_terminal n run r
out_like "controls are shown, not obeyed" '/\\x1b\[2J\\u\{202E\}'
config

# ---- browser: only after a yes on a terminal ----

cat >"$T/browser" <<-END
	#!/bin/sh
	echo "\$1" >$T/opened
END
chmod 755 "$T/browser"
cat >matins.toml <<-END
	[servers.web]
	url = "http://127.0.0.1:9/mcp"
	[servers.web.auth]
	browser = "$T/browser"
END
run_matins allow
err_like "browser: allow shows it" '^  browser     .*outside of the sandbox'
run_matins auth status web
err_like "browser: allowed without a terminal, it is not used" \
	'"browser" of web is not used'
MATINS_ALLOW=/ run_matins auth status web
err_like "browser: allowed by the variable, it is not used" \
	'"browser" of web is not used'
on_terminal '' allow
run_matins auth status web
err_unlike "browser: allowed on a terminal, it is used" 'is not used'
cp "$T/browser" "$T/p/browser"
ln -s p/browser "$T/led-there"
for browser in ./browser "$T/led-there" ./gone; do
	sed "s,^browser.*,browser = \"$browser\"," matins.toml >new.toml
	mv new.toml matins.toml
	on_terminal '' allow
	run_matins auth status web
	err_like "browser: one of the same folder is not used: ${browser##*/}" \
		'is not used: it lies in the folder of the file'
done
sed -i "s,^browser.*,browser = \"$T/browser\"," matins.toml
on_terminal '' allow --edits
sed -i 's,/browser,/another,' matins.toml
run_matins auth status web
err_like "browser: another one than was seen is not used" \
	'"browser" of web is not used'
MATINS_CONFIG=matins.toml run_matins auth status web
err_unlike "browser of a file that was named: used" 'is not used'
config

# ---- --edits ----

run_matins allow --edits
config '# changed'
run_matins run r
exit_is "--edits: a changed file is allowed" 0
run_matins allow --list
out_like "the list marks a file allowed by --edits" "^edits       $T/p/matins.toml"
ln matins.toml ../second-name
run_matins run r
exit_is "--edits: a file with another name is not allowed" 1
err_like "--edits: says that it has one" 'hard link'
rm ../second-name
chmod 777 "$T/p"
run_matins run r
exit_is "--edits: a folder that others write is not trusted" 1
chmod 755 "$T/p"
run_matins run r
exit_is "--edits: its own folder is" 0
mode=$(stat -c %a "$T")
chmod 777 "$T"
run_matins run r
exit_is "--edits: a folder above that others write is not trusted" 1
err_like "the folder is named that others may write" "others may write $T,"
MATINS_ALLOW=$T/p run_matins run r
exit_is "--edits: what MATINS_ALLOW allows stays allowed there" 0
chmod "$mode" "$T"

# ---- what a confined program could do ----

run_matins exec --write "$T/p" -- sh -c 'echo "# more" >>matins.toml'
exit_is "a grant above a file that is allowed by --edits is refused" 126
err_like "the refusal says why, and names the command that lifts it" \
	"holds matins.toml, which is allowed with all later edits .*: matins allow $T/p/matins.toml\$"
cat >>"$T/p/matins.toml" <<-END
	[[routines.w.steps]]
	name = "s"
	type = "script"
	command = "sh"
	args = ["-c", "echo x >result"]
END
cd "$T/p" || exit
run_matins run w --json
json_is "a file that was lost there: no line that would be refused" \
	step_results[0].advice[0].toml '' \
	step_results[0].advice[0].text '~dropped with it: result; it cannot be granted: write: .* holds matins.toml'
run_matins exec --write "$T" -- true
exit_is "a grant further above the file is refused" 126
mkdir "$T/elsewhere"
run_matins exec --write "$T/elsewhere" -- true
exit_is "one beside it is not" 0
run_matins exec --write "$T/p/sub" -- true
exit_is "a grant below the file is no danger" 0
rm matins.toml
run_matins exec --write "$T/p" -- true
exit_is "a grant above a file that is gone is refused" 126
err_like "its refusal names the command that takes the allowance back" \
	"take that back: matins disallow $T/p/matins.toml\$"
config
if [[ $(id -u) == 0 ]] && mkdir "$T/bind" && mount --bind "$T/p" "$T/bind"; then
	run_matins exec --write "$T/bind" -- true
	exit_is "another mount of the folder: refused" 126
	umount "$T/bind"
	mkdir "$T/elsewhere/x y"
	mount --bind "$T/p" "$T/elsewhere/x y"
	run_matins exec --write "$T/elsewhere" -- true
	exit_is "a folder that it is mounted in: refused" 126
	umount "$T/elsewhere/x y"
else
	skip "another mount of the folder" "needs root and the right to mount"
	skip "a folder that it is mounted in" "needs root and the right to mount"
fi
run_matins allow
for isolate in auto off; do
	run_matins exec --isolate $isolate --write "$T" --exec mv --exec rm \
		--cwd "$T/elsewhere" -- sh -c '
		cd ../p && { echo "# more" >>matins.toml; mv x matins.toml;
			rm -f matins.toml; mv ../p ../p2; }'
	run_matins run r
	exit_is "isolate $isolate: an allowed file is not changed from inside" 0
done
for isolate in auto off; do
	run_matins exec --isolate $isolate --write "$T" --exec mkdir --exec cp \
		--cwd "$T/elsewhere" -- sh -c "
		cp $T/state/matins/allowed/* $T/elsewhere/
		mkdir -p $T/state/matins/allowed
		echo x >$T/state/matins/allowed/x"
	not_ok "isolate $isolate: allowances cannot be made from inside" \
		test -e "$T/state/matins/allowed/x"
	is "isolate $isolate: nor read" \
		"$(find "$T/elsewhere" -name '*.json')" ""
	rm -rf "$T/other"
	MATINS_STATE=$T/other run_matins exec --isolate $isolate --write "$T" \
		--exec mkdir --cwd "$T/elsewhere" -- sh -c "
		echo x >$T/state/matins/allowed/x
		mkdir -p $T/other/allowed && echo x >$T/other/allowed/x
		mkdir -p $T/home/.local/state/matins/allowed &&
			echo x >$T/home/.local/state/matins/allowed/x"
	is "isolate $isolate: nor where other variables would find them" \
		"$(find "$T" -path '*/allowed/x')" ""
done

# ---- the user's own, which needs no allowance, cannot be made from inside ----

for isolate in auto off; do
	rm -rf "${T:?}/home" && mkdir "$T/home"
	XDG_CONFIG_HOME='' XDG_STATE_HOME='' run_matins exec \
		--isolate $isolate --write "$T/home" --exec mkdir --exec mv \
		--cwd "$T/home" -- sh -c '
		mkdir -p .config/matins .modulex
		echo >.config/matins/config.toml
		echo >.modulex/config.toml
		mv .config c2 && mkdir -p .config/matins &&
			echo >.config/matins/config.toml
		mv .modulex m2 && mkdir .modulex && echo >.modulex/config.toml
		echo it ended'
	out_like "isolate $isolate: the program ran" '^it ended$'
	is "isolate $isolate: no configuration is there" \
		"$(find "$T/home" -name '*.toml')" ""
done
# ... nor by a link on the way to it: what is there stays, and one that leads
# nowhere could be led anywhere
for isolate in auto off; do
	for link in .config .config/matins .config/matins/config.toml .modulex \
		.local .local/state; do
		for to in there nowhere there/nowhere; do
			rm -rf "${T:?}/home" && mkdir -p "$T/home/$link" "$T/home/there"
			rmdir "$T/home/$link"
			[[ $link$to != *.tomlthere ]] || to=there/nowhere
			ln -s "$T/home/$to" "$T/home/$link"
			XDG_CONFIG_HOME='' XDG_STATE_HOME='' run_matins exec \
				--isolate $isolate --write "$T/home" \
				--exec mkdir --exec rm --cwd "$T/home" -- sh -c "
				for d in nowhere there/nowhere; do
					mkdir -p \$d/matins/allowed \
						\$d/state/matins/allowed
					for f in '' /config.toml \
						/matins/config.toml \
						/matins/allowed/x \
						/state/matins/allowed/x; do
						echo x >\$d\$f
					done
				done
				rm -f $link
				mkdir -p .config/matins .modulex \
					.local/state/matins/allowed
				for f in .config/matins .modulex; do
					echo x >\$f/config.toml
				done
				echo x >.local/state/matins/allowed/x"
			is "isolate $isolate: $link, a link to $to: nothing is made" \
				"$(cd "$T/home" && cat .config/matins/config.toml \
					.modulex/config.toml \
					.local/state/matins/allowed/x \
					2>/dev/null)" ""
			[[ $to == there ]] && continue
			exit_is "$to: a step that would lead there is refused" 126
			err_like "named, with what to do" \
				"$T/home/$link .*or grant less"
		done
	done
done
rm -rf "${T:?}/home" && mkdir "$T/home"
rm -rf "${T:?}/home" && mkdir -p "$T/home/.config/matins" "$T/home/there"
ln -s "$T/home/there/file" "$T/home/.config/matins/config.toml"
for isolate in auto off; do
	run_matins exec --isolate $isolate --write "$T/home/there" \
		--cwd "$T/home/there" -- sh -c 'echo x >file'
	exit_is "isolate $isolate: nor what it leads to, where that alone is granted" 126
	ok "isolate $isolate: it is not there" test ! -e "$T/home/there/file"
done
rm "$T/home/.config/matins/config.toml"
mkdir -p "$T/home/.modulex"
echo >"$T/home/.modulex/config.toml"
XDG_CONFIG_HOME='' run_matins exec --write "$T/home" --cwd "$T/home" -- \
	sh -c 'echo x >.modulex/data; echo x >file'
ok "beside one that is there, and elsewhere, is written as ever" \
	test -s "$T/home/.modulex/data" -a -s "$T/home/file"
rm -rf "${T:?}/home" && mkdir "$T/home"

mkdir -p wide "$HOME/mine"
printf '%s\n' '[[routines.r.steps]]' 'name = "a"' 'type = "script"' \
	'command = "true"' 'sandbox.read = ["~", "~/mine"]' \
	'sandbox.write = ["../.."]' >wide/matins.toml
(cd wide && MATINS_ALLOW='' "$BIN" allow) >"$out" 2>"$err"
is "allow: what opens all of HOME is said, and nothing narrower" \
	"$(grep 'in HOME' "$err")" \
	"Keys and tokens in HOME lie beneath ../..; name only the folders needed.
Keys and tokens in HOME lie beneath ~; name only the folders needed."

# ---- what looks without an allowance reads no credential ----

printf abc >"$T/key"
config 'env = { T = { file = "'"$T"'/key" } }'
for command in check doctor; do
	run_matins $command
	out_unlike "$command: the length of a credential is not told" 'fewer than 6'
	err_unlike "$command: nor on stderr" 'fewer than 6'
done
run_matins allow
run_matins check
err_like "check: after an allowance it is" 'T has fewer than 6 bytes'
run_matins doctor
out_like "doctor names a credential that is too short" 'holds fewer than 6 bytes'

# ---- where it cannot be kept ----

run_matins disallow
if [[ $(id -u) == 0 ]]; then
	MATINS_STATE=/proc/nowhere run_matins allow
else
	MATINS_STATE=/nowhere run_matins allow
fi
exit_is "a state folder that cannot be written: status 1" 1
err_like "the message names the folder where the allowance is lost" \
	'^matins: the allowance is not kept: /(proc/)?nowhere'
err_like "and what works without one" 'when it is named: -c (./)?matins\.toml'
mkdir fresh
cd fresh || exit
MATINS_STATE=/dev/null/x run_matins init
err_like "init: the run that works without one" \
	'wrote matins\.toml; .matins run -c matins\.toml hello. runs it'
MATINS_STATE=/dev/null/x run_matins run -c matins.toml hello
exit_is "which it does" 0
cd ..
wrap=("${WRAP[@]}")
WRAP=(env -u HOME -u MATINS_STATE -u XDG_STATE_HOME "${wrap[@]}")
run_matins run r
exit_is "no folder for an allowance: status 1" 1
err_like "no folder for an allowance: what works without one" \
	'neither MATINS_STATE nor HOME is set; .* named: -c matins\.toml'
err_unlike "no folder for an allowance: matins allow is no advice" \
	'matins allow'
run_matins run -c matins.toml r
exit_is "no folder for an allowance: the advice works" 0
WRAP=("${wrap[@]}")
chmod 777 "$T/state/matins/allowed"
run_matins allow
exit_is "a folder of allowances that others write: status 1" 1
err_like "the message says that others could write the folder" 'could be written by others'
chmod 700 "$T/state/matins/allowed"

# ---- init ----

rm matins.toml
run_matins init
run_matins run hello
exit_is "init allows what it writes" 0
config '# evil'
evil=$(sha256sum <matins.toml)
cp matins.toml "$T/evil.toml"
run_matins disallow
(while [[ -e $T/evil.toml ]]; do
	cp "$T/evil.toml" "$T/other.toml"
	mv "$T/other.toml" matins.toml
done) &
for _ in {1..100}; do
	rm -f matins.toml
	"$BIN" init 2>/dev/null
done
rm "$T/evil.toml"
wait
run_matins allow --list --json
out_unlike "init allows nothing that others wrote there meanwhile" \
	"${evil%% *}"
run_matins init "$T/elsewhere/x.toml"
run_matins allow --list --json
out_unlike "init of a file of another name: needs none" 'x\.toml'

# ---- wrong usage ----

for words in 'allow a b' 'allow --list x' 'allow --json' 'disallow a b' \
	'allow -c matins.toml' 'allow --list --edits'; do
	# shellcheck disable=SC2086
	run_matins $words
	exit_is "wrong usage of allow ends with 64: $words" 64
done
done_testing
