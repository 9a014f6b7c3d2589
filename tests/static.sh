#!/usr/bin/env bash
# Checks that read the sources without running the program; speaks TAP.
set -u
cd "${BASH_SOURCE[0]%/*}/.." || exit 1

# shellcheck source=tests/checks.sh
. tests/checks.sh

# Every command of commands.def has its place in the manual page.
manual_names_commands() {
	local name rc=0

	while read -r name; do
		grep -Eq "(^|[^a-z])$name([^a-z]|\$)" core/cli/matins.1 || {
			echo "core/cli/matins.1 does not name: $name"
			rc=1
		}
	done < <(sed -n 's/^COMMAND([ ]*\([a-z]*\).*/\1/p' core/cli/commands.def)
	return $rc
}

# Every option of a command stands in the manual page.
manual_names_options() {
	local name rc=0

	while read -r name; do
		grep -Eq "^\\.(It )?.*Fl .*-$name( |\$)" core/cli/matins.1 || {
			echo "core/cli/matins.1 does not name: --$name"
			rc=1
		}
	done < <(sed -nE \
		"s/^[\t ]*\\{?\"([a-z-]+)\", (0|'.'), .*/\\1/p" \
		core/cli/*.[ch] core/cli/*.def
		sed -nE 's/^(SANDBOX|AUTH|SERVER)[A-Z_]*\([a-z_]+, "([a-z-]+)",.*/\2/p' \
			gate/sandbox.def core/auth/auth.def \
			core/config/servers.def | sort -u)
	return $rc
}

# The manual page without complaint, but for the date style of mandoc, and in
# characters that troff knows without a locale.
manual_lint() {
	local output

	output=$(mandoc -T lint -W warning core/cli/matins.1 2>&1
		LC_ALL=C grep -n '[^ -~	]' core/cli/matins.1)
	printf '%s\n' "$output"
	[[ -z $output ]]
}

# The two commands come first, and every make target named exists.
readme() {
	local rc=0 target

	head -n 30 README.md | grep -q 'make demo' || {
		echo "make demo is not among the first lines"
		rc=1
	}
	head -n 30 README.md | grep -q 'make check' || {
		echo "make check is not among the first lines"
		rc=1
	}
	grep -q '`make install`' README.md || {
		echo "README.md does not say how to install"
		rc=1
	}
	for target in $(grep -o '`make [a-z-]*`' README.md | tr -d '`' |
		sed 's/make //' | sort -u); do
		grep -Eq "^([a-z-]+ )*$target( [a-z-]+)*:" Makefile || {
			echo "README.md names make $target, which does not exist"
			rc=1
		}
	done
	return $rc
}

# Each path that the map names exists, and each room is on it.
map() {
	local path rc=0

	for path in $(grep -oE '`(core|gate|tests)/[^` ]*`' core/README.md |
		tr -d '`' | sort -u); do
		[[ -e $path ]] || {
			echo "core/README.md names $path, which does not exist"
			rc=1
		}
	done
	for path in $(sed -n 's/^layer \([^:]*\):.*/\1/p' tests/layers.txt); do
		case $path in core | gate | core/gen | gate/gen) continue ;; esac
		grep -q "^| \`$path\` |" core/README.md || {
			echo "core/README.md does not name the room $path"
			rc=1
		}
	done
	return $rc
}

# No download address and no lock that records one.
lock_file() {
	! grep -n '"resolved"' tests/*/package-lock.json
}

# The top level has what it is to have, and nothing that was left there.
top_level() {
	! git ls-files 2>/dev/null | sed 's,/.*,,' | sort -u | grep -vxE \
		'core|gate|routines|golden|tests|Makefile|README\.md|LICENSE|\..*'
}

# Nothing is built here (-n), and make tells of sub-makes on their own.
job_server() {
	! env -u MAKEFLAGS -u MAKELEVEL make -n -j2 demo 2>&1 | grep jobserver
}

check "the layout is that of .clang-format" make -s format-check
check "the manual page is well-formed" manual_lint
check "the manual page names every command" manual_names_commands
check "the manual page names every option" manual_names_options
check "README.md" readme
check "core/README.md is a map of what there is" map
check "the top level holds nothing else" top_level
check "sub-makes share the job server" job_server
check "the lock files of npm have no addresses" lock_file
check "each row of rows.def has its test" tests/rows.sh
check "each state and outcome has its test" tests/outcomes.sh
checks_end
