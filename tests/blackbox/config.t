#!/usr/bin/env bash
# Where the configuration is found, and which files are not trusted.
# shellcheck disable=SC2016,SC2088
. "${BASH_SOURCE%/*}/lib.sh"

# routine_in FILE NAME: a file with the one routine NAME
routine_in() {
	mkdir -p "${1%/*}"
	cat >"$1" <<-END
		[[routines.$2.steps]]
		name = "a"
		type = "script"
		command = "date"
	END
}

finds() {
	run_matins list
	out_like "$1" "^$2 "
}

run_matins list
exit_is "nothing: exit status 1" 1
err_like "nothing: says where it looked" \
	"matins.toml, $T/config/matins/config.toml, .*/\.modulex/config.toml"
err_like "nothing: says what to do" '`matins init`'
run_matins list --json
json_is "nothing: the error is JSON with --json" error.kind unknown

# Each new file stands before those that are there already.
routine_in "$HOME/.modulex/config.toml" seventh
finds "~/.modulex/config.toml is used without any other" seventh
routine_in ./modulex.toml sixth
finds "./modulex.toml goes before the home folder" sixth
routine_in ./named.toml fifth
export MODULEX_CONFIG=$T/named.toml
finds '$MODULEX_CONFIG goes before ./modulex.toml' fifth
routine_in "$XDG_CONFIG_HOME/matins/config.toml" fourth
finds '$XDG_CONFIG_HOME/matins/config.toml goes before $MODULEX_CONFIG' fourth
routine_in ./matins.toml third
finds "./matins.toml goes before the user's own file" third
routine_in ./second.toml second
export MATINS_CONFIG=second.toml
finds '$MATINS_CONFIG goes before ./matins.toml' second
routine_in ./first.toml first
run_matins list --config first.toml
out_like "--config FILE goes before all others" '^first '
run_matins list --config=first.toml
out_like "--config=FILE goes before all others" '^first '
unset MODULEX_CONFIG

(
	unset XDG_CONFIG_HOME MATINS_CONFIG
	rm matins.toml
	routine_in "$HOME/.config/matins/config.toml" home
	run_matins list
	cp "$out" home.out
)
file_like "~/.config/matins is used without XDG_CONFIG_HOME" home.out '^home '

# ---- no falling through ----

export MATINS_CONFIG=gone.toml
run_matins list
exit_is "a named file that is missing is an error" 1
err_like "the missing file is named with its variable" '\$MATINS_CONFIG gone\.toml: No such'
unset MATINS_CONFIG
echo '= broken' >matins.toml
run_matins list
exit_is "a broken file is an error" 1
err_like "a broken file is not passed over" '^matins: matins\.toml:1:1: not TOML'

run_matins list --config none.toml
err_like "a file named by --config that is missing" \
	'^matins: none\.toml: No such file'

# ---- trust ----

routine_in ./matins.toml third
chmod 666 matins.toml
run_matins list
exit_is "writable by others: refused" 1
err_like "writable by others: what to do" '`chmod go-w matins\.toml`'
chmod 644 matins.toml
run_matins list
exit_is "writable by the owner only: taken" 0
if [[ $(id -u) == 0 ]]; then
	chown 12345 matins.toml
	run_matins list
	exit_is "owned by another user: refused" 1
	err_like "owned by another user: said" 'belongs to another user'
	chown 0:12345 matins.toml
	chmod 664 matins.toml
	run_matins list
	exit_is "writable by a group of others: refused" 1
	chown 0:0 matins.toml
	chmod 644 matins.toml
else
	skip "owned by another user" "needs root to make such a file"
	skip "writable by a group of others" "needs root to make such a file"
fi

# ---- links: what they lead to decides ----

mkdir -p real/notes strange
echo mine >real/notes/a
routine_in real/matins.toml reads
cat >>real/matins.toml <<-'END'
	[[routines.reads.steps]]
	name = "cat"
	type = "script"
	command = "cat"
	args = ["notes/a"]
	cwd = "."
	sandbox = { read = ["notes"] }
END
ln -s ../real/matins.toml strange/link.toml
mkdir strange/notes
echo theirs >strange/notes/a
run_matins run -c strange/link.toml reads --only cat
out_like "a link of one's own: paths begin where it leads" '^  mine$'
if [[ $(id -u) == 0 ]]; then
	chown -h 12345 strange/link.toml
	run_matins run -c strange/link.toml reads --only cat
	exit_is "another user's link to one's own file: refused" 1
	err_like "another user's link: said" \
		'the link strange/link.toml belongs to another user'
	chown -h 0 strange/link.toml
	chown 12345 strange
	run_matins run -c strange/link.toml reads --only cat
	exit_is "one's own link in another user's folder: refused" 1
	err_like "another user's folder: said" \
		'lies in strange, which belongs to another user'
	run_matins run -c real/matins.toml reads --only cat
	exit_is "the file itself: taken" 0
else
	skip "another user's link is not followed" "needs root to make such a link"
	skip "another user's folder is not trusted" "needs root to make such a folder"
fi

# ---- variables ----

cat >var.toml <<-'END'
	[servers.web]
	url = "https://${WEB_HOST:-example.com}/"
	headers = { Authorization = "Bearer ${WEB_TOKEN}" }
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "date"
	[[routines.w.steps]]
	name = "a"
	type = "mcp-client"
	server = "web"
	tool = "t"
END
run_matins check var.toml
exit_is "unset variable: exit status 1" 1
err_like "unset variable: named, with place" \
	'^var\.toml:3:29: .*needs the variable WEB_TOKEN, which is not set'
WEB_TOKEN=tok-123456 run_matins check var.toml
exit_is "a variable that is set passes the check" 0
run_matins run -c var.toml w --dry-run
exit_is "dry run of a routine that needs it" 0
out_like "would not run: with name and place" \
	'^ *would not run: var\.toml:3:29: .*needs the variable WEB_TOKEN, which is not set'
run_matins run -c var.toml r --dry-run
exit_is "run of one that does not: exit status 0" 0
for words in 'tools -s web' 'call t -s web' 'auth status web'; do
	# shellcheck disable=SC2086
	run_matins $words -c var.toml
	exit_is "unset variable: $words: status 1" 1
	err_like "unset variable: $words: named, with place" \
		'^matins: var\.toml:3:29: .*needs the variable WEB_TOKEN'
done

# ---- one server or step that lacks a variable stops no other ----

cat >mixed.toml <<-'END'
	[servers.web]
	url = "https://127.0.0.1:1/${WEB_PATH}"
	[servers.brief]
	command = "matins"
	args = ["brief"]
	[[routines.r.steps]]
	name = "web"
	type = "mcp-client"
	server = "web"
	tool = "t"
	[[routines.r.steps]]
	name = "brief"
	type = "mcp-client"
	server = "brief"
	tool = "host"
	[[routines.r.steps]]
	name = "script"
	type = "script"
	command = "date"
	cwd = "${SOME_FOLDER}"
	sandbox = { read = ["."] }
	[[routines.r.steps]]
	name = "date"
	type = "script"
	command = "date"
END
run_matins run -c mixed.toml r --json
exit_is "steps that lack a variable failed" 2
json_is "a variable of one server: its step fails" \
	step_results[0].state failed step_results[0].reason no_variable \
	step_results[0].error '~^mixed\.toml:2:7: .*variable WEB_PATH'
json_is "a step with another server works" step_results[1].state ok
json_is "a variable of one step: it fails" \
	step_results[2].state failed step_results[2].reason no_variable \
	step_results[2].error '~^mixed\.toml:20:7: .*variable SOME_FOLDER'
json_is "a step with none works" step_results[3].state ok
run_matins run -c mixed.toml r --only brief,date
exit_is "--only those that lack nothing: status 0" 0
run_matins run -c mixed.toml r --skip web,script
exit_is "--skip those that lack one: status 0" 0
run_matins tools -s brief -c mixed.toml
exit_is "a server beside a broken one works" 0
WEB_PATH=x run_matins step r script -c mixed.toml
exit_is "a step that lacks another one: fails" 2
SOME_FOLDER=. run_matins step r script -c mixed.toml
exit_is "a step that lacks none: works" 0
run_matins check mixed.toml
exit_is "check fails for variables that are not set" 1
err_like "check: one has its place" '^mixed\.toml:2:7: .*WEB_PATH'
err_like "check: so has the other" '^mixed\.toml:20:7: .*SOME_FOLDER'
err_like "check counts the errors" ': 2 errors'
run_matins doctor -c mixed.toml --json
exit_is "doctor fails for variables that are not set" 1
json_is "doctor: named, with place" 'checks[0].area' variable \
	'checks[0].name' mixed.toml:2:7 'checks[0].level' failed \
	'checks[1].name' mixed.toml:20:7
out_like "doctor: the others are looked at" '"name":"r/date","level":"ok"'
WEB_PATH=x SOME_FOLDER=. run_matins check mixed.toml
exit_is "check with both: good" 0
cat >all.toml <<-'END'
	[sandbox]
	read = ["${SOME_FOLDER}"]
	[[routines.r.steps]]
	name = "date"
	type = "script"
	command = "date"
END
run_matins run -c all.toml r
exit_is "a variable of the whole file: nothing works" 1

# ---- what is to be written and is not there ----

printf '[[routines.r.steps]]\nname = "s"\ntype = "script"\ncommand = "true"\nsandbox.write = ["notes.log", ".notes"]\n' >absent.toml
run_matins check absent.toml
exit_is "a write grant of what is not there" 1
err_like "a name with a suffix: how to make it as a file" \
	'notes\.log, which does not exist; .touch .*/notes\.log. makes a file, .mkdir -p .*/notes\.log. a folder$'
err_like "another one: a folder" '\.notes, which does not exist; .mkdir -p [^ ]*/\.notes.$'

done_testing
