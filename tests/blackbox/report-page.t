#!/usr/bin/env bash
# The HTML page of a report as a person sees it, in headless chromium: colours
# and pictures are where they belong, by day and by night, on a phone and on
# paper, by keyboard; and whatever a server said, nothing runs, is loaded or
# complains, and the parts of the page are those of the report.
. "${BASH_SOURCE%/*}/lib.sh"

chromium=/usr/lib/chromium/chromium # without the script around it
[[ -x $chromium ]] || chromium=$(type -P chromium) ||
	skip_all "chromium is not installed"

# ---- pages ----

# A picture, red and blue, and a second of sound, as servers send them.
"$PYTHON" - <<-'END'
	import base64, json, struct, zlib
	def chunk(name, data):
	    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
	line = b"\0" + b"\xe0\x10\x20" * 60 + b"\x10\x30\xd0" * 60
	png = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 120, 40, 8, 2, 0, 0, 0)) +
	       chunk(b"IDAT", zlib.compress(line * 40)) + chunk(b"IEND", b""))
	wav = struct.pack("<4sI8sIHHIIHH4sI", b"RIFF", 8036, b"WAVEfmt ", 16, 1, 1, 8000, 8000, 1, 8, b"data", 8000)
	def peer(name, *content, **more):
	    result = {"content": content, **more}
	    with open(name + ".peer", "w") as f:
	        f.write("raw " + json.dumps(result).replace("\\", "\\\\") + "\n")
	def text(t):
	    return {"type": "text", "text": t}
	def data(kind, mime, bytes):
	    return {"type": kind, "mimeType": mime, "data": base64.b64encode(bytes).decode()}
	peer("notes", text("# Today\n\n- **one** [link](https://127.0.0.1/)\n- two\n\n|a|b|\n|-|-:|\n|x|7|\n"))
	peer("media", text("a chart"), data("image", "image/png", png),
	     data("audio", "audio/wav", wav + b"\x80" * 8000),
	     data("image", "image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"))
	peer("facts", text("Rain in Berlin."), {"type": "resource", "resource":
	     {"uri": "x:list", "text": "- one\n- two\n- three\n"}}, structuredContent={"city": "Berlin", "days": [
	     {"day": "Monday", "max": 9}, {"day": "Tuesday", "max": 11}], "wide": "w" * 300})
	peer("rows", text(json.dumps([{"n": i, "name": "row %d" % i} for i in range(1000)])))
	peer("hostile", text(
	     "# Today\n\n</div></div></details></section></main></body></html><h1>All well</h1>"
	     "<footer class=ok>hostile: 9 ran</footer><script>document.title=1;alert(1)</script>"
	     "<img src=x onerror=alert(1)>\n\n![x](http://127.0.0.1:1/x.png) <style>*{display:none}</style>"
	     "<style>@import 'http://127.0.0.1:1/a.css'</style><base href=http://127.0.0.1:1/>"
	     "<meta http-equiv=refresh content='0;url=http://127.0.0.1:1/'><link rel=stylesheet href=//127.0.0.1:1/b>"
	     "<form action=http://127.0.0.1:1/><input autofocus onfocus=alert(1)><button></form>"
	     "<iframe src=javascript:alert(1)></iframe><a href=javascript:alert(1)>x</a>"
	     "<!-- <![CDATA[ ]]> --><svg onload=alert(1)><details open ontoggle=alert(1)>\n\n"
	     "[js](javascript:alert(1)) [data](data:text/html,<script>alert(1)</script>) "
	     "[c](https://127.0.0.1/\"onmouseover=\"alert(1)) [file](file:///etc/passwd) "
	     "[Skip](#steps) <javascript:alert(1)> [v]( vbscript:x ) \u202eesrever\n\n"
	     "|a|b|\n|-|-|\n|</td></table><h1>y</h1>|\"><h1>z|\n\n<h1>\n=====\n\n> # All well\n\n"
	     "    <script>alert(2)</script>\n\n~~~\n</pre><script>alert(3)</script>\n~~~\n"),
	     data("image", "image/png\" onerror=\"alert(1)", png), data("image", "image/svg+xml", b"<svg/>"),
	     {"type": "image", "mimeType": "image/png", "data": "\"><script>alert(1)</script>"},
	     {"type": "resource", "resource": {"uri": "x:</summary><h1>r</h1>", "text":
	         "</pre></details></section><script>alert(1)</script><h1>r</h1>"}},
	     structuredContent={"<h1>": "</table></details><h1>t</h1>", "a": ["<script>alert(1)</script>"]})
END
step() {
	printf '[[routines.%s.steps]]\nname = "%s"\ntype = "%s"\ncommand = "%s"\nargs = [%s]\n%s\n' "$@"
}
{
	echo 'sandbox.read = ["."]'
	step well notes mcp-client "$PEER" "\"$T/notes.peer\""
	step well media mcp-client "$PEER" "\"$T/media.peer\""
	step well facts mcp-client "$PEER" "\"$T/facts.peer\""
	step well rows mcp-client "$PEER" "\"$T/rows.peer\""
	step well each script echo '"{{item}}"' 'foreach = "$input.names"'
	step well script script printf '"שלום\nab"'
	step troubles fine script echo '"fine"'
	step troubles refused script sh '"-c", "cat /etc/shells; echo went on"'
	step troubles bad script sh '"-c", "echo partial; echo the cause >&2; exit 3"'
	step troubles gone script no-such-program
	step hostile 'hostile <h1>\u202e' mcp-client "$PEER" "\"$T/hostile.peer\""
	step hostile bad script sh "\"-c\", \"echo '</pre><h1>q</h1>'; echo '</pre><script>alert(1)</script><h1>' >&2; exit 1\""
	step hostile json script echo "'[{\"<h1>\":\"</table><h1>t</h1>\",\"x\":\"<img src=x onerror=alert(1)>\"}]'"
	step big big script head "\"-c\", \"10000000\", \"$T/lines\""
	step many each mcp-client "$PYTHON" "\"$T/each.py\"" \
		$'tool = "t"\nforeach = "$input.names"\nwith.name = "$item"'
} >m.toml
tool_server each.py <<-'END'
	text = "a line about " + a["name"] + ", not very short"
END
yes 'a line of a long log, and so on' | head -c 10000000 >lines

run_matins run -q -c m.toml well -p 'names:=["a","b"]' --html -o before.html
exit_is "the page of a good run" 0
run_matins golden record -q -c m.toml well -p 'names:=["a","b"]'
exit_is "a golden file" 0
sed -i 's/one/another/' notes.peer
run_matins run -q -c m.toml well -p 'names:=["a","b"]' --html -o well.html
run_matins show -c m.toml last well --html
ok "the page of the kept report is the same" cmp "$out" well.html
run_matins run -q -c m.toml troubles --html -o troubles.html
exit_is "the page of a run that failed" 2
run_matins run -q -c m.toml hostile --html -o hostile.html
run_matins run -q -c m.toml big --html -o big.html
exit_is "the page of ten million bytes" 0
run_matins show -c m.toml last well --json
cp "$out" now.json
run_matins show -c m.toml 1 --json
cp "$out" then.json
run_matins diff --format html then.json now.json
cp "$out" diff.html
run_matins golden diff -c m.toml well -p 'names:=["a","b"]' --format html
exit_is "a golden file that differs" 1
cp "$out" accepted.html
run_matins run -q -c m.toml many --html -o many.html \
	-p "names:=[\"n0\"$(printf ',"n%d"' {1..999})]"
exit_is "the page of a thousand elements" 0
ok "it is hardly more than their words" test "$(wc -c <many.html)" -lt 80000
run_matins run -c m.toml well --only notes --view golden --html
cp "$out" golden.html
run_matins stats -c m.toml well --html
cp "$out" stats.html
ok "it is hardly more than its result" test "$(wc -c <big.html)" -lt 10100000

# The twins: what its policy keeps from running, and what the test then sees.
sed 's|<main>|&<script>document.title = "forged"</script><img src="http://127.0.0.1:1/x.png"><p style="color:#999">x|' \
	troubles.html >kept.html
sed 's/<meta http-equiv[^>]*>//; s/document.title/console.log(1), &/' kept.html >open.html
for page in well troubles hostile big diff accepted many stats golden kept open; do
	pages+=("$page.html")
done
"$PYTHON" "$TOP/tests/helpers/browser.py" "$chromium" "$T/profile" "${pages[@]}" >seen 2>browser.err
if (($? == 77)); then
	skip "what a browser makes of the pages" "chromium does not run here: $(head -n 1 browser.err)"
	done_testing
fi
is "chromium looked at each page" "$(wc -l <seen) $(<browser.err)" "${#pages[@]} "
for page in well troubles hostile big diff accepted many stats golden kept open; do
	read -r line && echo "$line" >"$page.json"
done <seen

# seen PAGE NAME PATH WANT...
seen() {
	local page=$1 name=$2

	shift 2
	json_file_is "$page: $name" "$page.json" "$@"
}

# ---- whatever the page ----

for page in well troubles hostile big diff accepted many stats golden; do
	seen $page "no message, no request, no dialog, no frame" \
		console '[]' requests '[]' dialogs 0 frames 0 url "~^file://$T/$page.html"
	seen $page "nothing that could run, load or send" \
		light.active '[]' light.handlers 0 light.moving 0
	seen $page "a document for people who hear it" light.lang en light.h1 '#1' \
		light.without_alt 0 light.without_scope 0 light.twice '[]' \
		light.dead 0 light.skipped_level false
	seen $page "a phone scrolls down alone" phone.wide 0 phone.cut '[]'
	seen $page "text is no fainter than WCAG AA" light.faint '[]'
	[[ $page != big ]] || continue
	seen $page "at night it is light on dark, and no fainter" dark.faint '[]' \
		light.colours '["rgb(28, 30, 33)", "rgb(250, 250, 248)"]' \
		dark.colours '["rgb(229, 231, 234)", "rgb(19, 21, 24)"]'
	seen $page "paper has all of it, dark on light" paper.wide 0 paper.cut '[]' \
		paper.unseen 0 paper.faint '[]' \
		paper.colours '["rgb(0, 0, 0)", "rgb(255, 255, 255)"]'
	seen $page "Tab shows where it is" hidden '[]'
	seen $page "Enter opens all that is folded" opened "$(json_get light.closed $page.json)"
done

# ---- a good run ----

seen well "the verdict" light.verdict 'verdict ok' light.h1 '["well: All well, 1 change"]' \
	light.title '~^well — .* 6 ok' light.footer '["well: 6 ran, 0 skipped, 0 failed"]'
seen well "the verdict is green" regions.verdict '~^green' regions.night '~^green'
seen well "what changed stands above the steps" light.h2 \
	'["Changed since run 2", "At a glance", "Steps"]' light.changes 1
seen well "a part for each step" light.steps \
	'["notes", "media", "facts", "rows", "each", "script"]' light.bars 6
seen well "the picture has its pixels in its place, and no other is there" \
	light.pictures '[[120, "image of media"]]' regions.picture '[[224, 16, 32], [16, 48, 208]]'
seen well "the sound can be played" light.sounds '[[true, 1.0]]'
seen well "Markdown, structured content and lists are tables" light.cells.notes 2 \
	light.cells.facts 7 light.cells.rows 2000
seen well "long results are folded, short ones are not" light.folded '["rows"]'
seen well "the first Tab skips to the steps" tabs[0] 'a Skip to the steps' \
	skipped_to[0] '~^summary notes' skipped_to[1] true
seen well "Tab comes by each step" stops "$(json_get summaries well.json)"
ok "paper has more than a page for a thousand rows" test "$(json_get pages well.json)" -gt 5

# ---- failures ----

seen troubles "the verdict" light.verdict 'verdict bad' \
	light.h1 '["troubles: 1 of 4 failed"]' light.h2 '["What needs a look", "At a glance", "Steps"]'
seen troubles "the verdict is red" regions.verdict '~^red' regions.night '~^red'
seen troubles "what failed stands on top, with its cause and what to do" \
	light.troubles[0] '~^bad failed\n+the program exited with status 3\n+stderr:\n+the cause' \
	light.troubles[1] '~^refused refused\n(.*\n)*sandbox.read = \["/etc/shells"\]'
seen troubles "what was enforced stands in each step" light.kept '~^[0-9]+ enforced'

# ---- a server that would be the page ----

seen hostile "elements are those of the report" light.main 1 light.h1 '["hostile: 1 of 3 failed"]' \
	light.h2 '["What needs a look", "At a glance", "Steps"]' light.steps '#3' \
	light.verdict 'verdict bad' light.title '~^hostile — ' light.pictures '[]' \
	light.footer '["hostile: 3 ran, 0 skipped, 1 failed"]'
seen hostile "its name stays in its line" light.steps[0] 'hostile <h1>\u{202E}'
seen hostile "the verdict is red" regions.verdict '~^red'
seen hostile "links are those of the web alone" light.schemes \
	'["http:", "https:"]'

seen kept "the policy refuses a script, a style and a picture" light.title '~^troubles — ' \
	light.faint '[]' console[0] '~Executing inline script violates' \
	console[2] '~Applying inline style violates' console[4] '~Loading the image'
seen open "without a policy they come, and are seen" light.title forged light.faint '#1' \
	requests '["http://127.0.0.1:1/x.png"]' console '#2' light.active '#2'

# ---- long ones, differences, golden views ----

seen big "it is folded" light.folded '["big"]' light.verdict 'verdict ok'
seen diff "each difference" light.changes "$(grep -o '^[0-9]*' <<<"$(json_get light.h1[0] diff.json)")" \
	light.h1[0] '~^[1-9][0-9]* differences?:'
seen well "a change is said in words" light.changed '["notes: text changed"]'
seen accepted "what a golden file does not have, in words" light.changes 1 \
	light.changed '["notes: text changed"]' light.h1 '["1 difference: 1 value"]'
seen many "a thousand elements are folded, and there" light.folded '["each (t)"]' \
	light.verdict 'verdict ok' light.footer '["many: 1 ran, 0 skipped, 0 failed"]'
seen golden "a page without times" light.bars 0 light.title 'well — 1 ok, 5 left out'

done_testing
