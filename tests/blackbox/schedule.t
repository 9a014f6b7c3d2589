#!/usr/bin/env bash
# matins schedule: a timer or a line of the crontab, by the tools of the system.
# All of it in a mount namespace of its own, so that no crontab is touched.
if [[ -z ${SCHEDULE_NS:-} ]]; then
	flags=(--mount)
	[[ $(id -u) -eq 0 ]] || flags+=(--user --map-root-user)
	if ! unshare "${flags[@]}" true 2>/dev/null; then
		echo "1..0 # SKIP no mount namespace can be made here"
		exit 0
	fi
	SCHEDULE_NS=$(id -un) exec unshare "${flags[@]}" bash "$0"
fi
. "${BASH_SOURCE%/*}/lib.sh"
for tool in crontab cron systemd-analyze; do
	command -v "$tool" >/dev/null || skip_all "$tool is not installed"
done
mount -t tmpfs none /var/spool/cron/crontabs && mount -t tmpfs none /run ||
	skip_all "nothing can be mounted here"
chgrp crontab /var/spool/cron/crontabs 2>/dev/null
chmod 1730 /var/spool/cron/crontabs
unset MATINS_ALLOW XDG_RUNTIME_DIR

dir="$T/a b%c'd"
mkdir "$dir"
file="$dir/m.toml"
cat >"$file" <<'END'
[[routines.r.steps]]
name = "s"
type = "script"
command = "date"
[[routines.ask.steps]]
name = "go"
type = "approve"
message = "ok?"
[[routines.outer.steps]]
name = "in"
type = "routine"
routine = "ask"
[routines.param.params]
x = { type = "string" }
[[routines.param.steps]]
name = "s"
type = "script"
command = "date"
args = ["-u", "+$input.x"]
[routines.say.params]
x = { type = "string" }
[[routines.say.steps]]
name = "s"
type = "script"
command = "printf"
args = ["%s", "$input.x"]
[[routines.token.steps]]
name = "s"
type = "script"
command = "date"
env = { T = { env = "MY_TOKEN" } }
END
ledger=$XDG_STATE_HOME/matins/ledger.jsonl
# times are of the zone of the machine, which TZ of a session does not change
today() { env -u TZ date "$@"; }
add() { run_matins schedule add -c "$file" "$@"; }

add r --at '0 7 * * 1-5'
exit_is "a time of cron is refused" 64
err_like "and said as an expression" 'write "Mon\.\.Fri \*-\*-\* 07:00"$'
add r --at '13,14:10' --jitter 2h --with cron
exit_is "a jitter beyond the shortest interval is refused" 64
add r --at daily --jitter 10h --catch-up --with cron --print
cp "$out" printed
add r --at daily --jitter 10h --catch-up --with cron
is "what was printed is what is added" "$(crontab -l)" "$(<printed)"
run_matins schedule remove r -c "$file"

# ---- a line of the crontab ----

printf '# mine, 50%%\n\n5 4 * * * echo 50\\%% \t\n' >mine
crontab mine
add r --at 'Mon..Fri 07:00' --with cron
exit_is "a routine is scheduled" 0
err_like "and the next time is said" '^matins: r runs at Mon\.\.Fri \*-\*-\* 07:00, next [0-9]{4}-[0-9-]+T07:00 \(cron\)$'
crontab -l >now
is "the rest of the crontab is there byte for byte" "$(head -c "$(stat -c %s mine)" now | cmp - mine && echo same)" same
file_like "and a line for it" now '^0 7 \* \* 1-5 .*/matins run -q -c .* r --slot .Mon\.\.Fri'
add r --at daily --with cron
exit_is "once" 1
err_like "and how to change it is said" 'scheduled already, at Mon\.\.Fri .*schedule remove r'
run_matins schedule list --json
json_is "list has it" schedules '#1' schedules[0].routine r schedules[0].with cron \
	schedules[0].at 'Mon..Fri *-*-* 07:00'
run_matins schedule show r -c "$file"
out_like "show prints the line" '^0 7 \* \* 1-5 '
run_matins list -c "$file"
out_like "list shows the next time" '^r .*next [0-9]{4}-[0-9-]+T07:00; not run yet'
next=$(sed -n 's/^r .*next \([^;]*\);.*/\1/p' "$out")
run_matins history r -c "$file"
out_like "history, too, by the clock of its runs" "^  next  $(date -u -d "@$(today -d "$next" +%s)" +%FT%H:%M:00.000Z) .* r \\("
run_matins schedule remove r -c "$file"
exit_is "it is taken away" 0
crontab -l >now
is "and the crontab is as it was" "$(cmp now mine && echo same)" same
run_matins schedule remove r -c "$file"
exit_is "a second time there is nothing to take away" 1
err_like "and that is said" 'r is not scheduled'

crontab -r
add r --at 12:30 --with cron
run_matins schedule remove r
crontab -l >now 2>&1
file_like "a crontab that was not there is not there again" now 'no crontab'

for i in 1 2 3 4 5 6 7 8; do
	printf '[[routines.r%s.steps]]\nname = "s"\ntype = "script"\ncommand = "date"\n' "$i"
done >eight.toml
for i in 1 2 3 4 5 6 7 8; do
	"$BIN" schedule add "r$i" --at "0:0$i" --with cron -c eight.toml 2>/dev/null &
done
wait
is "eight that are added at once are all there" \
	"$(crontab -l | grep -c '/matins run')" 8
for i in 1 2 3 4 5 6 7 8; do
	"$BIN" schedule remove "r$i" 2>/dev/null &
done
wait
is "and are all taken away at once" "$(crontab -l 2>/dev/null)" ""
for i in 1 2 3 4 5 6 7 8; do
	MATINS_STATE=$T/state$i "$BIN" schedule add "r$i" --at "0:0$i" \
		--with cron -c eight.toml 2>/dev/null &
done
wait
is "eight of eight state folders are all there, too" \
	"$(crontab -l | grep -c '/matins run')" 8
for i in 1 2 3 4 5 6 7 8; do
	MATINS_STATE=$T/state$i "$BIN" schedule remove "r$i" 2>/dev/null &
done
wait
is "and are all taken away" "$(crontab -l 2>/dev/null)" ""

# ---- real cron runs the line (here when it starts, as @reboot) ----

(cd "$dir" && "$BIN" schedule add r --at daily --with cron --catch-up \
	-c m.toml -- --html -o page.html 2>"$err")
is "options of run are scheduled, too" $? 0
is "catching up is a second line, of each hour" \
	"$(crontab -l | grep -cE '^[0-9]+ (0|\*) \* \* \* .* -o page.html # matins')" 2
catch_up() { # as cron starts it
	env -i HOME="$HOME" SHELL=/bin/sh PATH=/usr/bin:/bin sh -c "cd && $(crontab -l |
		sed -nE 's/^[0-9]+ \* \* \* \* //p' | sed 's/\\%/%/g')" >"$out" 2>"$err"
}
run_matins run r -c "$file" --slot daily --json
exit_is "a time before it was added is not caught up" 0
err_like "and that is said" "slot $(today +%F)T00:00 is older than the schedule of r"
json_is "also as JSON" slot "$(today +%F)T00:00" ran absent
catch_up
is "nor by the line for that" $? 0
is "and nothing was run" "$(grep -s started "$ledger")" ""

# a week off: it was added eight days ago, ran once, and the machine was off
long_ago=$(($(date +%s) - 8 * 86400))
sed -i "s/\"added_ns\":[0-9]*/\"added_ns\":${long_ago}000000000/" \
	"$XDG_STATE_HOME"/matins/schedules/*
day=$(date -u -d "@$((long_ago + 86400))" +%Y-%m-%d)
for event in started finished; do
	printf '{"event":"%s","generation":1,"routine":"r","file":"%s","whole":true,"slot":"%sT00:00","at":"%sT00:00:01.000Z","success":true,"exit":0,"summary":"ok"}\n' \
		"$event" "$file" "$day" "$day" >>"$ledger"
done
run_matins doctor r -c "$file" --stale 26h --json
exit_is "the doctor sees that it did not run for a week" 1
if [[ $((10#$(today +%H%M))) -gt 115 ]]; then
	out_like "by the last time" "that of $(today +%F)T00:00 has not begun"
fi
reboot_until() { # a condition that comes true when cron starts
	crontab -l | sed 's/^0 0 \* \* \*/@reboot/' | crontab -
	rm -f /run/crond.reboot
	cron -f &
	cron=$!
	wait_for 30 "$@"
	set -- $?
	kill "$cron"
	wait "$cron" 2>/dev/null
	return "$1"
}
if [[ $SCHEDULE_NS == root ]]; then
	ok "cron runs the line" \
		reboot_until grep -q '"finished","generation":2' "$ledger"
else
	skip "cron runs the line" "cron needs root"
	catch_up
fi
run_matins history r -c "$file" --json
json_is "for the last time alone" runs '#2' runs[0].state finished \
	runs[0].slot "$(today +%F)T00:00"
file_has "with the options of run, where it was added" "$dir/page.html" '<!DOCTYPE html>'
catch_up
is "catching up once more is no failure" $? 0
run_matins history r -c "$file" --json
json_is "and runs nothing" runs '#2'
run_matins list -c "$file"
out_like "list shows the last run" '^r .*; last run 2 ok, of [0-9-]+T[0-9]{2}:[0-9]{2}\)$'
run_matins schedule list
out_like "and so does the list of schedules" '^r .* last run 2 ok, of '
run_matins doctor r -c "$file" --json
out_like "the doctor is content" 'is run 2, ok'
run_matins doctor r -c "$file" --stale 1ms
out_unlike "and what is on time is not stale" 'fail.* r  last finished'
crontab -r
run_matins schedule show r -c "$file"
exit_is "a line that somebody took away is missed" 1
err_like "and how to mend it is said" 'has no line of r any more: .*schedule remove r'
# others may write which schedules there are
for folder in "$XDG_STATE_HOME"/matins{,/schedules}; do
	chmod o+w "$folder"
	name=${folder##*/}
	run_matins schedule list
	exit_is "list believes nothing in $name that others may write" 1
	err_like "and names it" "$name could be written by others"
	run_matins schedule remove r -c "$file"
	exit_is "nor does remove" 1
	err_like "and it names $name" "$name could be written by others"
	chmod o-w "$folder"
done
run_matins schedule remove r -c "$file"
exit_is "and can be removed all the same" 0

word='a\\b\%c\\%d%s\'
add say --at '*-*-* 00:00' --with cron -- -p "x=$word" -o "$T/said"
sed -i 's/"added_ns":[0-9]*/"added_ns":1/' "$XDG_STATE_HOME"/matins/schedules/*
if [[ $SCHEDULE_NS == root ]]; then
	ok "cron runs a line with backslashes" reboot_until test -s said
	file_has "and its words are those that were given" said "$word"
else
	skip "cron runs a line with backslashes" "cron needs root"
fi
run_matins schedule remove say -c "$file"

# ---- a crontab with settings, another command at work ----

for line in CRON_TZ=America/New_York SHELL=/bin/csh "HOME=$T"; do
	echo "$line" | crontab -
	add r --at daily --with cron
	exit_is "${line%%=*} above our lines is refused" 1
	file_has "with the line" "$err" "\"$line\" of the crontab counts"
	is "and it stays" "$(crontab -l)" "$line"
	run_matins schedule list
	out_is "and nothing is kept" ""
done
printf 'SHELL=/bin/bash\nHOME=%s\nMAILTO=""\n' "$HOME" | crontab -
add r --at daily --with cron
exit_is "settings that change nothing are fine" 0
exec 9>"$XDG_STATE_HOME/matins/locks/schedules"
flock 9
"$BIN" schedule remove r -c "$file" 2>"$err" 9>&- &
ok "a command that must wait says for what" \
	wait_for 30 grep -q 'waiting for another .matins schedule., which holds .*/locks/schedules' "$err"
exec 9>&-
wait $!
is "and goes on" $? 0
mv "$HOME/.local" "$HOME/.kept"
: >"$HOME/.local"
add r --at daily --with cron
exit_is "a HOME without room for a lock is no obstacle" 0
run_matins schedule remove r -c "$file"
rm "$HOME/.local"
crontab -r
flock "$HOME" "$BIN" schedule add r --at daily --with cron -c "$file" 2>"$err"
is "a lock on the home folder is none of ours" $? 0
run_matins schedule remove r -c "$file"

# ---- a schedule that starts nothing is seen at once ----

doctor() { # ERE NAME: a row of the schedule that fails
	run_matins doctor r -c "$file"
	exit_is "$2: the doctor fails" 1
	out_like "$2: and says so" "FAILED +r +.*$1"
}
remove_r() { run_matins schedule remove r -c "$file"; }
printf '%s\n' '5 4 * * * echo mine' | crontab -
add r --at '*-12-24 07:00' --with cron
run_matins doctor r -c "$file" --json
out_like "a schedule of months from now" 'none has been due since it was added'
crontab -l >whole
sed '/^0 7/s/^/#/' whole | crontab -
doctor 'the crontab has no line of r any more' "a line that is commented out"
run_matins schedule show r -c "$file"
exit_is "schedule show misses it" 1
run_matins list -c "$file"
out_like "a list promises nothing" '^r .*: next never \(its line of the crontab is gone\);'
run_matins schedule list
out_like "neither does that of schedules" '^r .*  next never \(its line of the crontab is gone\)  '
run_matins history r -c "$file"
out_like "nor history" '^  next  never \(its line of the crontab is gone\) .* r '
run_matins schedule list --json
json_is "nor JSON" schedules[0].next absent
sed '/^0 7/d' whole | crontab -
doctor 'the crontab has no line of r any more' "a line that is gone"
run_matins doctor r -c "$file" --unattended
exit_is "doctor --unattended: too" 1
crontab whole
run_matins doctor r -c "$file"
out_like "a crontab without a cron is a warning" 'no cron runs here that could start it'
{
	printf 'CRON_TZ=Asia/Tokyo\n'
	cat whole
	printf 'SHELL=/bin/csh\n'
} | crontab -
doctor 'the line .CRON_TZ=Asia/Tokyo. of the crontab counts for' "a zone above it"
sed '1s/.*/# here SHELL stands below:/' <(crontab -l) | crontab -
run_matins doctor r -c "$file"
out_like "settings below it do not matter" 'warning r .*no cron runs'
remove_r
printf '%s\n' '5 4 * * * echo mine' | crontab -
add r --at '*-12-24 07:00' --with cron --catch-up
err_like "without a cron, add says so" 'warning: no cron runs here that could start it: .systemctl'
crontab -l | sed '/^[0-9]* \* \* \* \* /d' | crontab -
doctor 'the crontab has not both lines of r any more' "a line for catching up that is gone"
run_matins schedule list
out_like "and list says so" '^r .*  next never \(a line of the crontab is gone\)  '
remove_r
add r --at '*-12-24 07:00' --with cron
crontab -l | sed 's/^0 7 /0 9 /' | crontab -
doctor 'what starts r was changed since it was added: .matins schedule remove r' "a line that was changed"
run_matins schedule list
out_like "and list promises nothing" '^r .*  next unknown \(what starts it was changed\)  '
run_matins schedule show r -c "$file"
exit_is "show fails" 1
out_like "and prints the line" '^0 9 24 12 '
remove_r
add r --at '*-12-24 07:00' --with cron
mv "$file" "$dir/n.toml"
run_matins doctor -c "$dir/n.toml"
out_like "a file that was renamed under its schedule" "FAILED +r +it is scheduled, and its file .*m.toml is gone"
run_matins schedule list
out_like "is seen in the list" '^r .*; its file is gone'
mv "$dir/n.toml" "$file"
sed 's/routines\.r\./routines.renamed./' "$file" >"$dir/n.toml"
mv "$file" "$dir/o.toml"
mv "$dir/n.toml" "$file"
run_matins doctor -c "$file"
exit_is "a routine that was renamed" 1
out_like "is missed" 'FAILED +r +it is scheduled, and .*m.toml has no such routine'
mv "$dir/o.toml" "$file"

# minutes: each is late before the next one has come; just after midnight a
# run of `daily` is as late as they are, so the ledger begins anew
remove_r
rm -f "$ledger"
add r --at '*:*' --with cron
was_added() { # SECONDS ago
	sed -i "s/\"added_ns\":[0-9]*/\"added_ns\":$(($(date +%s) - $1))000000000/" \
		"$XDG_STATE_HOME"/matins/schedules/*
}
was_added 3600
doctor 'has not begun' "a schedule of each minute that stopped"
run_matins list -c "$file"
out_like "list says since when" '; overdue since [0-9-]+T[0-9:]+\)$'
run_matins schedule list --json
json_is "the list of schedules, too" schedules[0].overdue present
run_matins run r -c "$file" --slot '*:*'
run_matins doctor r -c "$file"
out_unlike "a later time counts" 'has not begun'
run_matins schedule list --json
json_is "in the list as well, with the last run" schedules[0].overdue absent \
	schedules[0].last.generation present schedules[0].last.outcome ok
run_matins list -c "$file" --json
json_is "and in the list of routines" routines[0].schedule.next present \
	routines[0].schedule.overdue absent routines[0].last.outcome ok
run_matins doctor r -c "$file" --stale 1ms
out_unlike "what is on time is not stale" 'FAILED +r +last finished'

# the time that came just now is not late yet, but the one before it is
remove_r
mv "$ledger" kept
add r --at "$(today -d '-2 minutes' +%H:%M)" --with cron
was_added $((3 * 86400))
if [[ $(today -d '-2 minutes' +%F) == $(today +%F) ]]; then
	doctor "that of $(today -d yesterday +%F)T.* has not begun" \
		"a daily schedule that is looked at just after its time"
else
	skip "a daily schedule that is looked at just after its time" "midnight"
fi

# a run that goes on for days is not on time, nor is one of a wrong clock
at=$(today -d '-3 hours' +%H:%M)
remove_r
add r --at "$at" --with cron
was_added $((9 * 86400))
slot=$(today -d '-3 hours' +%F)T$at
event() { # JSON
	printf '{"routine":"r","file":"%s","whole":true,%s}\n' "$file" "$1" >>"$ledger"
}
boot=$(</proc/sys/kernel/random/boot_id)
born=$(cut -d')' -f2 "/proc/$$/stat" | cut -d' ' -f21)
event '"event":"started","generation":4000,"at":"2026-01-05T07:00:00.000Z","pid":1,"pid_start":1,"boot":"x"'
event '"event":"finished","generation":4000,"at":"2026-01-05T07:00:01.000Z","success":true,"exit":0,"summary":"ok"'
event '"event":"started","generation":5000,"slot":"'"$slot"'","at":"'"$(date -u -d '-3 hours' +%FT%T.000Z)"'","pid":'$$',"pid_start":'"$born"',"boot":"'"$boot"'"'
run_matins doctor r -c "$file" --stale 4h
out_like "a run that goes on" "that of $slot is run 5000, running since "
out_unlike "is on time while --stale allows it" 'FAILED +r +last finished'
run_matins doctor r -c "$file" --stale 1s
out_like "and no longer" 'FAILED +r +last finished'
event '"event":"finished","generation":5000,"slot":"'"$slot"'","at":"2099-01-01T00:00:00.000Z","success":true,"exit":0,"summary":"ok"'
remove_r
run_matins doctor r -c "$file" --stale 26h
exit_is "a run that ended in the future is no fresh one" 1
out_like "which is said" 'last finished at 2099-.*, which is in the future: the clock was wrong'
mv kept "$ledger"
crontab -r

# ---- without a person ----

export MY_TOKEN=abcdefgh12345678
add token --at daily --with cron
exit_is "a variable of the session is no credential for a timer" 1
err_like "and what to do is said" 'MY_TOKEN is not set; .*\{ file = "PATH" \}'
run_matins doctor token -c "$file"
exit_is "though it is there now" 0
run_matins doctor token -c "$file" --unattended
exit_is "as doctor --unattended says" 1
add ask --at daily --with cron
exit_is "a step that asks a person is not scheduled" 1
err_like "unless it is agreed to" 'ask/go: asks a person; agree beforehand: --approve go'
add ask --at daily --print -- --approve go
exit_is "which options of run do" 0
add outer --at daily --print
exit_is "nor in a routine within" 1
add outer --at daily --print -- --approve in/go
exit_is "which has a path" 0
add param --at daily --print
exit_is "a parameter that nobody gives is missed" 64
add param --at daily --print -- -p x=1
exit_is "and can be given" 0
cp "$file" matins.toml
run_matins schedule add r --at daily --print
exit_is "a file of this folder must be allowed" 1
err_like "as ever" 'matins allow'
MATINS_ALLOW=$T run_matins schedule add r --at daily --print --with cron
exit_is "then it is" 0
out_like "and stays so: its changes are still judged" "cd $T && .*MATINS_ALLOW=$T .*/matins run -q r --slot"
rm matins.toml

# ---- units of systemd ----

add r --at 'Mon..Fri 07:00' --catch-up --jitter 5min --with systemd --print --on-failure none.service
exit_is "units are printed" 0
mkdir units
while IFS= read -r line; do
	if [[ $line == "# /"* ]]; then
		unit=units/${line##*/}
	else
		printf '%s\n' "$line" >>"$unit"
	fi
done <"$out"
export XDG_RUNTIME_DIR=$T/runtime
mkdir -m 700 "$XDG_RUNTIME_DIR"
sed -i '/^OnFailure/d' units/*.service
ok "systemd-analyze verify passes them" systemd-analyze verify --user "$T"/units/*.timer
out_like "with what was asked for" 'OnCalendar=Mon\.\.Fri \*-\*-\* 07:00'
out_like "the time is kept while the machine is off" '^Persistent=true'
out_like "the jitter" '^RandomizedDelaySec=300000ms'
out_like "the unit of failures" '^OnFailure=none.service'
out_like "and a path in which nothing is special" 'a b%%c.d/m.toml"'
is "nothing is installed" "$(ls "$XDG_CONFIG_HOME")" ""
add r --at daily --with systemd
exit_is "where no user manager runs they are not installed" 1
err_like "and what else can be done is said" '^matins: nothing is installed \(--with cron uses the crontab\): systemctl '
is "and nothing is left" "$(find "$XDG_CONFIG_HOME" "$XDG_STATE_HOME"/matins/schedules -type f)" ""

# a schedule of systemd where no manager answers any more
has_schedule() { # its units, where $1 is not "gone"
	rm -rf "$XDG_CONFIG_HOME/systemd"
	add r --at daily --print --with systemd
	id=$(sed -n 's/^# matins schedule //p' "$out" | head -1)
	stem=$(sed -n 's,^# .*/\(.*\)\.timer$,\1,p' "$out")
	mkdir -p "$XDG_CONFIG_HOME/systemd/user"
	if [[ $1 != gone ]]; then
		awk '/^# .*\.(service|timer)$/ { f = substr($0, 3); next } { print >f }' "$out"
	fi
	printf '{"schema":"matins-schedule/1","routine":"r","file":"%s","at":"*-*-* 00:00","unit":"%s","jitter_ms":0,"catches_up":false,"added_ns":1}' \
		"$file" "$stem" >"$XDG_STATE_HOME/matins/schedules/$id"
}
units() { find "$XDG_CONFIG_HOME/systemd/user" -type f | wc -l; }
has_schedule there
is "its units are there" "$(units)" 2
run_matins schedule remove r -c "$file"
exit_is "it is taken away without the manager" 0
err_like "which is said, and how a manager forgets them" "files are removed.*systemctl --user stop $stem.timer"
is "and so are its files" "$(units)" 0
run_matins schedule list
out_is "and it is forgotten" ''
has_schedule gone
run_matins schedule remove r -c "$file"
exit_is "so is one whose units are gone" 0
err_unlike "without a warning" 'warning|systemctl'
has_schedule there
echo "# mine" >"$XDG_CONFIG_HOME/systemd/user/$stem.timer"
run_matins schedule remove r -c "$file"
err_like "a file without the mark stays" "$stem.timer stays: it lacks the line"
is "that one alone" "$(units)" 1
has_schedule there
rm "$XDG_CONFIG_HOME/systemd/user/$stem.timer"
mkdir "$XDG_CONFIG_HOME/systemd/user/$stem.timer"
run_matins schedule remove r -c "$file"
exit_is "one that cannot be read is an error" 1
run_matins schedule list
out_like "and it is still scheduled" '^r '
rm -rf "$XDG_CONFIG_HOME/systemd"
run_matins schedule remove r -c "$file"
mkdir "$T/back\\"
(cd "$T/back\\" && "$BIN" schedule add r --at daily --print --with systemd -c "$file" -- -q) 2>"$err"
is "a folder that a unit cannot name is refused" $? 64
err_like "with the reason" 'ends in a backslash or blank: rename that folder, or use --with cron'

if command -v setpriv >/dev/null; then
	printf '[[routines.r.steps]]\nname = "s"\ntype = "script"\ncommand = "date"\n' >n.toml
	"$BIN" run -c n.toml r --json | sed 's/"run":.*//' >plain
	setpriv --no-new-privs "$BIN" run -c n.toml r --json | sed 's/"run":.*//' >hardened
	is "NoNewPrivileges takes nothing from the gate" \
		"$(grep -o '"enforced":[^]]*' hardened | sort -u)" \
		"$(grep -o '"enforced":[^]]*' plain | sort -u)"
fi

# a user manager of the test
systemctl=$(command -v systemctl)
cat >manager <<END
#!/bin/sh
case \$2 in
enable) : >"$T/active" ;;
disable) rm -f "$T/active" ;;
is-active) [ -e "$T/active" ] && echo active || { echo inactive; exit 3; } ;;
esac
END
chmod 755 manager
mkdir -p /run/systemd/system "$XDG_RUNTIME_DIR/systemd"
: >"$XDG_RUNTIME_DIR/systemd/private"
if [[ -n $systemctl ]] && mount --bind manager "$(realpath "$systemctl")"; then
	add r --at '*-12-24 07:00'
	exit_is "a timer is added" 0
	err_like "by systemd, where it runs" '\(systemd\)$'
	run_matins doctor r -c "$file"
	exit_is "the doctor finds the timer" 0
	out_unlike "and it is active" 'not active'
	[[ -e /var/lib/systemd/linger/$(id -un) ]] ||
		out_like "it ends with the session" 'warning r .*only while you are logged in'
	rm active
	doctor 'matins-r-[0-9a-f]*.timer is not active: inactive' "a timer that was disabled"
	out_like "and the remedy" '-> systemctl --user enable --now matins-r-'
	: >active
	mv "$XDG_CONFIG_HOME"/systemd/user/*.timer .
	doctor 'timer: No such file' "a timer that is gone"
	rm -f "$XDG_CONFIG_HOME"/systemd/user/*
	remove_r
	exit_is "and it can be removed all the same" 0
else
	skip "timers that do not run" "there is no systemctl"
fi
rm -r /run/systemd "$XDG_RUNTIME_DIR/systemd"

# ---- times: those of the table, as systemd reads them ----

bad=
while read -r line; do
	[[ $line == "next "* ]] || continue
	read -r want
	at=${line##* | } text=${line#next }
	got=$(systemd-analyze calendar --iterations=3 --base-time="${at/T/ }" "${text% | *}" |
		sed -nE 's/.*(Next elapse|Iter\. #[0-9]+): ([A-Z]..) (\S+) (\S+).*/\3T\4/p; s/.*elapse: never */never/p' |
		sed 's/:00$//' | tr '\n' ' ')
	want=${want#= }
	[[ ${got% } == "${want% never}" ]] || bad+="$line: $want, systemd: $got; "
done <"$TOP/tests/unit/base/calendar.transcript"
is "every time of the table is that of systemd" "$bad" ""

add r --at '7:00 Europe/Berlin' --with systemd --print
if [[ -e /usr/share/zoneinfo/Europe/Berlin ]]; then
	out_like "a zone is one of systemd's" '^OnCalendar=\*-\*-\* 07:00 Europe/Berlin$'
	out_like "and of the slot" '"--slot" "\*-\*-\* 07:00 Europe/Berlin"'
	run_matins run r -c "$file" --slot '7:00 Asia/Tokyo' -q
	run_matins history r -c "$file" --json
	tokyo=$(TZ=Asia/Tokyo date +%H)
	json_is "which is the last time of that zone" runs[0].slot "$(
		TZ=Asia/Tokyo date -d "$((10#$tokyo < 7)) days ago" +%F)T07:00"
else
	skip "a zone is one of systemd's" "no tzdata"
fi

# ---- an hour that the clock shows twice ----

# a clock that was put back by an hour, half an hour ago: in these 30 minutes it
# shows what it showed an hour ago
if command -v zic >/dev/null; then
	printf 'Zone Test 1:00 - AAA %s\n\t0:00 - BBB\n' \
		"$(date -u -d '30 minutes' '+%Y %b %d %H:%M')" >zone
	zic -d zones zone
	mount --bind zones/Test "$(readlink -f /etc/localtime)"
	now=$(date -u +%FT%H:%M)
	run_matins run r1 -c eight.toml --slot "$now" -q
	exit_is "a time of the first pass is run" 0
	run_matins run r1 -c eight.toml --slot '*:*' -q
	run_matins history r1 -c eight.toml --json
	json_is "and was" runs[1].slot "$now"
	out_like "a minute of the second is another, told apart by its zone" \
		'"runs":\[[^]]*"slot":"[0-9T:-]*[+]00:00"'
	run_matins run r1 -c eight.toml --slot "${now#*T}"
	err_like "a time of a day is one, though it is shown twice" "slot $now ran already"
	run_matins run r1 -c eight.toml --slot "$now+00:00" -q
	run_matins run r1 -c eight.toml --slot "$now+00:00"
	err_like "the second can be named" "slot $now\+00:00 ran already"
	umount "$(readlink -f /etc/localtime)"
else
	skip "a clock that was put back" "no zic"
fi

# ---- usage ----

cp "$file" u.toml
while IFS='|' read -r want words like; do
	eval "run_matins schedule -c u.toml $words"
	exit_is "schedule $words" "$want"
	err_like "says how" "$like"
done <<'END'
64|add r|--at says when
64|add r --at noon|is no calendar expression
64|add r --at "*-02-30"|never comes
64|add r --at hourly --jitter 1h|reaches the next time
64|add r --at daily --jitter soon|is not a duration
64|add r --at daily --with at|systemd or cron
64|add r --at "7:00 Mars/Base"|no zone Mars/Base is known here
64|add r --at "7:00 UTC" --with cron|cannot say that: .* nearest .*07:00
64|add r --at daily --on-failure x --with cron|is for systemd
64|add r --at daily --print --with systemd --on-failure $'x\nExecStart=y'|control character in
64|add r --at daily --print --with systemd --on-failure "x y.service"|not the name of a unit; write for example
64|add r --at daily --print -- -p $'x=1\n* * * * * y'|control character in
64|add r --at daily -- --slot daily|--slot cannot be scheduled
64|add r --at daily -- --dri-run|unknown option
64|add r --at daily -- --approve go|no such step of type approve
64|add r --at daily -- s|options of .matins run., not "s"
64|add|name one routine
64|list r|takes no name
64|rmove r|did you mean remove
1|add other --at daily|other
END

done_testing
