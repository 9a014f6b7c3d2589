#!/usr/bin/env bash
# Rules of [golden]: each by each verb, in each form; patches applied to
# random reports by another implementation.
. "${BASH_SOURCE%/*}/lib.sh"

"$PYTHON" -c 'import jsonpatch' 2>/dev/null || skip_all "no python3-jsonpatch"
unset CI

run_program /dev/null "$PYTHON" "$TOP/tests/blackbox/golden_rules.py" "$BIN"
exit_is "the table of rules, verbs and forms ends" 0
cp "$out" table.tap
while IFS= read -r line; do
	case $line in
	"ok - "*) ok "${line#ok - }" true ;;
	"not ok - "*) ok "${line#not ok - }" false ;;
	*) printf '%s\n' "$line" ;;
	esac
done <table.tap
ok "rules were tried" test "$(grep -c '^ok' table.tap)" -gt 500

for seed in 1 2; do
	run_program /dev/null "$PYTHON" "$TOP/tests/blackbox/patches.py" $seed 60 "$BIN"
	exit_is "a patch applied to the old gives the new, seed $seed" 0
done

done_testing
