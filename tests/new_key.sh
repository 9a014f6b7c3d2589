#!/usr/bin/env bash
# A new key of a policy is one row of gate/sandbox.def: in a copy of the tree two
# rows are added, and struct, merge, digest, option, help, TOML, explanation,
# trace and the printed references follow. Likewise a new key of a server is one
# row of core/config/servers.def: struct, default, TOML, option, help, bounds and
# the printed reference follow. Takes a build without optimization.
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
	sed -i '/^SERVER(auth/i \
SERVER_NUMBER(idle, "idle", idle_ms, DURATION_MS, "5s", "DURATION", \\\
	"time between two pings", .min = 1, .max = 60000)\
SERVER_REMOTE(spelling, "spelling", spelling, WORD, "plain", "plain|fancy", \\\
	"spelling of the url", .more = "as given", .weakens = "fancy")' \
		"$copy/core/config/servers.def"
}

# Build and run "$copy/$1.c", whose operations have no command of their own.
run_c() {
	make -s -C "$copy" VARIANT=debug "build/debug/$1.o" &&
		${CC:-gcc} -pie -o "$copy/$1" "$copy/build/debug/$1.o" \
			"$copy/build/debug/libmatins.a" -lm -lstdc++ &&
		"$copy/$1" || rc=1
}

# Default, option and copy of the keys of a server.
test_server_fields() {
	cat >"$copy/field.c" <<-'EOF'
		#include <assert.h>
		#include "core/cli/key_options.h"
		#include "core/config/routine.h"

		static const struct option rows[] = {{.letter = OPTIONS_TARGET}};

		int main(void)
		{
			char first[] = "--idle=7s", second[] = "--spelling";
			char third[] = "fancy", *argv[] = {first, second, third, NULL};
			struct arena arena = ARENA_INIT;
			struct err err = ERR_INIT;
			struct server s = server_by_default();
			struct args args;

			assert(s.idle_ms == 5000 && !strcmp(s.spelling, "plain"));
			assert(args_parse("x", rows, 3, argv, &args, &err) == 0);
			assert(option_values_read(&args, SECTION_server, &arena, &s,
						  &err) == 0);
			assert(s.idle_ms == 7000 && !strcmp(s.spelling, "fancy"));
			args_release(&args);
			arena_release(&arena);
			return 0;
		}
	EOF
	run_c field
}

# Merge, copy and digest of the keys of a policy.
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
	run_c key
}

cp -r Makefile core gate routines "$copy" && add_rows
make -s -C "$copy" -j"$(nproc)" VARIANT=debug all >"$copy/log" 2>&1 || {
	cat "$copy/log"
	exit 1
}
export HOME=$copy XDG_STATE_HOME=$copy/state NO_COLOR=1
test_operations
test_server_fields

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

like "option of a server" '^ +--idle DURATION +time between two pings \(5s\)$' \
	"$bin" tools --help
like "words of its option" '^ +--spelling plain\|fancy +spelling of the url$' \
	"$bin" auth --help
like "bounds of its option" '--idle must be at least 1ms and at most 1m, not 2m' \
	"$bin" tools --idle 2m -- true
like "wrong word" '--spelling must be plain or fancy, not "odd"' \
	"$bin" tools --spelling odd --url https://x.test/
like "no url" '--spelling is for remote servers' \
	"$bin" tools --spelling fancy -- true
printf '[servers.s]\ncommand = "true"\nidle = "2m"\n' >"$copy/server.toml"
like "bounds in TOML" '3:8: "idle" is at least 1ms and at most 1m' \
	"$bin" check "$copy/server.toml"
printf '[servers.s]\ncommand = "true"\nspelling = "plain"\n' >"$copy/server.toml"
like "no url in TOML" '"spelling" is for a "url"' \
	"$bin" check "$copy/server.toml"
printf '[servers.s]\nurl = "https://x.test/"\nspelling = "odd"\n' \
	>"$copy/server.toml"
like "wrong word in TOML" '"spelling" must be "plain" or "fancy"' \
	"$bin" check "$copy/server.toml"
like "reference of servers" \
	'^\| `spelling` \| `"plain"`, `"fancy"` \| plain \| spelling of the url; as given' \
	"$bin" steps --md

like "reference" '^\| `pipes` \| a whole number \| 16 \| pipes of the tree' \
	"$bin" steps --md
"$bin" steps --md >"$copy/keys.md"
like "manual page" '^\.It Li tag_names , Fl -tag-names$' \
	awk -f core/cli/manual.awk "$copy/keys.md" core/cli/matins.1
printf '[sandbox]\ntag_names = ["loose"]\n%s\nurl = "https://x.test"\n%s\n' \
	'[servers.s]' 'spelling = "fancy"' >"$copy/matins.toml"
cd "$copy" || exit 1
like "allow" ' tag_names = loose' "$bin" allow </dev/null
like "allow, of a server" 'weakens +spelling = fancy' "$bin" allow </dev/null
exit $rc
