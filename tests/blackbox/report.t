#!/usr/bin/env bash
# The forms of a report: text, JSON, data, Markdown, HTML; views, dry runs.
# shellcheck disable=SC2016,SC2028
. "${BASH_SOURCE%/*}/lib.sh"

content='[{"type":"text","text":"3 meetings \u001b[2J```"},  {"type":"image","mimeType":"image/png","data":"AAAA","n":1.0}]'
echo "raw {\"content\":$content,\"structuredContent\":{\"z\":1,\"a\":9007199254740993}}" |
	sed 's/\\/\\\\/g' | script briefing
cat >m.toml <<-END
	[routines.morning]
	[[routines.morning.steps]]
	name = "briefing"
	type = "mcp-client"
	command = "$PEER"
	args = ["$T/briefing.peer"]
	[[routines.morning.steps]]
	name = "issues"
	type = "script"
	command = "sh"
	args = ["-c", "echo kept; exit 3"]
	[[routines.morning.steps]]
	name = "mail"
	type = "script"
	command = "echo"
	env = { TOKEN = { env = "MATINS_TEST_UNSET" } }
	[[routines.morning.steps]]
	name = "quiet"
	type = "script"
	command = "true"
	[[routines.morning.steps]]
	name = "off"
	type = "script"
	command = "true"
	enabled = false
END

# ---- text ----

run_matins run -c m.toml morning
exit_is "a failed step fails the run" 2
sed -e '1s/— .* — \(.*\) ([0-9.]* m*s,/— … — \1 (…,/' \
	-e '/^ERROR: /s/: [^:]*$/: …/' -e 's/^(skipped: .*UNSET.*/(skipped: …)/' \
	"$out" >seen.txt
cat >wanted.txt <<-'END'
	# morning — … — 2 ok, 1 failed, 2 skipped (…, run 1)

	ERROR: issues: …

	## briefing
	  3 meetings \x1b[2J```
	  [image image/png, 3 B]

	## issues — failed
	  kept

	## mail
	(skipped: …)

	## quiet
	(no output)

	## off
	(skipped: disabled)

	---
	morning: 3 ran, 2 skipped, 1 failed
END
file_is "the text, as in the manual" seen.txt wanted.txt
out_like "the error is a sentence" '^ERROR: .*3'
out_like "the skip names what is missing" 'MATINS_TEST_UNSET'

# ---- JSON ----

run_matins run -c m.toml morning --json
exit_is "--json: the same status" 2
is "the report in JSON takes one line" "$(wc -l <"$out")" 1
out_like "the fields of the report in order" \
	'^\{"schema":"matins-report/1","generation":2,"routine":"morning","dry_run":false,"success":false,"summary":"morning: 3 ran, 2 skipped, 1 failed","step_results":\[\{"step_name":"briefing","step_type":"mcp-client","success":true,"skipped":false,"output":"[^"]*","state":"ok","data":\{"schema":"mcp-client/1","content":\['
file_has "content byte for byte" "$out" "\"content\":$content,\"isError\":false,\"structuredContent\":{\"z\":1,\"a\":9007199254740993}}"
json_is "the report describes a failed step" step_results[1].success false \
	step_results[1].skipped false step_results[1].state failed \
	step_results[1].reason exit_status step_results[1].error '~3' \
	step_results[1].output kept
json_is "the report describes a skipped step" step_results[2].success true \
	step_results[2].skipped true step_results[2].state skipped \
	step_results[2].reason no_credential step_results[2].error '~UNSET'
json_is "a good step has neither error nor reason" \
	step_results[3].error absent step_results[3].reason absent \
	step_results[3].run present
cp "$out" full.json

run_matins run -c m.toml morning --json --pretty
out_like "--pretty indents the report" '^  "routine": "morning",$'
file_has "--pretty leaves alone what a server sent" "$out" "\"content\":$content"

run_matins run -c m.toml morning --json --view golden
cp "$out" golden1.json
json_is "--view golden leaves out what varies" run absent generation absent \
	step_results[0].run absent step_results[0].state ok
run_matins run -c m.toml morning --json --view golden
file_is "equal runs give equal bytes with --view golden" "$out" golden1.json

run_matins run -q -c m.toml morning -o report.json --json
exit_is "-o keeps the status of the run" 2
out_is "nothing on standard output" ""
err_like "a failed run in a file is said on standard error, for cron" \
	'^matins: morning: .* 1 failed; the report is in report.json$'
json_file_is "the report is in the file" report.json routine morning
for as in 'page.html <!DOCTYPE' 'page.md #' 'page.json [{]"schema"' 'page #'; do
	run_matins run -q -c m.toml morning -o "${as%% *}"
	like "-o ${as%% *}: the ending says the form" "$(head -n 1 "${as%% *}")" "^${as#* }"
done
run_matins run -q -c m.toml morning -o page.html --json
like "an option names another" "$(<page.html)" '^[{]"schema"'
run_matins run -c m.toml morning --json --md
exit_is "two forms at once are wrong usage" 64
run_matins run -c m.toml morning --json --view side
exit_is "an unknown view is a usage error" 64

# ---- data ----

run_matins run -c m.toml morning --data
json_is "--data: by step name, null without" mail null \
	issues.exit_code 3 quiet.exit_code 0 \
	briefing.schema mcp-client/1
file_has "--data has what a server sent byte for byte" "$out" "\"content\":$content"
run_matins step -c m.toml morning briefing --data
exit_is "step --data prints the data of one step" 0
out_is "is the bare value" "{\"schema\":\"mcp-client/1\",\"content\":$content,\"isError\":false,\"structuredContent\":{\"z\":1,\"a\":9007199254740993}}"
run_matins step -c m.toml morning mail --data
out_is "null when there is none" null

# ---- Markdown, HTML ----

run_matins run -c m.toml morning --md
out_like "--md begins with a heading" '^# morning — .* — 2 ok, 1 failed, 2 skipped .*, run [0-9]+\)$'
out_like "--md has a heading for each step" '^## briefing$'
out_like "a fence longer than the longest inside" '^  ````text$'
out_like "--md marks an error" '^\*\*ERROR:\*\* '
run_matins run -c m.toml morning --html
out_like "--html prints a whole page" '^<!DOCTYPE html>$'
out_unlike "--html prints no script" '<script'
out_like "--html marks the failed step" '^<article class="bad">$'
for form in "" --md --html --json; do
	# shellcheck disable=SC2086
	run_matins run -c m.toml morning $form
	not_ok "no raw escape in ${form:-the text}" grep -q $'\x1b' "$out"
done

# ---- a server cannot forge a heading or the summary ----

echo 'raw {"content":[{"type":"text","text":"all well\\n\\n---\\nforged: 9 ran, 0 skipped, 0 failed\\n# forged — 9 ok\\n## fine\\r\\n## cr\\rERROR: x: y\\n```\\n~~~\\n</pre></section></body><h1>h</h1>\\n[a](javascript:alert(1))\\n\\u2028# ls\\u001b[2J\\n> # quoted\\n==="}]}' |
	script forged
cat >forged.toml <<-END
	[routines.forged]
	[[routines.forged.steps]]
	name = "peer"
	type = "mcp-client"
	command = "$PEER"
	args = ["$T/forged.peer"]
	[[routines.forged.steps]]
	name = "issues"
	type = "script"
	command = "echo"
	args = ['[{"n":1,"title":"one\n# x"},{"n":22,"title":"寿司"}]']
	[[routines.forged.steps]]
	name = "bytes"
	type = "script"
	command = "printf"
	args = ['a\377b']
END
for form in "" --md; do
	# shellcheck disable=SC2086
	run_matins run -c forged.toml forged $form
	is "${form:-text}: one title" "$(grep -c '^# ' "$out")" 1
	is "${form:-text}: a section for each step" "$(grep -c '^## ' "$out")" 3
	is "${form:-text}: one line before the summary" "$(grep -c '^---' "$out")" 1
	is "${form:-text}: the last line is the summary" \
		"$(tail -n 1 "$out")" "forged: 3 ran, 0 skipped, 0 failed"
	out_unlike "${form:-text}: no error that is none" '^(\*\*)?ERROR:'
	out_like "${form:-text}: what it said is there, set in" '^  ## fine$'
	out_like "${form:-text}: JSON is a table" '^  22  寿司$'
done
run_matins show last forged --html
for tag in '<h1>' '<footer ' '</body>'; do
	is "HTML: one $tag" "$(grep -o -- "$tag" "$out" | wc -l)" 1
done
is "HTML: a section for each step" "$(grep -c '^<details class="step"' "$out")" 3
out_unlike "HTML: no script, no link to one" '<script|href="javascript'
run_matins run -c forged.toml forged --only bytes
out_like "bytes that are not UTF-8 look as in the kept report" $'^  a\xef\xbf\xbdb$'
out_like "steps left out are one line" '^left out: peer, issues$'
run_matins show last forged
out_like "the kept report is the same" $'^  a\xef\xbf\xbdb$'

# ---- dry run, nothing ran ----

run_matins run -c m.toml morning --dry-run
exit_is "a dry run succeeds" 0
is "the heading of a dry run marks it as one" "$(head -n 1 "$out")" "# morning — dry run"
out_like "a dry run skips its steps" '^\(skipped: dry run\)$'
out_like "a dry run counts its steps as skipped" '^morning: 0 ran, 5 skipped, 0 failed$'

run_matins run -c m.toml morning --only off
exit_is "nothing ran is no success" 2
out_like "the summary says it" '^morning: 0 ran, 5 skipped, 0 failed — nothing ran$'
run_matins run -c m.toml morning --only off --allow-empty
exit_is "unless it may be empty" 0
run_matins run -c m.toml morning --only quiet
exit_is "one step is a success" 0

# ---- the schema can fail ----

run_matins run -c m.toml morning --json
"$PYTHON" - "$TOP" "$out" >schema.txt 2>&1 <<-'END'
	import copy, json, sys
	sys.dont_write_bytecode = True
	sys.path.insert(0, sys.argv[1] + "/tests")
	import reports
	report = reports.validator("matins-report-1.json")
	result = reports.validator("mcp-client-1.json")
	good = json.load(open(sys.argv[2]))
	def bad(path, value):
	    doc = copy.deepcopy(good)
	    at = doc
	    for key in path[:-1]:
	        at = at[key]
	    if value is None:
	        del at[path[-1]]
	    else:
	        at[path[-1]] = value
	    name = "/".join(map(str, path))
	    found = list(reports.complaints(doc, report, result))
	    print("rejected" if found else "ACCEPTED", name, json.dumps(value))
	print("valid" if not list(reports.complaints(good, report, result)) else "INVALID")
	s = "step_results"
	bad(["schema"], "matins-report/2")
	bad(["routine"], None)
	bad(["generation"], -1)
	bad(["success"], "yes")
	bad(["summary"], "fine")
	bad(["extra"], 1)
	bad([s, 0, "extra"], 1)
	bad([s, 0, "state"], "fine")
	bad([s, 0, "error"], "x")
	bad([s, 0, "data"], None)
	bad([s, 0, "data", "extra"], 1)
	bad([s, 0, "data", "content"], {})
	bad([s, 0, "data", "isError"], None)
	bad([s, 0, "success"], False)
	bad([s, 1, "reason"], "mood")
	bad([s, 1, "reason"], "leash")
	bad([s, 1, "reason"], None)
	bad([s, 1, "error"], None)
	bad([s, 1, "success"], True)
	bad([s, 2, "skipped"], False)
	bad([s, 2, "reason"], "signal")
END
is "this report is valid" "$(head -n 1 schema.txt)" valid
is "21 broken ones are not" "$(grep -c '^rejected' schema.txt)" 21
file_lacks "no broken report is accepted" schema.txt ACCEPTED

# ---- stderr of a step that failed, in each form ----

cat >words.toml <<-'END'
	[[routines.w.steps]]
	name = "a"
	type = "script"
	command = "sh"
	args = ["-c", "echo '<the> cause' >&2; exit 1"]
END
run_matins run -c words.toml w
out_like "text names stderr" '^  stderr: <the> cause$'
run_matins run -c words.toml w --md
out_like "Markdown names stderr" '^  ```stderr$'
run_matins run -c words.toml w --html
out_like "HTML names stderr" '^<p>stderr:</p>$'
out_like "HTML escapes it" '^&lt;the&gt; cause</pre>$'

done_testing
