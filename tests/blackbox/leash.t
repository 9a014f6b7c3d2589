#!/usr/bin/env bash
# What a whole run may do at most: where the leash comes from, what it denies.
# For each thing denied there is one beside it that is allowed.
. "${BASH_SOURCE%/*}/lib.sh"

open='"fs_read":"all","fs_write":"all","net":"all"'
calls='"max_calls":"unlimited","valid_for_generation":"all"'

cat >r.toml <<-'END'
	[[routines.r.steps]]
	name = "allowed"
	type = "script"
	command = "true"
	[[routines.r.steps]]
	name = "other"
	type = "script"
	command = "echo"
	args = ["ran"]
END

# ---- variables ----

only_true="{$open,\"exec\":{\"only\":[\"true\"]},$calls}"
for name in MATINS_CAVEATS MODULEX_CAVEATS; do
	export $name="$only_true"
	run_matins run -c r.toml r --json
	exit_is "$name: exit status 2" 2
	json_is "$name: one is denied, the other not" \
		step_results[0].state ok \
		step_results[1].state denied step_results[1].reason leash
	err_like "$name: the error names the axis" "$name"
	unset $name
done
MATINS_CAVEATS="{$open,\"exec\":\"all\",$calls}" \
	MODULEX_CAVEATS="$only_true" run_matins run -c r.toml r --json
exit_is "MATINS_CAVEATS stands before MODULEX_CAVEATS" 0
MODULEX_CAVEATS='{"exec":"all"}' run_matins run -c r.toml r
exit_is "a leash that lacks axes is never passed over" 1
err_like "the variable of the broken leash is named" 'MODULEX_CAVEATS'

# ---- the table ----

{
	cat <<-'END'
		[caveats]
		fs_read = "all"
		fs_write = "all"
		exec = { only = ["true"] }
		net = "all"
		max_calls = "unlimited"
		valid_for_generation = "all"
	END
	cat r.toml
} >table.toml
run_matins run -c table.toml r --json
exit_is "[caveats]: exit status 2" 2
json_is "[caveats]: one is denied, the other not" \
	step_results[0].state ok \
	step_results[1].state denied step_results[1].reason leash \
	step_results[1].error '~echo'
sed 's/^exec = .*/exec = "all"/' table.toml >wide.toml
run_matins run -c wide.toml r --json
exit_is "[caveats] that allows all: exit status 0" 0

sed 's/^max_calls = .*/max_calls = { at_most = 1 }/' wide.toml >calls.toml
run_matins run -c calls.toml r --json
exit_is "max_calls: exit status 2" 2
json_is "max_calls: the second is one too many" \
	step_results[0].state ok \
	step_results[1].state denied step_results[1].reason leash \
	step_results[1].error '~allows at most 1 program in a run'
sed 's/at_most = 1/at_most = 2/' calls.toml >two.toml
run_matins run -c two.toml r --json
exit_is "max_calls of two: exit status 0" 0

rm -rf "$XDG_STATE_HOME/matins"
sed 's/^valid_for_gen.*/valid_for_generation = { only = [2] }/' wide.toml \
	>generation.toml
run_matins run -c generation.toml r --json
exit_is "valid_for_generation, the first: exit status 2" 2
json_is "valid_for_generation, the first: all is denied" generation 1 \
	step_results[0].state denied step_results[0].reason leash \
	step_results[0].error '~generation' \
	step_results[1].state denied
run_matins run -c generation.toml r --json
exit_is "valid_for_generation, the second: exit status 0" 0
json_is "valid_for_generation, the second: all is allowed" generation 2 \
	step_results[0].state ok step_results[1].state ok
run_matins run -c generation.toml r --json
exit_is "valid_for_generation, the third: exit status 2" 2

done_testing
