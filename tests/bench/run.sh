#!/usr/bin/env bash
# What a step and a start cost, as ratios to what stands beside it: pairs of
# runs in turn, on the same disk, with the same neighbours.
#
#   run.sh [one_step] [many_steps] [live_calls] [gateways] [loops] [fans]
#          [remote_calls] [long_results] [secrets] [servers] [all_starts] [peers]
#                                                     all, or only these
#
#   PAIRS=N        pairs of runs for each row (default 150; long rows take less)
#   WORK=DIR       where both keep their state (default build/bench)
#   PEERS=1        other programs for the same work as well, as peers.sh says
#   BASE=REVISION  beside another revision, as base.sh says, and no other row
#
# Rows with a bar say how they stand to it. Nothing is judged by the status:
# it is 0 when all runs worked. As root the rows of starts are printed twice,
# as root and as an ordinary user.
set -eu
cd "${BASH_SOURCE[0]%/*}/../.."
BIN=$(realpath "${BIN:-build/matins}")
PAIRS=${PAIRS:-150}
WORK=${WORK:-build/bench}

rm -rf "$WORK"
mkdir -p "$WORK/state" "$WORK/bare" "$WORK/home"
chmod 755 "$WORK"
WORK=$(realpath "$WORK")
tools=$WORK/tools
# Programs as an installation has them. As a linker writes them, here and there,
# they lie in memory in small pieces, and starts are up to a tenth longer.
mkdir "$tools"
cp "$BIN" "$WORK/matins"
BIN=$WORK/matins
find build/release/tests/bench -maxdepth 1 -type f -perm -u+x \
	-exec cp -t "$tools" {} +
export HOME=$WORK/home XDG_STATE_HOME=$WORK/state LC_ALL=C.UTF-8

# heading TEXT
heading() {
	printf '\n%s\n' "$1"
}

# at_least N: that many pairs, or what PAIRS makes of it
at_least() {
	echo $(($1 < 3 ? 3 : $1))
}

# routine NAME ISOLATE STEPS COMMAND [ARG]: steps of the same server would
# share one process, so each is given its number, which no server looks at
routine() {
	local i

	{
		printf '[sandbox]\nisolate = "%s"\n[routines.bench]\n' "$2"
		for ((i = 0; i < $3; i++)); do
			cat <<-END
				[[routines.bench.steps]]
				name = "s$i"
				type = "mcp-client"
				command = "$4"
				args = ["${5-64}", "$i"]
				tool = "echo"
				parallel = true
			END
		done
	} >"$WORK/$1.toml"
}

# judged LABEL VALUE BAR AIM [NOTE]: a row of one number, the lower the better
judged() {
	awk -v l="$1" -v v="$2" -v b="$3" -v a="$4" -v n="${5-}" 'BEGIN {
		how = "OVER THE BAR"
		if (v <= b) how = "within the bar"
		if (v <= a) how = "within the aim"
		printf "%-34s %9s%s  bar %s aim %s  %s\n", l, v, n, b, a, how
	}'
}

# step LABEL FILE BAR AIM
step() {
	"$tools/pairs" "$PAIRS" "$@" \
		:: "$BIN" run -q -c "$WORK/$file.toml" bench --json \
		:: "$tools/bare_runner" "$WORK/$file.toml" "$WORK/bare"
}

# calls FILE [PROGRAM]: system calls of the runner itself for that routine, not
# of its children; nothing where they cannot be counted. The least of some runs:
# other runs of matins at the same time are looked at, too.
calls() {
	local i

	for ((i = 0; i < 5; i++)); do
		strace -o "$WORK/calls" "${2:-$BIN}" run -q -c "$WORK/$1.toml" \
			bench >"$WORK/out" 2>&1 || return 0
		grep -c '^[a-z_0-9]*(' "$WORK/calls"
	done | sort -n | head -n 1
}

# judged_calls FILE
judged_calls() {
	local n

	n=$(calls "$1")
	if [[ -n $n ]]; then
		judged "system calls, isolate = $1" "$n" 350 250
	else
		echo "system calls: left out, there is no strace that works here"
	fi
}

one_step() {
	heading "One stdio step, whole process, against tests/bench/bare_runner.c"
	routine off off 1 "$tools/stub_server"
	routine auto auto 1 "$tools/stub_server"
	file=off step "isolate = off" 1.35 1.2
	file=auto step "isolate = auto" 1.5 1.35
	judged_calls off
	judged_calls auto
	"$tools/pairs" "$PAIRS" "check, against a no-op" 1.6 1.25 \
		:: "$BIN" check -q -c "$WORK/off.toml" :: /bin/true
}

# parallel STEPS PAIRS ISOLATE BAR AIM
parallel() {
	local file=n$1

	routine "$file" "$3" "$1" "$tools/stub_server"
	"$tools/pairs" "$(at_least "$2")" "$1 steps, isolate = $3" "$4" "$5" \
		:: "$BIN" run -q -c "$WORK/$file.toml" bench --json \
		:: "$tools/bare_runner" "$WORK/$file.toml" "$WORK/bare" "$1" |
		tee "$WORK/last"
}

# The highest number of descriptors while so many programs run at once.
peak_descriptors() {
	local pid n peak=0

	{
		printf '[sandbox]\nisolate = "off"\n[routines.bench]\n'
		for ((n = 0; n < $1; n++)); do
			printf '[[routines.bench.steps]]\nname = "s%d"\n' "$n"
			printf 'type = "mcp-client"\ncommand = "sleep"\n'
			printf 'args = ["3", "0.%06d"]\ntool = "t"\n' "$n"
			printf 'parallel = true\n'
		done
	} >"$WORK/sleep.toml"
	"$BIN" run -q -c "$WORK/sleep.toml" bench >"$WORK/sleep.out" 2>&1 &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		n=$(find "/proc/$pid/fd" -mindepth 1 2>/dev/null | wc -l)
		((n <= peak)) || peak=$n
		sleep 0.1
	done
	wait "$pid" || true # these never answer
	echo "$peak"
}

many_steps() {
	local peak children=200 bars

	heading "Steps in parallel, against the bare runner with as many"
	for bars in "auto 1.7 1.5" "off 1.4 1.2"; do
		# shellcheck disable=SC2086
		{
			parallel 8 $((PAIRS / 2)) $bars
			parallel 64 $((PAIRS / 6)) $bars
			parallel 1000 $((PAIRS / 30)) $bars
		}
	done
	peak=$(sed -n 's/.*peak *\([0-9.]*\) and.*/\1/p' "$WORK/last")
	judged "1000 steps: peak memory" "$peak" 16 10 " MiB"
	peak=$(peak_descriptors "$children")
	judged "descriptors, $children steps" "$peak" $((5 * children + 16)) \
		$((5 * children + 16)) ", 5 a step and $((peak - 5 * children))"
}

# batch CALLS
batch() {
	local i

	for ((i = 0; i < $1; i++)); do
		echo '{"tool":"echo","arguments":{}}'
	done >"$WORK/batch.$1"
}

# next_call LABEL [COMMAND...]: each side is started by that
next_call() {
	local stub=$tools/stub_server n=5000
	local call=("$BIN" call -q --no-list --isolate off --batch)
	local label=$1

	shift
	"$tools/pairs" "$(at_least $((PAIRS / 4)))" "$label" 1.5 1.25 \
		:: "$@" "${call[@]}" "$WORK/batch.$((2 * n))" -- "$stub" \
		:: "$@" "$tools/ping" $((2 * n)) "$stub" \
		:: $n \
		:: "$@" "${call[@]}" "$WORK/batch.$n" -- "$stub" \
		:: "$@" "$tools/ping" $n "$stub"
}

# What one more call costs: the session itself cancels out. Where two run on
# two processors, waking the other one is most of it, and differs.
live_calls() {
	local cpu

	heading "The next call in a live session, against tests/bench/ping.c"
	batch 5000
	batch 10000
	cpu=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
	next_call "one more call, one processor" \
		"$(command -v taskset)" -c "$cpu"
	next_call "one more call"
}

# through LABEL SERVER [COMMAND...]: calls through the gateway, then through a
# relay that looks at nothing, both against calls without anything between
through() {
	local stub=$tools/stub_server n=${CALLS:-5000} label=$1
	local tool=TOOL=mcp__$2__echo
	local gateway=("$BIN" serve -q -c "$WORK/gateway.toml" --servers "$2")

	shift 2
	"$tools/pairs" "$(at_least $((PAIRS / 4)))" "gateway, $label" 2 2 \
		:: "$tool" "$@" "$tools/ping" $((2 * n)) "${gateway[@]}" \
		:: "$@" "$tools/ping" $((2 * n)) "$stub" \
		:: $n \
		:: "$tool" "$@" "$tools/ping" $n "${gateway[@]}" \
		:: "$@" "$tools/ping" $n "$stub"
	"$tools/pairs" "$(at_least $((PAIRS / 4)))" "bare relay, $label" \
		:: "$@" "$tools/ping" $((2 * n)) "$tools/relay" "$stub" \
		:: "$@" "$tools/ping" $((2 * n)) "$stub" \
		:: $n \
		:: "$@" "$tools/ping" $n "$tools/relay" "$stub" \
		:: "$@" "$tools/ping" $n "$stub"
}

# What `serve` adds to a call of a server behind it.
gateways() {
	local cpu

	heading "The next call through \`serve\`, against one without it"
	cat >"$WORK/gateway.toml" <<-END
		[servers.peer]
		command = "$tools/stub_server"
		sandbox = { isolate = "off" }
		[servers.audited]
		command = "$tools/stub_server"
		sandbox = { isolate = "off" }
		audit = true
	END
	chmod 600 "$WORK/gateway.toml"
	cpu=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
	through "one processor" peer "$(command -v taskset)" -c "$cpu"
	through "all processors" peer
	PAIRS=12 CALLS=200 through "audited: two lines, one flush" audited
}

# loop CALLS: routines over so many elements, which are given or made by a step,
# and the same calls as a batch
loop() {
	awk -v n="$1" -v items="$WORK/items" -v batch="$WORK/batch" 'BEGIN {
		x = sprintf("%100s", ""); gsub(" ", "x", x)
		for (i = 0; i < n; i++) {
			item = sprintf("{\"id\":%d,\"s\":\"%s\"}", i, x)
			printf "%s%s", i ? "," : "[", item >items
			printf "{\"tool\":\"echo\",\"arguments\":%s}\n",
				item >batch
		}
		print "]" >items
	}'
	{ printf '{"items":' && cat "$WORK/items" && echo '}'; } >"$WORK/params"
	cat >"$WORK/loop.toml" <<-END
		[servers.peer]
		command = "$tools/stub_server"
		[routines.given.params]
		items = { type = "array" }
		[[routines.given.steps]]
		name = "each"
		type = "mcp-client"
		server = "peer"
		tool = "echo"
		foreach = "\$input.items"
		params = { id = "\$item.id", s = "\$item.s" }
		[[routines.made.steps]]
		name = "list"
		type = "harness"
		command = "cat"
		args = ["$WORK/items"]
		[[routines.made.steps]]
		name = "each"
		type = "mcp-client"
		server = "peer"
		tool = "echo"
		foreach = "\$steps.list.json"
		params = { id = "\$item.id", s = "\$item.s" }
	END
}

# The whole of both, with the report that a run keeps.
loops() {
	local call=("$BIN" call -q -c "$WORK/loop.toml" -s peer --batch)
	local run=("$BIN" run -q -c "$WORK/loop.toml") n=10000

	heading "foreach over $n elements in one session, against call --batch"
	loop $n
	"$tools/pairs" "$(at_least $((PAIRS / 5)))" "foreach" 1.3 1.25 \
		:: "${run[@]}" given --params "$WORK/params" \
		:: "${call[@]}" "$WORK/batch"
	taskset -c 0 "$tools/pairs" "$(at_least $((PAIRS / 5)))" \
		"foreach, one processor" 1.3 1.25 \
		:: "${run[@]}" given --params "$WORK/params" \
		:: "${call[@]}" "$WORK/batch"
	"$tools/pairs" "$(at_least $((PAIRS / 5)))" "foreach, of a step" \
		:: "${run[@]}" made :: "${call[@]}" "$WORK/batch"
}

# fan_step SCRIPT|CALL
fan_step() {
	case $1 in
	script) printf '%s\n' '[[routines.one.steps]]' 'name = "say"' \
		'type = "script"' 'command = "true"' ;;
	call) printf '%s\n' '[[routines.one.steps]]' 'name = "call"' \
		'type = "mcp-client"' 'server = "peer"' 'tool = "echo"' \
		'params = { id = "$input.id" }' ;;
	real) printf '%s\n' '[servers.real]' 'command = "node"' \
		"args = [\"$everything\"]" '[[routines.one.steps]]' \
		'name = "real"' 'type = "mcp-client"' 'server = "real"' \
		'tool = "echo"' 'params = { message = "{{ $input.id }}" }' ;;
	esac
}

# fan LABEL STEP...: a shard against the same routine in one foreach; results of
# an earlier pair are moved aside
fan() {
	local n=1000 plan label=$1 step

	shift
	plan=$WORK/plan.$1.$#
	cat >"$WORK/fan.toml" <<-END
		[servers.peer]
		command = "$tools/stub_server"
		[routines.one.params]
		id = { type = "integer" }
		$(for step; do fan_step "$step"; done)
		[[routines.all.steps]]
		name = "each"
		type = "routine"
		routine = "one"
		foreach = "\$input.items"
		params = { id = "\$item.id" }
	END
	seq 1 $n | sed 's/.*/{"id":&}/' >"$WORK/in.jsonl"
	{ printf '{"items":[' && paste -sd, "$WORK/in.jsonl" && echo ']}'; } \
		>"$WORK/fan.params"
	"$BIN" fan plan one -q -c "$WORK/fan.toml" --inputs "$WORK/in.jsonl" \
		--per-shard $n -o "$plan" >/dev/null
	mkdir -p "$plan/results" "$WORK/aside"
	"$tools/pairs" "$(at_least $((PAIRS / 15)))" "$label" 1.2 1.1 \
		:: /bin/sh -c "mv $plan/results $WORK/aside/\$\$ && exec $BIN fan exec -q $plan --shard 0" \
		:: "$BIN" run -q -c "$WORK/fan.toml" all --params "$WORK/fan.params"
}

fans() {
	heading "a shard of 1000 inputs, against the same routine in one foreach"
	fan "exec, a script" script
	fan "exec, a call" call
	fan "exec, a script and a call" script call
	everything=$PWD/build/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js
	if [[ -e $everything ]]; then
		fan "exec, a call of server-everything" real
	else
		echo "exec, a call of server-everything: left out, not installed"
	fi
}

# posts CALLS: for curl, what batch is for us; the same bytes but for the id
posts() {
	local i body

	body='{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":1}}}'
	for ((i = 0; i < $1; i++)); do
		((!i)) || echo next
		printf '%s\n' silent "url = http://127.0.0.1:$2/mcp" \
			"data = \"${body//\"/\\\"}\"" \
			'header = "Content-Type: application/json"' \
			'header = "Accept: application/json, text/event-stream"' \
			'header = "MCP-Protocol-Version: 2026-07-28"' \
			'header = "Mcp-Method: tools/call"' \
			'header = "Mcp-Name: echo"'
	done >"$WORK/posts.$1"
}

# One more call over one connection: what curl asks for is fixed, and it looks
# at no answer.
remote_calls() {
	local n=1000 port call=("$BIN" call -q --no-list --batch) curl

	heading "The next call of a remote server, against curl -K on one connection"
	curl=$(command -v curl || true)
	if [[ -z $curl ]]; then
		echo "left out, there is no curl here"
		return
	fi
	coproc STUB { exec "$tools/http_stub"; }
	read -r port <&"${STUB[0]}"
	batch $n
	batch $((2 * n))
	posts $n "$port"
	posts $((2 * n)) "$port"
	"$tools/pairs" "$(at_least $((PAIRS / 4)))" "one more call" \
		:: "${call[@]}" "$WORK/batch.$((2 * n))" \
		--url "http://127.0.0.1:$port/mcp" \
		:: "$curl" -q -K "$WORK/posts.$((2 * n))" \
		:: $n \
		:: "${call[@]}" "$WORK/batch.$n" \
		--url "http://127.0.0.1:$port/mcp" \
		:: "$curl" -q -K "$WORK/posts.$n"
	"$tools/pairs" "$PAIRS" "one call, whole process" \
		:: "$BIN" call -q --no-list echo \
		--url "http://127.0.0.1:$port/mcp" \
		:: "$curl" -q -s "http://127.0.0.1:$port/mcp" --data x
	kill "$STUB_PID"
}

# long_result MIB PAIRS: both keep only their last report, or the disk is full
long_result() {
	local file=long$1 bytes=$(($1 << 20))

	routine "$file" off 1 "$tools/stub_server" "$bytes"
	echo 'stdout_max = "256MiB"' >>"$WORK/$file.toml"
	sed -i '1i keep_runs = 1' "$WORK/$file.toml"
	PAYLOAD=$bytes "$tools/pairs" "$(at_least "$2")" "$1 MiB" 1.3 1.1 \
		:: "$BIN" run -q -c "$WORK/$file.toml" bench --json \
		:: "$tools/bare_runner" "$WORK/$file.toml" "$WORK/bare" 1 1
}

long_results() {
	heading "One step with a long result, against the bare runner"
	long_result 10 $((PAIRS / 5))
	long_result 100 $((PAIRS / 15))
}

# beside ROUTINE LABEL [BAR AIM] :: COMMAND...: a step of the routine against
# that; both without what the caller has set for such programs
beside() {
	local file=$1 words=()

	shift
	while [[ $1 != :: ]]; do
		words+=("$1")
		shift
	done
	env -i HOME="$HOME" XDG_STATE_HOME="$XDG_STATE_HOME" PATH="$PATH" \
		INPUT="$WORK/requests" "$tools/pairs" "$(at_least $((PAIRS / 3)))" \
		"${words[@]}" \
		:: "$BIN" run -q -c "$WORK/$file.toml" bench --json "$@"
}

# server NAME FILE INTERPRETER: against the bare runner, which has the bar, and
# against the server alone, told the same
server() {
	local bare=("$tools/bare_runner" "$WORK/$1.toml" "$WORK/bare")

	if [[ -z $3 ]]; then
		echo "a $1 server: left out, there is no $1 here"
		return
	fi
	routine "$1" off 1 "$3" "$2"
	if "${bare[@]}" >"$WORK/out" 2>&1; then
		beside "$1" "a $1 server" 1.03 1.02 :: "${bare[@]}"
	else
		echo "a $1 server: left out, the bare runner cannot run $3"
	fi
	beside "$1" "a $1 server, against it alone" :: "$3" "$2"
}

# The same server as an installed package, started as `npx NAME`.
npx_server() {
	local package=$WORK/node_modules/bench-server

	if [[ -z $1 ]]; then
		echo "a server by npx: left out, there is no node here"
		return
	fi
	mkdir -p "$package"
	cp tests/bench/server.js "$package"
	sed -i '1i #!/usr/bin/env node' "$package/server.js"
	echo '{"name":"bench-server","version":"1.0.0","bin":"server.js"}' \
		>"$package/package.json"
	routine npx off 1 npx bench-server
	beside npx "npx of an installed server" 1.1 1.05 \
		:: "$1" "$package/server.js"
}

# What a client of one call says.
requests() {
	cat <<-'END'
		{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
		{"jsonrpc":"2.0","method":"notifications/initialized"}
		{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}
	END
}

server_files() {
	mkdir -p "$WORK/servers"
	cp tests/bench/server.py tests/bench/server.js "$WORK/servers"
}

# interpreter_of python|node: itself, not a shim that looks for it. The bare
# runner's child is nobody, who may not enter HOME.
interpreter_of() {
	if [[ $1 == node ]]; then
		node -p process.execPath || true
	else
		PATH=/usr/bin:$PATH python3 -c 'import sys; print(sys.executable)' ||
			true
	fi
}

servers() {
	heading "One step of a server that takes its time"
	requests >"$WORK/requests"
	server_files
	server python "$WORK/servers/server.py" "$(interpreter_of python)"
	server node "$WORK/servers/server.js" "$(interpreter_of node)"
	npx_server "$(interpreter_of node)"
}

# ---- starts; these run as root and as a user, from a folder of their own ----

# whole LABEL COMMAND...
whole() {
	local label=$1

	shift
	"$SPAWN_TOOLS/pairs" "$PAIRS" "$label" :: "$@" :: /bin/true
}

# peer LABEL PROGRAM ARGS...
peer() {
	local label=$1 path

	path=$(command -v "$2" || true)
	shift 2
	if [[ -n $path ]] && "$path" "$@" >/dev/null 2>&1; then
		whole "$label" "$path" "$@"
	else
		echo "$label: left out, it does not work here"
	fi
}

starts() {
	heading "One start of /bin/true by the gate, as $1"
	"$SPAWN_TOOLS/spawn" $((PAIRS * 2))
	heading "Whole programs, against posix_spawn of /bin/true, as $1"
	whole "exec --isolate off" \
		"$SPAWN_TOOLS/matins" exec -q --isolate off -- true
	whole "exec" "$SPAWN_TOOLS/matins" exec -q -- true
	whole "exec --net loopback" \
		"$SPAWN_TOOLS/matins" exec -q --net loopback -- true
	peer bubblewrap bwrap --ro-bind / / --unshare-all true
	peer firejail firejail --quiet --noprofile true
	heading "The light view against a full new root, as $1"
	"$SPAWN_TOOLS/view" "$PAIRS"
	echo "with 1 GiB touched by the runner:"
	"$SPAWN_TOOLS/view" "$PAIRS" --touch 1024
	[[ $(id -u) -ne 0 ]] || {
		echo "with 300 more mounts on the host:"
		"$SPAWN_TOOLS/view" "$(at_least $((PAIRS / 2)))" --mounts 300
	}
}

# Everybody may enter the folder; each user has a HOME and state there.
all_starts() {
	local dir

	dir=$(mktemp -d "${TMPDIR:-/tmp}/matins-bench.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$dir'" EXIT
	chmod 755 "$dir"
	cp "$BIN" "$dir/matins"
	cp "$tools/pairs" "$tools/spawn" "$tools/view" "$dir"
	export SPAWN_TOOLS=$dir PAIRS
	export -f starts whole peer heading at_least
	if [[ $(id -u) -ne 0 ]]; then
		starts user
		return
	fi
	starts root
	mkdir -m 700 "$dir/home"
	chown nobody "$dir/home"
	(cd / && HOME=$dir/home XDG_STATE_HOME=$dir/home/state \
		setpriv --reuid=nobody --regid="$(id -g nobody)" \
		--clear-groups bash -euc 'starts user')
}

# Texts that are hard for the scrubber; 64 MiB in 1.5 s is the bar.
secrets() {
	heading "64 MiB scrubbed of 100 values of up to 16 KiB"
	"$tools/scrub" 64
}

. tests/bench/peers.sh
. tests/bench/base.sh
if [[ -n ${BASE-} ]]; then
	set -- revisions
elif ((!$#)); then
	set -- one_step many_steps live_calls gateways loops fans \
		remote_calls long_results secrets servers all_starts ${PEERS:+peers}
fi
for section in "$@"; do
	"$section"
done
