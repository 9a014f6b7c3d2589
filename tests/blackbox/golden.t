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
run_matins golden accept morning
exit_is "accept refuses when neither is named" 1
err_like "accept names CI as the reason" 'CI is set'
file_is "the golden file stays as it was under CI" golden/morning.json first.json
unset CI

# ---- accept ----

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
run_matins diff <(cat a.json) b.json
exit_is "diff: a pipe that a person names is read" 1

run_matins golden frob
exit_is "an unknown word is wrong usage" 64
run_matins golden chek morning
err_like "a word that is no command leads to the nearest one" 'accept or list; did you mean check\?'

done_testing
