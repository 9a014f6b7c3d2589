#!/usr/bin/env bash
# The HTML page of a report as a browser reads it: elements are those of the
# report whatever a server said, nothing is loaded, nothing complains.
. "${BASH_SOURCE%/*}/lib.sh"

chromium=$(type -P chromium) || skip_all "chromium is not installed"

png=iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
echo 'raw {"content":[{"type":"text","text":"# Today\\n\\n- **a** [b](https://127.0.0.1/)\\n- c\\n\\n</div></section></body></html><h1>forged</h1><footer>x</footer><script>document.title=1</script><img src=x onerror=alert(1)>\\n\\n![x](http://127.0.0.1:1/x.png) <style>*{display:none}</style> <base href=x> <!-- <![CDATA[ ]]> --><svg onload=alert(1)>\\n\\n|a|b|\\n|-|-|\\n|</td><h1>y</h1>|\\"><h1>z|\\n\\n[c](https://127.0.0.1/\\"onmouseover=\\"alert(1))"},{"type":"image","mimeType":"image/png","data":"'$png'"}]}' |
	script hostile
cat >m.toml <<-END
	[routines.page]
	[[routines.page.steps]]
	name = "hostile <h1>"
	type = "mcp-client"
	command = "$PEER"
	args = ["$T/hostile.peer"]
	[[routines.page.steps]]
	name = "bad"
	type = "script"
	command = "sh"
	args = ["-c", "echo '</pre><h1>q</h1>'; echo '<h1>' >&2; exit 1"]
	[[routines.page.steps]]
	name = "json"
	type = "script"
	command = "echo"
	args = ['[{"<h1>":"</table><h1>t</h1>"}]']
END
run_matins run -c m.toml page --html -o page.html
exit_is "the page is written" 2
timeout 60 "$chromium" --headless --no-sandbox --disable-gpu \
	--user-data-dir="$T/profile" --enable-logging=stderr --dump-dom \
	"file://$T/page.html" >dom.html 2>browser.err
if [[ ! -s dom.html ]]; then
	skip "what a browser makes of the page" "chromium does not run here"
	done_testing
fi

# count TEXT: how often it stands in what the browser read
count() {
	grep -o -- "$1" dom.html | wc -l
}
is "one title" "$(count '<h1')" 1
is "a heading for each step" "$(count '<h2')" 3
is "a section for each step, and its end" "$(count '<section')" 3
is "one summary" "$(count '<footer')" 1
is "one picture, in the page itself" \
	"$(grep -o '<img [^>]*' dom.html | cut -c1-44)" \
	'<img alt="image" src="data:image/png;base64,'
is "links of the web alone" "$(grep -o '<a [^>]*' dom.html)" \
	"$(printf '<a rel="noopener noreferrer nofollow" href="https://127.0.0.1/%s"\n' '' '&quot;onmouseover=&quot;alert(1')"
for tag in '<script' '<style>\*' '<base' '<svg' 'onerror="' 'onload="'; do
	is "no $tag" "$(count "$tag")" 0
done
is "the summary is the last" \
	"$(grep -A1 '<footer' dom.html | head -n 1)" \
	'<footer class="bad">page: 3 ran, 0 skipped, 1 failed</footer>'
file_lacks "the browser has nothing to complain of" browser.err CONSOLE

done_testing
