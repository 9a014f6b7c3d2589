#!/usr/bin/env bash
# `check` says everything that is wrong with a configuration; `steps` and the
# reference are printed from the same tables.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

# ---- a good file ----

cat >matins.toml <<-'END'
	[servers.db]
	command = "python3"
	args = ["db.py"]

	[[routines.morning.steps]]
	name = "a"
	type = "mcp-client"
	server = "db"
	tool = "t"

	[[routines.morning.steps]]
	name = "b"
	type = "script"
	command = "date"

	[[routines.evening.steps]]
	name = "a"
	type = "harness"
	command = "date"
END
run_matins check
exit_is "good: exit status 0" 0
out_is "good: one line with the counts" "matins.toml: ok, 2 routines, 3 steps, 1 server"
err_is "good: nothing on stderr" ""
run_matins check --json
json_is "check --json reports routines, steps and findings" file matins.toml ok true routines 2 steps 3 findings '#0'
run_matins check -c matins.toml
exit_is "a file named by -c is checked" 0
run_matins check a.toml b.toml
exit_is "two files are a usage error" 64
run_matins check -c matins.toml matins.toml
exit_is "one by -c and one beside it: usage" 64

# ---- everything that is wrong, at once ----

cat >bad.toml <<-'END'
	rotines = 1
	[sandbox]
	profil = "strict"
	memory = "2 GB"
	[[routines.r.steps]]
	name = "a"
	type = "mcp-client"
	command = "x"
	timeout = { s = 1 }
	tiemout = 3
	[[routines.r.steps]]
	name = "a"
	type = "mcp-clinet"
	command = "x"
	[[routines.r.steps]]
	name = "c"
	type = "mcp-client"
	server = "db"
END
run_matins check bad.toml
exit_is "bad: exit status 1" 1
out_is "bad: nothing on stdout" ""
cat >want <<-'END'
	bad.toml:1:1: unknown key "rotines"; did you mean "routines"?
	bad.toml:3:1: unknown key "profil"; did you mean "profile"?
	bad.toml:4:10: "memory" must be a size such as "64KiB", "512MiB", or a number of bytes, not the string "2 GB"
	bad.toml:9:11: "timeout" must be a duration such as "500ms", "30s", "5m", or a number of seconds, not a table
	bad.toml:10:1: unknown key "tiemout"; did you mean "timeout"?
	bad.toml:11:1: duplicate step "a"; first defined in line 5
	bad.toml:13:8: unknown step type "mcp-clinet"; did you mean "mcp-client"?
	bad.toml:18:10: there is no server "db"; define it as [servers.db]
	bad.toml: 8 errors
END
file_is "bad: each with its place, in order" "$err" want
run_matins check bad.toml --json
exit_is "bad: JSON, exit status 1" 1
json_is "the findings in JSON have line, column and severity" ok false findings '#8' findings[0].line 1 \
	findings[0].col 1 findings[0].severity error \
	findings[2].line 4 findings[2].col 10 \
	findings[6].message '~did you mean "mcp-client"'

# A run of it starts nothing and shows the first, and how to see the others.
run_matins run -c bad.toml r
exit_is "bad: run is exit status 1" 1
err_like "bad: run shows the first place" 'bad\.toml:1:1: unknown key'
err_like "bad: run counts the others" 'and 7 more: `matins check bad\.toml`'

# ---- lax ----

printf 'rotines = 1\n[servers.db]\ncommand = "true"\n' >lax.toml
run_matins check --lax lax.toml
exit_is "lax: an unknown key is a warning" 0
err_is "lax: it is said all the same" \
	'lax.toml:1:1: warning: unknown key "rotines"; did you mean "routines"?'
out_is "a file checked with --lax has its warnings counted" "lax.toml: ok, 0 routines, 0 steps, 1 server, 1 warning"
printf 'keep_runs = "x"\n' >lax.toml
run_matins check --lax lax.toml
exit_is "lax: a wrong type is an error" 1

# ---- no TOML, hostile files ----

printf 'a = 1\nb = = 2\n' >syntax.toml
run_matins check syntax.toml
exit_is "syntax: exit status 1" 1
err_like "the message names line and column of the syntax error" '^syntax\.toml:2:5: not TOML: '

printf 'a = "\377"\n' >utf8.toml
run_matins check utf8.toml
err_like "the message names line and column of invalid UTF-8" '^utf8\.toml:1:6: byte 0xff is not UTF-8'

printf 'k = "\\u001b[31mx"\nparallel = 1\n' >control.toml
printf '"\\u001b[31m" = 1\n' >>control.toml
run_matins check control.toml
not_ok "control characters of the file do not reach the terminal" \
	grep -q "$(printf '\033')" "$err"

head -c 300000 /dev/zero | tr '\0' '#' >big.toml
run_matins check big.toml
exit_is "over 256 KiB: exit status 1" 1
err_like "over 256 KiB: says the limit" '262144 bytes|256 KiB'
{
	for ((i = 0; i < 30000; i++)); do printf 'a.'; done
	echo 'b = 1'
} >dots.toml
run_matins check dots.toml
exit_is "30 000 key parts: exit status 1" 1
err_like "30 000 key parts: says the limit" ':1:[0-9]*: a key of more than 64'
head -c 100000 /dev/zero | tr '\0' '[' >brackets.toml
sed -i 's/^/x = /' brackets.toml
run_matins check brackets.toml
err_like "100 000 brackets: says the limit" 'more than 64 nested'
for ((i = 0; i < 150; i++)); do echo "k$i = 1"; done >many.toml
run_matins check many.toml
err_like "150 errors: the rest is counted" '^many\.toml: and 50 more$'
err_like "150 errors: all are counted" '^many\.toml: 150 errors$'

run_matins check gone.toml
exit_is "no such file: exit status 1" 1
err_like "a file that does not exist is named" 'gone\.toml: No such file'
run_matins check "$T"
err_like "a folder is not checked as a file" 'not a regular file'
mkfifo pipe
LIMIT_S=10 run_matins check pipe
exit_is "a fifo does not make it wait" 1

# ---- references and grants ----

printf '%s\n' '[[routines.r.steps]]' 'name = "a"' 'type = "script"' \
	'command = "true"' 'sandbox.read = ["~", "~/../home", "~/mine"]' >wide.toml
mkdir "$HOME/mine"
run_matins check wide.toml
exit_is "all of HOME is granted: allowed" 0
err_like "and noted" 'wide\.toml:5:17: note: "read" grants .*/home, and with it the keys'
is "in each spelling, and nothing narrower" "$(grep -c ' note: ' "$err")" 2
run_matins run -c wide.toml r
err_unlike "a run is silent about it" 'keys'

cat >refs.toml <<-'END'
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "x"
	env = { A = "sk-literal-1234567890", B = { env = "SHORT" }, C = { cmd = "a 'b" } }
	sandbox = { read = ["gone"], write = ["out"] }
END
SHORT=k3y run_matins check refs.toml
exit_is "references: exit status 1" 1
err_like "a literal is refused, with what to write" \
	':5:13: .*write A = \{ env = "NAME" \}, \{ file = "~/path" \} or'
file_lacks "a literal is not shown" "$err" sk-literal
err_like "a short value is a warning" ':5:38: warning: .* B has fewer than 6'
file_lacks "a short value is not shown" "$err" k3y
err_like "a command line is read" ':5:61: command of C: a quote'
err_like "read: a missing path is a warning" ':6:21: warning: .*/gone,'
err_like "write: a missing path is an error with the mkdir" \
	":6:39: .*\`mkdir -p $T/out\`"
mkdir out gone
sed -i '/^env/d' refs.toml
run_matins check refs.toml
exit_is "when they exist it is good" 0

# ---- what this version cannot do ----

cat >later.toml <<-'END'
	[servers.web]
	url = "https://example.com/mcp"
	[servers.unused]
	url = "https://example.org/mcp"
	[[routines.r.steps]]
	name = "a"
	type = "mcp-client"
	server = "web"
	tool = "t"
END
run_matins check later.toml
exit_is "a url: exit status 0" 0
err_is "a url that a step uses is fine" ''
sed 's,https://example.com/mcp,http://example.com/mcp,' later.toml >plain.toml
run_matins check plain.toml
exit_is "plain http beyond loopback: exit status 1" 1
err_like "the message names https instead" 'plain.toml:1:.*https'
sed '1a insecure_http = true' plain.toml >allowed.toml
run_matins check allowed.toml
exit_is "plain http that is allowed: exit status 0" 0
err_like "plain http that is allowed gives a warning" 'allowed.toml:1:.*plain http to example.com.*can be read'
sed 's,http://example,https://example,' allowed.toml >needless.toml
run_matins check needless.toml
err_is "over TLS there is nothing to say" ''
# a credential needs another word
export A_VALUE=something-of-ours
while IFS=: read -r name line; do
	sed "1a $line" allowed.toml >credential.toml
	run_matins check --lax credential.toml
	exit_is "a credential over plain http fails the check ($name)" 1
	err_like "the message names the key that allows it ($name)" \
		'credential.toml:1:.*carry a credential.*insecure_credentials'
	sed -i '1a insecure_credentials = true' credential.toml
	run_matins check --lax credential.toml
	exit_is "the key for credentials makes the check pass ($name)" 0
	err_like "the warning names the credentials ($name)" 'credentials included'
done <<'END'
a header of a variable:headers = { X-Any = "${A_VALUE}" }
a header whose name says so:headers = { X-Api-Key = "something" }
a header of a reference:headers = { X-Any = { env = "A_VALUE" } }
a token:token = { env = "A_VALUE" }
an api key:api_key = { env = "A_VALUE" }
a client with a secret:auth = { client_id = "a", client_secret = { env = "A_VALUE" }, issuer = "https://example.com" }
END
sed -e '1a headers = { X-Mode = "read-only" }' allowed.toml >mode.toml
run_matins check mode.toml
exit_is "a header that names another mode passes the check" 0
sed 's,example.com/mcp,example.com/${A_VALUE}/mcp,' allowed.toml >path.toml
run_matins check path.toml
exit_is "a variable in the path: exit status 1" 1
sed 's,example.com/mcp,example.com/mcp?api_key=abc,' allowed.toml >query.toml
run_matins check query.toml
exit_is "a key in the query: exit status 1" 1
A_VALUE=example.com
sed 's,//example.com/,//${A_VALUE}/,' allowed.toml >host.toml
run_matins check host.toml
exit_is "a variable as the host: exit status 0" 0
unset A_VALUE
{
	sed 's/^server = .*/url = "https:\/\/example.com\/mcp"/' later.toml
	printf '[servers.web.sandbox]\nread = ["/usr"]\n'
} >odd.toml
run_matins check odd.toml
exit_is "a url in a step: exit status 1" 1
err_like "the message names the line of the url" 'odd.toml:8:.*in .servers.NAME.'
err_like "a sandbox for a url: a warning" \
	'server "web": "sandbox" is for a program'
cat >>later.toml <<-'END'
	[sandbox]
	net = ["example.com:443"]
END
run_matins check later.toml
exit_is "a list of hosts is fine" 0
sed -i 's/"example.com:443"/":443"/' later.toml
run_matins check later.toml
exit_is "a port is fine" 0
sed -i 's|":443"|"https://example.com"|' later.toml
run_matins check later.toml
exit_is "a URL is none: exit status 1" 1
err_like "a row is shown at its place, with what is right" \
	'later\.toml:11:8: net: "https://example\.com": not a URL'
sed -i 's|"https://example.com"|"loop", "a.test", "http://x", ":0"|' later.toml
run_matins check later.toml
exit_is "several wrong rows: exit status 1" 1
err_like "the first wrong row is found" 'later\.toml:11:8: net: .*did you mean "loopback"'
err_like "the second wrong row is found" 'later\.toml:11:26: net: "http://x": not a URL'
err_like "the third wrong row is found" 'later\.toml:11:38: net: '
err_unlike "the right row between them is not complained about" ':11:16:'
sed -i 's|^net = .*|net = "al"|' later.toml
run_matins check later.toml
err_like "a wrong word comes with the right one" \
	'later\.toml:11:7: net: .*did you mean "all"'
sed -i 's|^net = .*|net = ["intranet", "db:5432"]|' later.toml
run_matins check later.toml
exit_is "hosts without a dot are hosts" 0

# ---- rules of comparison ----

cat >rules.toml <<-'END'
	[golden]
	ignore = ["$.summary", "$.a["]
	[routines.r.golden]
	ignore = ["data.structuredContent.load", "a b c]]", "x[-1]"]
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "x"
END
run_matins check rules.toml
exit_is "broken rules: exit status 1" 1
err_like "a broken rule of the file, with its place" \
	'^rules\.toml:2:24: "ignore" of \[golden\]: .*column 5'
err_unlike "a good rule is no error" ':2:11:|:4:11:'
sed -i '2s/.*/ignore = ["$.summary"]/; s/"a b c.*", //' rules.toml
run_matins check rules.toml
exit_is "good rules: exit status 0" 0

# ---- files of modulex ----

cat >modulex.toml <<-'END'
	[identity]
	name = "x"
	[countdowns]
	a = 1
	[[routines.r.steps]]
	name = "q"
	type = "mcp-query"
	command = "x"
	tool = "t"
	arguments = { a = 1 }
END
run_matins check modulex.toml
exit_is "modulex: its tables are known" 0
err_like "modulex: with a note" \
	'^modulex\.toml:1:2: note: \[identity\] is a table of modulex; only'

# ---- the vocabulary ----

run_matins steps
exit_is "steps: exit status 0" 0
for word in mcp-client mcp-query script harness timeout stdout_max tool; do
	out_like "matins steps lists the word $word" "^ *$word\b"
done
out_like "steps: a long key stands apart from its text" '^  args_from_data  what becomes'
run_matins steps --json
json_is "steps --json lists types and their keys" steps '#10' steps[0].type mcp-client \
	steps[0].keys[0].name name
run_matins steps x
exit_is "steps: takes no argument" 64
run_matins steps --md
if [[ -f $TOP/routines/README.md ]]; then
	sed -n '/^## Step types/,$p' "$TOP/routines/README.md" >keys.md
	file_is "routines/README.md is what \`make docs\` prints" keys.md "$out"
	awk -f "$TOP/core/cli/manual.awk" "$TOP/routines/README.md" \
		"$TOP/core/cli/matins.1" >manual
	ok "the manual page has the list of keys" \
		cmp "$TOP/core/cli/matins.1" manual
fi
for key in retry foreach output schema expect; do
	printf '%s = 1\n' "$key" >later.toml
	cat >later.toml <<-END
		[[routines.r.steps]]
		name = "a"
		type = "script"
		command = "x"
		$key = 1
	END
	run_matins check later.toml
	err_like "$key is not taken silently" ":5:[0-9]+: .*$key"
done

# ---- a revision that there is not ----

for date in 2025-06-18 1999-01-01; do
	cat >revision.toml <<-END
		[servers.db]
		command = "true"
		protocol = "$date"
		[[routines.r.steps]]
		name = "a"
		type = "mcp-client"
		command = "true"
		tool = "t"
		protocol = $date
	END
	run_matins check revision.toml
	[[ $date == 2025-06-18 ]] || break
	exit_is "a revision of MCP: good" 0
done
exit_is "no revision of MCP: exit status" 1
err_like "no revision of MCP: at its server, with those there are" \
	'^revision\.toml:[12]:[0-9]+: .*no revision "1999-01-01".* 2025-11-25'
err_like "no revision of MCP: at its step" '^revision\.toml:4:'

# ---- a file with nothing in it ----

printf '[sandbox]\nread = ["/usr/share"]\n' >empty.toml
run_matins check empty.toml
exit_is "an empty configuration passes the check" 0
err_like "an empty configuration gives a warning" \
	'^empty\.toml:1:1: warning: the file has neither a routine nor a server'
printf '[servers.db]\ncommand = "true"\n' >empty.toml
run_matins check empty.toml
err_unlike "a server alone is enough" 'warning'

# ---- a line of words in the place of a program ----

mkdir -p lines && cp /bin/true 'lines/two words'
cat >lines/matins.toml <<-'END'
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "ls -la 'my docs'"
	[[routines.r.steps]]
	name = "b"
	type = "script"
	command = "./two words"
	sandbox.exec = ["ls -la"]
	[[routines.r.steps]]
	name = "c"
	type = "script"
	command = "no-such-program -x"
	[[routines.r.steps]]
	name = "d"
	type = "script"
	command = "ls ~/notes"
	[[routines.r.steps]]
	name = "e"
	type = "script"
	comand = "ls"
	[[routines.r.steps]]
	name = "f"
	type = "script"
	command = "ls -la | wc -l"
END
run_matins check lines/matins.toml
exit_is "a line of words as the command: exit status 1" 1
err_like "the message has command and args" \
	':4:11: "command" is one program; write command = "ls", args = \["-la", "my docs"\]'
err_like "a path of HOME is written out: no shell reads it in args" \
	":17:11: .* write command = \"ls\", args = \\[\"$HOME/notes\"\\]"
err_like "a pipeline goes to a shell" \
	':25:11: .* no line of a shell; write command = "sh", args = \["-c", "ls -la \| wc -l"\]'
is "a misspelt command is one error" "$(grep -c ':\(18\|21\):' "$err")" 1
err_like "in its place" ':21:1: unknown key "comand"; did you mean "command"\?'
err_like "a row of exec has no arguments" \
	':9:17: a program of "exec" stands without arguments; write "ls"'
err_unlike "neither a file with a blank, nor an unknown program" ':(8|13):'
# ---- a table that is written twice, and keys as arguments ----

{
	plain a cat 'sandbox = { read = ["."] }' 'sandbox.write = ["x"]'
} >twice.toml
run_matins check twice.toml
err_like "a row behind a table in { }: said where it goes" \
	'twice.toml:[0-9]+:1: not TOML: .* write the row there, between its \{ \}'
mkdir -p "$HOME/.ssh"
: >"$HOME/.ssh/id_rsa"
{
	plain a cat "args = ['$HOME/.ssh/id_rsa']"
	plain b cat "args = ['$HOME/.ssh/nothere']"
	plain c cat "args = ['$HOME/.ssh/id_rsa']" 'sandbox.read = ["~/.ssh/id_rsa"]'
} >keys.toml
run_matins check keys.toml
exit_is "a key as an argument: a warning" 0
err_like "which names it" \
	'keys.toml:1:1: warning: .*/id_rsa can be read, because an argument names it; ~/\.ssh holds keys'
is "but none that is granted, or is not there" "$(grep -c 'argument names it' "$err")" 1
run_matins run -c keys.toml r --only a
err_like "a run says it, too" 'id_rsa can be read, because an argument names it'

# ---- keywords of schemas ----

# JSON Schema passes over a keyword that it does not have: { maximun = 3 }
# would hold for every number
cat >words.toml <<-'END'
	[routines.r.params]
	m = { type = "integer", maximun = 3 }
	p = { typ = "integer", "x-note" = 1, "$comment" = "of mine" }
	q = { properties = { typ = { minLenght = 3 } }, default = { typ = "abc", foo = 1 }, allOf = [{ requierd = [] }] }
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "true"
	args = ["$input.m", "$input.p", "$input.q"]
	when = { "$input.m" = { zork = 1 } }
	expect = { "$.output" = { items = { maxmium = 3 } } }
END
run_matins check words.toml
exit_is "keywords that there are not: an error" 1
for line in '2:25: .*"maximun", .*"maximum"' '3:7: .*"typ", .*"type"' \
	'4:30: .*"minLenght", .*"minLength"' '4:96: .*"requierd", .*"required"' \
	'10:25: .*"zork", .*"x-"' '11:37: .*"maxmium", .*"maximum"'; do
	err_like "keywords: $line" "^words\.toml:$line"
done
err_like "keywords: no more than these" '^words\.toml: 6 errors$'
run_matins run -c words.toml r -p m=9 -p p=1 -p q='{}'
exit_is "keywords: nothing is run" 1
run_matins check --lax words.toml
exit_is "keywords, --lax: warnings" 0
out_like "keywords, --lax: as many" ', 6 warnings$'

cat >required.toml <<-'END'
	[routines.r.params]
	a = { type = "string", requred = true }
	b = { type = "string", required = true }
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "true"
	args = ["$input.a", "$input.b"]
END
run_matins check required.toml
exit_is "a parameter with required = true: an error" 1
err_like "required = true: what makes a parameter required" \
	'^required\.toml:3:[0-9]+: .*a parameter without `default` is required$'
err_like "requred = true: no word that would be the next error" \
	'^required\.toml:2:[0-9]+: .*"requred"; a parameter without `default` is required$'

cat >when.toml <<-'END'
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "true"
	when = "$input.n > 3"
	expect = "$.output"
END
run_matins check when.toml
err_like "when as a string: what it is" \
	'^when\.toml:5:8: "when" must be a table of conditions: \{ "\$input\.n" = \{ minimum = 4 \} \}, not the string'
err_like "expect as a string: what it is" \
	'^when\.toml:6:10: "expect" must be a table of conditions: \{ "\$\.json\.n" = '
err_like "no more is said of them" '^when\.toml: 2 errors$'

# ---- what looks like a reference ----

cat >looks.toml <<-'END'
	[routines.r.params]
	DATE = { default = "x" }
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "sh"
	args = ["-c", "echo ${DATE}", "{{stpes.a.output}} {{previos.a.output}} {{inptu.DATE}}", "${DATE}", "${OTHER}"]
	[[routines.r.steps]]
	name = "b"
	type = "script"
	command = "sh"
	args = ["-c", "echo ${DATE}"]
	env = { DATE = "2" }
END
run_matins check looks.toml
exit_is "misspelt references: warnings" 0
for root in steps previous input; do
	err_like "each in a text is said: $root" ":7:31: warning: .* a reference is \"\\\$$root\."
done
err_like "a parameter as a variable: in a text" ':7:15: warning: "\$\{DATE\}" .* a reference is "\$input\.DATE"'
err_like "a parameter as a variable: as a whole" ':7:89: warning: "\$\{DATE\}" .* a reference is "\$input\.DATE"'
err_like "another variable is none" ':7:100: warning: "\$\{OTHER\}" .*variables are replaced in'
out_like "nor is one that env sets" ', 7 warnings$'

printf '%s\n' '[routines.r]' 'steps = []' 'description = "x' >quote.toml
run_matins check quote.toml
err_like "a quote that is not closed" \
	'^quote\.toml:3:[0-9]+: not TOML: .*; the quote of a string that begins here is not closed in its line$'

done_testing
