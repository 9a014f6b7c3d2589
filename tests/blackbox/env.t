#!/usr/bin/env bash
# Variables of a program: plain values stand in the file and in the report, a
# literal that looks like a credential stands in neither.
# shellcheck disable=SC2016,SC2088
. "${BASH_SOURCE%/*}/lib.sh"

cat >show.sh <<-'END'
	echo "level=$LOG_LEVEL port=$PORT quiet=$QUIET empty=[$EMPTY] secret=$HIDDEN"
END

# ---- plain values ----

printf 'top-secret-value\n' >key
chmod 600 key
cat >plain.toml <<-'END'
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "sh"
	args = ["show.sh"]
	env = { LOG_LEVEL = "debug", PORT = 8080, QUIET = false, EMPTY = "", HIDDEN = { file = "key" } }
END
run_matins run -c plain.toml r --json
exit_is "plain values: the step runs" 0
json_is "plain values reach the program, and are not scrubbed" \
	step_results[0].output "level=debug port=8080 quiet=false empty=[] secret=***"
json_is "plain values stand in the report, a credential does not" \
	step_results[0].run.env.LOG_LEVEL debug \
	step_results[0].run.env.PORT '~^8080$' \
	step_results[0].run.env.EMPTY '~^$' \
	step_results[0].run.env.HIDDEN absent
run_matins run -c plain.toml r --json --view golden
out_unlike "plain values are no part of what is compared" LOG_LEVEL

# ---- of a server, and of a step over it ----

cat >server.toml <<-END
	[servers.s]
	command = "$PEER"
	args = ["server.peer"]
	env = { LOG_LEVEL = "info", ONLY_SERVER = "yes", HIDDEN = "no secret" }
	[[routines.r.steps]]
	name = "a"
	type = "mcp-client"
	server = "s"
	tool = "t"
	env = { LOG_LEVEL = "debug", HIDDEN = { file = "key" } }
END
cat >server.peer <<-'END'
	recv initialize
	send result {"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}
	recv notifications/initialized
	recv tools/call
	send result {"content":[{"type":"text","text":"done"}]}
END
run_matins run -c server.toml r --json
json_is "a step's value replaces its server's, in the report, too" \
	step_results[0].run.env.LOG_LEVEL debug \
	step_results[0].run.env.ONLY_SERVER yes \
	step_results[0].run.env.HIDDEN absent

# ---- literals that look like a credential ----

cat >literal.toml <<-'END'
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "sh"
	args = ["show.sh"]
	env = { LOG_LEVEL = "debug", API_TOKEN = "tiger-in-the-tank", HIDDEN = "ghp_abcdefghijklmnop" }
END
run_matins check literal.toml
exit_is "literals: exit status 1" 1
err_like "a name of a credential is refused with the three ways" \
	':6:42: API_TOKEN looks like a credential by its name; .*write API_TOKEN = \{ env = "NAME" \}, \{ file = "~/path" \} or \{ cmd = "line" \}'
err_like "a value of a known form is refused" \
	':6:72: HIDDEN looks like a token of GitHub'
run_matins run -c literal.toml r --json
exit_is "nothing starts" 1
file_lacks "neither value is shown" "$err" tiger
file_lacks "neither value is shown, of a known form" "$err" ghp_abc
run_matins check --lax literal.toml
exit_is "--lax: the file is good" 0
err_like "--lax warns" 'warning: API_TOKEN looks like a credential'
run_matins run -c literal.toml --lax r --json
exit_is "--lax: the step runs" 0
json_is "--lax: values that look like credentials are scrubbed and left out" \
	step_results[0].output '~secret=\*\*\*$' \
	step_results[0].run.env.LOG_LEVEL debug \
	step_results[0].run.env.API_TOKEN absent \
	step_results[0].run.env.HIDDEN absent

# ---- tokens in arguments and headers ----

mkdir tokens
cat >tokens/matins.toml <<-'END'
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "sh"
	args = ["-c", "API_KEY=ghp_abcdefghijklmnop; echo plain"]
END
run_matins check tokens/matins.toml
exit_is "tokens: a warning is no error" 0
err_like "a token in an argument is warned of" \
	':5:15: warning: "args" holds what looks like a token of GitHub; .*env = \{ NAME = \{ env = "NAME" \} \}'
run_matins run -c tokens/matins.toml r
exit_is "tokens: the step runs" 0
err_like "each run warns" 'warning: .*"args" holds'
file_lacks "no warning has the token" "$err" ghp_abc
run_matins allow tokens
err_like "allow: the token is masked" 'API_KEY=ghp_\*\*\*; echo plain'
file_lacks "allow: the token is not shown" "$err" ghp_abc
cat >named.toml <<-'END'
	[servers.far]
	url = "https://far.invalid/mcp?token=abcd1234efgh&page=1"
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "echo"
	args = ["--token-limit", "5", "--token", "abcd1234efgh", "--key", "name",
	    "https://far.invalid/?api_key=abcd1234efgh"]
END
run_matins check named.toml
exit_is "tokens behind a name: a warning is no error" 0
err_like "a value behind an option is warned of" \
	':7:42: warning: "args" holds what looks like a credential by its name'
err_like "a value in a query of an argument is warned of" \
	':8:5: warning: "args" holds what looks like a credential by its name'
err_like "a value in the query of a url is warned of" \
	':2:7: warning: "url" holds what looks like .*"[$][{]NAME[}]".*token = \{ env = "NAME" \}'
is "numbers and words behind such names are left alone" \
	"$(grep -c warning: "$err")" 3
mkdir shown
cp named.toml shown/matins.toml
run_matins allow shown
err_like "allow: values behind names are masked" \
	"echo --token-limit 5 --token \*\*\* --key name .*api_key=\*\*\*"
err_like "allow: those of a url as well" 'mcp\?token=\*\*\*&page=1'
file_lacks "allow: none of them is shown" "$err" abcd1234efgh
sed -i 's/echo plain/echo other/' tokens/matins.toml
cd tokens || exit 1
run_program /dev/null env -u MATINS_ALLOW "$BIN" run r
cd .. || exit 1
err_like "what has changed is masked, too" 'API_KEY=ghp_\*\*\*; echo other'
file_lacks "what has changed: the token is not shown" "$err" ghp_abc
run_matins allow --list --json
file_lacks "allow --list: the token is not shown" "$out" ghp_abc

# a line behind the name of a key is a command for a shell
cat >tokens/matins.toml <<-'END'
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "sh"
	args = ["-c", ": PRIVATE KEY-----\nhidden\n"]
END
run_matins allow tokens
err_like "allow: a line that could be a command is shown" 'KEY-----.*hidden'

cat >headers.toml <<-'END'
	[servers.u]
	url = "https://mcp.example.com/mcp"
	headers = { Authorization = "Bearer abcdefghijklmnop", X-Plain = "no token" }
	[servers.v]
	url = "https://mcp.example.com/mcp"
	headers = { X-API-Key = "tiger-in-the-tank", Cookie = "a=${COOKIE}" }
	[servers.w]
	url = "https://mcp.example.com/mcp"
	headers = { X-Ref = { file = "~/key" }, X-Other-Key = { env = "K" } }
END
run_matins check headers.toml
exit_is "headers: exit status 1" 1
err_like "a token in a header is refused with the three ways" \
	':3:29: header Authorization looks like a bearer token; .*write "\$\{NAME\}".*headers.Authorization = \{ file = .*token = \{ env = "NAME" \}'
err_like "a header by its name is refused" \
	':6:25: header X-API-Key looks like a credential by its name'
err_unlike "a plain header, and one of a variable, are good" 'X-Plain|Cookie|X-Ref|X-Other'
file_lacks "no message has the value" "$err" 'tiger'
COOKIE=b run_matins check --lax headers.toml
exit_is "--lax: headers are taken as they are" 0
err_like "--lax warns of headers" 'warning: header X-API-Key looks'

printf '[servers.u]\nurl = "https://a.b/"\nheaders = { X-Two = { file = "a", env = "B" } }\n' >two.toml
run_matins check two.toml
err_like "a reference of a header is exactly one" 'X-Two takes exactly one'
printf '[notify]\nurl = "https://a.b/"\nheaders = { X-Two = { env = "B" } }\n' >two.toml
run_matins check two.toml
err_like "a header of [notify] is a text" 'a header is a text here'

# ---- what is not replaced ----

sed 's|^env = .*|env = { A = "${HOME}/x", B = "~/y", C = "$input.z", KEYBOARD = "de" }|' \
	plain.toml >kept.toml
run_matins check kept.toml
exit_is "values that are kept: status 0" 0
err_like "a variable in a value is a warning" \
	'warning: "\$\{HOME\}/x" is passed on as it is'
err_like "a tilde in a value is a warning" 'warning: "~/y" is passed on as it is'
err_like "a reference in a value is a warning" \
	'warning: "\$input.z" is not replaced here'

# ---- files of other clients ----

cat >codex.toml <<-'END'
	model = "x"
	[mcp_servers.docs]
	command = "sh"
	args = ["-c", "exit"]
	env = { LOG_LEVEL = "debug" }
	startup_timeout_sec = 20
	enabled = true
END
run_matins check --lax codex.toml
exit_is "a server of another client is good" 0
err_like "its own keys are ignored with a note" \
	'note: "startup_timeout_sec" .* is ignored: .*timeout'
echo '{"mcpServers":{"docs":{"command":"sh"}}}' >mcp.json
run_matins list -c mcp.json
exit_is "JSON: exit status 1" 1
err_like "JSON is named, and what to write instead" \
	'mcp.json:1:1: the file is JSON, and matins reads TOML: .*matins import.*\[servers.NAME\]'

done_testing
