#!/usr/bin/env bash
# Bounds: processes, memory, files, processor time.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

# The bound of processes holds where the kernel counts them for this sandbox.
bounds() {
	expect ok "eight processes ($isolate)" --isolate "$isolate" -- fork 8
	if [[ $isolate != off ]]; then
		expect blocked "a thousand ($isolate)" --isolate "$isolate" -- \
			fork 1000
		expect ok "unless granted ($isolate)" --isolate "$isolate" \
			--processes 2000 -- fork 1000
	fi
	expect ok "64 MiB ($isolate)" --isolate "$isolate" --memory 256MiB \
		-- memory 64
	expect blocked "512 MiB ($isolate)" --isolate "$isolate" \
		--memory 256MiB -- memory 512
	expect ok "address space is not memory ($isolate)" \
		--isolate "$isolate" --memory 256MiB -- reserve
	mkdir -p "$W/out"
	[[ $who == root ]] || as_user true
	expect ok "a file of 1 MiB ($isolate)" --isolate "$isolate" \
		--write "$W/out" --file-size 2MiB -- file-size "$W/out/f" 1
	expect blocked "one of 4 MiB ($isolate)" --isolate "$isolate" \
		--write "$W/out" --file-size 2MiB -- file-size "$W/out/f" 4
	gate --isolate "$isolate" --cpu 1 -- sh -c 'while :; do :; done'
	exit_is "$who: processor time ($isolate)" 137
	gate --isolate "$isolate" --files 16 -- sh -c 'ulimit -n'
	out_is "$who: descriptors ($isolate)" 16
}

limits() {
	local isolate

	for isolate in auto off; do
		bounds
	done
}

both_users limits
done_testing
