#!/usr/bin/env bash
# What the gate says about itself: facts, denials, refusals, the leash. All
# levels by policy are in gate-guarantees.txt.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

level() { # GUARANTEE of the report
	"$PYTHON" -c 'import json, sys
for f in json.load(open(sys.argv[1]))["enforced"]:
    if f["guarantee"] == sys.argv[2]:
        print(f["level"])' "$W/report" "$1"
}

facts() {
	local name by_group=partial

	[[ $who == root ]] || as_user true
	gate --require cgroup -- true
	[[ $status == 0 ]] && by_group=enforced
	[[ $status == 0 ]] ||
		err_like "$who: why no control group" \
			'\(control group.*\) is not in use here: .+; to have'
	gate --report "$W/report" -- true
	exit_is "$who: a report can be written" 0
	for name in fs-read net-off net-ports ipc no-tty env-clean syscalls; do
		is "$who: $name by default" "$(level "$name")" enforced
	done
	is "$who: memory of the tree" "$(level limits-mem)" "$by_group"
	if has_view; then
		for name in exec-listed fs-write proc-hidden tree-kill \
			limits-pids; do
			is "$who: $name with namespaces" "$(level "$name")" \
				enforced
		done
	else
		skip "$who: guarantees are enforced with namespaces" "$(head -n1 "$err")"
	fi
	gate --isolate off --report "$W/report" -- true
	is "$who: proc-hidden is absent without namespaces" "$(level proc-hidden)" absent
	is "$who: tree-kill needs a control group without namespaces" "$(level tree-kill)" "$by_group"
	is "$who: exec-listed is partial without namespaces" "$(level exec-listed)" partial
	if [[ $who == root ]]; then
		gate --isolate off --user root --report "$W/report" -- true
		is "$who: fs-write of a child that stays root" \
			"$(level fs-write)" partial
		ok "$who: says whose files that means" \
			grep -q "all of root's files" "$W/report"
		# behind a folder of root's alone it stays root unasked
		mkdir -m 700 "$W/wall"
		cp "$HELPERS/probe" "$W/wall/probe"
		touch "$W/kept"
		chmod 600 "$W/kept"
		gate --isolate off --report "$W/report" -- \
			"$W/wall/probe" chmod "@$W/kept" 666
		ok "$who: it cannot change what is root's" \
			grep -q '^blocked' "$out"
		is "$who: and it could not" "$(stat -c %a "$W/kept")" 600
		ok "$who: the filter refuses that" \
			grep -q "the filter refuses" "$W/report"
		gate --isolate off --user root --write "$W/kept" -- \
			"$W/wall/probe" chmod "@$W/kept" 640
		is "$who: unless that is asked for" \
			"$(stat -c %a "$W/kept")" 640
		closed_meanwhile
	fi
	gate --net all --report "$W/report" -- true
	is "$who: net-off with a network" "$(level net-off)" absent
	mkdir -p "$W/out"
	[[ $who == root ]] || as_user true
	gate --write "$W/out" --report "$W/report" -- true
	is "$who: exec-listed where one may write" "$(level exec-listed)" \
		partial
	gate --write "$W/out" --profile strict --report "$W/report" -- true
	on exec-listed is "$who: but strictly" "$(level exec-listed)" enforced
	gate --read /usr --report "$W/report" -- true
	is "$who: exec-listed where programs are read" \
		"$(level exec-listed)" partial
}

# Folders that the plan has seen open are looked at again when a program ended.
closed_meanwhile() {
	mkdir "$W/door"
	cp /usr/bin/id "$W/door/id"
	cat >"$W/door.toml" <<-END
		[sandbox]
		isolate = "off"
		[routines.r]
		[[routines.r.steps]]
		name = "before"
		type = "script"
		command = "$W/door/id"
		args = ["-u"]
		[[routines.r.steps]]
		name = "close"
		type = "script"
		command = "chmod"
		args = ["700", "$W/door"]
		sandbox = { write = ["$W/door"], user = "root" }
		[[routines.r.steps]]
		name = "after"
		type = "script"
		command = "$W/door/id"
		args = ["-u"]
	END
	run_matins run -c "$W/door.toml" r --json
	json_is "$who: another user passes an open folder" 'step_results[0].output' 65534
	json_is "$who: and stays root where a step before has closed it" \
		'step_results[2].output' 0
}

required() {
	gate --require fs-read --require landlock -- true
	exit_is "$who: what holds may be required" 0
	gate --isolate off --require proc-hidden -- true
	exit_is "$who: what does not is a refusal" 125
	err_like "$who: that names it" 'proc-hidden is absent'
	gate --isolate off --require pidns -- true
	exit_is "$who: mechanisms as well" 125
	gate --require no-such-thing -- true
	exit_is "$who: an unknown name" 64
	if [[ $who == root ]]; then
		gate --user no-such-user -- true
		exit_is "a user who does not exist is refused" 126
		gate --user daemon --exec id -- id -un
		out_is "a program can run as another user" daemon
	fi
}

denials() {
	gate --report "$W/report" -- "$PROBE" call ptrace
	err_like "$who: a refused call is named" 'denied: .*ptrace.* by probe'
	json_file_is "$who: and in the report" "$W/report" \
		denials[0].name ptrace denials[0].count 1
	gate --syscalls ptrace -- "$PROBE" call ptrace
	out_like "$who: what it said allows it" '^escaped: ptrace'
}

leash() {
	local open='"fs_read":"all","fs_write":"all","net":"all"'
	local rest='"max_calls":"unlimited","valid_for_generation":"all"'

	export MATINS_CAVEATS="{$open,\"exec\":{\"only\":[\"true\"]},$rest}"
	gate -- true
	exit_is "$who: a leash allows" 0
	gate -- false
	exit_is "$who: a leash refuses what it does not list" 126
	err_like "$who: with its source" 'MATINS_CAVEATS'
	gate -- "$(type -P true)"
	exit_is "$who: a bare name is no path" 126
	ln -sf "$(type -P false)" "$W/true"
	[[ $who == root ]] || as_user true
	gate -- "$W/true"
	exit_is "$who: nor the last part of one" 126
	MATINS_CAVEATS="{\"fs_read\":{\"only\":[\"$W/in\"]},\"exec\":\"all\","
	MATINS_CAVEATS+="\"fs_write\":\"all\",\"net\":{\"only\":[]},$rest}"
	mkdir -p "$W/in"
	echo x >"$W/in/file"
	echo x >"$W/file"
	ln -sfn "$W" "$W/in/up"
	[[ $who == root ]] || as_user true
	expect ok "fs_read covers a grant" --read "$W/in" -- \
		read @"$W/in/file"
	expect ok "and narrows a wide one" --read "$W" -- read @"$W/in/file"
	expect blocked "to what it covers" --read "$W" -- read @"$W/file"
	for isolate in auto off; do
		expect blocked "what may only be written ($isolate)" \
			--isolate "$isolate" --write "$W" -- read @"$W/file"
		expect ok "beside what may be both ($isolate)" \
			--isolate "$isolate" --write "$W" -- read @"$W/in/file"
	done
	expect ok "it can be written" --isolate off --write "$W" -- \
		write @"$W/file"
	gate --read "$W/in/up" -- true
	exit_is "$who: a link out of it is refused" 126
	err_like "$who: with where it leads" 'leads to'
	expect blocked "files of arguments are met with it" -- \
		read "$W/file"
	echo 'read -r x <"${0%/*}/file" && echo "ok: $x"' >"$W/in/script"
	cp "$W/in/script" "$W/script"
	gate -- sh "$W/in/script"
	out_is "$who: a script in it runs" "ok: x"
	gate -- sh "$W/script"
	out_unlike "$who: one outside is not readable" '^ok'
	err_like "$who: and that is said" 'script": not readable, the leash'
	touch "$W/package.json"
	gate -- sh "$W/in/script"
	out_unlike "$who: nor is its package when that is wider" '^ok'
	err_like "$who: and that is said, too" "folder of the script .$W.: not readable"
	rm "$W/package.json"
	gate -- bash --rcfile "$W/file" -c "read -r x <$W/file && echo ok"
	out_unlike "$who: nor the value of an option" '^ok'
	expect blocked "the network as well" --net all -- udp
	expect blocked "the shared /tmp as well" --tmp shared -- \
		read @"$W/file"
	unset MATINS_CAVEATS
}

says() {
	facts
	required
	denials
	leash
}

both_users says
done_testing
