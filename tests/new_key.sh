#!/usr/bin/env bash
# A new key of a policy is one row of gate/sandbox.def: in a copy of the tree two
# rows are added, and struct, merge, digest, option, help, TOML, explanation,
# trace and the printed references follow. Takes a build without optimization.
set -u
cd "${BASH_SOURCE[0]%/*}/.." || exit 1

copy=$(mktemp -d "${TMPDIR:-/tmp}/matins-key.XXXXXX") || exit 1
trap 'rm -rf "$copy"' EXIT
bin=$copy/build/debug/matins
rc=0

# like NAME PATTERN COMMAND...
like() {
	local name=$1 pattern=$2 output

	shift 2
	output=$("$@" 2>&1)
	grep -qE -- "$pattern" <<<"$output" && return
	printf '%s: no line is like %s\n%s\n' "$name" "$pattern" "$output"
	rc=1
}

add_rows() {
	sed -i '/^SANDBOX_TABLE(programs/i \
SANDBOX(pipes, "pipes", pipes, COUNT, "16", "N", "pipes of the tree", \\\
	.min = 1, .max = 64, .said = "{} pipes")\
SANDBOX(tag_names, "tag-names", tags, STRINGS, NULL, "NAME", "a tag", \\\
	.said = "tagged", .weakens = "loose")' \
		"$copy/gate/sandbox.def"
}

# Merge, copy and digest have no command of their own.
test_operations() {
	cat >"$copy/key.c" <<-'EOF'
		#include <assert.h>
		#include "core/base/arena.h"
		#include "core/base/sha256.h"
		#include "gate/gate.h"

		static void sum_of(const struct gate_policy *p, unsigned char *sum)
		{
			struct sha256 s;

			sha256_init(&s);
			gate_policy_digest(p, &s);
			sha256_end(&s, sum);
		}

		int main(void)
		{
			struct arena arena = ARENA_INIT;
			const char *a[] = {"a"}, *b[] = {"a", "b"};
			struct gate_policy one = {.pipes = 2, .tags = {a, 1}};
			struct gate_policy two = {.pipes = 3, .tags = {b, 2}};
			struct gate_policy both;
			unsigned char x[SHA256_BYTES], y[SHA256_BYTES];

			gate_policy_merge(&one, &two, &arena, &both);
			assert(both.pipes == 3 && both.tags.n == 2);
			sum_of(&one, x);
			both = gate_policy_copy(&one, &arena);
			assert(both.pipes == 2 && both.tags.item != a);
			sum_of(&both, y);
			assert(memcmp(x, y, sizeof(x)) == 0);
			both.pipes = 9;
			sum_of(&both, y);
			assert(memcmp(x, y, sizeof(x)) != 0);
			both = one;
			both.tags.n = 0;
			sum_of(&both, y);
			assert(memcmp(x, y, sizeof(x)) != 0);
			arena_release(&arena);
			return 0;
		}
	EOF
	make -s -C "$copy" VARIANT=debug build/debug/key.o &&
		${CC:-gcc} -pie -o "$copy/key" "$copy/build/debug/key.o" \
			"$copy/build/debug/libmatins.a" -lm -lstdc++ &&
		"$copy/key" || rc=1
}

cp -r Makefile core gate routines "$copy" && add_rows
make -s -C "$copy" -j"$(nproc)" VARIANT=debug all >"$copy/log" 2>&1 || {
	cat "$copy/log"
	exit 1
}
export HOME=$copy XDG_STATE_HOME=$copy/state NO_COLOR=1
test_operations

like "option" '^ +--pipes N +pipes of the tree$' "$bin" exec --help
like "a list" '^ +--tag-names NAME +a tag$' "$bin" exec --help
like "wrong value" '--pipes: "x" is not a number' "$bin" exec --pipes x -- true
like "default" '^limits .* 16 pipes' "$bin" exec --explain -- true
like "explained" '^limits .* 3 pipes' "$bin" exec --pipes 3 --explain -- true
like "explained as JSON" '"pipes": *3' \
	"$bin" exec --pipes 3 --explain --json -- true
like "a list explained" '^tagged +red$' \
	"$bin" exec --tag-names red --explain -- true
like "a trace keeps it" '^pipes = 3$' "$bin" trace --pipes 3 -- true
like "and the list" '^	"red", # as given$' "$bin" trace --tag-names red -- true

printf 'pipes = 5\ntag_names = ["red"]\n' >"$copy/policy.toml"
like "TOML" '^limits .* 5 pipes' \
	"$bin" exec --policy "$copy/policy.toml" --explain -- true
like "merged with the option" '^limits .* 6 pipes' \
	"$bin" exec --policy "$copy/policy.toml" --pipes 6 --explain -- true
like "lists are joined" '^ +blue$' \
	"$bin" exec --policy "$copy/policy.toml" --tag-names blue --explain -- true
echo 'pipes = 65' >"$copy/policy.toml"
like "bounds" '1:9: "pipes" is at least 1 and at most 64' \
	"$bin" exec --policy "$copy/policy.toml" -- true
echo 'pipe = 6' >"$copy/policy.toml"
like "nearest name" 'did you mean "pipes"' \
	"$bin" exec --policy "$copy/policy.toml" -- true
like "reference" '^\| `pipes` \| a whole number \| 16 \| pipes of the tree' \
	"$bin" steps --md
"$bin" steps --md >"$copy/keys.md"
like "manual page" '^\.It Li tag_names , Fl -tag-names$' \
	awk -f core/cli/manual.awk "$copy/keys.md" core/cli/matins.1
printf '[sandbox]\ntag_names = ["loose"]\n' >"$copy/matins.toml"
cd "$copy" || exit 1
like "allow" 'weakens +tag_names = loose' "$bin" allow </dev/null
exit $rc
