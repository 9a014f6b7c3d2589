#!/usr/bin/env bash
# golden record, check, accept, list; diff.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

# report LOAD [MORE]: a report of one step; MORE are further members of it
report() {
	cat <<-END
		{"schema":"matins-report/1","generation":$RANDOM,"routine":"morning",
		"dry_run":false,"success":true,
		"summary":"morning: 1 ran, 0 skipped, 0 failed",
		"step_results":[{"step_name":"host","step_type":"mcp-client",
		"success":true,"skipped":false,"output":"up","state":"ok",
		"data":{"schema":"mcp-client/1","content":[],"isError":false,
		"structuredContent":{"load":$1,"cpus":4}},
		"run":{"pid":$RANDOM${2-}}}],"run":{"at":$RANDOM}}
	END
}
load='$.step_results[step_name=host].data.structuredContent.load'
report 0.50 >a.json
report 0.50 >same.json
report 0.7 >b.json

# ---- record ----

run_matins golden check morning --report a.json
exit_is "check without a golden file cannot compare" 2
err_like "check names the command that makes a golden file" 'matins golden record morning'

run_matins golden record morning --report a.json
exit_is "record accepts a report" 0
ok "the file is there" test -f golden/morning.json
json_file_is "the golden file names its schema, routine and rules" golden/morning.json \
	schema matins-golden/1 routine morning rules.ignore '[]' \
	report.schema matins-report/1 \
	report.generation absent report.run absent \
	report.step_results[0].run absent \
	report.step_results[0].data.structuredContent.cpus 4
file_has "numbers are as written" golden/morning.json '"load": 0.50'
cp golden/morning.json first.json

run_matins golden record morning --report b.json
exit_is "record does not write over" 1
err_like "the message names the command that compares" 'golden check morning'
file_is "the file is as it was" golden/morning.json first.json

run_matins golden record morning --report same.json --dir other
file_is "equal runs give equal bytes" other/morning.json first.json

# ---- check ----

run_matins golden check morning --report same.json
exit_is "check passes when the report is the same" 0
out_is "nothing on standard output" ""

run_matins golden check morning --report b.json
exit_is "check fails when the report differs" 1
out_like "the path is named" "^[$]\\.step_results\\[step_name=host\\]\\.data\\.structuredContent\\.load"
out_like "the old value is printed" '^  - 0\.50$'
out_like "the new value is printed" '^  \+ 0\.7$'
is "the last line is the command that accepts" "$(tail -n 1 "$out")" \
	"to accept: matins golden accept morning"
file_is "check writes no golden file" golden/morning.json first.json
is "nothing else in the folder" "$(ls golden)" morning.json

run_matins golden check morning --report b.json --json
exit_is "check --json fails when the report differs" 1
json_is "the differences are listed in JSON" same false dropped 0 entries '#1' \
	entries[0].path "$load" entries[0].kind changed \
	entries[0].old 0.50 entries[0].new 0.7 entries[0].step host \
	entries[0].class value
run_matins golden check morning --report same.json --format json
json_is "check --format json: same" same true entries '[]'
run_matins golden check morning --report b.json --format xml
exit_is "an unknown format is a usage error" 64

run_matins golden check morning --report b.json --ignore "$load"
exit_is "the printed path is an ignore rule" 0
run_matins golden check morning --report b.json \
	--ignore data.structuredContent.load
exit_is "a path in every step" 0
run_matins golden check morning --report b.json \
	--ignore data.structuredContent.cpus
exit_is "a rule for something else does not help" 1

run_matins golden check morning --report same.json --ignore data.nothing
exit_is "a rule that matches nothing is no failure" 0
err_like "a rule that matches nothing gives a warning" 'warning: .*data\.nothing matches nothing'
run_matins golden check morning --report same.json --ignore data.nothing --strict
isnt "a rule that matches nothing fails with --strict" "$status" 0
run_matins golden check morning --report same.json --ignore '$.a['
exit_is "a broken rule cannot be used" 2
err_like "the message says where it is" 'column 5'

for bad in '' '{' '[]' '{"schema":"matins-report/1"}'; do
	echo "$bad" >bad.json
	run_matins golden check morning --report bad.json
	exit_is "cannot compare with '$bad'" 2
done
run_matins golden check morning --report nothing.json
exit_is "a report that is not there" 2
run_matins_stdin b.json golden check morning --report -
exit_is "the report on standard input" 1
sed 's/"routine":"morning"/"routine":"evening"/' a.json >evening.json
run_matins golden check morning --report evening.json
exit_is "a report of another routine" 2

# ---- CI ----

export CI=true
run_matins golden check morning --report b.json
exit_is "check works with CI set" 1
run_matins golden record new --report a.json
exit_is "record does not run where CI is set" 1
err_like "record names CI as the reason" 'CI is set'
run_matins golden review morning
exit_is "review does not run where CI is set" 1
err_like "review names CI as the reason" 'CI is set'
file_is "the golden file stays as it was under CI" golden/morning.json first.json
run_matins golden accept morning
exit_is "an explicit accept writes where CI is set" 0
file_has "accept has written under CI" golden/morning.json '"load": 0.7'
unset CI

# ---- accept ----

cp first.json golden/morning.json
run_matins golden check morning --report b.json
run_matins golden accept morning
exit_is "accept takes the new report" 0
file_has "the golden file has what the check saw" golden/morning.json '"load": 0.7'
run_matins golden check morning --report b.json
exit_is "a report that was accepted is the same now" 0
run_matins golden accept morning
exit_is "nothing more to accept" 1

run_matins golden check morning --report a.json
run_matins golden check morning --report b.json
run_matins golden accept morning
exit_is "a check without difference leaves nothing to accept" 1

run_matins golden check morning --report a.json
cp first.json golden/morning.json
run_matins golden accept morning
exit_is "accept refuses a golden file that changed since the check" 1
err_like "the message says that the file changed since the check" 'changed since the check'
file_is "the file is left alone" golden/morning.json first.json

# others may write where the report is kept
run_matins golden check morning --report b.json
for folder in state/matins state/matins/candidates; do
	chmod o+w $folder
	run_matins golden accept morning
	exit_is "accept believes no file in $folder that others may write" 1
	err_like "accept names $folder" "$folder could be written by others"
	chmod o-w $folder
done
file_is "nothing of it was accepted" golden/morning.json first.json

# ---- what is not kept ----

rm -r golden
run_matins golden record morning --report a.json --ignore "$load"
file_lacks "an ignored value is not kept" golden/morning.json 0.50
run_matins golden check morning --report b.json
exit_is "the rule of the file counts" 0

rm -r golden
report '"x***y"' ',"scrubbed":1' >secret.json
run_matins golden record morning --report secret.json
exit_is "a scrubbed secret is refused" 1
err_like "the step is named" 'secret.*step host'
not_ok "a report with a scrubbed secret writes no golden file" test -e golden/morning.json
run_matins golden record morning --report secret.json --ignore "$load"
exit_is "an ignored one is not kept, so it may be" 0
file_lacks "the golden file lacks the scrubbed secret" golden/morning.json '***'
report '"x***y"' >stars.json
run_matins golden record morning --report stars.json --dir stars
exit_is "stars that are no secret" 0

# ---- modes ----

(
	umask 027
	run_matins golden record morning --report a.json --dir modes/new
)
is "a new file follows the umask" "$(stat -c %a modes/new/morning.json)" 640
is "a new folder follows the umask" "$(stat -c %a modes/new)" 750
chmod 604 modes/new/morning.json
run_matins golden check morning --report b.json --dir modes/new
run_matins golden accept morning --dir modes/new
exit_is "accept writes over the golden file" 0
is "a file keeps its mode" "$(stat -c %a modes/new/morning.json)" 604

# ---- rules that accept takes over ----

report 0.7 ',"x":1' >c.json
sed -i 's/"cpus":4/"cpus":8/' c.json
run_matins golden check morning --report c.json --dir modes/new \
	--ignore "$load"
run_matins golden accept morning --dir modes/new
exit_is "accept after a check with --ignore" 0
err_like "names the rule that it keeps" \
	'now holds the rule --ignore .*structuredContent\.load '
run_matins golden check morning --report b.json --dir modes/new
run_matins golden accept morning --dir modes/new
exit_is "accept takes it once more" 0
err_unlike "accept is silent about a rule that was there" 'now holds the rule'

# ---- list ----

run_matins golden list
exit_is "golden list ends with status 0" 0
out_like "the routine and its file" '^morning	golden/morning\.json	1 rule$'
run_matins golden list --json
json_is "list --json names routine and file" goldens '[{"routine":"morning","file":"golden/morning.json","rules":1}]'
run_matins golden list --dir nowhere
exit_is "golden list of a missing folder ends with 0" 0
out_is "golden list of a missing folder prints nothing" ""

# ---- with a configuration ----

mkdir project
script t <<-'END'
	raw {"content":[{"type":"text","text":"hi"}],"structuredContent":{"load":1,"cpus":4}}
END
{
	echo '[routines.r.golden]'
	echo 'ignore = ["data.structuredContent.load"]'
	peer_step one t
} >project/matins.toml
run_matins golden record r -c project/matins.toml
exit_is "record runs the routine" 0
file_has "the golden file lies beside the configuration" project/golden/r.json '"load": "(ignored)"'
sed -i 's/"load":1/"load":2/' t.peer
run_matins golden check r -c project/matins.toml
exit_is "check runs it again; the rule of the routine counts" 0
sed -i 's/"cpus":4/"cpus":8/' t.peer
run_matins golden check r -c project/matins.toml
exit_is "check fails when another value differs" 1
out_like "the hint repeats -c" 'to accept: matins golden accept r -c project/matins.toml$'
eval "run_matins $(sed -n 's/^to accept: matins //p' "$out")"
exit_is "the hinted command can be typed as it stands" 0
run_matins golden check r -c project/matins.toml
exit_is "a report that was accepted passes" 0
run_matins golden record nothing -c project/matins.toml
exit_is "record of an unknown routine fails" 1
run_matins golden check nothing -c project/matins.toml
exit_is "check of an unknown routine cannot compare" 2
err_like "because there is no such routine" 'has no routine nothing'
err_unlike "the message does not blame a missing file" 'nothing\.json does not exist'
sed 's/routines\.r\b/routines.weekly/' project/matins.toml >project/w.toml
run_matins golden check wekly -c project/w.toml
err_like "the nearest is offered" 'no routine wekly; did you mean weekly\?'
cp project/golden/r.json project/golden/gone.json
sed -i 's/"routine": "r"/"routine": "gone"/' project/golden/gone.json
run_matins golden list --unused -c project/matins.toml
out_like "a golden file without its routine is unused" '^gone	'
out_unlike "the other is not" '^r	'

# ---- texts of several lines ----

mkdir notes
script notes <<-'END'
	raw {"content":[{"type":"text","text":"# Today\\n\\n- one\\n- two\\n- three\\n- four\\n- five\\n- six\\n\\nend"}]}
END
peer_step one notes >notes/matins.toml
run_matins golden record r -c notes/matins.toml
sed -i 's/two/2/; s/end/END/' notes.peer
run_matins golden check r -c notes/matins.toml
exit_is "a text of several lines differs" 1
sed '$d' "$out" >lines.txt
cat >want.txt <<-'END'
	$.step_results[step_name=one].data.content[0].text  (value changed)
	  @@ -2 +2 @@

	    - one
	  - - two
	  + - 2
	    - three
	    - four
	  @@ -8 +8 @@
	    - six

	  - end
	  + END
	1 difference: 1 value
END
file_is "text is compared by line, each difference shown once" lines.txt want.txt
run_matins golden check r -c notes/matins.toml --json
json_is "--json: one entry as well" entries '#1' \
	entries[0].path '~\.data\.content\[0\]\.text$'
run_matins golden check r -c notes/matins.toml \
	--ignore '$.step_results[step_name=one].data.content[0].text'
exit_is "the printed path is a rule for what is made of it, too" 0
run_matins golden check r -c notes/matins.toml
run_matins golden accept r -c notes/matins.toml
run_matins golden check r -c notes/matins.toml
exit_is "accepted, with its output" 0

# ---- formats ----

run_matins diff --format unified notes/golden/r.json a.json
exit_is "reports of two routines cannot be compared" 2
run_matins diff --format unified a.json b.json
out_is "unified: each value is a file of its own" "--- $load
+++ $load
@@ -1 +1 @@
-0.50
+0.7"
run_matins diff --format md a.json b.json
out_like "md names the path" '^- \*\*\$\.step\\_results|^- \*\*\$\.step_results'
out_like "md has a block of the kind diff" '^  ```diff$'
out_like "md ends in a summary" '^1 difference: 1 value$'
run_matins diff --format html a.json b.json
out_like "html is a page of its own" "Content-Security-Policy"
out_like "html says in words what changed" '<summary><strong>[^<]*</strong>: [a-z]'
out_like "html marks what went" '<span class="bad">- 0\.50</span>'
out_unlike "html runs nothing" '<script'
run_matins diff --format patch a.json b.json
json_is "patch tests before it replaces" \
	[0].op test [0].path /step_results/0/data/structuredContent/load \
	[0].value 0.50 [1].op replace [1].value 0.7
run_matins diff --format patch a.json same.json
out_is "patch of no difference is empty" "[]"
run_matins golden diff r -c notes/matins.toml --format patch
exit_is "golden diff runs the routine" 0
sed -i 's/three/3/' notes.peer
run_matins golden diff r -c notes/matins.toml --format patch
exit_is "golden diff finds what check would" 1
json_is "the patch has the output, too" . '#4' \
	[1].path /step_results/0/data/content/0/text [1].op replace \
	[3].path /step_results/0/output [3].op replace
run_matins golden accept r -c notes/matins.toml
exit_is "golden diff keeps nothing to accept" 1

# ---- in part ----

changed() {
	cat <<-END
		{"schema":"matins-report/1","routine":"morning","dry_run":false,
		"success":true,"summary":"s","step_results":[
		{"step_name":"a","step_type":"mcp-client","output":"x","data":{"content":$1}},
		{"step_name":"b","step_type":"mcp-client","output":"y","data":{"n":$2,"m":$3}}]}
	END
}
changed '[1,2]' 1 1 >part.json
changed '[1,2,3]' 2 2 >part2.json
run_matins golden record morning --report part.json --dir part
run_matins golden check morning --report part2.json --dir part
out_like "three differences" '^3 differences'
run_matins golden accept morning --dir part --path '$.nothing'
exit_is "accept of a path without a difference fails" 1
err_like "the message says where paths are printed" 'golden check.* prints their paths'
run_matins golden accept morning --dir part --path '$.step_results[step_name=b].data.m'
exit_is "accept --path takes a part" 0
err_like "the rest is counted" 'accepted in part: .*; 2 differences are left'
file_has "the accepted part is in the file" part/morning.json '"m": 2'
file_has "the rest is not" part/morning.json '"n": 1'
run_matins golden reject morning --dir part --path '$..content'
exit_is "reject --path forgets a part" 0
err_like "rejected parts are counted" 'rejected: 1 of 2'
run_matins golden accept morning --dir part
exit_is "accept takes the rest" 0
file_has "the rest is in the file" part/morning.json '"n": 2'
run_matins golden check morning --report part2.json --dir part
out_like "what was rejected is the difference that is left" '^1 difference: '
out_like "it is an element" '^\$\.step_results\[step_name=a\]\.data\.content\[2\]  \(schema added\)'
run_matins golden reject morning --dir part
exit_is "reject forgets the check" 0
run_matins golden accept morning --dir part
exit_is "nothing is left to accept then" 1

# an output that is made of the data goes with it
made() {
	cat <<-END
		{"schema":"matins-report/1","routine":"morning","success":true,"step_results":[
		{"step_name":"a","step_type":"mcp-client","output":"$1",
		"data":{"content":[{"type":"text","text":"$1"}]}},
		{"step_name":"b","step_type":"script","output":"$2"}]}
	END
}
made old old >made.json
made new new >made2.json
run_matins golden record morning --report made.json --dir made
run_matins golden check morning --report made2.json --dir made
out_like "the output of the first step is said by its data" '^2 differences'
run_matins golden accept morning --dir made --path '$.step_results[step_name=a]..text'
err_like "one is accepted" 'accepted in part: .*; 1 difference is left'
file_has "with the output that is made of it" made/morning.json '"output": "new"'
run_matins golden check morning --report made2.json --dir made
out_like "the other one is left" '^1 difference: '
out_like "it is that of the script" '^\$\.step_results\[step_name=b\]\.output '

# ---- a candidate that is torn ----

run_matins golden check morning --report part.json --dir part
torn=$(grep -rl --include='*.json' '"file":"[^"]*part/morning.json"' "$T/state"/*/candidates)
is "the check kept a candidate" "$(printf '%s\n' "$torn" | grep -c .)" 1
head -c 200 "$torn" >torn && cat torn >"$torn"
run_matins golden accept morning --dir part
exit_is "accept of a torn candidate fails" 1
err_like "its file is named, and what to do" "$torn.*is broken: check again, or .matins golden reject. drops it"
run_matins golden reject morning --dir part --path '$..content'
exit_is "a part of it cannot be rejected" 1
run_matins golden reject morning --dir part
exit_is "reject drops it" 0
err_like "reject says so" 'rejected: .*is broken'
not_ok "the torn candidate is gone" test -e "$torn"
run_matins golden accept morning --dir part
err_like "nothing is left to accept of it" 'nothing to accept'

# ---- review ----

run_matins golden check morning --report part.json --dir part
run_matins golden review morning --dir part
exit_is "review asks nobody without a terminal" 64
err_like "review names the commands for that" 'golden accept.*golden reject'
review() {
	run_program /dev/null "$PYTHON" "$TOP/tests/blackbox/on_terminal.py" \
		"$1" "$BIN" golden review morning --dir part
}
changed '[1,2]' 7 8 >part3.json
cp part/morning.json before.json
run_matins golden check morning --report part3.json --dir part
review y,q
exit_is "review can be left" 0
file_is "nothing is accepted then" part/morning.json before.json
review n,y
exit_is "review asks for each difference" 0
out_like "each is shown with its place" '^2 of 2: \$\.step_results\[step_name=b\]\.data\.n '
file_has "a yes is accepted" part/morning.json '"n": 7'
file_has "a no is not" part/morning.json '"m": 2'
review x,a
exit_is "review asks again, and of the rest" 0
file_has "all that follow are accepted" part/morning.json '"m": 8'
run_matins golden check morning --report part3.json --dir part
exit_is "after the review nothing differs" 0

# ---- rules ----

{
	peer_step one rules
	cat <<-'END'
		[golden]
		match = { "data.structuredContent.id" = "uuid", "data..when" = "time" }
		arrays = { "data.structuredContent.rows" = "key:id", "data..tags" = "set" }
		tolerance = { "data..load" = "10%", "data..exact" = 0.5 }
	END
} >rules.toml
result() {
	cat <<-END
		raw {"content":[{"type":"text","text":"{\\\\"a\\\\": $4}"}],"structuredContent":{"id":"$1","when":"$2","load":$3,"exact":$3,"tags":$5,"rows":$6}}
	END
}
result 123e4567-e89b-12d3-a456-426614174000 2026-11-22T07:00:00Z 1.00 1 '["a","b"]' \
	'[{"id":1,"v":1},{"id":2,"v":2}]' | script rules
run_matins golden record r -c rules.toml
exit_is "record with rules" 0
file_has "of a match the type is kept" golden/r.json '"id": "(uuid)"'
file_has "the file has the rules" golden/r.json '"data..load": "10%"'
result 00000000-e89b-12d3-a456-426614174999 2025-01-01 1.1 1.0 '["b","a","b"]' \
	'[{"id":2,"v":2},{"id":1,"v":1}]' | sed 's/: 1\.0/:1/' | script rules
run_matins golden check r -c rules.toml
exit_is "rules of all kinds hold" 0
result no-uuid 2025-01-01 1.11 2 '["a","c"]' \
	'[{"id":2,"v":3},{"id":3,"v":1}]' | script rules
run_matins golden check r -c rules.toml --json
exit_is "what they do not cover differs" 1
json_is "each where it is" same false entries '#8'
run_matins golden check r -c rules.toml
out_like "inside of a text" 'data\.content\[0\]\.text\.a  \(value changed\)'
out_like "a type that is none" 'structuredContent\.id  \(value changed\)'
out_like "a number too far away" 'structuredContent\.load  \(value changed\)'
out_like "an element by its key" 'structuredContent\.rows\[id=2\]\.v  \(value changed\)'
out_like "an element that came" 'structuredContent\.rows\[id=3\]  \(schema added\)'
out_like "an element that went" 'structuredContent\.tags\[1\]  \(schema removed\)'
out_unlike "what a tolerance covers is no difference" 'structuredContent\.exact '
for wrong in 'match = { "$.a" = "uid" }' 'arrays = { "$.a" = "key:" }' \
	'tolerance = { "$.a" = "-1" }' 'match = { "$.a" = "/(/" }' \
	'embedded_json = ["$["]' 'arrays = { "$.a" = 1 }'; do
	printf '[golden]\n%s\n[routines.r]\nsteps = []\n' "$wrong" >wrong.toml
	run_matins check wrong.toml
	exit_is "check: $wrong" 1
	err_like "it is placed: $wrong" 'wrong\.toml:2:[0-9]+: '
done

# ---- what changed since the last run ----

script since <<-'END'
	raw {"content":[{"type":"text","text":"one\\ntwo"}],"structuredContent":{"load":1}}
END
{
	echo '[golden]'
	echo 'ignore = ["data..load"]'
	peer_step one since
} >since.toml
run_matins run r -c since.toml --changes
exit_is "run --changes without an earlier run" 0
err_like "there is nothing to compare with" 'nothing to compare with: no run of r'
out_unlike "no changes are claimed" 'changed since'
printf '[[routines.r.steps]]\nname = "no"\ntype = "script"\ncommand = "false"\n' |
	sed 's/routines\.r/routines.bad/' >bad.toml
run_matins run bad -c bad.toml
run_matins run bad -c bad.toml --changes
err_like "runs that failed are nothing to compare with" \
	'nothing to compare with: no run of bad of .*bad.toml that was ok is kept'
run_matins run r -c since.toml --changes --from one
exit_is "--changes of a run that takes what is before from another" 0
out_like "it is compared as a whole" '^## nothing changed since run [0-9]+$'
sed -i 's/"load":1/"load":2/' since.peer
run_matins run r -c since.toml --changes
out_like "what a rule ignores is no change" '^## nothing changed since run [0-9]+$'
sed -i 's/two/2/' since.peer
run_matins run r -c since.toml --changes --json
json_is "JSON has the differences" changes.diff.same false changes.diff.entries '#1' \
	changes.diff.entries[0].path '~content\[0\]\.text$'
sed -i 's/2"/3"/' since.peer
run_matins run r -c since.toml --changes
exit_is "a change is no failure" 0
out_like "the heading names the run" '^## changed since run [0-9]+$'
out_like "lines that came are marked" '^  \+ 3$'
run_matins run r -c since.toml --changes --md
out_like "Markdown says so, too" '^## nothing changed since run'
run_matins run r -c since.toml --changes --html
out_like "and the page" '<h2>nothing changed since run [0-9]+</h2>'
run_matins run r -c since.toml --changes --only one
exit_is "--changes of a part is wrong usage" 64
: >since.peer
run_matins run r -c since.toml --changes
exit_is "a run that fails fails" 2
out_like "its failure is a change of the state" '\(state changed\)'

# ---- prune ----

mkdir prune
peer_step one notes >prune/matins.toml
peer_step one notes | sed 's/routines\.r\b/routines.other/' >prune/other.toml
run_matins golden record r -c prune/matins.toml
run_matins golden record other -c prune/other.toml
sed 's/"routine": "r"/"routine": "gone"/' prune/golden/r.json >prune/golden/gone.json
echo '{}' >prune/golden/mine.json
run_matins golden prune -c prune/matins.toml
exit_is "prune deletes what no routine has" 0
out_like "prune names what it deleted" '^gone	'
is "prune leaves what is in use, of another file, or no golden file" \
	"$(cd prune/golden && echo ./*)" "./mine.json ./other.json ./r.json"

# ---- diff ----

run_matins diff a.json same.json
exit_is "diff finds no difference" 0
out_is "diff prints nothing then" ""
run_matins diff a.json b.json
exit_is "diff finds a difference" 1
out_like "diff ends in a summary" '^1 difference: 1 value$'
run_matins diff first.json b.json --json
exit_is "a golden file and a report" 1
json_is "diff lists one difference" entries '#1'
run_matins diff a.json b.json --ignore '$..load'
exit_is "diff --ignore finds no other difference" 0
run_matins diff a.json bad.json
exit_is "diff says when it cannot compare" 2
run_matins diff a.json
exit_is "one file is wrong usage" 64

# rules of the routine count: of runs by the file that ran, of files by -c or the
# one that is found
mkdir ruled
{
	peer_step one ruled
	echo '[routines.r.golden]'
	echo 'ignore = ["data..load"]'
} >ruled/matins.toml
for load in 1 2 3; do
	script ruled <<-END
		raw {"content":[{"type":"text","text":"hi"}],"structuredContent":{"load":$load,"cpus":$((load / 3))}}
	END
	run_matins run r -c ruled/matins.toml --json
	cp "$out" ruled/$load.json
done
last=$(json_get generation)
run_matins diff $((last - 2)) $((last - 1))
exit_is "diff of two runs: the rule of their routine counts" 0
run_matins diff $((last - 1)) "$last"
exit_is "diff of two runs: what it does not cover differs" 1
out_like "what it does not cover is named" 'structuredContent\.cpus '
out_unlike "what it covers is not" 'structuredContent\.load '
run_matins diff ruled/1.json ruled/2.json
exit_is "diff of two files: no configuration is found, so all counts" 1
run_matins diff ruled/1.json ruled/2.json -c ruled/matins.toml
exit_is "diff of two files: the rules of -c" 0
run_matins diff ruled/1.json ruled/2.json -c ruled/none.toml
exit_is "diff: a configuration that is not there" 2
cd ruled || exit 1
run_matins diff 1.json 2.json
exit_is "diff of two files: the rules of the file that is found" 0
cd .. || exit 1
run_matins diff ruled/1.json ruled/2.json --ignore data..load --strict
exit_is "diff --strict: a rule that matches" 0
report '"***"' ',"scrubbed":1' >secret2.json
run_matins diff secret.json secret2.json
exit_is "diff of reports with a scrubbed secret keeps nothing, and compares" 1

# ---- a failure accepted, words that are none ----

sed 's/"success":true/"success":false/g' a.json >failed.json
run_matins golden record morning --report a.json --dir f
run_matins golden check morning --report failed.json --dir f
run_matins golden accept morning --dir f
exit_is "a failure is accepted" 0
err_like "and that is said" 'warning: the accepted run failed: a check passes while it fails'
run_matins golden check morning --report a.json --dir f
run_matins golden accept morning --dir f
err_unlike "what is well again is not" 'failed'
for verb in accept review check; do
	run_matins golden $verb morning --unused --dir f
	exit_is "$verb --unused is wrong usage" 64
done
err_like "the option's own verbs are named" 'golden check takes no --unused; it is for: list'
run_matins golden check morning --path '$.x' --report a.json --dir f
exit_is "check --path is wrong usage" 64
printf '[[routines.morning.steps]]\nname = "host"\ntype = "script"\ncommand = "true"\n[golden]\nignore = ["$.success"]\n[servers.every]\ncommand = "true"\n' >words.toml
run_matins golden accept mornin -c words.toml --dir g
exit_is "accept of an unknown routine" 1
err_like "the nearest is named" 'has no routine mornin; did you mean morning\?'
run_matins golden accept morning -c words.toml --dir g
err_like "one without a golden file is led to record" 'does not exist yet; .matins golden record morning'
run_matins golden accept --tools evry -c words.toml
err_like "accept --tools: the nearest server" 'has no server evry; did you mean every\?'
run_matins check words.toml
exit_is "a rule for the verdict is a warning" 0
err_like "at its place" 'words.toml:6:[0-9]+: .*\$\.success is compared all the same; take it out'
run_matins golden accept morning --dir f
err_like "without a check the command is named" 'nothing to accept for f/morning.json: .matins golden check morning --dir f. keeps'

# ---- what a program may have made in that folder ----

LIMIT_S=20
mkdir planted
cp golden/morning.json planted/$'x\x1b[2J\nmatins: forged.json'
run_matins golden list --dir planted
exit_is "list: a file of a hostile name" 0
out_like "a file of a hostile name takes one line" '^morning.*forged\.json.*rules?$'
out_unlike "no control character is printed" $'\x1b'
mkfifo planted/morning.json
run_matins golden check morning --report a.json --dir planted
exit_is "check: a FIFO cannot be compared, and nothing waits" 2
err_like "the FIFO is named that cannot be compared" 'planted/morning.json: not a regular file'
run_matins golden list --dir planted
exit_is "list: a FIFO is left out" 0
out_like "the others are listed" '^morning'
err_like "the FIFO is named that list leaves out" 'planted/morning.json: not a regular file'
unset LIMIT_S
rm planted/morning.json
ln -s "$T/home/.bash_profile" planted/morning.json
run_matins golden record morning --report a.json --dir planted
exit_is "record: a link that was left there is not followed" 1
err_like "the message says that the golden file exists" 'planted/morning.json already exists'
ok "nothing is made behind a planted link" test ! -e "$T/home/.bash_profile"
rm planted/morning.json
run_matins golden record morning --report a.json --dir planted
exit_is "record: a new file beside others" 0
mv planted/morning.json elsewhere.json
ln -s ../elsewhere.json planted/morning.json
run_matins golden check morning --report b.json --dir planted
run_matins golden accept morning --dir planted
exit_is "accept: a link of the user's own to a golden file" 0
file_like "accept writes through a link of the user's own" elsewhere.json '"load": 0\.7'
# a project that came from elsewhere, with links in it
mkdir -p "$T/private" hostile/golden
cp elsewhere.json "$T/private/morning.json"
printf '[[routines.morning.steps]]\nname = "host"\ntype = "script"\ncommand = "true"\n' >hostile/matins.toml
cd hostile || exit
for far in "$T/private/morning.json" /etc/passwd; do
	ln -sf "$far" golden/morning.json
	run_matins golden check morning --report ../a.json
	exit_is "check: a link out of the project to ${far##*/} is not followed" 2
	err_like "check: the link to ${far##*/} and what to do are said" \
		"golden/morning.json is a link that leads out of its project, to $far.* put the file itself there"
	out_is "check: nothing of ${far##*/} is printed" ""
	run_matins golden accept morning
	err_like "accept: a link to ${far##*/} is not followed" 'leads out of its project'
	run_matins golden list
	err_like "list: a link to ${far##*/} is not followed" 'leads out of its project'
	out_is "list: nothing of ${far##*/} is printed" ""
done
rm -r golden
ln -s "$T/private" golden
run_matins golden check morning --report ../a.json
exit_is "check: a folder that is a link out of the project is not followed" 2
run_matins golden check morning --report ../b.json --dir golden
exit_is "check: a folder that the person names is followed" 0
cp -RL golden inside
rm golden
ln -s inside golden
run_matins golden check morning --report ../b.json
exit_is "check: a link to another folder of the project is followed" 0
cd ..
if [[ $(id -u) == 0 ]]; then
	chown daemon: hostile/inside/morning.json
	run_matins golden check morning --report a.json --dir hostile/inside
	exit_is "check: a file of another user is not read" 2
	err_like "check: whose file it is, and what to do" \
		'belongs to another user \(uid [0-9]+\).*chown'
else
	skip "check: a file of another user is not read" "needs root"
	skip "check: whose file it is" "needs root"
fi

run_matins diff <(cat a.json) b.json
exit_is "diff: a pipe that a person names is read" 1

run_matins golden frob
exit_is "an unknown word is wrong usage" 64
run_matins golden chek morning
err_like "a word that is no command leads to the nearest one" 'list or prune; did you mean check\?'

done_testing
