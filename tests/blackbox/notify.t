#!/bin/bash
# Notices: one for each change of state through a month of runs, on each way,
# with refusals, time limits and servers that are ill.
. "${BASH_SOURCE%/*}/lib.sh"

mkdir -m 777 out
# A program of the tests takes what it gets: title on one line, then the rest.
cat >take.sh <<'END'
echo "$1" >>out/titles
cat >>out/text
END

# routine_file FILE NOTIFY-TABLE: a routine whose step reads its fate
routine_file() {
	{
		printf '%s\n' "$2"
		cat <<-'END'
			[[routines.r.steps]]
			name    = "s"
			type    = "script"
			command = "sh"
			args    = ["fate"]
			sandbox = { read = ["."], write = ["out"], exec = ["sleep"] }
		END
	} >"$1"
}

PROGRAM='command = ["sh", "take.sh", "{{title}}"]
sandbox = { read = ["."], write = ["out"], exec = ["cat"] }'

# lose_run FILE: a run is killed while its step runs
lose_run() {
	rm -f out/begun
	echo 'echo >out/begun; sleep 60' >fate
	"$BIN" run -c "$1" r >/dev/null 2>&1 &
	local pid=$!
	wait_for 20 test -e out/begun
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
}

# ---- a month of runs ----

routine_file month.toml "[notify]
on = [\"failure\", \"change\", \"lost\", \"recovered\"]
$PROGRAM"

# A second opinion about which notices are due: expect FATE
state=ok said='' lost=() run=0
: >expected
expect_run() {
	run=$((run + 1))
	if ((${#lost[@]})) && [[ $state != lost ]]; then
		state=lost
		echo "r was lost (run ${lost[0]})" >>expected
	fi
	lost=()
	case $1 in
	lost) lost=("$run") ;;
	fail)
		[[ $state == failed ]] || echo "r failed (run $run)" >>expected
		state=failed
		;;
	*)
		if [[ $state != ok ]]; then
			echo "r is ok again (run $run)" >>expected
		elif [[ -n $said && $1 != "$said" ]]; then
			echo "r has changed (run $run)" >>expected
		fi
		state=ok said=$1
		;;
	esac
}

seed=7
for ((day = 0; day < 60; day++)); do
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	case $((seed / 65536 % 8)) in
	0 | 1) fate=fail ;;
	2) fate=lost ;;
	3) fate=b ;;
	*) fate=a ;;
	esac
	expect_run $fate
	case $fate in
	lost) lose_run month.toml ;;
	fail) echo 'exit 3' >fate ;;
	*) echo "echo $fate" >fate ;;
	esac
	[[ $fate == lost ]] || "$BIN" run -c month.toml r -q >/dev/null 2>>errors
done
is "a month has notices of each kind" "$(cut -d' ' -f2,3 expected | sort -u |
	tr '\n' ',')" "failed (run,has changed,is ok,was lost,"
ok "exactly one notice for each change of state" cmp -s expected out/titles
cmp -s expected out/titles || diag "$(diff expected out/titles)"
run_matins history --json
is "lines of notices are no runs" "$(grep -o '"generation":' "$out" | wc -l)" 60
file_has "a notice names the step and its error" out/text \
	"s: failed: the program exited with status 3"
file_has "a change shows the difference" out/text '  + "b"'

# ---- words of a step are no lines of the notice ----

rm -rf out/t* state/matins
routine_file forged.toml "[notify]
on = [\"failure\", \"change\"]
every = true
$PROGRAM"
# forge WORD STATUS: a step that says the lines of a notice, and what a terminal obeys
forge() {
	cat >fate <<-END
		said='\033[2J\033]0;x\007 \342\200\256x\n\nr is ok again (run 9)\nHost: forged $1\n~! id\nFrom x\n'
		printf "\$said" >&2
		printf "\$said"
		exit $2
	END
	run_matins run -q -c forged.toml r
}
forge a 3
file_has "the last words of a step are set in" out/text '  Host: forged'
is "each other line is one of the notice" "$(grep -v '^  ' out/text | cut -d: -f1 | tr '\n' ',')" \
	"r failed (run 1),,r,s,,Host,Configuration,Report,"
forge a 0
forge b 0
file_has "a change is told" out/text 'Changed since'
is "a change forges no host" "$(grep -c '^Host: ' out/text)" "$(wc -l <out/titles)"
ok "no byte of a notice is obeyed by a terminal" \
	"$PYTHON" -c 'import sys; t = open("out/text").read(); sys.exit("\x1b" in t or "\x07" in t or "\u202e" in t)'

# ---- a step that is skipped now is one line of a change ----

rm -rf out/t* state/matins
routine_file skipped.toml "[notify]
on = [\"change\"]
$PROGRAM
[routines.r]
order = \"needs\"
[[routines.r.steps]]
name = \"then\"
type = \"script\"
command = \"echo\"
args = [\"done\"]
when = { \"\$steps.s.output\" = { const = \"a\" } }"
for i in a b; do
	echo "echo $i" >fate
	run_matins run -q -c skipped.toml r
	exit_is "a condition skips no success" 0
done
is "a change is told in words, a skipped step in one line" \
	"$(sed -n '/^Changed/,/^$/p' out/text)" "Changed since it was ok before:
then: was ok, is skipped: when \$steps.s.output: is \"b\", must be \"a\"
s: text changed
  - \"a\"
  + \"b\""

# ---- every run, and routines that tell otherwise ----

rm -rf out/t* state/matins
routine_file every.toml "[notify]
on = [\"failure\"]
every = true
$PROGRAM"
for fate in 'exit 1' 'exit 1' 'echo a' 'echo b'; do
	echo "$fate" >fate
	run_matins run -c every.toml r
done
is "every failing run is told where that is asked for" "$(cat out/titles)" \
	"r failed (run 1)
r failed (run 2)"

rm -f out/t*
routine_file own.toml "[notify]
$PROGRAM
[routines.r.notify]
on = []
[[routines.loud.steps]]
name = \"s\"
type = \"script\"
command = \"false\"
[routines.loud.notify]
command = [\"sh\", \"take.sh\", \"{{notice}} {{routine}} {{run}} {{state}} {{other\"]"
echo 'exit 1' >fate
run_matins run -c own.toml r
ok "a routine may tell nobody" test ! -e out/titles
run_matins run -c own.toml loud
is "another has its own words, and the rest of the file's" \
	"$(cat out/titles)" "failure loud 6 failed {{other"
rm -f out/t*
run_matins run -c own.toml loud --only s
run_matins step -c own.toml loud s
run_matins run -c own.toml loud --dry-run
ok "parts of a routine and dry runs tell nobody" test ! -e out/titles

# ---- lost runs are told by the next run of the file ----

rm -rf out/t* state/matins
routine_file near.toml "[notify]
$PROGRAM
[[routines.other.steps]]
name = \"s\"
type = \"script\"
command = \"true\""
lose_run near.toml
run_matins run -c near.toml other --json
is "a lost run is told by a run of another routine" "$(cat out/titles)" \
	"r was lost (run 1)"
json_is "the report has the notice" run.notices[0].delivered true
run_matins run -c near.toml other
echo 'echo a' >fate
run_matins run -c near.toml r
is "it is told once, and so is what follows" "$(cat out/titles)" \
	"r was lost (run 1)
r is ok again (run 4)"

# ---- two at once ----

rm -rf out/t* state/matins
echo 'exit 1' >fate
for i in 1 2 3 4; do
	"$BIN" run -c near.toml r -q >/dev/null 2>&1 &
	pids[i]=$!
done
wait "${pids[@]}"
is "of runs at once that fail one tells" "$(wc -l <out/titles)" 1

# ---- killed between: told again, not never ----

rm -rf out/t* state/matins
routine_file kill.toml '[notify]
command = ["sh", "-c", "cat >>out/text; echo >out/begun; sleep 60"]
sandbox = { write = ["out"], exec = ["cat", "sleep"] }
timeout = "60s"'
rm -f out/begun
"$BIN" run -c kill.toml r >/dev/null 2>&1 &
pid=$!
wait_for 20 test -e out/begun
kill -9 $pid
wait $pid 2>/dev/null
run_matins history --json -v
json_is "a run that is killed while a notice hangs has ended" \
	runs[0].state finished runs[0].exit 2
run_matins show last --json
json_is "its report is kept" generation 1 success false \
	run.notices absent
sed -i 's/; echo >out.*60"/"/' kill.toml
run_matins run -c kill.toml r --json
is "a notice whose run was killed is told again" \
	"$(grep '^r failed\|^r was lost' out/text)" "r failed (run 1)
r failed (run 2)"
cp "$out" told.json
run_matins show last --json
file_is "a report is kept again with its notices" "$out" told.json
json_is "which it has" run.notices[0].delivered true
err_unlike "and it is believed" 'changed'

# a change is no state: what was told is kept before it is sent
rm -rf out/t* state/matins
routine_file kill.toml '[notify]
on = ["change"]
command = ["sh", "-c", "cat >>out/text; echo >out/begun; sleep 60"]
sandbox = { write = ["out"], exec = ["cat", "sleep"] }
timeout = "60s"'
echo 'echo a' >fate
run_matins run -c kill.toml r
echo 'echo b' >fate
rm -f out/begun
"$BIN" run -c kill.toml r >/dev/null 2>&1 &
pid=$!
wait_for 20 test -e out/begun
kill -9 $pid
wait $pid 2>/dev/null
sed -i 's/; echo >out.*60"/"/' kill.toml
run_matins run -c kill.toml r
is "a change whose run was killed is told by the next one" \
	"$(grep ' has changed' out/text)" "r has changed (run 2)
r has changed (run 3)"
run_matins run -c kill.toml r
is "and then no more" "$(grep -c ' has changed' out/text)" 2
echo 'exit 1' >fate

# ---- refused, and too slow ----

rm -rf out/t* state/matins
routine_file leash.toml '[caveats]
fs_read = "all"
fs_write = "all"
exec = { only = ["sh"] }
net = "all"
max_calls = "unlimited"
valid_for_generation = "all"
[notify]
command = ["cat"]'
run_matins run -c leash.toml r --json
exit_is "a notice that the leash refuses changes no status" 2
json_is "it stands in the report" run.notices[0].delivered false
json_is "it is not tried again" run.notices[0].attempts 1
err_like "and is said" 'notice "failure" to command cat failed: .*leash'
echo 'echo a' >fate
sed -i 's/"sh"\]/"sh", "cat"]/' leash.toml
run_matins run -c leash.toml r --json
json_is "what nobody was told of needs no recovery" run.notices absent
echo 'exit 1' >fate

routine_file closed.toml '[notify]
command = ["sh", "-c", "cat >out/closed"]
timeout = "2s"
attempts = 2
sandbox = { exec = ["cat"] }'
run_matins run -c closed.toml r --json
exit_is "a program without the grant fails" 2
json_is "after the attempts that it has" run.notices[0].attempts 2
ok "and writes nothing" test ! -e out/closed
sed -i "s|cat >out/closed|cat $T/take.sh|" closed.toml
run_matins notify test -c closed.toml r
exit_is "a test of it fails" 2
out_like "says what failed" '^command sh: it exited with status .*take.sh'
out_like "what was refused, and which key of which table opens it" \
	"^  .*take.sh.*: read = \\[\"$T/take.sh\"\\] # in \\[notify.sandbox\\]"
sed -i "/^sandbox = { exec/s|{|{ read = [\"$T/take.sh\"],|" closed.toml
run_matins notify test -c closed.toml r
out_is "with that it is delivered, and nothing is advised" "command sh: delivered"

routine_file slow.toml '[notify]
command = ["sleep", "60"]
timeout = "200ms"
attempts = 2'
echo 'echo a' >fate
run_matins run -c slow.toml r
echo 'exit 1' >fate
run_matins run -c slow.toml r --json
exit_is "a program that hangs does not hold the run" 2
json_is "the time limit is said" run.notices[0].error \
	"it did not end within 200 ms"
sed -i 's/^command = \["sleep.*/command = ["true"]/' slow.toml
run_matins run -c slow.toml r --json
json_is "what was not told is due at the next run" \
	run.notices[0].delivered true
run_matins run -c slow.toml r --json
json_is "and then no more" run.notices absent
rm -f out/t*
run_matins show last --json
json_is "a kept report has its run" success false

routine_file changed.toml '[golden]
ignore = ["step_results[0].duration"]
[notify]
on = ["change"]
command = ["false"]
attempts = 1'
for i in a b b; do
	echo "echo $i" >fate
	run_matins run -c changed.toml r --json
done
json_is "a change that nobody was told of is due" run.notices[0].notice change
sed -i 's/"false"/"true"/' changed.toml
run_matins run -c changed.toml r --json
json_is "until it was told" run.notices[0].delivered true
run_matins run -c changed.toml r --json
json_is "once" run.notices absent

# ---- a URL, and a watcher ----

cat >server.py <<'END'
import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    def do(self):
        n = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(n).decode()
        mode = open("mode").read().strip()
        with open("seen", "a") as f:
            f.write("%s %s %s %s|%s\n" % (self.command, self.path,
                self.headers.get("Authorization"), self.headers.get("Title"),
                self.headers.get("Content-Type")))
        if body:
            open("body", "w").write(body)
        if mode == "hang":
            import time
            while open("mode").read().strip() == "hang":
                time.sleep(0.02)
        self.send_response(int(mode) if mode.isdigit() else 200)
        if mode == "302":
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()
    do_GET = do_POST = do
    def log_message(self, *a):
        pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
print(s.server_port, flush=True)
s.serve_forever()
END
echo 200 >mode
"$PYTHON" -B server.py >port &
server=$!
trap 'rc=$?; kill $server 2>/dev/null; (exit $rc); _finish' EXIT
wait_for 20 test -s port
port=$(cat port)
echo "sekret-token-4711" >token
rm -rf state/matins

url_file() {
	routine_file url.toml "[notify]
url = \"http://127.0.0.1:$port/topic?key=hidden-key-0815\"
token = { file = \"token\" }
headers = { Title = \"{{title}}\" }
format = \"json\"
timeout = \"$1\"
attempts = $2"
}

url_file 10s 1
echo 'exit 1; ' >fate
run_matins run -c url.toml r --json
exit_is "a run tells a URL" 2
file_has "with token, title and type" seen \
	"POST /topic?key=hidden-key-0815 Bearer sekret-token-4711 r failed (run 1)|application/json"
cp body "$out"
json_is "the body is JSON" schema matins-notice/1
json_is "it says what was" was ok
json_is "and what is" state failed
json_is "and which step" steps[0].step_name s
run_matins show last --json
out_unlike "the report has no token" 'sekret|hidden-key'
json_is "but where it went" run.notices[0].to "http://127.0.0.1:$port"

for mode in 500 404 302 hang; do
	rm -rf state/matins seen
	echo $mode >mode
	case $mode in
	hang) url_file 300ms 2 tries=2 ;;
	*) url_file 1s 2 ;;
	esac
	run_matins run -c url.toml r --json
	exit_is "a server with $mode changes no status" 2
	json_is "$mode: not delivered" run.notices[0].delivered false
	case $mode in 500 | hang) tries=2 ;; *) tries=1 ;; esac
	is "$mode: asked $tries times" "$(wc -l <seen)" $tries
	unlike "$mode: no token is said" "$(cat "$out" "$err")" 'sekret|hidden-key'
done
file_unlike "no redirect is followed" seen elsewhere
echo 200 >mode

rm -rf state/matins seen
routine_file ping.toml "[notify]
ping = \"http://127.0.0.1:$port/uuid/?x=1\""
run_matins run -c ping.toml r
echo 'echo a' >fate
run_matins run -c ping.toml r
is "a watcher is asked in order" "$(cut -d' ' -f1,2 seen)" "GET /uuid/start?x=1
GET /uuid/fail?x=1
GET /uuid/start?x=1
GET /uuid/?x=1"
run_matins run -c ping.toml r --only s
is "not for a part of a routine" "$(wc -l <seen)" 4

# ---- a program that vanishes ----

rm -rf state/matins seen out/t*
printf '#!/bin/sh\necho here\n' >tool
chmod 755 tool
{
	printf '%s\n' '[notify]' "ping = \"http://127.0.0.1:$port/uuid\"" "$PROGRAM"
	plain s echo 'args = ["a"]'
	plain fs ./tool
} >lacks.toml
run_matins run -c lacks.toml r
exit_is "a routine that is whole" 0
mv tool aside
rm seen
for i in 1 2; do
	run_matins run -c lacks.toml r --json
	exit_is "without a program its step is skipped" 0
done
is "which is told once" "$(cat out/titles)" "r is incomplete (run 2)"
file_like "with its reason" out/text '^fs ran before, and is skipped: .*tool'
is "and to the watcher each time" "$(grep -c /uuid/fail seen)" 2
run_matins doctor --unattended -c lacks.toml r
out_like "the doctor names it" 'r/fs.*tool'
sed -i 's/"echo"/"false"/' lacks.toml
run_matins run -c lacks.toml r
sed -i 's/"false"/"echo"/' lacks.toml
run_matins run -c lacks.toml r
is "a failure between does not make it whole" "$(wc -l <out/titles)" 1
mv aside tool
run_matins run -c lacks.toml r
is "it is told that it is whole again" "$(tail -n 1 out/titles)" "r is ok again (run 6)"
mv tool aside
rm -rf state/matins out/t*
run_matins run -c lacks.toml r
run_matins run -c lacks.toml r
ok "what never ran is no news" test ! -e out/titles

# ---- a run for a slot that cannot start ----

rm -rf state/matins seen out/t*
both() {
	routine_file both.toml "[notify]
ping = \"http://127.0.0.1:$port/uuid\"
url = \"http://127.0.0.1:$port/topic\"
$PROGRAM${1-}"
}
both
echo 'echo a' >fate
run_matins run -c both.toml r --slot 2026-11-22T07:00
exit_is "a run for a slot" 0
rm -f seen
MATINS_STATE=$T/token/state run_matins run -c both.toml r --slot 2026-11-23T07:00
exit_is "without a ledger it cannot start" 1
is "which is told on each way" "$(cut -d' ' -f1,2 seen | sort) $(cat out/titles)" \
	"GET /uuid/fail
POST /topic r could not start"
file_has "with the reason" out/text 'slot needs the ledger'
rm -f seen out/t*
MATINS_STATE=$T/token/state run_matins run -c both.toml r --require-ledger
exit_is "one that a person started" 1
ok "tells the person alone" test ! -e seen -a ! -e out/titles

both '
[sandbox]
reed = ["."]'
for i in 1 2; do
	run_matins run -c both.toml r --slot 2026-11-23T07:00
	exit_is "a configuration with an error" 1
done
is "is told once, and the watcher each time" "$(cut -d' ' -f1,2 seen | sort)" \
	"GET /uuid/fail
GET /uuid/fail
POST /topic"
file_has "with its place" body 'both.toml:'
ok "but its program is not started" test ! -e out/titles
both
rm -f seen
run_matins run -c both.toml r --slot 2026-11-23T07:00
exit_is "the slot is run when it can be" 0
is "which is told as a recovery" "$(cat out/titles)" "r is ok again (run 2)"
mkdir here
cp both.toml here/matins.toml
rm -f seen out/t*
(cd here && unset MATINS_ALLOW && "$BIN" run r --slot 2026-11-23T07:00 >"$out" 2>"$err")
is "a file that is not allowed does not run" $? 1
echo '[sandbox]' >>here/matins.toml
echo 'reed = 1' >>here/matins.toml
(cd here && unset MATINS_ALLOW && "$BIN" run r --slot 2026-11-23T07:00 >"$out" 2>"$err")
ok "and tells nobody" test ! -e seen -a ! -e out/titles

# ---- a folder that only the notice lacks ----

rm -rf state/matins seen out/t*
both
sed -i '0,/write = \["out"/s//&, "gone"/' both.toml
run_matins run -c both.toml r
exit_is "a folder of the notice is missing: the routine runs" 0
echo 'exit 1' >fate
run_matins run -c both.toml r --json
exit_is "and its failure is its own" 2
err_like "the notice fails, with what to do" 'to command sh failed: .*gone, which does not exist; `mkdir -p'
is "the other ways tell it" "$(cut -d' ' -f1,2 seen | tail -n 2 | sort)" \
	"GET /uuid/fail
POST /topic"
run_matins notify test -c both.toml r
out_like "a test says it" 'command sh: .*mkdir -p'
run_matins doctor -c both.toml r
exit_is "so does the doctor" 1
mkdir gone
run_matins notify test -c both.toml r
out_like "with the folder" 'command sh: delivered'

echo 'exit 1' >fate
rm -f seen
run_matins run -c ping.toml r --record tape
run_matins run -c ping.toml r --replay tape
exit_is "a run is played from its recording" 2
is "and nobody is asked for it" "$(wc -l <seen)" 2

# ---- a test of the notices ----

rm -f seen
url_file 5s 1
run_matins notify test -c url.toml
exit_is "a test of the notices" 0
out_is "says how it went" "url http://127.0.0.1:$port: delivered"
kill $server
wait $server 2>/dev/null
run_matins notify test r -c url.toml
exit_is "a server that is down is a failure of the test" 2
out_like "with its cause" "^url http://127.0.0.1:$port: .*(refused|connect)"
run_matins run -c url.toml r --json
exit_is "and changes no status of a run" 2
json_is "whose report says it" run.notices[0].delivered false
run_matins notify tset -c url.toml
exit_is "a word that is no action" 64
err_like "leads to the right one" 'matins notify test'
routine_file none.toml ''
run_matins notify test -c none.toml
exit_is "nobody to be told" 1
err_like "is said" 'tells nobody: write \[notify\]'

routine_file doctor.toml $'[notify]\ncommand = ["no-such-mailer"]'
run_matins doctor r -c doctor.toml
out_like "the doctor finds a program that is not there" \
	'FAILED +r notify .*no-such-mailer is not installed'
sed -i 's/no-such-mailer/true/' doctor.toml
run_matins doctor r -c doctor.toml
out_like "and one that is" 'ok +r notify +/'

# ---- a signal while somebody does not listen ----

routine_file signal.toml '[notify]
command = ["sh", "-c", "echo >out/begun; sleep 60"]
sandbox = { write = ["out"], exec = ["sleep"] }'
echo 'exit 1' >fate
rm -rf state/matins out/begun
"$BIN" run -c signal.toml r >"$out" 2>"$err" &
pid=$!
wait_for 20 test -e out/begun
kill -TERM $pid
wait $pid
err_like "a signal ends a notice, and the run keeps its report" \
	'notice "failure" to command sh failed: cancelled: interrupted'
run_matins show last --json
json_is "which says so" run.notices[0].delivered false

# ---- mistakes in the table ----

check_says() {
	routine_file bad.toml "$2"
	run_matins check bad.toml
	exit_is "$1: refused" 1
	err_like "$1: said" "$3"
}
check_says "a word of on" $'[notify]\non = ["fail"]\ncommand = ["true"]' \
	'"on" of \[notify\] takes .*"failure".* not "fail"'
check_says "no way" $'[notify]\non = ["lost"]' 'tells nobody'
check_says "an unknown word" $'[notify]\ncommand = ["true", "{{titel}}"]' \
	'\{\{titel\}\} stands for nothing'
check_says "plain http" $'[notify]\nurl = "http://example.org/x"' \
	'this machine only.*https'
check_says "a key" $'[notify]\ncomand = ["true"]' 'did you mean "command"'
check_says "a token alone" \
	$'[notify]\ncommand = ["true"]\ntoken = { env = "T" }' 'for a "url"'
check_says "a token in the file" \
	$'[notify]\nurl = "https://example.org"\ntoken = "x"' \
	'credentials do not stand in the file'

routine_file unset.toml $'[notify]\nurl = "https://${NO_SUCH_HOST}/x"'
echo 'exit 1' >fate
run_matins run -c unset.toml r --json
exit_is "a variable that is not set does not stop the run" 2
json_is "the notice fails for it" run.notices[0].delivered false

# ---- what nobody asked for, and an ordinary user ----

rm -rf state/matins
run_matins run -c none.toml r --json
json_is "without the table nothing is told" run.notices absent
file_lacks "nor written down" state/matins/ledger.jsonl told

rm -rf out/t*
mkdir far
cp month.toml take.sh fate far
mkdir -m 777 far/out
cd far || exit 1
as_user run_matins run -c month.toml r
exit_is "a run of an ordinary user" 2
cd ..
is "an ordinary user is told" "$(cat far/out/titles)" "r failed (run 2)"

done_testing
