#!/usr/bin/env bash
# run --events: a JSON line for each event, to a file or a descriptor.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

# told FILE: "EVENT STEP STATE" of each line
told() {
	"$PYTHON" -c 'import json, sys
for line in open(sys.argv[1]):
    m = json.loads(line)
    assert m["schema"] == "matins-event/1", line
    print(*(m[k] for k in ("event", "step", "state", "note") if k in m), sep=" ", end=";")' "$1"
}

{
	plain a true
	plain b false
	plain c true 'needs = ["b"]'
	printf '[[routines.r.steps]]\nname = "in"\ntype = "routine"\nroutine = "x"\n\n'
	routine=x plain d true
} >r.toml

run_matins run -c r.toml r --events told.jsonl
exit_is "events change no status" 2
is "each event is told, in its order, also of a routine within" "$(told told.jsonl)" \
	"run_begun;step_begun a;step_ended a ok;step_begun b;step_ended b failed;step_ended c skipped;step_begun in;step_begun in/d;step_ended in/d ok;step_ended in ok;run_ended;"
is "the file is new" "$(stat -c %s told.jsonl)" "$(wc -c <told.jsonl)"
first=$(stat -c %s told.jsonl)
run_matins run -c r.toml r --only a --events told.jsonl
ok "an old file begins anew" test "$(stat -c %s told.jsonl)" -lt "$first"

"$BIN" run -c r.toml r --only a --events 7 7>seven >/dev/null 2>&1
like "a number is a descriptor" "$(told seven)" 'run_begun;.*step_ended a ok;.*run_ended;'
"$BIN" run -c r.toml r --resume last --events 7 7>seven >/dev/null 2>&1
ok "what was taken is told" grep -q '"taken_from":' seven
if "$PYTHON" -c 'import jsonschema' 2>/dev/null; then
	cat told.jsonl seven >all
	ok "events are as the published schema says" "$PYTHON" -c 'import json, jsonschema, sys
schema = json.load(open(sys.argv[1]))
for line in open(sys.argv[2]):
    jsonschema.validate(json.loads(line), schema)' "$TOP/golden/schema/matins-event-1.json" all
else
	skip "events are as the published schema says" "no python3-jsonschema"
fi

# ---- readers that do not read ----

mkfifo pipe
run_matins run -c r.toml r --events pipe
exit_is "a FIFO that nothing reads" 1
err_like "is told" "nothing reads it"
for i in {1..30}; do plain "step-with-a-long-name-that-fills-a-pipe-$i" true; done >many.toml
exec 8<>pipe
"$PYTHON" -c 'import fcntl; fcntl.fcntl(8, 1031, 4096)' # F_SETPIPE_SZ
run_matins run -c many.toml r --events pipe -o /dev/null
exit_is "a reader that does not read holds up no run" 0
err_like "and is told" "its reader does not read"
plain last sh "sandbox = { write = ['$T/go'] }" \
	"args = ['-c', 'touch $T/go/begun; until [ -e $T/go/on ]; do sleep 0.05; done']" >>many.toml
mkdir -m 777 go
"$BIN" run -c many.toml r --events pipe -o /dev/null 2>slow.err &
pid=$!
ok "the last step works" wait_for 20 test -e go/begun
ok "lines that wait are written while a step works" timeout 20 \
	sh -c 'exec <&8; until read -r line && case $line in *step_begun*last*) ;; *) false ;; esac; do :; done'
touch go/on
cat <&8 >/dev/null &
cat=$!
wait $pid
kill $cat
exec 8>&-
"$BIN" run -c many.toml r --events 7 -o /dev/null 7> >(head -n 2 >two) 2>gone
is "nor does one that goes" $? 0
"$BIN" run -c r.toml r --only a --events 7 7> >(cat >whole) >/dev/null 2>&1
for _ in {1..200}; do ! grep -q run_ended whole || break; sleep 0.05; done
like "one that reads gets all" "$(told whole)" 'run_ended;$'

# ---- mistakes ----

run_matins run -c r.toml r --events 77
exit_is "a descriptor that is not open" 64
run_matins run -c r.toml r --events 0
exit_is "a descriptor that is not for writing" 64
run_matins run -c r.toml r --events none/file
exit_is "a folder that is not there" 1
run_matins run -c r.toml nix --events told.jsonl
ok "a routine that is not there leaves the file alone" test -s told.jsonl
mkdir d
chmod 777 d
echo precious >mine
ln -s ../mine d/link
sed '0,/command = "true"/s//&\nsandbox = { write = ["d"] }/' r.toml >w.toml
run_matins run -c w.toml r --events d/link
isnt "a link in a folder of programs is not followed" $status 0
is "and leads to no file" "$(<mine)" precious
mkdir sticky
chmod 1777 sticky
ln -s ../mine sticky/link
if ((EUID == 0)); then
	chown -h 65534 sticky/link
	for option in --events -o; do
		run_matins run -c r.toml r --only a "$option" sticky/link
		err_like "$option: a link that another user left is not followed" \
			'sticky/link leads to .* a link that another user made'
		is "$option: and leads to no file" "$(<mine)" precious
	done
	chown -h 0 sticky/link
else
	skip "a link that another user left is not followed" "needs root"
fi
run_matins run -c r.toml r --only a --events sticky/link
like "one's own is" "$(told mine)" 'run_ended;$'

# ---- progress ----

script slow <<-'END'
	handshake
	expect tools/call
	send {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1,"total":2,"message":"half"}}
	reply {"content":[{"type":"text","text":"t"}]}
	expect-eof
END
peer_step slow slow 'tool = "t"' 'params = {}' >p.toml
run_matins run -c p.toml r --events told.jsonl
like "progress of a tool is told" "$(told told.jsonl)" \
	'step_begun slow;progress slow 1/2  half;step_ended slow ok;'

plain again false 'retry = { max = 2, wait = "1ms", on = ["exit:1"] }' >a.toml
run_matins run -c a.toml r --events told.jsonl
file_has "another attempt is told" told.jsonl '"step":"again","attempt":2}'

# ---- secrets ----

{
	plain s sh 'args = ["-c", "echo it is $TOKEN >&2; exit 3"]' 'env = { TOKEN = "$SECRET_TOKEN" }'
} >s.toml
SECRET_TOKEN=hush-hush-hush run_matins run -c s.toml r --events told.jsonl
file_lacks "no secret is told" told.jsonl hush

done_testing
