#!/usr/bin/env bash
# Parameters that a routine declares: read by their types, judged before
# anything starts, never more than values.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

cat >p.toml <<-'END'
	[routines.digest]
	description = "what happened"

	[routines.digest.params]
	repo = { type = "string", description = "owner/name", pattern = "^[^/]+/[^/]+$" }
	days = { type = "integer", default = 7, minimum = 1 }
	mode = { enum = ["full", "short"], default = "full" }

	[[routines.digest.steps]]
	name = "show"
	type = "script"
	command = "printf"
	args = ["<%s>", "$input.repo", "$input.days", "{{input.mode}}", "$input"]
END

shown() {
	json_get step_results[0].output >got
	cat got
}

# ---- values ----

run_matins run -c p.toml digest -p repo=a/b --json
exit_is "defaults fill in: status 0" 0
is "defaults fill in, and \$input is all of them" "$(shown)" \
	'<a/b><7><full><{"repo":"a/b","days":7,"mode":"full"}>'

run_matins run -c p.toml digest -p 'repo:="a\u002fb"' -p days=123456789012345678901234567890 --json
is "numbers go on as they were written" "$(shown)" \
	'<a/b><123456789012345678901234567890><full><{"repo":"a\u002fb","days":123456789012345678901234567890,"mode":"full"}>'

echo '{"repo": "x/y", "days": 3}' >given.json
run_matins run -c p.toml digest --params given.json -p days=4 --json
is "--params reads an object, and -p wins over it" "$(shown)" \
	'<x/y><4><full><{"repo":"x/y","days":4,"mode":"full"}>'
run_matins_stdin given.json step -c p.toml digest show --params - --json
is "--params - reads standard input, of step, too" "$(shown)" \
	'<x/y><3><full><{"repo":"x/y","days":3,"mode":"full"}>'

# a value is a value: no option, no other parameter, no reference
run_matins run -c p.toml digest -p 'repo=--days=9/","days":9,"x":"$input.mode' --json
is "a value cannot become another parameter, an option or a reference" "$(shown)" \
	'<--days=9/","days":9,"x":"$input.mode><7><full><{"repo":"--days=9/\",\"days\":9,\"x\":\"$input.mode","days":7,"mode":"full"}>'

# ---- mistakes ----

run_matins history
cp "$out" history
run_matins run -c p.toml digest -p days=0 -p mode=shor -p reop=a/b -p zzz=1
exit_is "mistakes: status 64" 64
for line in 'repo: is missing \(owner/name\): add -p repo=VALUE' \
	'days: is 0, must be at least 1' \
	'mode: is "shor", must be one of "full", "short"; did you mean "short"\?' \
	'reop: there is no such parameter; did you mean repo\?' \
	'zzz: there is no such parameter; there are: repo, days, mode'; do
	err_like "all mistakes at once: ${line%% *}" "$line"
done
err_like "mistakes lead to the list of parameters" 'matins list -c .*p\.toml digest'
run_matins history
is "nothing has started" "$(<"$out")" "$(<history)"

for words in 'days=x' 'repo=ab' 'repo:=5' 'days:=[1]' 'mode=' 'days=1.5'; do
	run_matins run -c p.toml digest -p repo=a/b -p "$words"
	exit_is "-p $words: status 64" 64
done
for words in x =x :=x repo:=x; do
	run_matins run -c p.toml digest -p "$words"
	exit_is "-p $words: status 64" 64
	err_like "-p $words is said" "^matins: -p $words"
done

cat >many.toml <<-'END'
	[routines.r.params]
	list = { type = "array" }
	table = { type = "object" }
	[[routines.r.steps]]
	name = "show"
	type = "script"
	command = "echo"
	args = ["$input.list", "$input.table"]
END
run_matins run -c many.toml r -p list='["a' -p table=x
err_like "a list that is no JSON: how to write it" \
	'list: is a string, must be an array; write it as .\["a", "b"\].$'
err_like "likewise an object" 'table: .* an object; write it as .\{"a": "b"\}.$'

echo '[1]' >list.json
: >empty.json
for file in list.json empty.json nothere.json; do
	run_matins run -c p.toml digest --params "$file"
	exit_is "--params $file: status 64" 64
	is "--params $file does not run" "$(<"$out")" ""
done

mkfifo fifo
timeout 20 "$BIN" run -c p.toml digest --params fifo >"$out" 2>"$err"
is "--params of a FIFO that nothing writes waits for nothing" $? 64
err_like "and is told" 'fifo: not a regular file'
"$BIN" run -c p.toml digest --json --params <(cat given.json) >"$out" 2>"$err"
is "a pipe of the shell is read" "$(shown)" \
	'<x/y><3><full><{"repo":"x/y","days":3,"mode":"full"}>'

# ---- the other commands ----

run_matins doctor -c p.toml digest
exit_is "doctor needs no values" 0
run_matins doctor -c p.toml digest -p days=x
exit_is "doctor judges those that it gets" 64
run_matins trace -c p.toml digest show -p days=x
exit_is "trace: status 64" 64
err_like "trace says what is wrong" 'days: is a string, must be an integer'
run_matins trace -c p.toml digest -p reop=a/b
exit_is "trace of all steps: status 64" 64
is "trace of all steps says it once" "$(grep -c reop "$err")" 1
run_matins golden record digest -c p.toml -p days=x
exit_is "golden: status 64" 64
run_matins run -c p.toml digest -n
exit_is "a dry run, too" 64

# ---- shown ----

cat >want <<-'END'

	Parameters, set by -p NAME=VALUE:
	  repo  string, required: owner/name
	  days  integer, default 7
	  mode  "full" or "short", default "full"
END
run_matins list -c p.toml digest
{
	echo 'digest: what happened'
	cat want
	printf '\nSteps:\n  show  script\n'
} >all
is "list shows the parameters and steps of a routine" "$(<"$out")" "$(<all)"
run_matins list -c p.toml digest --json
json_is "list --json has the schemas" routines '#1' routines[0].params '#3' \
	routines[0].params[0].required true \
	routines[0].params[1].schema.default 7
run_matins list -c p.toml digest --names
exit_is "list takes a routine or a list" 64
for command in run step doctor trace 'golden record'; do
	# shellcheck disable=SC2086
	run_matins $command -c p.toml digest --help
	exit_is "$command digest --help: status 0" 0
	is "$command digest --help shows them" \
		"$(tail -n 5 "$out")" "$(<want)"
done
run_matins run -c p.toml nothere --help
exit_is "help needs no routine" 0
err_like "help says that there is none" 'no routine nothere'
printf '[routines.r]\nsteps = []\n[routines.r.params]\na = { description = "\\u001b[2J\\nx" }\n' >c.toml
run_matins list -c c.toml r
out_like "control characters are shown, not obeyed" 'a  any value, required: \\x1b\[2J\\x0ax$'

run_matins __complete run -c p.toml digest -p ''
out_is "completion: names" $'repo=\towner/name\ndays=\nmode='
run_matins __complete run -c p.toml digest -p mode=f
out_is "completion: values" $':before mode=\nfull\nshort'
run_matins __complete run -c p.toml digest -p mode = f
out_is "completion: values, as bash cuts words" $'full\nshort'
run_matins __complete run -c p.toml digest --param=mode=
out_is "completion: values of the long option" $':before --param=mode=\nfull\nshort'
run_matins __complete step -c p.toml digest -p mode = full ''
out_is "completion: the words behind" show

# ---- check ----

cat >bad.toml <<-'END'
	[routines.r]
	steps = [{ name = "a", type = "script", command = "echo", args = ["$input.rep", "{{input.repo}}"], when = { "$input.dasy" = true } }]
	[routines.r.params]
	repo = { type = "strin" }
	days = { type = "integer", default = "7" }
	"x=y" = {}
	[routines.s]
	steps = [{ name = "a", type = "script", command = "echo", args = ["$input.any"] }]
END
run_matins check bad.toml
exit_is "check finds them: status 1" 1
for line in ':2:.*routine r has no parameter "rep"; did you mean "repo"\?' \
	':2:.*routine r has no parameter "dasy"; did you mean "days"\?' \
	':4:1: .*parameter "repo" is a JSON Schema.*/type' \
	':5:.*default of parameter "days": is a string, must be an integer' \
	':6:1: .*the name of a parameter'; do
	err_like "check places ${line:0:3}" "$line"
done
run_matins list -c bad.toml r
exit_is "list of a wrong table: status 1" 1
err_like "list places it" '^matins: bad\.toml:4:1: parameter "repo"'
run_matins run -c bad.toml r --help
exit_is "help stays" 0
err_like "help says it" 'bad\.toml:4:1: parameter "repo"'
run_matins check bad.toml
err_unlike "a routine without the table has any parameter" '"any"'

cat >calls.toml <<-'END'
	[routines.outer]
	steps = [
	  { name = "ok", type = "routine", routine = "digest", params = { repo = "a/b", days = "$input.days" } },
	  { name = "more", type = "routine", routine = "digest", foreach = "$input.all", with = { repo = "$item" } },
	  { name = "bad", type = "routine", routine = "digest", params = { days = 0, mode = "$$x", reop = "{{input.x}}" } },
	  { name = "text", type = "routine", routine = "digest", params = { repo = "ab" } },
	]
END
cat p.toml >>calls.toml
run_matins check calls.toml
for line in '5:[0-9]*: parameter "days": is 0, must be at least 1' \
	'5:[0-9]*: routine digest has no parameter "reop"; did you mean "repo"\?' \
	'5:[0-9]*: routine digest needs the parameter "repo": add it to `params` of step "bad"' \
	'6:[0-9]*: parameter "repo": does not match the pattern'; do
	err_like "check judges what a step hands over: ${line#*: }" "calls\.toml:$line"
done
err_like "and no value that is not known yet" 'calls\.toml: 4 errors'

# ---- the schema of the configuration ----

run_matins schema
exit_is "schema: status 0" 0
err_is "schema says nothing else" ""
json_is "schema has every table" title "configuration of matins" \
	definitions.routine.properties.params.type object \
	definitions.server.properties.timeout.default 60s
run_matins schema x
exit_is "schema takes no word" 64
run_matins schema
cp "$out" matins.schema.json
{
	echo '#:schema ./matins.schema.json'
	cat p.toml
} >named.toml
run_matins check named.toml
exit_is "the line that names it is a comment" 0

# ---- a parameter that no step uses ----

cat >unused.toml <<-'END'
	[routines.r]
	params.k = { type = "string", default = "x" }
	params.used = { default = 1 }
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "echo"
	args = ["{{input.used}}"]
END
run_matins check unused.toml
err_is "a declared parameter that no step uses is warned of, and no other" \
	'unused.toml:2:8: warning: no step of routine "r" uses the parameter "k": write "$input.k" in `params` or `args` of a step'
sed -i 's/{{input.used}}/$input/' unused.toml
run_matins check unused.toml
err_is "its twin: a step uses all of them" ""

# ---- one step demands what it uses ----

echo text >"$T/none"
mkdir -p part
cat >part/r.toml <<-END
	[routines.r.params]
	k = { type = "string" }
	[[routines.r.steps]]
	name = "plain"
	type = "script"
	command = "sh"
	args = ["-c", "cat $T/none"]
	[[routines.r.steps]]
	name = "uses"
	type = "script"
	command = "sh"
	args = ["-c", "cat $T/none", "-", "\$input.k"]
END
run_matins step -c part/r.toml r plain
exit_is "a step that uses no parameter demands none" 2
run_matins step -c part/r.toml r plain -p k=1 -p j=2
err_like "but it judges those that are given" 'j: there is no such parameter'
run_matins step -c part/r.toml r uses
exit_is "one that uses it demands it: status 64" 64
err_like "and says so" 'k: is missing: add -p k=VALUE'
run_matins run -c part/r.toml r --only plain
exit_is "a run demands all" 64
run_matins run -c part/r.toml r -p k=none --json
json_is "advice names the parameters that the step uses, not their values" \
	step_results[0].advice[1].text '~trace .* r plain$' \
	step_results[1].advice[1].text '~trace .* r uses -p k=VALUE$'
run_matins trace -c part/r.toml r plain
err_unlike "a trace of the step runs" 'is missing'
run_matins trace -c part/r.toml r plain uses
exit_is "a trace of both demands it" 64
cp part/r.toml part/apply.toml
run_matins trace --apply -c part/apply.toml r uses -p "k=a b"
err_like "what it says to type has them" "step .* r uses -p 'k=a b'"

# ---- without the table all is as before ----

cat >free.toml <<-'END'
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "printf"
	args = ["<%s>", "$input.k", "$input"]
END
run_matins run -c free.toml r -p k=1e2 -p other=x --json
is "without a table any name is taken, and typed by a guess" "$(shown)" \
	'<1e2><{"k":1e2,"other":"x"}>'
err_unlike "what \$input has is used" 'no step uses'

# ---- what no argument can hold ----

cat >nul.toml <<'END'
[[routines.r.steps]]
name = "one"
type = "script"
command = "echo"
args = ["$input.x"]
END
run_matins run -c nul.toml r -p x:='"a\u0000b"'
exit_is "an argument with a NUL cannot be" 1
err_like "the step is named" 'step one: a value with a NUL cannot be an argument'
run_matins run -c nul.toml r -p x:='"ab"'
exit_is "without it the step runs" 0

done_testing
