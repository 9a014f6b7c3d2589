#!/usr/bin/env bash
# Notices are said when something about them changed since the last run of the
# file: mail of cron is empty on a quiet day.
. "${BASH_SOURCE%/*}/lib.sh"

leash='^matins: leash: '
cat >m.toml <<-'END'
	[routines.r]
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "echo"
	args = ["fine"]
	[[routines.r.steps]]
	name = "b"
	type = "script"
	command = "true"
END
cp m.toml other.toml

run_matins run -c m.toml r
exit_is "the first run" 0
err_like "says where the leash comes from" "$leash"
run_matins run -c m.toml r
err_is "the second run says nothing" ""
run_matins run -c m.toml r -v
err_like "-v says it all the same" "$leash"
run_matins run -c other.toml r
err_like "another file says it" "$leash"
run_matins run -c m.toml r
err_is "the first file is quiet still" ""
run_matins step -c m.toml r a
err_is "so is one step of it" ""

# ---- something changed ----

cat >>m.toml <<-END
	[sandbox]
	read = ["$T"]
	[caveats]
	exec = { only = ["echo", "true"] }
	fs_read = { only = [] }
	fs_write = "all"
	net = "all"
	max_calls = "unlimited"
	valid_for_generation = "all"
END
run_matins run -c m.toml r -q
err_is "-q says nothing" ""
run_matins run -c m.toml r
err_like "a changed leash is said" "$leash.*caveats"
err_like "also what it takes away" "echo: .*$T"
run_matins run -c m.toml r
err_is "once" ""
run_matins run -c m.toml r --only b
run_matins run -c m.toml r
err_is "a part of the routine forgets nothing" ""
cp other.toml m.toml
run_matins run -c m.toml r
err_like "back as before is a change, too" "$leash.*declared"
run_matins run -c m.toml r
err_is "and then it is quiet" ""

# ---- nothing can be kept ----

for bad in garbage "" "$(head -c 100000 /dev/zero | tr '\0' x)"; do
	echo "$bad" >"$T/state/matins/notices"
	run_matins run -c m.toml r
	err_like "${bad:0:7}: a file that is none of ours tells of nothing" "$leash"
	run_matins run -c m.toml r
	err_is "${bad:0:7}: it is replaced" ""
done
: >not-a-folder
export MATINS_STATE=$T/not-a-folder/state
for i in 1 2; do
	run_matins run -c m.toml r
	exit_is "run $i without a state directory" 0
	err_like "run $i says its notices" "$leash"
done
unset MATINS_STATE
run_matins run -c m.toml r --dry-run
err_like "a dry run keeps nothing and says its notices" "$leash"


# ---- the command of the README, and its line from a crontab ----

mkdir -p "$HOME/.local/bin" "$HOME/routines"
cp "$BIN" "$HOME/.local/bin/matins"
printf '%s\n' '[[routines.morning.steps]]' 'name = "s"' 'type = "script"' \
	'command = "date"' >"$HOME/routines/matins.toml"
line=$(sed -n 's/^matins schedule add /--with cron --print /p' "$TOP/README.md")
# shellcheck disable=SC2086
line=$(eval "PATH=$HOME/.local/bin:$PATH matins schedule add $line" |
	sed -n 's/^0 7 \* \* 1-5 //p')
env -i HOME="$HOME" SHELL=/bin/sh PATH=/usr/bin:/bin \
	sh -c "cd && $line" >"$out" 2>"$err"
is "cron finds a program of make install PREFIX=~/.local" $? 0
is "and mails nothing on a good day" "$(cat "$out" "$err")" ""
file_has "and the page is there" "$HOME/morning.html" '<!DOCTYPE html>'

# ---- nor is a day quiet on which a result was dropped ----

printf '%s\n' '[[routines.morning.steps]]' 'name = "backup"' \
	'type = "script"' 'command = "sh"' \
	'args = ["-c", "mkdir -p ~/kept && echo x >~/kept/a"]' \
	'[[routines.morning.steps]]' 'name = "s"' 'type = "script"' \
	'command = "date"' >"$HOME/routines/matins.toml"
run_matins run -q -c "$HOME/routines/matins.toml" morning -o "$T/lost.txt"
exit_is "a step that lost its result is ok" 0
err_is "and its name is mailed, also with -q" \
	"matins: morning: 2 ran, 0 skipped, 0 failed, 1 with refusals (backup): $T/lost.txt says what was refused or dropped, and how to allow it"
file_like "where the report says what was dropped" "$T/lost.txt" \
	'dropped with a private place: '
mkdir "$HOME/kept"
sed -i '/^args/a sandbox.write = ["~/kept"]' "$HOME/routines/matins.toml"
run_matins run -q -c "$HOME/routines/matins.toml" morning -o "$T/kept.txt"
err_is "with the grant the day is quiet" ""
file_has "and the result is there" "$HOME/kept/a" x

done_testing
