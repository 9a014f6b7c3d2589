#!/usr/bin/env bash
# Help, version, usage errors and completion.
. "${BASH_SOURCE%/*}/lib.sh"

run_matins help
exit_is "help: exit status 0" 0
out_like "help: says what the program is" '[Mm]atins'
is "help: nothing on stderr" "$(<"$err")" ""
cp "$out" help.txt
mapfile -t commands < <(sed -n 's/^COMMAND([ ]*\([a-z_]*\).*/\1/p' \
	"$TOP/core/cli/commands.def")
ok "the table of commands was read (${#commands[@]})" \
	test "${#commands[@]}" -ge 10
for command in "${commands[@]}"; do
	file_like "help lists the command $command" help.txt "(^|[^a-z])$command([^a-z]|\$)"
	run_matins "$command" --help
	exit_is "$command --help: exit status 0" 0
	out_like "$command --help: names itself" "matins $command"
done

run_matins --help
exit_is "--help: exit status 0" 0
run_matins --version
exit_is "--version: exit status 0" 0
out_like "--version: name and number" '^matins [0-9]+\.[0-9]+\.[0-9]+'
run_matins
exit_is "no command: exit status 64" 64
err_like "no command: points to help" 'help'
is "no command: nothing on stdout" "$(<"$out")" ""
run_matins rnu
exit_is "unknown command: exit status 64" 64
err_like "unknown command: offers the nearest" 'did you mean run\? `matins help` lists'
run_matins rnu --json
exit_is "unknown command with --json: exit status 64" 64
json_is "unknown command with --json: one JSON document" \
	error.kind usage error.message '~unknown command rnu'
run_matins rnu -- --json
is "--json of somebody else" "$(<"$out")" ""
run_matins run --jsno x
exit_is "unknown option: exit status 64" 64
err_like "unknown option: offers the nearest" '--json'
run_matins run
exit_is "missing argument: exit status 64" 64
run_matins run a b
exit_is "more arguments than allowed are a usage error" 64
run_matins run -c
exit_is "option without its value: exit status 64" 64
run_matins run --json=yes x
exit_is "value for an option that takes none: exit status 64" 64
run_matins run --jsno x --json
exit_is "usage error with --json: exit status 64" 64
json_is "usage error with --json: one JSON document" error.message present

# Options may stand anywhere before `--`.
cat >r.toml <<-'END'
	[routines.r]
	description = "one step"
	[[routines.r.steps]]
	name = "one"
	type = "script"
	command = "/bin/echo"
	args = ["hello"]
END
for order in "run -c r.toml --json r" "run r -c r.toml --json" \
	"run --json r --config r.toml" "run r --config=r.toml --json"; do
	# shellcheck disable=SC2086
	run_matins $order
	json_is "options may stand anywhere: $order" step_results[0].output hello
done

for shell in bash zsh fish; do
	run_matins completion $shell
	exit_is "completion $shell: exit status 0" 0
	out_like "completion $shell: asks for every answer" 'matins __complete'
done
run_matins completion bash
ok "completion bash is a script" bash -n "$out"
cp "$out" completion.bash
run_matins __complete "do"
exit_is "__complete: exit status 0" 0
out_like "__complete: a command with its help" $'^doctor\tcheck whether'
run_matins __complete
exit_is "__complete without a word: exit status 0" 0
out_like "__complete without a word lists the commands" $'^doctor\tcheck whether'
run_matins __complete run --v
out_like "__complete: an option with its help" $'^--view\tgolden leaves'
run_matins __complete night --v
out_is "__complete: nothing of an unknown command" ''
run_matins __complete run -c ''
out_is "completion of a value of -c asks for files" ':files'
run_matins __complete -c ''
out_is "__complete: files of an option before the command" ':files'
run_matins __complete -c none.toml -q run --v
out_like "__complete: a command behind options" $'^--view\tgolden leaves'
run_matins __complete --co
out_like "__complete: options before the command" $'^--config\tread'
out_unlike "__complete: no command there" '^run'
run_matins __complete run --view=g
out_is "__complete: the part of the word that stays" $':before --view=\nfull\ngolden'
mkdir -p bin
ln -s "$BIN" bin/matins
cat >names.toml <<-'END'
	[[routines.r.steps]]
	name = "one"
	type = "script"
	command = "date"
	[[routines.r.steps]]
	name = "two"
	type = "script"
	command = "date"
	[routines.evening]
	steps = []
	params = { mode = { enum = ["full", "short"] }, days = {} }
	[servers.db]
	command = "matins"
	args = ["brief"]
	[servers.web]
	url = "https://mcp.example.com/"
	[routines."$(touch expanded)"]
	steps = []
END
# completes NAME WANT WORDS...: what the last word may become, sorted
completes() {
	local name=$1 want=$2

	shift 2
	is "completion offers what fits: $name" "$(
		PATH=$T/bin:$PATH
		. ./completion.bash
		COMP_WORDS=(matins "$@") COMP_CWORD=$#
		_matins 2>/dev/null
		printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd' '
	)" "$want"
}
completes "commands" "show" sho
completes "words of an option" "full golden" run --view ''
completes "parameters" "days= mode=" run -c names.toml evening -p ''
completes "values of a parameter" "full" run -c names.toml evening -p mode = f
completes "words behind =" "golden" run --view = g
completes "the profiles" "default open strict" exec --profile ''
completes "the words of --net" "all loopback none" exec --net ''
completes "guarantees of --require" "net-off net-ports" exec --require net-
completes "mechanisms of --require" "landlock landlock-net landlock-scope" \
	exec --require landlock
completes "programs of --exec" "$(type -P mkfifo >/dev/null && echo mkfifo)" \
	exec --exec mkfif
completes "a program behind --" "mkfifo" exec --net all -- mkfif
completes "and its files" "names.toml" exec -- cat names
completes "a program of trace" "mkfifo" trace -- mkfif
completes "a folder for /tmp" "private shared" exec --tmp ''
completes "namespaces" "auto off require" exec --isolate ''
completes "no words for another option" "" run --jobs ''
completes "files behind -c" "names.toml" run -c names
completes "files behind --config" "names.toml" list --config names
completes "files behind -o" "names.toml" run -o names
completes "options" "--json" run --js
completes "options of one command" "--verbose --view" show --v
completes "what golden does" "accept check diff list prune record reject review" golden ''
completes "then routines" "r" golden -c names.toml check r
completes "shells" "bash fish zsh" completion ''
completes "commands to explain" "golden" help go
completes "tools" "deadlines host repos todo" brief ''
completes "the last run" "last" show ''
completes "routines" "evening" run -c names.toml e
completes "routines of another configuration" "" run -c r.toml e
completes "no routine behind a routine" "" run -c names.toml r ''
completes "routines of step" "evening" step -c names.toml e
completes "steps of its routine" "one two" step -c names.toml r ''
completes "steps of trace" "two" trace --read /tmp -c names.toml r t
completes "more steps of trace" "two" trace -c names.toml r one t
completes "steps behind --config=" "one two" step --config = names.toml r ''
completes "no steps of an unknown routine" "" step -c names.toml q ''
completes "nothing behind a step" "" step -c names.toml r one ''
completes "the value of an option is no routine" "one two" \
	trace --read evening -c names.toml r ''
completes "steps of --only" "one two" run -c names.toml r --only ''
completes "the next of --only" "one,two" run -c names.toml r --only one,t
completes "servers" "db web" call -c names.toml tool --server ''
completes "what auth does" "login logout status" auth ''
completes "then remote servers" "web" auth -c names.toml login ''
completes "and no more" "" auth -c names.toml login db ''
completes "servers of another configuration" "" tools -c r.toml --server ''
completes "a word behind =, where it breaks none" "--view=golden" run --view=g
completes "files there" "--config=names.toml" run --config=names
completes "routines of --config=FILE, where it breaks none" "evening" \
	run --config=names.toml e
completes "steps of --only=, where it breaks none" "--only=one,two" \
	run -c names.toml r --only=one,t
completes "no tools where none are known" "" call -c names.toml -s db ''
run_matins tools -c names.toml -s db
completes "tools that were listed before" "deadlines host repos todo" \
	call -c names.toml -s db ''
completes "of --server=SERVER" "host" call -c names.toml --server=db h
completes "of tools" "repos" tools -c names.toml --server db r
completes "no tool behind a tool" "" call -c names.toml -s db host ''
completes "no tools of another server" "" call -c names.toml -s web ''
run_matins list -c names.toml --tools db
out_is "list --tools, for completion" $'host\nrepos\ntodo\ndeadlines'
run_matins list -c names.toml --servers --remote
out_is "list --servers --remote leaves out servers that are programs" web
run_matins list --remote
exit_is "list --remote without --servers: exit status 64" 64
cp names.toml matins.toml
MATINS_ALLOW='' run_matins list --tools db
out_is "what is known is of one file" ''
rm matins.toml
not_ok "a name is not executed" test -e expanded
run_matins list -c names.toml --steps r
out_is "list --steps, for completion" $'one\ntwo'
run_matins list -c names.toml --steps q
exit_is "list --steps of an unknown routine: exit status 1" 1
err_like "list --steps of an unknown routine: named" 'no routine q'
run_matins list -c names.toml --steps r --names
exit_is "list of two kinds: exit status 64" 64
run_matins completion csh
exit_is "completion of an unknown shell: exit status 64" 64

# No colour in a pipe, no screen control.
run_matins run -c r.toml r
not_ok "no escape sequences in a pipe" grep -q $'\x1b' "$out" "$err"

done_testing
