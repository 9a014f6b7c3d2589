#!/usr/bin/env bash
# fan: one routine for many inputs; each input has one result, whoever dies.
# shellcheck disable=SC2016
if [[ ! ${FAN_NS:-} && $(id -u) -eq 0 ]] && unshare --mount true 2>/dev/null; then
	FAN_NS=1 exec unshare --mount bash "$0"
fi
. "${BASH_SOURCE%/*}/lib.sh"

cat >matins.toml <<'END'
[routines.hello]
params = { name = { type = "string" }, n = { type = "integer", default = 1 } }
[[routines.hello.steps]]
name = "say"
type = "script"
command = "/bin/sh"
args = ["-c", "echo hello $1; test $2 != 7", "sh", "$input.name", "$input.n"]

[routines.within]
[[routines.within.steps]]
name = "really"
type = "approve"
message = "Go on?"
[routines.asks]
[[routines.asks.steps]]
name = "in"
type = "routine"
routine = "within"

[routines.plain]
[[routines.plain.steps]]
name = "say"
type = "script"
command = "/bin/sh"
args = ["-c", "echo $1", "sh", "$input.word"]

[routines.token]
params = { n = { type = "integer" } }
[[routines.token.steps]]
name = "use"
type = "script"
command = "/bin/true"
env = { TOKEN = { env = "FAN_TOKEN" } }

[routines.forger]
params = { n = { type = "integer" } }
[[routines.forger.steps]]
name = "forge"
type = "script"
command = "/bin/sh"
args = ["-c", "echo x >beside && for f in $(find forged -type f); do echo x >>$f && echo wrote $f; done; mv forged elsewhere && echo moved; touch forged/new && echo made; true"]
cwd = "."
sandbox = { write = ["."], exec = ["find", "mv", "touch"] }

[routines.once]
params = { n = { type = "integer" } }
[[routines.once.steps]]
name = "undo"
type = "script"
command = "/bin/sh"
args = ["-c", "echo undo >>undone"]
cwd = "."
after = "failure"
sandbox = { write = ["."] }
[[routines.once.steps]]
name = "send"
type = "script"
command = "/bin/sh"
args = ["-c", "echo $1 >>sent; while test -e slow; do sleep 0.1; done", "sh", "$input.n"]
cwd = "."
idempotent = false
sandbox = { write = ["."] }
END

# inputs N: lines of JSON, of which number 7 fails
inputs() {
	local i

	for ((i = 0; i < $1; i++)); do echo "{\"name\":\"x$i\",\"n\":$i}"; done
}

# count_of DIR WORD: the number of such inputs that status tells
count_of() {
	run_matins fan status "$1" --json
	json_get "$2"
}
count() { count_of d "$1"; }

# ---- plan ----

inputs 25 >in.jsonl
echo '{ "n": 3, "name": "x\u0033" }' >>in.jsonl
run_matins fan plan hello --inputs in.jsonl --per-shard 10 -o d --json
exit_is "plan: status 0" 0
json_is "plan: inputs, shards, and those that are equal" inputs 26 \
	keys 25 shards 3
run_matins fan plan hello --inputs in.jsonl --per-shard 10 -o e
is "plan: equal inputs give equal bytes" \
	"$(cat e/manifest.json e/inputs.jsonl e/equal | sha256sum)" \
	"$(cat d/manifest.json d/inputs.jsonl d/equal | sha256sum)"
run_matins fan plan hello --inputs in.jsonl -o d
exit_is "plan: a folder that has one: status 1" 1
err_like "plan: and that is said" 'has a plan already'
ok "the manifest is JSON" "$PYTHON" -c 'import json; m = json.load(open("d/manifest.json"))
assert m["schema"] == "matins-fan/1" and len(m["shards"]) == 3 and m["shards"][0][0] == 0
assert open("d/inputs.jsonl", "rb").read()[m["shards"][2][0]:].startswith(b"{\"n\":20,")'

printf '%s\n' '{"name":"a"}' '{"name":5}' '' '{"name":"b","m":1}' '{"n":1}' '[1]' '{' >bad.jsonl
run_matins fan plan hello --inputs bad.jsonl -o bad
exit_is "plan: wrong inputs: status 64" 64
err_like "plan: a wrong type, with its line" 'bad.jsonl:2: name: '
err_like "plan: an unknown parameter" 'bad.jsonl:4: m: there is no such parameter'
err_like "plan: one that is missing" 'bad.jsonl:5: name: is missing'
err_like "plan: an array" 'bad.jsonl:6: parameters are a JSON object'
err_like "plan: no JSON" 'bad.jsonl:7: '
err_like "plan: and how many" '5 of the inputs are wrong: nothing is planned'
is "plan: nothing is written" "$(ls -d bad*)" bad.jsonl

printf 'name,n\r\n"a, ""b""\nc",2\r\nd,\r\n"",4\r\n' >in.csv
run_matins fan plan hello --inputs in.csv -o csv
exit_is "plan: CSV: status 0" 0
is "plan: fields have the types that are declared" "$(cat csv/inputs.jsonl)" \
	'{"n":2,"name":"a, \"b\"\nc"}
{"n":1,"name":"d"}
{"n":4,"name":""}'
printf 'name,n\na,x\nb,1,2\n' >bad.csv
run_matins fan plan hello --inputs bad.csv -o bad
exit_is "plan: wrong CSV: status 64" 64
err_like "plan: a field of another type, with its line" 'bad.csv:2: n: '
err_like "plan: a field too many" 'bad.csv:3: 3 fields'
printf 'nmae,n\na,1\nb,2\n' >bad.csv
run_matins fan plan hello --inputs bad.csv -o bad
exit_is "plan: a column of another name: status 64" 64
is "plan: it is told once, with the nearest name" "$(cat "$err")" \
	"matins: bad.csv:1: column nmae: there is no such parameter; did you mean name?"
printf 'name;n\na;1\n' >bad.csv
run_matins fan plan hello --inputs bad.csv -o bad
err_like "plan: columns with another mark between" 'bad.csv:1: column name;n: .*comma'
printf 'n\n1\n' >bad.csv
run_matins fan plan hello --inputs bad.csv -o bad
err_like "plan: a column too few" 'bad.csv:2: name: is missing$'
printf '{"name":"a","name":"b"}\n' >bad.jsonl
run_matins fan plan hello --inputs bad.jsonl -o bad
err_like "plan: a name that is there twice" 'bad.jsonl:1: name: is there twice'
run_matins fan plan hello --inputs in.csv -o none/plan
err_like "plan: a folder that is not there" 'the folder of none/plan does not exist'
run_matins_stdin <(printf '{"word":"a"}\n{"word":1}\n') fan plan plain --inputs - -o p
exit_is "plan: from standard input: status 0" 0
run_matins_stdin <(printf '{"words":"a"}\n') fan plan plain --inputs - -o q
err_like "plan: an input that a step refers to, and nothing declares" \
	'standard input:1: word: is missing'
printf 'word\na\xff\na\xfe\n' >bytes.csv
run_matins fan plan plain --inputs bytes.csv -o q
exit_is "plan: bytes that are no UTF-8 are not made equal: status 64" 64
err_like "plan: and told with their line" 'bytes.csv:3: word: is not UTF-8'
run_matins_stdin <(printf 'word\n 5\n5\n"[1, 2]"\n"[1,2]"\n'; sleep 0.2; echo 1.50) fan plan plain --inputs - -o blanks
is "plan: texts of CSV stay as they are, or are JSON that is the same" "$(cat blanks/inputs.jsonl)" \
	'{"word":" 5"}
{"word":5}
{"word":"[1, 2]"}
{"word":[1,2]}
{"word":1.50}'
run_matins_stdin <(printf '\n'; sleep 0.2; printf 'word\na\n') fan plan plain --inputs - -o piped
exit_is "plan: an empty line first, of a slow pipe: status 0" 0
run_matins_stdin <(printf '\xef'; sleep 0.2; printf '\xbb\xbfword\na\n') fan plan plain --inputs - -o mark
is "plan: a byte order mark of a slow pipe is none" "$(cat mark/inputs.jsonl)" '{"word":"a"}'
printf 'word\na "b\nc\n"d" e\n' >form.csv
run_matins fan plan plain --inputs form.csv -o q
exit_is "plan: a mistake of form: status 64" 64
is "plan: the first one is told, for what follows is not known" "$(grep -c form.csv "$err")" 1
MATINS_CAVEATS='{"fs_read":"all","fs_write":"all","exec":"all","net":"all","max_calls":{"at_most":3},"valid_for_generation":"all"}' \
	run_matins fan plan hello --inputs in.jsonl -o q
exit_is "plan: under a number of calls in one run: status 1" 1
err_like "plan: and it says why" 'max_calls of the leash counts in one run'
run_matins fan plan hello --inputs in.jsonl -o -
exit_is "plan: a folder has no standard output: status 64" 64
run_matins fan plan asks --inputs in.jsonl -o q
exit_is "plan: a routine that asks a person, in one within: status 1" 1
err_like "plan: and names the step" 'step really asks a person'
MATINS_CAVEATS=garbage run_matins fan plan hello --inputs in.jsonl -o q
isnt "plan: a leash that cannot be read is refused" "$status" 0
not_ok "plan: and nothing is there" test -e q
run_matins_stdin /dev/null fan plan hello --inputs - -o q
exit_is "plan: no inputs at all: status 64" 64

# ---- exec, status, collect ----

run_matins fan status d --json
json_is "status: nothing has run" total 26 ok 0 failed 0 running 0 \
	missing 26 duplicates 0 left_s null
run_matins fan exec d --shard 0
exit_is "exec: an input fails: status 2" 2
run_matins fan exec d --shard 0 --json
exit_is "exec: once more: status 2, since it failed" 2
json_is "exec: and nothing runs twice" had 10 ok 0 failed 0
run_matins fan collect d -o part.json
exit_is "collect: incomplete: status 3" 3
json_file_is "collect: with what is missing" part.json total 26 ok 10 \
	failed 1 missing 15 items[7].state failed \
	items[7].reason exit_status items[0].report.step_results[0].output 'hello x0' \
	items[24].state missing items[24].report null \
	items[25].state ok reasons[0].n 1
SLURM_ARRAY_TASK_ID=2 run_matins fan exec d -j 3
exit_is "exec: the shard of a job array: status 0" 0
is "status: an input that is there twice has one result" "$(count ok)" 15
PARALLEL_SEQ=2 run_matins fan exec d --json
json_is "exec: GNU parallel counts from one" shard 1 ok 10
JOB_COMPLETION_INDEX=3 run_matins fan exec d
exit_is "exec: a shard that the plan has not: status 64" 64
run_matins fan exec d
exit_is "exec: no shard at all: status 64" 64
err_like "exec: and the numbers there are" 'name a --shard, 0 to 2'
run_matins fan plan hello --inputs in.jsonl -o single
run_matins fan exec single
exit_is "exec: the only shard needs no number: status 2, an input fails" 2
out_like "exec: and it has all inputs" '^shard 0: 26 inputs, '
run_matins fan status d --json
json_is "status: all have run" ok 25 failed 1 missing 0 left_s 0
for form in json jsonl md html; do
	run_matins fan collect d -o "all.$form"
	exit_is "collect: $form: complete, with a failure: status 2" 2
done
ok "collect: JSONL, a line for each input behind the totals" \
	test "$(wc -l <all.jsonl)" == 27
file_like "collect: Markdown has the failure" all.md '^\| 7 \| failed \|.*exit\\?_status'
file_like "collect: the page has it, too" all.html '<td>7</td><td>failed</td>'
run_matins fan collect d -o -
exit_is "collect: to standard output: status 2, as to a file" 2
ok "collect: there it is JSONL" cmp "$out" all.jsonl
for form in json md html; do
	run_matins fan collect d -o - "--$form"
	ok "collect: there it is $form where that is asked for" cmp "$out" "all.$form"
done
run_matins fan collect d -o all.txt --md
ok "collect: an option goes before the name of the file" cmp all.txt all.md
run_matins fan collect d -o - --md --html
exit_is "collect: two forms at once: status 64" 64
if [[ -e /dev/full ]]; then
	run_program /dev/null bash -c '"$0" fan collect d -o - >/dev/full' "$BIN"
	exit_is "collect: standard output that is full: status 1" 1
	err_like "collect: and that is said" 'write standard output: No space left'
fi
run_matins fan collect d -o golden.json --golden
cp golden.json first.json
for shard in 2 0 1; do run_matins fan exec e --shard $shard -j 4; done
run_matins fan collect e -o golden.json --golden
ok "collect --golden: equal results, equal bytes" cmp golden.json first.json
file_unlike "collect --golden: without times" golden.json '"us"|started|generation'
run_matins fan collect d -o report.txt
exit_is "collect: a form that there is not: status 64" 64
run_matins fan collect d --deep -o x.json
exit_is "an option of another action: status 64" 64
run_matins fan collect d report.json
exit_is "a file where an option is due: status 64" 64
err_like "and how each action is called" 'fan exec.submit.status.retry.collect DIR$'
run_matins fan colect d
err_like "an action that there is not" 'did you mean collect'

# ---- a server: one process for a shard, after the first input has gone ----

tool_server server.py <<'END'
import os
text = f"{a['n']} {os.getpid()}"
END
cat >served.toml <<END
[servers.s]
command = "$PYTHON"
args = ["$T/server.py"]
sandbox = { read = ["$T"] }
[routines.ask]
params = { n = { type = "integer" } }
[[routines.ask.steps]]
name = "first"
type = "script"
command = "/bin/true"
[[routines.ask.steps]]
name = "call"
type = "mcp-client"
server = "s"
tool = "t"
params = { n = "\$input.n" }
[routines.all]
[[routines.all.steps]]
name = "each"
type = "routine"
routine = "ask"
foreach = "\$input.items"
params = { n = "\$item.n" }
END
for ((i = 0; i < 12; i++)); do echo "{\"n\":$i}"; done >asked.jsonl
run_matins fan plan ask -c served.toml --inputs asked.jsonl -o served
run_matins fan exec served --shard 0 -j 3
exit_is "a server: status 0" 0
run_matins fan collect served -o served.jsonl
is "a server: one process has all calls" \
	"$(grep -oE '"output":"[0-9]+ [0-9]+"' served.jsonl | sed 's/.* //' | sort | uniq -c | awk '{print $1}')" 12
run_matins run -c served.toml all -p items:="[$(paste -sd, asked.jsonl)]" --json
exit_is "a server of a routine in a foreach: status 0" 0

# ---- flushed before it is said ----

if command -v strace >/dev/null && strace -o trace true 2>/dev/null; then
	run_matins fan plan hello --inputs in.jsonl --per-shard 5 -o flushed
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
		strace -qq -o trace -e trace=linkat,syncfs "$BIN" fan exec flushed --shard 0 -q >/dev/null
	is "exec: the bytes of results are flushed before they have their names" \
		"$(head -n 2 trace | cut -d'(' -f1 | xargs)" "syncfs linkat"
	is "exec: the names of results are flushed before it ends" \
		"$(grep -om1 linkat trace) $(tail -n 1 trace | cut -d'(' -f1)" "linkat syncfs"
else
	skip "what is flushed" "no strace that works"
fi

# ---- results that are no results ----

# of inputs that are there once
mapfile -t results < <(find d/results -name "*.json" | grep -v "$(cut -d' ' -f1 d/equal)")
truncate -s 100 "${results[0]}"
: >"${results[1]}"
sed -i 's/"key":"./"key":"_/' "${results[2]}"
touch d/tmp/elsewhere.1.1.0 "d/results/.x.json"
run_matins fan status d --json
json_is "status: torn results are missing" missing 3
run_matins fan collect d -o torn.json
json_file_is "collect: they are missing there, too" torn.json missing 3
for shard in 0 1 2; do
	run_matins fan exec d --shard $shard
	[[ $status == [02] ]] || break
done
is "exec: they run again" "$status $(count missing)" "0 0"
run_matins fan collect d -o golden.json --golden
ok "and the report is the same" cmp golden.json first.json
touch -d '2 minutes ago' d/tmp/elsewhere.1.1.0
run_matins fan exec d --shard 0
is "drafts of processes that are gone are swept" "$(ls d/tmp d/running)" $'d/running:\n\nd/tmp:'

rm "${results[0]}" "${results[1]}" "${results[2]}"
mkfifo "${results[0]}"
ln -s /etc/hostname "${results[1]}"
mkdir "${results[2]}"
run_matins fan status d --json
json_is "a FIFO, a link and a folder are no results" missing 3
run_matins fan collect d -o odd.json
json_file_is "collect: they are missing" odd.json missing 3
for shard in 0 1 2; do
	run_matins fan exec d --shard $shard
	[[ $status == [02] ]] || break
done
is "exec: these inputs run again" "$status $(count missing)" "0 0"
cp d/inputs.jsonl whole.jsonl
truncate -s 60 d/inputs.jsonl
run_matins fan exec d --shard 0
exit_is "exec: inputs that were cut: status 75" 75
err_like "exec: and the file is named" 'inputs.jsonl ends before the shard does'
run_matins fan exec d --shard 1
exit_is "exec: a shard that is gone: status 75" 75
cp whole.jsonl d/inputs.jsonl
sed -i '1s/x0/x9/' d/inputs.jsonl
run_matins fan exec d --shard 0 --json
exit_is "exec: inputs that are not those of the plan: status 1" 1
err_like "exec: and the file is named" 'inputs.jsonl has not the inputs that were planned'
run_matins fan exec d --shard 1
exit_is "exec: another shard, of the same bytes, runs" 0
# the row of the shard, with the digits of the other input
cp d/manifest.json kept.json
"$PYTHON" - <<'END'
import hashlib
lines = open("d/inputs.jsonl", "rb").read().splitlines(True)
text = open("d/manifest.json").read()
head, rows = text.split('"shards":[\n')
digits = rows.split('"')[1]
rows = rows.replace(digits, hashlib.sha256(b"".join(lines[:10])).hexdigest()[:16], 1)
open("d/manifest.json", "w").write(head + '"shards":[\n' + rows)
END
run_matins fan exec d --shard 0
exit_is "exec: a row of the plan was written for it: status 1" 1
err_like "exec: and that is said" 'manifest.json has not the shards that were planned'
cp kept.json d/manifest.json
cp whole.jsonl d/inputs.jsonl
chmod o+w d/inputs.jsonl
run_matins fan exec d --shard 0
exit_is "exec: inputs that others can write: status 1" 1
chmod o-w d/inputs.jsonl
chmod o+w d/results
run_matins fan exec d --shard 0
exit_is "exec: results that others can put there: status 1" 1
err_like "exec: and the folder is named" 'is no plan: results belongs to another user'
chmod o-w d/results

# a whole result that comes while a torn one is taken away, and no room to link it
if command -v strace >/dev/null && strace -o trace true 2>/dev/null; then
	result=$(find d/results -name '*.json' -type f | head -n 1)
	cp "$result" whole.json
	for shard in 0 1 2; do
		: >"$result"
		: >told
		ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
			strace -qq -o trace -e trace=renameat,linkat -e inject=renameat:delay_enter=1500000:when=1 \
			-e inject=linkat:error=ENOSPC:when=1 "$BIN" fan exec d --shard $shard >/dev/null 2>told &
		pid=$!
		torn() { grep -q 'is torn' told || ! kill -0 $pid 2>/dev/null; }
		wait_for 10 torn
		cp whole.json whole.again
		grep -q 'is torn' told && mv whole.again "$result"
		wait $pid
		grep -q 'is torn' told && break
	done
	ok "a result that is taken for torn is somewhere, whole" \
		grep -qrF "$(<whole.json)" d/results d/retried
	for shard in 0 1 2; do run_matins fan exec d --shard $shard; done
	is "and nothing is missing" "$(count missing)" 0

	# a file system of a network says EPERM where another machine was faster
	run_matins fan plan hello --inputs in.jsonl --per-shard 1 -o links
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
		strace -qq -o trace -e trace=linkat \
		-e inject=linkat:error=EPERM:delay_enter=1500000:when=1 \
		"$BIN" fan exec links --shard 0 >told 2>&1 &
	pid=$!
	draft=
	drafted() {
		draft=$(find links/tmp -type f -size +0 2>/dev/null)
		[[ -n $draft ]] || ! kill -0 $pid 2>/dev/null
	}
	wait_for 10 drafted
	key=$(sed -E 's/.*"key":"([0-9a-f]*)".*/\1/' "$draft")
	mkdir -p "links/results/${key:0:2}"
	cp "$draft" "links/results/${key:0:2}/$key.json"
	wait $pid
	is "a result whose place was taken on a file system of a network is done" $? 0
	is "and came second" "$(find links/dropped -type f | wc -l)" 1
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
		strace -qq -o trace -e trace=linkat -e inject=linkat:error=EPERM \
		"$BIN" fan plan hello --inputs in.jsonl -o linkless 2>told
	is "plan: a file system without links is refused" $? 1
	file_like "plan: and why" told 'linkless: its file system makes no hard links'
	ok "plan: and nothing stays" bash -c '! compgen -G "linkless*"'
else
	skip "a result that is put back" "no strace that works"
fi

# ---- numbers by name ----

key=$(basename "$(find d/results -name '*.json' | head -n 1)" .json)
mkdir -p d/results/zz "d/results/$( ((16#${key:0:2} == 0)) && echo 01 || echo 00)"
for folder in d/results/*; do
	[[ $folder == */${key:0:2} ]] || cp "d/results/${key:0:2}/$key.json" "$folder"
done
is "status: a result in folders of other keys is there once" "$(count ok)" 25

"$PYTHON" -c 'for i in range(50001): print("{\"name\":\"x\",\"n\":%d}" % i)
print("{\"name\":\"x\",\"n\":7}")' >many.jsonl
run_matins fan plan hello --inputs many.jsonl --per-shard 10 -o many
run_matins fan exec many --shard 0 -j 4
exit_is "a plan of many inputs: one fails: status 2" 2
run_matins fan status many --json
json_is "status: names of results and marks are counted, the equal input too" \
	total 50002 ok 9 failed 2 missing 49991 looked false
key=$(basename "$(find many/results -name '*.json' | head -n 1)" .json)
cp -R many/results/"${key:0:2}" many/results/copy
: >"many/failed/$(basename "$(dirname "$(find many/failed -type f)")")/${key//?/0}"
run_matins fan status many --json
json_is "status: a mark without a result is no failure" ok 9 failed 2
ok_one=$(grep -l '"ok":true' many/results/*/*.json | head -n 1)
key=$(basename "$ok_one" .json)
mkdir -p "many/failed/${key:0:2}"
: >"many/failed/${key:0:2}/$key"
rm "$ok_one"
run_matins fan exec many --shard 0
run_matins fan status many --json
json_is "exec: a result that is well has no mark of a failure before" ok 9 failed 2
rm -r many

# ---- a plan that others could write ----

chmod o+w d/manifest.json
run_matins fan exec d --shard 0
exit_is "a manifest that others can write: status 1" 1
chmod o-w d/manifest.json
sed -i 's/hello \$1/hallo $1/' d/manifest.json
run_matins fan exec d --shard 0
exit_is "a configuration that was edited in the manifest: status 1" 1
sed -i 's/hallo \$1/hello $1/' d/manifest.json
MATINS_CAVEATS='{"fs_read":"all","fs_write":"all","exec":{"only":[]},"net":"all","max_calls":"unlimited","valid_for_generation":"all"}' \
	run_matins fan plan hello --inputs in.jsonl -o leash
run_matins fan exec leash --shard 0
exit_is "a leash of the plan holds on each node: status 2" 2
run_matins fan collect leash -o leash.json
json_file_is "and nothing ran" leash.json items[0].reason leash ok 0

# ---- processes that die, twice at once ----

rm -rf d
inputs 120 >in.jsonl
run_matins fan plan hello --inputs in.jsonl --per-shard 40 -o d
run_matins fan plan hello --inputs in.jsonl --per-shard 40 -o calm
for shard in 0 1 2; do run_matins fan exec calm --shard $shard -j 8; done
run_matins fan collect calm -o calm.json --golden
true_at_each_look() {
	local line

	"$BIN" fan status d --json >look.json 2>>"$err" || return 1
	line=$(tr -d ' "' <look.json)
	[[ $line =~ total:120,ok:([0-9]+),failed:([0-9]+),running:([0-9]+),missing:([0-9]+) ]] &&
		((BASH_REMATCH[1] + BASH_REMATCH[2] + BASH_REMATCH[3] + BASH_REMATCH[4] == 120)) &&
		((BASH_REMATCH[1] + BASH_REMATCH[2] >= last)) &&
		last=$((BASH_REMATCH[1] + BASH_REMATCH[2]))
}
last=0 untrue=0
for round in 1 2 3 4 5 6; do
	pids=()
	for shard in 0 1 2 $((round % 3)); do
		MATINS_STATE=$T/state.$shard "$BIN" fan exec d --shard $shard -j 2 \
			>/dev/null 2>&1 &
		pids+=($!)
	done
	sleep "0.$((RANDOM % 4))"
	for pid in "${pids[@]}"; do
		((RANDOM % 3)) && kill -s "$( ((RANDOM % 2)) && echo KILL || echo TERM)" "$pid"
	done 2>/dev/null
	true_at_each_look || ((untrue++))
	wait "${pids[@]}"
done 2>/dev/null
is "status was true at each look" $untrue 0
for shard in 0 1 2; do run_matins fan exec d --shard $shard -j 4; done
is "killed at random: every input has one result" \
	"$(find d/results -name '*.json' | wc -l) $(count ok) $(count failed)" "120 119 1"
run_matins fan collect d -o wild.json --golden
ok "and the report is the undisturbed one" cmp wild.json calm.json

# ---- a disk that is full ----

inputs 60 >in.jsonl
mkdir -m 700 disk
if [[ ${FAN_NS:-} ]] && mount -t tmpfs -o size=128k,mode=700 none disk 2>/dev/null; then
	run_matins fan plan hello --inputs in.jsonl -o disk/d
	run_matins fan exec disk/d --shard 0
	exit_is "a full disk: status 75" 75
	err_like "and it says why" 'No space left'
	is "no draft is left" "$(ls disk/d/tmp)" ''
	run_matins fan status disk/d --json
	ok "each result that is there is whole" test "$(json_get ok)" -gt 0
	mount -o remount,size=8m disk
	run_matins fan exec disk/d --shard 0 -j 4
	exit_is "with room again the rest runs: status 2" 2
	run_matins fan collect disk/d -o full.json
	json_file_is "and all is there" full.json ok 59 failed 1 missing 0
	umount disk
else
	skip "a full disk" "no file system of our own can be had here"
fi

run_matins fan plan hello --inputs in.jsonl -o closed
run_matins fan exec closed --shard 0
rm -r closed/results
if [[ $(id -u) -ne 0 ]]; then
	chmod 500 closed/running
elif [[ ${FAN_NS:-} ]] && mount --bind closed closed 2>/dev/null; then
	mount -o remount,bind,ro closed
fi
if [[ $(id -u) -ne 0 ]] || ! mkdir closed/can 2>/dev/null; then
	run_matins fan exec closed --shard 0 --json
	exit_is "a plan that cannot be written: status 1, not to be tried again" 1
	json_is "and no input has run" inputs 60 ok 0 failed 0 cut 60
	umount closed 2>/dev/null || chmod 700 closed/running
else
	skip "a plan that cannot be written" "no mount of our own can be had here"
fi

# ---- steps that must not run twice ----

echo '{"n":0}' >in.jsonl
run_matins fan plan once --inputs in.jsonl -o once
touch slow
"$BIN" fan exec once --shard 0 >/dev/null 2>&1 &
pid=$!
wait_for 25 test -s sent
is "status: an input that has just begun runs" \
	"$(count_of once running) $(count_of once missing)" "1 0"
run_matins fan exec once --shard 0 --json
exit_is "a claim that is held elsewhere: status 75" 75
json_is "and the input stays as it is" held 1
not_ok "and nothing of it runs, not even what follows a failure" test -e undone
mark=(once/running/*)
claim=(once/claims/*/*)
cp "${claim[0]}" claim
echo -n "elsewhere-1-1.1.1" >"${claim[0]}"
: >once/running/elsewhere-1-1.1.1
touch -d '70 seconds ago' once/running/elsewhere-1-1.1.1
run_matins fan exec once --shard 0 --json
exit_is "a process elsewhere that was silent for a minute lives: status 75" 75
cp claim "${claim[0]}"
rm once/running/elsewhere-1-1.1.1
is "and no mark of another was removed" "$(ls once/running)" "${mark[0]##*/}"
echo -n "gone-1-1.1.1" >"${claim[0]}"
run_matins fan exec once --shard 0
cp claim "${claim[0]}"
is "an input whose holder was taken for gone has failed" "$status $(count_of once failed)" "2 1"
rm slow
wait $pid
is "and when it ends well after all, its result counts" "$? $(count_of once ok) $(count_of once failed)" "0 1 0"

# killed while it runs
rm -r once/results once/claims
: >slow
: >sent
"$BIN" fan exec once --shard 0 >/dev/null 2>&1 &
pid=$!
wait_for 10 test -s sent
kill -KILL $pid
wait $pid 2>/dev/null
rm slow
: >sent
run_matins fan exec once --shard 0
exit_is "a step of which the end is not known: status 2" 2
is "a shard that was lost goes on without a word: its results say what is left" "$(<"$err")" ''
lost=$(run_matins history && awk '/lost .*once.shard-0/ { print $1; exit }' "$out")
run_matins show "$lost"
err_like "show: a shard that was lost, and what helps" \
	'of once/shard-0, .* was lost: it has no report; .matins fan retry DIR. runs the inputs that lack a result'
is "is not done again" "$(cat sent)" ''
run_matins fan collect once -o once.json
json_file_is "and the input has failed: claimed" once.json \
	items[0].reason claimed items[0].state failed

# ---- until standard input ends ----

run_matins fan plan once --inputs in.jsonl -o held
mkfifo hold
: >slow
: >sent
"$BIN" fan exec held --shard 0 --until-eof <hold >/dev/null 2>&1 &
pid=$!
exec 7>hold
wait_for 10 test -s sent
exec 7>&-
gone() { ! kill -0 $pid 2>/dev/null; }
wait_for 15 gone
rm slow
wait $pid
is "exec --until-eof: ends when standard input does: status 75" $? 75

# ---- a step that writes the folder around the plan ----

run_matins fan plan forger --inputs in.jsonl -o forged
sum=$(sha256sum forged/*.json* forged/equal)
run_matins fan exec forged --shard 0
run_matins fan collect forged -o forger.json
if "$BIN" exec --require mntns -- true 2>/dev/null; then
	json_file_is "a step writes beside the plan, and into it nothing" forger.json \
		items[0].state ok items[0].report.step_results[0].output ''
	is "its files are as they were" "$(sha256sum forged/*.json* forged/equal)" "$sum"
	ok "the step could write" test -s beside
else
	skip "the folder of a plan is not written by its steps" "no view can be had here"
fi

# ---- a machine that lacks something ----

run_matins fan plan token --inputs in.jsonl -o token
run_matins fan exec token --shard 0
exit_is "a credential that is not here: status 75" 75
err_like "and it says what is missing" 'use cannot run on this machine: .*FAN_TOKEN'
run_matins fan status token --json
json_is "the input is left for another machine" missing 1 failed 0
FAN_TOKEN=abcdefgh run_matins fan exec token --shard 0
exit_is "which has it: status 0" 0

# ---- a plan that another program rewrote ----

printf '{"word":"x"}\n' >planned.jsonl
run_matins fan plan plain --inputs planned.jsonl -o planned
cat >rewrite.py <<'END'
import hashlib, json
plan = json.load(open("planned/manifest.json"))["config"]["text"]
forged = plan.replace("echo $1", "echo forged $1")
text = open("planned/manifest.json").read()
for old, new in ((plan, forged), *[[hashlib.sha256(t.encode()).hexdigest()
                                    for t in (plan, forged)]]):
    text = text.replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1])
open("planned/manifest.json", "w").write(text)
END
cp -r planned moved
cp planned/manifest.json before.json
run_matins exec --write . --read rewrite.py -- "$PYTHON" rewrite.py
file_has "the manifest was rewritten" planned/manifest.json 'echo forged'
cp planned/manifest.json forged.json
run_matins fan exec planned --shard 0
exit_is "a plan that another program rewrote is not run" 1
err_like "and the person is told what to do" \
	'planned/manifest.json is not as .matins fan plan. wrote it here: plan again, or remove '
run_matins fan exec moved --shard 0
exit_is "a copy elsewhere is believed" 0
cp before.json planned/manifest.json
run_matins fan exec planned --shard 0
exit_is "the plan as it was runs" 0
mv planned kept-plan
cp -r moved other-plan
rm -rf other-plan/results
cp forged.json other-plan/manifest.json
ln -s other-plan planned
run_matins fan exec planned --shard 0
exit_is "another plan behind a link of that name does not run" 1
err_like "as the person is told" 'is not as .matins fan plan. wrote it here'
run_matins fan exec other-plan --shard 0
exit_is "which is believed by its own name" 0
ln -s kept-plan link
run_matins fan exec link --shard 0
exit_is "a link of another name leads to a plan" 0

done_testing
