#!/usr/bin/env bash
# What a trace prints is enough for the program that was traced, and no more
# than that; it never grants "/", HOME or keys.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

# trace ARGS...: as the user under test, in $W
trace() {
	if [[ $who == root || $(id -u) -ne 0 ]]; then
		run_matins trace "$@"
	else
		as_user run_matins trace "$@"
	fi
}

# as_options [NOT]: the JSON of the last trace as options of exec; without the
# one row "KEY VALUE"
as_options() {
	"$PYTHON" - "$table" "${1-}" <<-'END'
		import json, sys
		table = json.load(open(sys.argv[1]))["sandbox"]
		for key, values in table.items():
		    for v in values:
		        if f"{key} {v}" != sys.argv[2]:
		            print(f"--{key}\n{v}")
	END
}

# rows: "KEY VALUE" lines of the last trace
rows() {
	"$PYTHON" - "$table" <<-'END'
		import json, sys
		for key, values in json.load(open(sys.argv[1]))["sandbox"].items():
		    for v in values:
		        print(key, v)
	END
}

# suffices NAME ROW[|ROW...] [TRACE OPTIONS] -- PROGRAM ARGS...: with what is
# printed the program ends as it did; without one of the rows it does not.
suffices() {
	local name=$1 needed=$2 options=() given=() row wanted

	shift 2
	while [[ $1 != -- ]]; do
		given+=("$1")
		shift
	done
	shift
	cd "$W" || exit 1
	table=$T/table-$who.json
	trace --json "${given[@]}" -- "$@"
	wanted=$status
	cp "$out" "$table"
	mapfile -t options < <(as_options)
	gate "${options[@]}" -- "$@"
	if [[ $status == "$wanted" && $status == 0 ]]; then
		_pass "$who: $name: what is printed is enough"
	else
		_fail "$who: $name: what is printed is enough" \
			"traced: $wanted, then: $status"
		show_file "$table"
		_show_run
	fi
	while read -r -d '|' row; do
		if ! rows | grep -Fqx -e "$row"; then
			_fail "$who: $name: it prints $row"
			show_file "$table"
			continue
		fi
		_pass "$who: $name: it prints $row"
		mapfile -t options < <(as_options "$row")
		gate "${options[@]}" -- "$@"
		isnt "$who: $name: not without $row" "$status" 0
	done <<<"$needed|"
	cd "$T" || exit 1
}

folders() {
	mkdir -p "$W"/{data,sub,far/lib/node_modules/foo,repo}
	echo b >"$W/data/one"
	echo a >"$W/data/two"
	echo 'module.exports = 42' >"$W/far/lib/node_modules/foo/index.js"
	printf '#!/usr/bin/env python3\nopen("data/one").read()\n' \
		>"$W/script.py"
	chmod 755 "$W/script.py"
	[[ $who == root ]] || as_user true
}

programs() {
	folders
	suffices "two files of a folder" "read $W/data" -- \
		/usr/bin/python3 -c 'open("data/one").read(); open("data/two").read()'
	suffices "one file of a folder" "read $W/data/one" -- \
		bash -c 'read -r x <data/one && [[ $x == b ]]'
	suffices "a pipeline of programs" "exec sed|exec sort|exec cat|read $W/data" \
		--preset none -- bash -c 'set -o pipefail; cat data/one data/two | sed s/a/c/ | sort'
	suffices "a file in a sub-folder" "write $W/sub" -- \
		bash -c 'echo x >sub/new'
	suffices "a database of sqlite" "write $W/sub" -- /usr/bin/python3 -c '
import sqlite3
c = sqlite3.connect("sub/x.db")
c.execute("create table if not exists t(a)")
c.execute("insert into t values (1)")
c.commit()'
	suffices "a script by env" "exec $W/script.py" -- \
		bash -c "$W/script.py"
	printf '#!/bin/sh\nset -e\ncat data/one\necho x >made\n' >"$W/names.sh"
	chmod 755 "$W/names.sh"
	suffices "a script in a folder that it writes: its programs are named" \
		"exec cat|write $W" -- "$W/names.sh"
	rm -f "$W/names.sh" "$W/made"
	suffices "a service of its own" "net loopback" -- /usr/bin/python3 -c '
import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
c = socket.socket(); c.connect(s.getsockname())'
	if [[ -x /usr/bin/git ]]; then
		(cd "$W/repo" && git init -q . &&
			git -c safe.directory='*' -c user.name=x -c user.email=x@x commit -q \
				--allow-empty -m first)
		[[ $who == root ]] || chown -R --reference="$W" "$W/repo"
		suffices "git in a repository" "read $W/repo" \
			--preset none -- git -C repo log --oneline
	else
		skip "$who: git needs its repository" "no git"
	fi
	if [[ -x /usr/bin/node ]]; then
		suffices "a module of another folder" \
			"read $W/far/lib/node_modules/foo/index.js" -- \
			node -e "require('$W/far/lib/node_modules/foo')"
	else
		skip "$who: node needs its modules" "no node"
	fi
}

# A server on the loopback of the machine, that a program asks.
network() {
	local port

	coproc SERVER { exec /usr/bin/python3 -u -c '
import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print(s.getsockname()[1])
while True:
    c, _ = s.accept()
    c.recv(4096)
    c.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi")
    c.close()'; }
	read -r port <&"${SERVER[0]}"
	suffices "a request of curl" "net 127.0.0.1:$port" --net "127.0.0.1:$port" -- \
		curl -fsS "http://127.0.0.1:$port/"
	kill "$SERVER_PID"
	wait "$SERVER_PID" 2>/dev/null
	trace -- /usr/bin/python3 -c '
import socket, sys
def ask(host):
    try:
        socket.create_connection((host, 443), 5)
    except OSError:
        print("refused", file=sys.stderr)
ask("one.example.invalid"); ask("two.example.invalid"); sys.exit(3)'
	out_like "$who: a host that was looked up is a row" \
		'^	"one\.example\.invalid",'
	out_like "$who: and so is the next one" '^	"two\.example\.invalid",'
	out_like "$who: it was refused, and said to be" \
		'^# incomplete: the trace refused a connection to "one'
	trace -- /usr/bin/python3 -c '
import socket
socket.create_connection(("127.0.0.1", 9), 5)'
	out_like "$who: a port of this machine is a row" '^	"127\.0\.0\.1:9",'
	out_like "$who: its connection was refused" \
		'^# incomplete: the trace refused a connection to "127'
	trace -- /usr/bin/python3 -c '
import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
c = socket.socket(); c.connect(s.getsockname())
try:
    socket.getaddrinfo("one.example.invalid", 443)
except OSError:
    pass'
	out_like "$who: a program that went on needs its loopback alone" \
		'^net = "loopback"'
	out_like "$who: the host is a comment" \
		'^	# "one\.example\.invalid".*went on'
}

# What may be read, written and widened to.
bounds() {
	local home=$W/home

	mkdir -p "$home/.ssh" "$home/proj"
	echo secret >"$home/.ssh/id"
	echo x >"$home/one"
	echo y >"$home/two"
	[[ $who == root ]] || as_user true
	HOME=$home trace -- bash -c "cat $home/.ssh/id $home/one $home/two"
	out_unlike "$who: a key is not granted" '^[^#]*\.ssh'
	out_like "$who: but named, with the reason" \
		"^	# \"$home/.ssh/id\".*not granted"
	file_lacks "$who: nor is it readable in a trace" "$err" secret
	out_like "$who: two files of HOME are two rows" "^	\"$home/one\","
	out_unlike "$who: HOME is not granted" "^	\"$home\","

	mkdir -p "$home/app/deep"
	echo private >"$home/app/deep/state"
	chmod 600 "$home/app/deep/state"
	echo public >"$home/app/deep/data"
	echo own >"$home/proj/own"
	chmod 600 "$home/proj/own"
	echo variable >"$home/proj/.env"
	echo example >"$home/proj/.env.example"
	[[ $who == root ]] || as_user true
	cd "$home/proj" || exit 1
	for isolate in auto off; do
		HOME=$home trace --isolate "$isolate" -- bash -c "
			cat $home/app/deep/state $home/app/deep/data
			cat .env .env.example own; echo x >new"
		file_lacks "$who: a file of mode 0600 is shut ($isolate)" \
			"$err" private
		file_has "$who: what lies beside it is not ($isolate)" \
			"$err" public
		file_has "$who: nor one of the project ($isolate)" "$err" own
		file_lacks "$who: but for its .env ($isolate)" "$err" variable
		err_like "$who: and that is said ($isolate)" '\.env: shut'
		file_has "$who: an example is none ($isolate)" "$err" example
		out_like "$who: the need is a comment ($isolate)" \
			"^	# \"$home/app/deep/state\".*only you may read"
		out_unlike "$who: in no row ($isolate)" \
			"^	\"$home/app(/deep)?\","
		[[ $isolate == off ]] ||
			ok "$who: new files are made in the project" \
				test -s "$home/proj/new"
	done
	echo private >"$home/app/deep/s"$'\xe2\x80\xaea'
	chmod 600 "$home/app/deep/s"*a
	[[ $who == root ]] || as_user true
	HOME=$home trace -- bash -c "cat $home/app/deep/s"$'\xe2\x80\xaea'
	out_like "$who: a comment shows what turns the direction of text" \
		'^	# ".*/deep/s\\u\{202E\}a", # cat.*not granted'
	out_unlike "$who: and does not turn it" $'\xe2\x80\xae'
	HOME=$home trace --read "$home/app/deep/state" --read .env -- \
		bash -c "cat $home/app/deep/state .env"
	file_has "$who: it is read when it is named" "$err" private
	file_has "$who: and so is .env" "$err" variable
	cd "$W" || exit 1

	HOME=$home trace -- bash -c 'ls / /etc'
	out_like "$who: nor is /" '^	# "/",.*too wide'
	out_like "$who: /etc is too wide a row" '^	# "/etc",.*too wide'
	out_unlike "$who: in no row" '^	"/(etc)?",'

	mkdir -p "$W/asked"
	(cd "$W/asked" && touch file{1..70})
	[[ $who == root ]] || as_user true
	trace -- /usr/bin/python3 -c "
import os
for n in range(1, 71):
    os.stat(f'$W/asked/file{n}')"
	is "$who: rows of files that were looked up are bounded" \
		"$(grep -c '^	".*/asked/file.*looked up only' "$out")" 64
	is "$who: which one comment says" "$(grep -c \
		'^	# ".*/asked/file.*looked up only; not granted: .*grant their folder' \
		"$out")" 1

	mkdir -p "$W/outside" "$W/inside"
	[[ $who == root ]] || as_user true
	cd "$W/inside" || exit 1
	trace -- bash -c "echo x >$W/outside/f"
	exit_is "$who: it writes in its folder only" 1
	out_like "$who: and says what it wanted" "^	\"$W/outside\","
	not_ok "$who: nothing was written" test -e "$W/outside/f"
	trace --write "$W/outside" -- bash -c "echo x >$W/outside/f"
	exit_is "$who: --write opens another" 0
	cd "$T" || exit 1
	err_like "$who: it says before what it may do" 'trace: .*read'
}

form() {
	trace -- true
	exit_is "$who: a program that needs nothing can be traced" 0
	out_is "$who: a program that needs nothing gets an empty table" "[sandbox]
# nothing: the default policy is enough"
	trace -- bash -c '/proc/self/exe -c "exit 3"; exit 0'
	out_is "$who: a program that starts itself needs no other" "[sandbox]
# nothing: the default policy is enough"
	trace -- bash -c 'exit 7'
	exit_is "$who: the program's status is passed on" 7
	trace --profile strict -o "$W/table.toml" -- true
	exit_is "$who: into a file" 0
	file_has "$who: with what was given" "$W/table.toml" \
		'profile = "strict"'
	cd "$W" || exit 1
	mkdir -p a
	printf x >"a/plain"
	[[ $who == root ]] || as_user true
	trace -o "$W/read.toml" -- bash -c 'read -r x <a/plain; [[ $x ]]'
	gate --policy "$W/read.toml" -- bash -c 'read -r x <a/plain; [[ $x ]]'
	exit_is "$who: which exec takes by --policy" 0
	sed -i '/plain/d' "$W/read.toml"
	gate --policy "$W/read.toml" -- bash -c 'read -r x <a/plain; [[ $x ]]'
	isnt "$who: and holds to" "$status" 0
	printf x >"a/quote\"d"
	[[ $who == root ]] || as_user true
	trace -- bash -c 'read -r x <"a/quote\"d"; :'
	out_like "$who: names are quoted" 'quote\\"d"'
	trace --verify -- bash -c 'read -r x <"a/quote\"d"; :'
	err_like "$who: trace --verify runs the program with its table" 'ended the same'
	trace --verify -- bash -c "[[ -e $W/a/second ]] && exit 3
		echo >$W/a/second"
	err_like "$who: a program that does not do the same twice" 'warning'
	exit_is "$who: is a failure" 1
	cd "$T" || exit 1
}

# What a program starts beside itself is followed to its end, as compilers and
# servers need it.
follow() {
	local dir n=0

	mkdir -p "$W"/{work,tools/libexec,facts,many}
	printf '#!/bin/bash\nexec %s/tools/libexec/second\n' "$W" >"$W/tools/first"
	printf '#!/bin/bash\nread -r x <%s/facts/one && printf %%s "$x" >result\n' \
		"$W" >"$W/tools/libexec/second"
	echo followed >"$W/facts/one"
	chmod 755 "$W/tools/first" "$W/tools/libexec/second"
	for dir in {1..60}; do
		mkdir "$W/many/$dir"
		for n in {1..100}; do
			: >"$W/many/$dir/$n"
		done
	done
	[[ $who == root ]] || as_user true

	cd "$W/work" || exit 1
	trace -- bash -c "$W/tools/first"
	exit_is "$who: a program runs what lies beside it" 0
	file_has "$who: to its end" "$W/work/result" followed
	out_like "$who: the second program is a row" \
		"^	\"$W/tools/libexec/second\","
	out_like "$who: and what it reads" "^	\"$W/facts/one\","
	out_unlike "$who: nothing is missing" incomplete

	trace --preset none -- bash -c "for f in $W/many/*/*; do
			read -r x <\$f; done; ls >/dev/null"
	exit_is "$who: six thousand files are read" 0
	out_like "$who: they are one folder" "^	\"$W/many\", # bash, 60[0-9][0-9] times"
	out_like "$who: what is started after them is a row" '^	"ls",'
	out_unlike "$who: nothing was left out" incomplete
	# each command of the user under test goes through all files first
	rm -rf "$W/many"

	MATINS_CAVEATS='{"fs_read":"all","fs_write":"all","exec":{"only":["bash"]},
		"net":"all","max_calls":"unlimited","valid_for_generation":"all"}' \
		trace -- bash -c "$W/tools/libexec/second"
	isnt "$who: a leash that somebody wrote holds in a trace" "$status" 0
	out_like "$who: and is the reason" \
		'^	# ".*second".*not granted: the leash'
	out_like "$who: the end is said to be missing" \
		'^# incomplete: the trace could not run ".*second"'

	mkdir -p "$W/aside"
	chmod 777 "$W/aside"
	trace -- bash -c "echo x >$W/aside/new && exec $W/tools/first"
	isnt "$who: a write beside the folder is refused" "$status" 0
	out_like "$who: it is a row" "^	\"$W/aside\","
	out_like "$who: and what comes behind it is said to be missing" \
		'^# incomplete: the trace refused to write ".*/aside"'
	trace -- bash -c "echo x 2>&1 >$W/aside/new; exec $W/tools/first"
	exit_is "$who: a refused write that is survived" 0
	out_unlike "$who: cuts nothing short" incomplete
	cd "$T" || exit 1
}

step() {
	local table

	who=config W=$T
	mkdir -p "$T/data"
	echo 1 >"$T/data/one"
	cat >r.toml <<-END
		[[routines.r.steps]]
		name = "s"
		type = "script"
		command = "bash"
		args = ["-c", "cat $T/data/one >/dev/null && echo '{}'"]
	END
	run_matins step -c r.toml r s
	isnt "a step that lacks something fails" "$status" 0
	run_matins trace -c r.toml r s
	exit_is "a traced step works" 0
	out_like "the table of a traced step is printed" '^\[routines\.r\.steps\.sandbox\]$'
	is "the table says which step it is of" "$(head -n 1 "$out")" \
		'# of step s: paste it behind that step, or let --apply write it'
	err_like "its tool is really called" 'really run'
	cat "$out" >>r.toml
	run_matins step -c r.toml r s
	exit_is "the step works with the table" 0
	mkdir -p node_modules/.bin
	printf '#!/bin/bash\necho "{}"\n' >node_modules/.bin/tool
	chmod 755 node_modules/.bin/tool
	sed -i 's|"cat .*"\]|"./node_modules/.bin/tool"]|' r.toml
	run_matins trace -c r.toml r s
	exit_is "a step runs what lies in its folder" 0
	out_like "the program in the folder is a row" '"/.*/node_modules/.bin/tool"'
	run_matins trace -c r.toml r nosuch
	isnt "a step that is not there" "$status" 0
	run_matins trace
	exit_is "trace without a program is a usage error" 64
	run_matins trace -c r.toml r s -- true
	exit_is "trace of a step and a program is a usage error" 64
}

# Files that come and go meanwhile end no trace: none of them was asked for.
restless() {
	local i

	mkdir -p "$HOME/moves"
	(
		while [[ ! -e $T/rest ]]; do
			for i in a b c d e f; do
				echo "$i" >"$HOME/next"
				mv "$HOME/next" "$HOME/$i"
				rmdir "$HOME/moves" && mkdir "$HOME/moves"
			done
		done
	) &
	for i in 1 2 3; do
		run_matins trace -- true
		exit_is "a trace while files of HOME are replaced: $i" 0
	done
	touch "$T/rest"
	wait $!
}

# A walk through HOME asks for no row of each folder in it.
walked() {
	local home=$T/walked

	mkdir -p "$home"/{a,b,c,d,e,f,g,h}/in
	HOME=$home run_matins trace -- find "$home" -name '*.md'
	out_like "folders that a walk came through are comments" \
		"^	# \"$home/c\", .* not granted: one of many folders of HOME"
	out_unlike "none of them is granted" "^	\"$home/"
	HOME=$home run_matins trace -- find "$home/a" "$home/b" -name '*.md'
	out_like "those that are named are" "^	\"$home/b\","
}

step
walked
restless
both_users form
both_users follow
both_users bounds
both_users programs
both_users network
done_testing
