#!/usr/bin/env bash
# `matins serve --http` under the public conformance suite: every scenario for
# servers, in each revision that it is for, through the gateway to a server of
# the older era and to one of the newer. tests/conformance/front.py gives the
# suite a token and its own names of tools, tests/conformance/offered.py has
# what the scenarios call. A scenario passes when no check of it fails, warns or
# is skipped.
. "${BASH_SOURCE%/*}/lib.sh"

modules=$TOP/build/conformance/node_modules
suite=$modules/@modelcontextprotocol/conformance
node=$(echo "$modules"/node-linux-*/bin/node)
ldconfig -p 2>/dev/null | grep -q 'libmicrohttpd\.so\.12' ||
	skip_all "libmicrohttpd is not installed: make deps"
if [[ ! -x $node || ! -e $suite/package.json ]] || ! _reachable "$node"; then
	skip_all "the suite is not here: make build/conformance/.installed"
fi

# Left out: date of the suite, era of the server (* any of both), scenario, check (* all
# of them), and why.
cat >left-out <<'END_OF_TABLE'
2025-11-25 * server-sse-polling * serve closes no stream in the middle of a call: events are not kept to be sent again
2026-07-28 2025-11-25 input-required-result-basic-elicitation sep-2322-elicitation-incomplete the suite wants the question by the name user_name; a request of an older server has a number
2026-07-28 2025-11-25 input-required-result-ignore-extra-params sep-2322-ignore-unexpected-params the suite answers user_name before it is asked; an older server asks all the same
END_OF_TABLE

# Scenarios of no dated revision are of extensions that serve does not declare.
cat >extensions <<'END_OF_TABLE'
sep-2640-skills- a server's skills are its resources; serve adds none
tasks- serve runs each call to its end
END_OF_TABLE

cat >result.py <<'END_OF_SCRIPT'
"""result.py DATE ERA SCENARIO: what stands against a scenario, a line each."""
import glob
import json
import sys

date, era, scenario = sys.argv[1:]
left_out = [line.split(None, 4) for line in open("left-out")]
found = [f for f in glob.glob(f"{date}.{era}/server-{scenario}-2*/checks.json")]
if len(found) != 1:
    print("the suite did not run it")
    raise SystemExit
checks = json.load(open(found[0]))
bad = [c["id"] for c in checks if c["status"] not in ("SUCCESS", "INFO")]
for a, b, s, i, _ in left_out:
    if (a, b, s) == (date, era, scenario) and i not in ("*", *bad):
        print("left out, but it passes:", i)
for c in checks:
    if c["status"] in ("SUCCESS", "INFO"):
        continue
    if not any(a in ("*", date) and b in ("*", era) and s == scenario and
               i in ("*", c["id"]) for a, b, s, i, _ in left_out):
        print(c["status"], c["id"], c.get("errorMessage") or "")
if not any(c["status"] == "SUCCESS" for c in checks):
    print("nothing was checked")
END_OF_SCRIPT

cat >ask.py <<'END_OF_SCRIPT'
"""ask.py PORT NAME ABILITIES MEMBERS [METHOD PARAMS]: the answer to a call of a
tool by a client of the newer era, with these abilities and further params; or
to another request."""
import json
import sys
import urllib.request

port, name, can, more = sys.argv[1:5]
method, params = sys.argv[5:] or ("tools/call", json.dumps({
    "name": name, "arguments": {}}))
META = "io.modelcontextprotocol/"
request = urllib.request.Request(
    f"http://127.0.0.1:{port}/mcp", json.dumps({
        "jsonrpc": "2.0", "id": 1, "method": method, "params": {
            **json.loads(params), **json.loads(more), "_meta": {
                META + "protocolVersion": "2026-07-28",
                META + "clientCapabilities": json.loads(can)}}}).encode(),
    {"Content-Type": "application/json", "Mcp-Method": method,
     "Accept": "application/json, text/event-stream", "Mcp-Name": name,
     "MCP-Protocol-Version": "2026-07-28"})
try:
    print(urllib.request.urlopen(request, timeout=60).read().decode())
except urllib.error.HTTPError as e:
    print(e.read().decode())
END_OF_SCRIPT

# Denied twins: questions that the client does not declare, answers that nobody
# waits for.
denied() {
	local era=$1 tool=test_input_required_result_elicitation

	like "$era: a question that is not declared is not put" \
		"$("$PYTHON" ask.py "$port" $tool '{"sampling":{}}' '{}')" \
		'not declare'
	like "$era: a question that is declared is put" \
		"$("$PYTHON" ask.py "$port" $tool '{"elicitation":{}}' '{}')" \
		'"input_required".*What is your name'
	like "$era: a state that is nobody's is refused" \
		"$("$PYTHON" ask.py "$port" $tool '{"elicitation":{}}' \
			'{"requestState":"none"}')" '"error":.*[sS]tate'
	like "$era: a routine takes no state" \
		"$("$PYTHON" ask.py "$port" routine__two '{}' \
			'{"requestState":"none"}')" 'nothing waits'
	like "$era: what no server has is not completed" \
		"$("$PYTHON" ask.py "$port" none '{}' '{}' completion/complete \
			'{"ref":{"type":"ref/prompt","name":"none"}}')" \
		'unknown prompt none'
	like "$era: a reference without a name is refused" \
		"$("$PYTHON" ask.py "$port" none '{}' '{}' completion/complete \
			'{"ref":{"type":"ref/prompt"}}')" 'lacks the name'
}

# server-stateless ends its calls and subscriptions after 500 to 1500 ms of the
# clock, whether their messages have come or not: on a machine that is busy all
# that time it is tried once more.
timed="server-stateless"

# suite NAME DATE OPTIONS...: run it against the front on $port
suite() {
	local name=$1 date=$2

	shift 2
	PATH=${node%/*}:$PATH timeout -k 5 "${LIMIT_S:-200}" "$node" \
		"$suite/dist/index.js" server --url "http://127.0.0.1:$port/mcp" \
		--spec-version "$date" --timeout 60000 -o "$name" "$@" \
		>>"$name/said" 2>&1 </dev/null
}

# again DATE ERA SCENARIO: run it once more
again() {
	rm -rf "$1.$2/server-$3"-2*
	suite "$1.$2" "$1" --scenario "$3"
}

# judge DATE ERA SCENARIO: what stands against it
judge() {
	local date=$1 era=$2 name=$3 wrong

	wrong=$("$PYTHON" result.py "$date" "$era" "$name")
	if [[ -n $wrong && $name == "$timed" ]]; then
		again "$date" "$era" "$name"
		wrong=$("$PYTHON" result.py "$date" "$era" "$name")
	fi
	printf '%s' "$wrong"
}

# start_serve NAME: serve with the configuration there, and the front at $port
start_serve() {
	local name=$1 url token

	rm -f "$name/log" "$name/port"
	"$BIN" serve --routines --servers s -c "$name/matins.toml" --http 127.0.0.1:0 \
		>/dev/null 2>"$name/log" &
	server=$!
	wait_for 20 grep -q 'http://' "$name/log"
	url=$(grep -aoE 'http://[0-9.:]+/mcp' "$name/log")
	token=$(sed -n 's/.*token in //p' "$name/log")
	"$PYTHON" "$TOP/tests/conformance/front.py" "$name/port" "$url" \
		"$token" s >"$name/front" 2>&1 &
	front=$!
	wait_for 20 test -e "$name/port"
	port=$(<"$name/port")
}

stop_serve() {
	kill "$front" "$server"
	wait "$front" "$server"
}

# Run the suite of a date against serve before a server of an era.
run_suite() {
	local date=$1 era=$2 name of port server front

	name=$date.$era
	mkdir "$name"
	cat >"$name/matins.toml" <<-END
		[servers.s]
		command = "$PYTHON"
		args = ["offered.py", "$era"]
		cwd = ".."
		sandbox = { read = [".."] }
		[routines.two]
		[[routines.two.steps]]
		name = "a"
		type = "script"
		command = "true"
	END
	start_serve "$name"
	suite "$name" "$date" --suite all
	while read -r name of; do
		[[ $of == "$date" ]] || continue
		grep -qE "^($date|\*) ($era|\*) $name \* " left-out && continue
		is "$date, a server of $era: $name" \
			"$(judge "$date" "$era" "$name")" ""
	done <scenarios
	[[ $date != 2025-11-25 ]] || denied "$era"
	stop_serve
	nothing_left "$date, a server of $era: nothing is left" "$T/offered.py"
}

# "SCENARIO DATE" of each that the suite lists.
"$node" "$suite/dist/index.js" list --server >listed 2>&1
sed -nE 's/^ *- ([a-z0-9-]+) \[(.*)\]$/\1,\2/p' listed |
	awk -F, '{ for (i = 2; i <= NF; i++) print $1, $i }' >scenarios
ok "the suite has scenarios" test -s scenarios
cp "$TOP/tests/conformance/offered.py" .

while read -r name date; do
	[[ $date == extension ]] || continue
	ok "$name is left out with a reason" \
		awk -v name="$name" 'index(name, $1) == 1 { found = 1 }
			END { exit !found }' extensions
done <scenarios

for both in "2025-03-26 2025-11-25" "2025-06-18 2025-11-25" \
	"2025-11-25 2025-11-25" "2026-07-28 2026-07-28" \
	"2025-11-25 2026-07-28" "2026-07-28 2025-11-25"; do
	read -r date era <<<"$both"
	run_suite "$date" "$era"
done

done_testing
