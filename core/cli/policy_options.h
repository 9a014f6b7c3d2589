/*
 * The keys of `sandbox` as options of a command: --read P, --net V, …
 */
#ifndef CORE_CLI_POLICY_OPTIONS_H
#define CORE_CLI_POLICY_OPTIONS_H

#include "core/base/arena.h"
#include "core/cli/args.h"
#include "core/cli/policy_sources.h"
#include "core/config/paths.h"
#include "gate/gate.h"

/* Rows for a command's table of options. */
#define POLICY_OPTIONS                                                         \
	{"preset", 0, PRESET_NAMES, "a policy that is known to work"},         \
		{"policy", 0, "FILE", "a TOML file with the keys of sandbox"}, \
		{"read", 0, "PATH", "beneath it files may be read"},           \
		{"write", 0, "PATH",                                           \
		 "beneath it files may be read, written, created"},            \
		{"exec", 0, "PROGRAM", "a further program that it may start"}, \
		{"net", 0, "VALUE",                                            \
		 "a host: api.example.com[:443]; or none, loopback, all"},     \
		{"profile", 0, "strict|default|open", "set of system calls"},  \
		{"memory", 0, "SIZE", "memory of the whole tree"},             \
		{"processes", 0, "N", "processes of the whole tree"},          \
		{"cpu", 0, "DURATION", "processor time"},                      \
		{"files", 0, "N", "open files of one process"},                \
		{"file-size", 0, "SIZE", "size of one file"},                  \
		{"tmp", 0, "private|shared",                                   \
		 "an own empty /tmp, or the host's"},                          \
		{"isolate", 0, "auto|require|off", "namespaces"},              \
		{"require", 0, "NAME",                                         \
		 "refuse to run where this cannot be enforced"},               \
		{"syscalls", 0, "NAME", "one more system call"},               \
		{"user", 0, "NAME", "as root: whom it becomes"},               \
		{"record-exec", 0, NULL,                                       \
		 "write down every program that is executed"},                 \
	{                                                                      \
		"env", 0, "NAME[=VALUE]",                                      \
			"a variable; without value the caller's own"           \
	}

/*
 * Read them from parsed arguments. Relative paths start in the caller's
 * folder. Lists live in `arena`.
 *
 * ret_env  "NAME=VALUE", ends in NULL
 * errors   ERR_USAGE
 */
int policy_options_read(const struct args *args, struct arena *arena,
			struct gate_policy *ret, const char *const **ret_env,
			struct err *err) MUST_USE;

#endif
