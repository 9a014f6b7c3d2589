#!/usr/bin/env bash
# Bounds of a server: which of its tools may be called, and when.
. "${BASH_SOURCE%/*}/lib.sh"

mkdir w
cp "$TOP/tests/blackbox/tools_server.py" w/server.py

# tool NAME [ANNOTATIONS]
tool() {
	printf '{"name":%s,"inputSchema":{},"annotations":%s}\n' "$1" "${2-{\}}"
}
{
	tool '"read_a"' '{"readOnlyHint":true}'
	tool '"search"' '{"readOnlyHint":true,"destructiveHint":true}'
	tool '"delete_a"' '{"readOnlyHint":false}'
	tool '"plain"'
	tool '"text"' '{"readOnlyHint":"true"}'
	tool '"*"'
	tool '"read_*"'
} >w/tools

# config LINES...: of the server; step a calls $tool
config() {
	cat >w/k.toml <<-END
		[servers.s]
		command = "$PYTHON"
		args = ["$T/w/server.py", "$T/w/tools"]
		$(printf '%s\n' "$@")
		[[routines.r.steps]]
		name = "a"
		type = "mcp-client"
		server = "s"
		tool = "$tool"
		[[routines.each.steps]]
		name = "e"
		type = "mcp-client"
		server = "s"
		tool = "$tool"
		foreach = "\$input.names"
		[[routines.outer.steps]]
		name = "within"
		type = "routine"
		routine = "r"
	END
}

# allowed NAME [OPTION] | denied NAME SENTENCE: a step and a call of $tool
allowed() {
	$as run_matins run -c w/k.toml r --json
	json_is "$who: $1: a step" step_results[0].state ok \
		step_results[0].output "called $tool"
	$as run_matins call "$tool" -c w/k.toml --server s ${2-}
	out_is "$who: $1: a call" "called $tool"
}
denied() {
	$as run_matins run -c w/k.toml r --json
	exit_is "$who: $1: a step" 2
	json_is "$who: $1: a step is denied, and says how to allow it" \
		step_results[0].state denied step_results[0].success false \
		step_results[0].reason "${3-tool_policy}" step_results[0].error "~$2"
	out_unlike "$who: $1: a step: not called" "called $tool"
	$as run_matins call "$tool" -c w/k.toml --server s --json
	exit_is "$who: $1: a call" 1
	json_is "$who: $1: a call is denied" error.kind "${3-tool_policy}" \
		error.message "~$2"
}

bounded() {
	tool=read_a
	config
	allowed "without a bound"
	config 'tools = ["read_*", "search"]'
	allowed "a pattern"
	tool=search
	config 'tools = ["read_*", "search"]'
	allowed "a name"
	tool=delete_a
	config 'tools = ["read_*", "search"]'
	denied "another name" 'tools = \["read_\*", "search", "delete_a"\]'
	tool=read_a
	config 'tools = ["*"]' 'deny_tools = ["read_?"]'
	denied "deny_tools goes over tools" '"read_\?" in deny_tools of \[servers.s\]'
	tool='*'
	config 'tools = ["read_*"]'
	denied "a name that is a pattern" 'not among `tools`'
	tool='read_*'
	config 'tools = ["read_a"]'
	denied "a name that a name does not fit" 'not among `tools`'
	tool=read_ab
	config 'tools = ["read_a"]'
	denied "a longer name" 'not among `tools`'

	tool=read_a
	config 'read_only = true'
	allowed "read_only: a tool that says so"
	for tool in delete_a plain text; do
		config 'read_only = true'
		denied "read_only: $tool" 'does not say readOnlyHint'
	done
	tool=read_a
	config 'read_only = true' "sandbox.write = [\"$T/w\"]"
	denied "read_only: proves nothing beside write" 'grants writing /'
	sed -i 's/^sandbox.write.*//; 1i [sandbox]\nwrite = ["'"$T"'/w"]' w/k.toml
	denied "read_only: nor beside write of all" 'grants writing /'

	tool=plain
	config 'read_only = true'
	$as run_matins call plain --no-list --no-check -c w/k.toml --server s
	exit_is "$who: --no-list is no way around" 1
	out_is "$who: --no-list: not called" ""
}

# A server may take another spelling of a name for its tool.
unlisted() {
	local bound

	tool=Delete_a
	for bound in 'deny_tools = ["delete_*"]' 'tools = ["*"]' \
		'confirm = ["delete_*"]' 'read_only = true'; do
		config "$bound"
		$as run_matins run -c w/k.toml r --json
		exit_is "$who: ${bound%% *}: a tool that is not listed: a step" 2
		json_is "$who: ${bound%% *}: a tool that is not listed: a step" \
			step_results[0].state failed \
			step_results[0].reason rpc_error \
			step_results[0].error \
			'~no tool Delete_a; did you mean delete_a\?'
		out_unlike "$who: ${bound%% *}: not called" 'called Delete_a'
		$as run_matins call Delete_a -c w/k.toml --server s --no-list --json
		json_is "$who: ${bound%% *}: a tool that is not listed: a call" \
			error.kind unknown_tool
	done
	config
	allowed "without a bound, the server decides about a name" --no-list
}

agreed() {
	tool=delete_a
	config 'confirm = ["delete_*"]'
	denied "confirm: nobody is here" 'agree beforehand: --yes'
	$as run_matins run -c w/k.toml r --json --yes
	json_is "$who: confirm: --yes" step_results[0].output "called delete_a"
	$as run_matins run -c w/k.toml outer --json
	json_is "$who: confirm: a routine within" step_results[0].state failed
	out_like "$who: confirm: a routine within: why" 'agree beforehand: --yes'
	$as run_matins run -c w/k.toml outer --json --yes
	json_is "$who: confirm: a routine within: --yes" step_results[0].state ok
	$as run_matins call delete_a -c w/k.toml --server s --yes
	out_is "$who: confirm: call --yes" "called delete_a"
	$as run_matins doctor r -c w/k.toml --unattended
	out_like "$who: confirm: the doctor of what is unattended" 'FAILED .*--yes'
	$as run_matins doctor r -c w/k.toml --unattended --yes
	out_unlike "$who: confirm: the doctor, agreed" 'confirm of'
	config 'confirm = ["delete_*"]' 'deny_tools = ["delete_a"]'
	denied "confirm: what is denied is not asked for" 'deny_tools'
	$as run_matins call delete_a -c w/k.toml --server s --yes
	exit_is "$who: confirm: --yes does not go over deny_tools" 1

}

others() {
	tool=delete_a
	config 'tools = ["read_*"]'
	$as run_matins run -c w/k.toml each -p 'names=["a","b"]' --json
	json_is "$who: foreach" step_results[0].state denied
	$as run_matins run -c w/k.toml r --dry-run --json
	exit_is "$who: a dry run says it" 0
	out_like "$who: a dry run says it: how" 'would be denied: the tool delete_a'
	printf '%s\n' '{"tool":"read_a"}' '{"tool":"delete_a"}' \
		'{"tool":"read_a\u0000delete_a"}' >w/batch
	$as run_matins call --batch w/batch -c w/k.toml --server s
	out_like "$who: a batch: allowed" '^{"content".*called read_a'
	out_like "$who: a batch: denied" '^{"error":{"kind":"tool_policy".*"line":2}}'
	out_unlike "$who: a batch: not called" 'called delete_a'
	$as run_matins tools -c w/k.toml --server s
	is "$who: tools: those that are denied" "$(grep -c '^  denied: ' "$out")" 5
	$as run_matins tools -c w/k.toml --server s --json
	json_is "$who: tools --json" tools[0].name read_a denied.delete_a '~not among'
	out_unlike "$who: tools --json: not those that may be called" '"denied":{[^}]*"read_a":'

	tool=read_a
	config 'tools = ["reed_*", "read_*"]' 'read_only = true'
	$as run_matins doctor --deep r -c w/k.toml
	out_like "$who: the doctor: a pattern that no tool fits" '"reed_\*" in tools of \[servers.s\] fits none'
	out_unlike "$who: the doctor: one that fits" '"read_\*" in tools'

	config 'enabled = false'
	denied "enabled = false" 'enabled = false in \[servers.s\]' disabled
	$as run_matins tools -c w/k.toml --server s --json
	json_is "$who: enabled = false: tools" error.kind disabled
	config
	printf '[mcp]\nenabled = false\nother = 1\n' >>w/k.toml
	denied "[mcp] enabled = false" 'enabled = false in \[mcp\]' disabled
	config
	export MATINS_MCP=off
	denied "MATINS_MCP=off" 'unset it' disabled
	unset MATINS_MCP
	allowed "all is on again"
}

as='' who=$(id -un)
bounded
unlisted
agreed
others
if [[ $(id -u) -eq 0 ]]; then
	as=as_user who=user
	tool=read_a
	config 'tools = ["read_*"]' 'read_only = true'
	allowed "bounds"
	config 'tools = ["read_*"]' 'read_only = true' "sandbox.write = [\"$T/w\"]"
	denied "bounds" 'grants writing /'
	tool=delete_a
	config 'tools = ["read_*"]'
	denied "another name" 'not among `tools`'
	chown -R root: "$T"
fi

# ---- lists ----

tool=delete_a
config 'confirm = ["delete_*"]' 'deny_tools = ["plain"]'
run_matins tools -c w/k.toml --server s
out_like "tools: a tool of confirm is asked for" '^  asks: the tool delete_a .*: --yes$'
is "tools: it is not denied" "$(grep -c '^  denied: ' "$out")" 1
run_matins tools delete_a -c w/k.toml --server s
out_like "tools NAME: a tool of confirm is asked for" '^  asks: .*: --yes$'
run_matins tools -c w/k.toml --server s --json
json_is "tools --json: the two apart" asks.delete_a '~: --yes$' \
	denied.plain '~deny_tools' denied.delete_a absent
run_matins sync -c w/k.toml s
run_matins tools -c w/k.toml
out_like "tools of all servers: a tool of confirm" '^mcp__s__delete_a +\(asks\)$'
out_like "tools of all servers: one that is denied" '^mcp__s__plain +\(denied\)$'
run_matins tools -c w/k.toml mcp__s__delete_a
out_like "one of the tools of all servers" '^  asks: .*: --yes$'
run_matins describe s.delete_a -c w/k.toml
out_like "describe: a tool of confirm: its call" \
	'^    matins call s.delete_a -c .*k.toml --yes$'
out_like "describe: a tool of confirm" '^  asks: the tool delete_a'
run_matins describe s.plain -c w/k.toml
out_like "describe: a tool that is denied" '^  denied: the tool plain'
run_matins describe s.plain -c w/k.toml --json
json_is "describe --json: a tool that is denied" denied '~deny_tools'
run_matins describe s.read_a -c w/k.toml
out_unlike "describe: a tool that may be called" 'denied|asks|--yes'
cp w/k.toml w/p.toml
run_matins promote s.plain --as gone -c w/p.toml
exit_is "promote: a tool that is denied is kept" 0
err_like "promote: a tool that is denied: a warning" \
	'warning: the action will be denied: the tool plain .*deny_tools'
run_matins promote s.delete_a --as asked -c w/p.toml
err_unlike "promote: a tool of confirm" 'denied'

# ---- a person ----

on_terminal() {
	"$PYTHON" "$TOP/tests/blackbox/on_terminal.py" "$1" "$BIN" "${@:2}" >"$out" 2>&1
}
tool=delete_a
config 'confirm = ["delete_*"]'
on_terminal y call delete_a -c w/k.toml --server s
out_like "a person is asked" 'call delete_a of the server s\? \[y/N\]'
out_like "a person agrees" 'called delete_a'
on_terminal n call delete_a -c w/k.toml --server s
out_unlike "a person does not agree" 'called delete_a'
on_terminal y run -c w/k.toml outer
out_like "a run asks once, before it begins" 'let routine outer call delete_a of s\? \[y/N\]'
out_like "a run goes on" 'called delete_a'
# ended_at_once TITLE ANSWER STATUS ARGS...
ended_at_once() {
	LIMIT_S=20 run_program /dev/null "$PYTHON" \
		"$TOP/tests/blackbox/on_terminal.py" "$2" "$BIN" "${@:4}"
	exit_is "$1: the status" "$3"
	out_unlike "$1: not called" 'called delete_a'
}
ended_at_once "Ctrl-C at the question of a call" $'\x03' 130 \
	call delete_a -c w/k.toml --server s
out_like "Ctrl-C at the question of a call: it says so" '^matins: ended by SIGINT'
ended_at_once "SIGTERM at the question of a call" '!TERM' 143 \
	call delete_a -c w/k.toml --server s
ended_at_once "Ctrl-D at the question of a call" $'\x04' 1 \
	call delete_a -c w/k.toml --server s
out_like "Ctrl-D at the question of a call is a no" 'nobody did'
echo '{"name":"delete_b","inputSchema":{"properties":{"a":{"type":"integer"},"b":{}},"required":["a","b"]}}' >>w/tools
on_terminal 7,me,y call delete_b -c w/k.toml --server s --ask
out_like "a person is asked last, with the arguments in view" \
	'call delete_b of the server s with a = 7, b = "me"\? \[y/N\] y'
out_like "a person is asked last: called" 'called delete_b'
on_terminal n call delete_b -c w/k.toml --server s a=1
out_unlike "a person is not asked for a call that is refused" '\[y/N\]'
on_terminal n call delete_a -c w/k.toml --server s "x=$(printf 'w%.0s' {1..300})" y=1
out_like "a long argument is cut" 'with x = "w{59}…, y = "1"\? \[y/N\]'
on_terminal n call delete_a -c w/k.toml --server s {a..j}=1 k=1
out_like "many arguments are counted" 'h = "1" and 3 more\? \[y/N\]'
cp w/k.toml w/secret.toml
sed -i 's/^command/env = { KEY = { file = "key" } }\n&/' w/secret.toml
echo opensesame >w/key
chmod 600 w/key
on_terminal n call delete_a -c w/secret.toml --server s x=opensesame
out_like "a credential is not shown" 'with x = "\*\*\*"\? \[y/N\]'

on_terminal n run -c w/k.toml r
out_like "a run without" 'nobody did; to agree beforehand: --yes'

echo y >yes
run_matins_stdin yes run -c w/k.toml r
out_like "a pipe is no person" 'nobody did; to agree beforehand: --yes'
run_matins_stdin yes call delete_a -c w/k.toml --server s
exit_is "a pipe is no person: a call" 1

# ---- the configuration ----

config 'tools = []'
run_matins check w/k.toml
exit_is "an empty list" 1
err_like "an empty list: what to write" 'deny_tools = \["\*"\]'
config 'tools = "read_*"'
run_matins check w/k.toml
exit_is "a string" 1
config
printf '[mcp]\nenabled = "no"\n' >>w/k.toml
run_matins check w/k.toml
exit_is "[mcp] of another type" 1

unset MATINS_ALLOW
tool=read_a
config 'tools = ["read_*"]'
cp w/k.toml matins.toml
run_matins allow
config
cp w/k.toml matins.toml
run_matins run r
exit_is "a bound that is gone must be allowed" 1
err_like "a bound that is gone is said" 'bounds .*s: tools = read_\*'

config 'tools = ["read_*"]' 'enabled_tools = ["x"]'
run_matins check -c w/k.toml
err_like "the spelling of others" 'write tools = '
done_testing
