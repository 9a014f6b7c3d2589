#!/usr/bin/env bash
# What was said to be kept survives: a kill at each call that changes a file, a
# disk that is full from there on, a write of half, a read-only state folder, a
# torn line. The next command goes on. Fewer calls are tried where a try takes
# long: a program with checks built in, a machine with much to do.
if [[ -z ${SURVIVE_NS:-} && $(id -u) -eq 0 ]] &&
	unshare --mount true 2>/dev/null; then
	SURVIVE_NS=1 exec unshare --mount bash "$0"
fi
. "${BASH_SOURCE%/*}/lib.sh"

FAIL=$HELPERS/fail
"$FAIL" tried lseek EIO 1000 -- "$(type -P true)" 2>/dev/null
(($? != 99)) || skip_all "no process can be traced here"

coarse=1
grep -aqE "__(asan|ubsan)_" "$BIN" && coarse=10
read -r load _ </proc/loadavg
((${load%.*} >= 3 * $(nproc))) && coarse=$((coarse * 3))

# _finish of lib.sh removes the folder, and what is mounted in it goes first.
state=$T/state/matins
leave() {
	local rc=$?

	umount -l "$state" 2>/dev/null
	(exit "$rc")
	_finish
}
trap leave EXIT

mkdir -m 777 marks
echo same >word
cat >m.toml <<'END'
keep_runs = 100000
[routines.r]
on_busy = "fail"
[[routines.r.steps]]
name = "a"
type = "script"
command = "sh"
args = ["-c", "echo a >>marks/a; cat word"]
sandbox = { read = ["word"], write = ["marks"], exec = ["cat"] }
[[routines.r.steps]]
name = "b"
type = "script"
command = "echo"
END
sed '1a [notify]\nevery = true\non = ["failure", "change"]\ncommand = ["cat"]' \
	m.toml >notify.toml

tool_server server.py <<-'END'
	text = "said"
END
{
	cat m.toml
	for name in s u; do
		printf '%s\n' '[[routines.r.steps]]' "name = \"$name\"" \
			'type = "mcp-client"' "command = \"$PYTHON\"" \
			'args = ["-S", "-E", "server.py"]' 'tool = "t"'
	done
} >session.toml

# survive NAME SCENARIO ACTION STEP: each STEPth call, or fewer; survive.py
survive() {
	rm -rf "$T/state/matins" golden tape*
	echo same >word
	is "$1" "$($PYTHON -S -E "$TOP/tests/blackbox/survive.py" "$BIN" \
		"$FAIL" "$2" "$3" "$4" $coarse 2>&1)" ""
}

has_cron=
if [[ ${SURVIVE_NS:-} ]] && command -v crontab >/dev/null &&
	mount -t tmpfs none /var/spool/cron/crontabs 2>/dev/null; then
	chgrp crontab /var/spool/cron/crontabs
	chmod 1730 /var/spool/cron/crontabs
	has_cron=1
fi

survive "killed at each call: a run" run KILL 1
survive "killed at each call: the first run" first KILL 3
survive "killed at each call: a run of a slot" slot KILL 2
survive "killed at each call: a run that tells" notify KILL 3
survive "killed at each call: a run that is recorded" record KILL 4
survive "killed at each call: a run that is recorded again" record-again KILL 3
survive "killed at each call: golden record" golden-record KILL 1
survive "killed at each call: golden accept" golden-accept KILL 1
survive "killed at each call: golden prune" prune KILL 1
survive "a full disk from each call on: a run" run ENOSPC+ 2
survive "a full disk from each call on: the first run" first ENOSPC+ 6
survive "a full disk from each call on: the ledger is required" required ENOSPC+ 2
survive "a full disk from each call on: a run of a slot" slot ENOSPC+ 4
survive "a full disk from each call on: a run that tells" notify ENOSPC+ 6
survive "a full disk from each call on: golden accept" golden-accept ENOSPC+ 2
survive "a full disk from each call on: a run that is recorded again" record-again ENOSPC+ 2
survive "half of a write, then a full disk: a run" run SHORT 2
survive "half of a write, then a full disk: golden record" golden-record SHORT 2
survive "one call fails: the ledger is required" required EIO 3
survive "a read-only disk from each call on: the ledger is required" required EROFS+ 4
if [[ $has_cron ]]; then
	survive "killed at each call: schedule add" schedule KILL 4
	survive "a full disk from each call on: schedule add" schedule ENOSPC+ 5
else
	skip "schedule add" "no crontab of our own can be had here"
fi

# ---- a disk of our own, that is full or read-only ----

rm -rf "$state" golden
mkdir -m 700 "$state"
if [[ ${SURVIVE_NS:-} ]] &&
	mount -t tmpfs -o size=64k,mode=700 none "$state" 2>/dev/null; then
	run_matins run -c m.toml r --json
	cp "$out" first.json
	for free in 0 1 2 3 4; do
		cat /dev/zero >"$state/filler" 2>/dev/null
		truncate -s "-$((free * 4096))" "$state/filler"
		rm -f marks/a
		run_matins run -c m.toml r --json --require-ledger
		[[ $status == 0 || -s $err ]] || status+=" and not a word"
		kept=$("$BIN" history -n 1 --json -v | grep -c '"state":"finished".*sha256')
		[[ $status == [01] && ($status == 1 || $kept == 1) ]] || break
	done
	is "$free blocks are free: status 1, or all is kept" "$status $kept" "0 1"
	cat /dev/zero >"$state/filler" 2>/dev/null
	sed '/on_busy/d' m.toml >free.toml
	run_matins run -c free.toml r --json
	exit_is "a disk without a free block: the run is ok" 0
	err_like "and says that it is not recorded" 'not (fully )?recorded: .*No space'
	sed 's/"echo a.*"\]/"exit 3"]/' free.toml >bad.toml
	run_matins run -c bad.toml r --json --require-ledger
	exit_is "--require-ledger: a report that is not kept is 1, also of a run that failed" 1
	json_is "which has failed all the same" success false \
		step_results[0].reason exit_status
	rm "$state/filler"
	last=$("$BIN" history -n 1 --json | grep -o '"generation":[0-9]*')
	run_matins run -c m.toml r --json
	json_is "with room again the numbers go on" \
		generation $((${last#*:} + 1)) run.warnings '#0'
	run_matins show 1 --json
	file_is "and the first report is still there" "$out" first.json

	mount -o remount,ro "$state"
	rm -f marks/a
	run_matins run -c free.toml r --json
	exit_is "a read-only state folder: the run is ok" 0
	json_is "and says that it is not recorded" \
		run.warnings[0] '~not recorded.*Read-only file system'
	rm -f marks/a
	run_matins run -c free.toml r --require-ledger
	exit_is "--require-ledger: it is not" 1
	not_ok "and nothing was started" test -e marks/a
	run_matins show last --json
	exit_is "what is kept can be shown" 0
	run_matins history -n 1
	out_like "and listed" ' ok '
	umount "$state"
else
	skip "a disk of our own" "nothing can be mounted here"
fi

done_testing
