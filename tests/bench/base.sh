# BASE=REVISION: the program as built from the tree here, with all that is not
# committed, against that of another revision, in pairs of the same run. The
# other one is built in build/base, which is removed again. Both are told the
# same; each has a state of its own.
# shellcheck shell=bash
: "${tools:?run.sh sets it}" "${PAIRS:?}"

# Build $BASE; sets $OLD.
build_base() {
	local revision changed

	git rev-parse --git-dir >/dev/null 2>&1 || {
		echo "BASE: a git checkout is needed to take a revision from" >&2
		exit 64
	}
	revision=$(git rev-parse --verify --quiet "$BASE^{commit}") || {
		echo "BASE: no such revision: $BASE; git log --oneline lists them" >&2
		exit 64
	}
	changed=$(git status --porcelain | wc -l)
	echo "new: $(git log -1 --format='%h %s')$([[ $changed -eq 0 ]] ||
		echo ", with $changed files that are not committed")"
	echo "old: $(git log -1 --format='%h %s' "$revision")"
	trap 'rm -rf build/base' EXIT
	rm -rf build/base
	mkdir -p build/base
	git archive "$revision" | tar -x -C build/base
	make -s -j"$(nproc)" -C build/base >"$WORK/base.log" 2>&1 || {
		echo "BASE: $BASE does not build here, $WORK/base.log:" >&2
		tail -n 5 "$WORK/base.log" >&2
		exit 1
	}
	OLD=$WORK/matins.old
	cp build/base/build/matins "$OLD"
}

# both LABEL PAIRS ARG...: each revision with these arguments
both() {
	local label=$1 n

	n=$(at_least "$2")
	shift 2
	"$tools/pairs" "$n" "$label" \
		:: XDG_STATE_HOME="$WORK/state" "$BIN" "$@" \
		:: XDG_STATE_HOME="$WORK/base" "$OLD" "$@" ||
		echo "$label: left out, one of the two cannot do it"
}

# both_run LABEL PAIRS ISOLATE STEPS [COMMAND [ARG]]
both_run() {
	local label=$1 count=$2

	routine both "${@:3:2}" "${5:-$tools/stub_server}" "${6:-64}"
	echo 'stdout_max = "256MiB"' >>"$WORK/both.toml"
	sed -i '1i keep_runs = 2' "$WORK/both.toml"
	both "$label" "$count" run -q -c "$WORK/both.toml" bench --json
}

both_calls() {
	local isolate

	for isolate in off auto; do
		routine both $isolate 1 "$tools/stub_server"
		printf '%-34s %9s     against %9s\n' \
			"system calls, isolate = $isolate" \
			"$(calls both)" "$(calls both "$OLD")"
	done
}

revisions() {
	local stub=$tools/stub_server isolate mib

	build_base
	heading "Ratios of new to old, and their middle half; peaks of new and old"
	for isolate in off auto; do
		both_run "one step, isolate = $isolate" "$PAIRS" $isolate 1
		both_run "8 steps, isolate = $isolate" $((PAIRS / 2)) $isolate 8
		both_run "64 steps, isolate = $isolate" $((PAIRS / 6)) $isolate 64
		both_run "1000 steps, isolate = $isolate" $((PAIRS / 30)) \
			$isolate 1000
	done
	both_calls
	server_files
	both_run "a python server" $((PAIRS / 3)) off 1 \
		"$(interpreter_of python)" "$WORK/servers/server.py"
	for mib in 10 100; do
		both_run "$mib MiB" $((PAIRS / mib)) off 1 "$stub" $((mib << 20))
	done
	both "check" "$PAIRS" check -q -c "$WORK/both.toml"
	both "one call" "$PAIRS" call -q echo -- "$stub" 64
	batch 5000
	both "5000 calls" $((PAIRS / 6)) \
		call -q --no-list --isolate off --batch "$WORK/batch.5000" -- "$stub"
	both "exec --isolate off" "$PAIRS" exec -q --isolate off -- true
	both "exec" "$PAIRS" exec -q -- true
	both "exec --net loopback" "$PAIRS" exec -q --net loopback -- true
	both "help" "$PAIRS" help
}
