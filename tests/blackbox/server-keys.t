#!/usr/bin/env bash
# The keys of [servers.NAME] that say how a server is spoken to and what it is
# answered: timeout, stdout_max, elicit, elicit_content, roots, sampling; for
# steps and for `call --server`, as root and as an ordinary user.
. "${BASH_SOURCE%/*}/lib.sh"

cp "$TOP/tests/blackbox/asker.py" asker.py
mkdir granted hidden

cat >model.py <<'END'
import json
import os
import sys
import time

mode = sys.argv[1]
params = json.load(sys.stdin)
said = params["messages"][-1]["content"]["text"]
good = {"role": "assistant", "model": "m", "stopReason": "endTurn",
        "content": {"type": "text", "text": f"{said}/{params['maxTokens']}"}}
if mode == "exit":
    sys.exit("broken")
elif mode == "words":
    print("hello")
elif mode == "nomodel":
    del good["model"]
elif mode == "big":
    print(" " * 2000000)
elif mode == "hang":
    time.sleep(1000)
elif mode == "secret":
    good["content"]["text"] = "the value is " + "-".join(sys.argv[2:])
elif mode == "see":
    good["content"]["text"] = str(os.access("granted/" + sys.argv[2], os.R_OK))
print(json.dumps(good, indent=1))
END

SAMPLE='{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}'
FORM='{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","default":7}},"required":["name"]}}'

# server ERA LINES...: k.toml with [servers.s] of these lines
server() {
	local era=$1

	shift
	{
		echo '[servers.s]'
		echo "command = \"$PYTHON\""
		echo "args = [\"$T/asker.py\"${era:+, \"$era\"}]"
		printf '%s\n' "$@"
	} >k.toml
}

# step TOOL PARAMS LINES...: a step of the routine r that uses it
step() {
	printf '%s\n' '[[routines.r.steps]]' 'name = "a"' \
		'type = "mcp-client"' 'server = "s"' "tool = \"$1\"" \
		"params = $2" "${@:3}" >>k.toml
}

# model MODE...: the line of the key
model() {
	local words

	words=$(printf ', "%s"' "$@")
	echo "sampling = [\"$PYTHON\", \"$T/model.py\"$words]"
}

# asks METHOD [PARAMS]: `call` of a tool that asks us that
asks() {
	$as run_matins call ask --no-list -c k.toml --server s \
		method="$1" params:="${2-{\}}"
}

in_both_eras() {
	local era

	for era in "" modern; do
		"$@" "$era" "$who, ${era:-handshake}"
	done
}

# ---- elicit, elicit_content, roots ----

elicitation() {
	server "$1" 'elicit = "accept"' 'elicit_content = { name = "Ada" }'
	asks elicitation/create "$FORM"
	out_is "$2: elicit, elicit_content: accepted, defaults filled in" \
		'[{"action": "accept", "content": {"name": "Ada", "age": 7}}]'
	server "$1" 'elicit = "decline"'
	asks elicitation/create "$FORM"
	out_is "$2: a declined question is answered by decline" '[{"action": "decline"}]'
	server "$1"
	asks elicitation/create "$FORM"
	if [[ $1 ]]; then
		exit_is "$2: without it the question is the server's fault" 1
	else
		out_like "$2: without it there is no such method" -32601
	fi
}

roots() {
	server "$1" "roots = [\"$T/granted\"]" \
		"sandbox = { read = [\"$T/granted\"] }"
	asks roots/list
	out_is "$2: roots: the folder" \
		"[{\"roots\": [{\"uri\": \"file://$T/granted\"}]}]"
	server "$1" "roots = [\"$T/hidden\"]" \
		"sandbox = { read = [\"$T/granted\"] }"
	asks roots/list
	exit_is "$2: roots: one that is not granted" 1
	err_like "$2: the root is named that is not granted" "root $T/hidden: the server may not"
}

# ---- sampling ----

sampling() {
	server "$1" "$(model good)"
	asks sampling/createMessage "$SAMPLE"
	out_is "$2: sampling: the program answers" \
		'[{"role": "assistant", "model": "m", "stopReason": "endTurn", "content": {"type": "text", "text": "hi/9"}}]'
	$as run_matins call declared --no-list -c k.toml --server s
	out_like "$2: sampling: is declared" '"sampling": \{\}'
	server "$1"
	$as run_matins call declared --no-list -c k.toml --server s
	out_unlike "$2: not configured: not declared" sampling
	asks sampling/createMessage "$SAMPLE"
	if [[ $1 ]]; then
		exit_is "$2: not configured: never an answer" 1
		err_like "$2: not configured: says why" 'not offered'
	else
		out_like "$2: not configured: refused" '"code": -32601'
	fi
	server "$1"
	$as run_matins call ask --no-list -c k.toml --server s \
		method=sampling/createMessage params:="$SAMPLE" \
		--sampling "$PYTHON '$T/model.py' good"
	out_like "$2: --sampling says the same" 'hi/9'
}

# refuses MODE TEXT NAME: what the program does is no answer
refuses() {
	server "" "$(model "$1")"
	asks sampling/createMessage "$SAMPLE"
	out_is "$who: SA-9: $3: a refusal" \
		'[{"code": -1, "message": "the program that answers has failed"}]'
	err_like "$who: $3: and says why" "$2"
}

# wrong PARAMS NAME: -32602, and the program is not started
wrong() {
	server "" "$(model good)"
	asks sampling/createMessage "$1"
	out_like "$who: $2: the request is refused with -32602" '"code": -32602'
	err_unlike "$who: $2: nobody answers it" 'python3 answers'
}

bad_sampling() {
	local messages='"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]'

	refuses exit 'exited with status 1' "it exits with 1"
	refuses words 'no JSON' "it prints no JSON"
	refuses nomodel 'model is required' "it prints no result"
	refuses big 'more than 1048576 bytes' "it prints too much"
	wrong "{$messages}" "SA-2: a request without maxTokens"
	wrong "{\"maxTokens\":1,$messages,\"tools\":[]}" "SA-5: a request with tools"
	wrong "{\"maxTokens\":1,$messages,\"toolChoice\":{}}" "SA-5: a request with toolChoice"
	wrong '{"maxTokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]}]}]}' \
		"SA-6: a request with the result of a tool"
	server "" 'sampling = ["/nowhere/model"]'
	asks sampling/createMessage "$SAMPLE"
	exit_is "$who: sampling: a program that is not there" 1
	err_like "$who: sampling: is said before the server starts" \
		'sampling of s: .*/nowhere/model'
	out_is "$who: sampling: and the server is not asked" ""
	server "" "$(model good)"
	asks sampling/createMessage "$SAMPLE"
	$as run_matins call ask --no-list -c k.toml --server s times:=17 \
		method=sampling/createMessage params:="$SAMPLE"
	out_like "$who: SA-10: the seventeenth is refused" \
		'"code": -1, "message": "too many sampling requests"'
	is "$who: SA-10: sixteen are answered" \
		"$(grep -o hi/9 "$out" | wc -l)" 16
}

# What the server may read is not what the program may, and the other way.
own_policy() {
	echo text >"$T/granted/file"
	server "" "$(model see file)" "sandbox = { read = [\"$T/granted\"] }"
	asks sampling/createMessage "$SAMPLE"
	out_like "$who: the server's sandbox is not the program's" \
		'"text": "False"'
	printf '%s\n' '[sandbox]' "read = [\"$T/granted\"]" >>k.toml
	asks sampling/createMessage "$SAMPLE"
	out_like "$who: the program reads what [sandbox] grants" '"text": "True"'
}

# The leash holds for it as well.
leash() {
	local leash='{"fs_read":"all","fs_write":"all","net":"all","max_calls":"unlimited","valid_for_generation":"all","exec":{"only":["'$PYTHON'"]}}'

	printf '#!/bin/sh\nexec cat\n' >other
	chmod 755 other
	server "" "sampling = [\"$T/other\"]"
	step declared '{}'
	MATINS_CAVEATS=$leash asks sampling/createMessage "$SAMPLE"
	exit_is "$who: leash: call: a program that it does not name" 1
	err_like "$who: leash: call: is named" "sampling of s: .*$T/other"
	MATINS_CAVEATS=$leash $as run_matins run -c k.toml r --json
	json_is "$who: leash: run: the step is skipped" \
		step_results[0].reason leash \
		step_results[0].error "~$T/other"
	MATINS_CAVEATS=$leash $as run_matins doctor -c k.toml --json
	out_like "$who: leash: doctor finds it" "sampling of s: .*$T/other"
	server "" "$(model good)"
	MATINS_CAVEATS=$leash asks sampling/createMessage "$SAMPLE"
	out_like "$who: leash: one that it names" 'hi/9'
	$as run_matins doctor -c k.toml --json
	out_unlike "$who: doctor: nothing wrong with it" 'sampling of s'
}

secrets() {
	server "" "$(model secret value one)" \
		'env = { A_TOKEN = { env = "TOKEN" } }'
	step ask "{ method = \"sampling/createMessage\", params = { maxTokens = 1, messages = [{ role = \"user\", content = { type = \"text\", text = \"x\" } }] } }"
	TOKEN=value-one $as run_matins run -c k.toml r --json
	json_is "$who: a secret is not in the answer" \
		step_results[0].state ok \
		step_results[0].output '~the value is \*\*\*'
	file_lacks "$who: a secret is nowhere in the output" "$out" value-one
}

# ---- for steps ----

steps() {
	server "$1" 'elicit = "accept"' 'elicit_content = { name = "Ada" }' \
		"roots = [\"$T/granted\"]" "$(model good)" \
		"sandbox = { read = [\"$T/granted\"] }"
	step ask '{ method = "roots/list" }'
	$as run_matins run -c k.toml r --json
	json_is "$2: a step: roots" step_results[0].state ok \
		step_results[0].output "~file://$T/granted"
	server "$1" 'elicit = "accept"' 'elicit_content = { name = "Ada" }'
	step ask '{ method = "elicitation/create", params = { message = "?", requestedSchema = { type = "object", properties = { name = { type = "string" } } } } }'
	$as run_matins run -c k.toml r --json
	json_is "$2: a step: elicit, elicit_content" \
		step_results[0].output '~"name": "Ada"'
	server "$1" "$(model good)"
	step ask '{ method = "sampling/createMessage", params = { maxTokens = 5, messages = [{ role = "user", content = { type = "text", text = "x" } }] } }'
	$as run_matins run -c k.toml r --json
	json_is "$2: a step: sampling" step_results[0].output '~x/5'
	server "$1" "$(model hang)"
	step ask '{ method = "sampling/createMessage", params = { maxTokens = 5, messages = [{ role = "user", content = { type = "text", text = "x" } }] } }' \
		'timeout = "2s"'
	$as run_matins run -c k.toml r --json
	json_is "$2: a step whose program hangs ends in its time" \
		step_results[0].reason deadline_call
	nothing_left "$2: and so does the program" "$T/"
}

# ---- timeout, stdout_max ----

bounds() {
	server "" 'timeout = "1s"'
	$as run_matins call wait --no-list -c k.toml --server s seconds:=600 \
		--json
	exit_is "$who: timeout: of a call" 1
	json_is "$who: timeout: and which" error.kind deadline_call
	$as run_matins call wait --no-list -c k.toml --server s seconds:=0
	out_is "$who: timeout: one that is kept" waited
	server "" 'stdout_max = "100KiB"'
	$as run_matins call long --no-list -c k.toml --server s bytes:=200000 \
		--json
	exit_is "$who: stdout_max: of a call" 1
	json_is "$who: stdout_max: and which" error.kind output_limit
	$as run_matins call long --no-list -c k.toml --server s bytes:=1000
	exit_is "$who: stdout_max: one below it" 0
	nothing_left "$who: bounds: no process is left" "$T/"
}

# ---- a handshake that fails ----

silent() {
	local signal

	for signal in '' ignore-term; do
		LIMIT_S=30 $as run_matins call x --json --timeout 1s -- \
			"$PEER" -e "$signal"$'\nhang'
		exit_is "$who: a silent server ${signal:+that ignores SIGTERM}: 1" 1
		json_is "$who: and the error has its type" \
			error.kind deadline_initialize
		nothing_left "$who: and it is ended" "$T/"
	done
}

# stopped ARGS...: run_matins, and SIGTERM two seconds later
stopped() {
	local run=("${WRAP[@]}" "$BIN")

	[[ ! $as || $(id -u) -ne 0 ]] ||
		run=("${WRAP[@]}" "${_setpriv[@]}" "$T/.bin/matins")
	run_program /dev/null timeout --preserve-status -s TERM 2 \
		"${run[@]}" "$@"
}

terminated() {
	LIMIT_S=30 stopped call x -- "$PEER" -e hang
	exit_is "$who: SIGTERM while a server is silent" 143
	nothing_left "$who: SIGTERM: the server is ended" "$T/"
	server "" "$(model hang)"
	LIMIT_S=30 stopped call ask --no-list -c k.toml --server s \
		method=sampling/createMessage params:="$SAMPLE"
	exit_is "$who: SIGTERM while a program samples" 143
	nothing_left "$who: SIGTERM: it is ended, and the server" "$T/"
}

all() {
	as=
	[[ $who == root ]] || as=as_user
	in_both_eras elicitation
	in_both_eras roots
	in_both_eras sampling
	in_both_eras steps
	bad_sampling
	own_policy
	leash
	secrets
	bounds
	silent
	terminated
}

who=user
if [[ $(id -u) -eq 0 ]]; then
	who=root
	all
	who=user
fi
all

done_testing
