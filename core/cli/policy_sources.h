/*
 * Policies from elsewhere than single options: --policy FILE, --preset NAME.
 *
 * Both repeat and add to each other and to the options, by
 * gate_policy_merge(). policy_options_read() calls this; others need only the
 * table of presets.
 */
#ifndef CORE_CLI_POLICY_SOURCES_H
#define CORE_CLI_POLICY_SOURCES_H

#include "core/base/arena.h"
#include "core/cli/args.h"
#include "gate/gate.h"

struct preset {
	const char *name;
	const char *markers, *exec, *exec_beneath; /* words; presets.def */
	const char *settings;
	const char *help;
};

/* All presets, in the order of presets.def; ends with name NULL. */
extern const struct preset presets[];

/* "name|name|…": what --preset takes; before the first stands one more bar. */
extern const char preset_names[];
#define PRESET_NAMES (preset_names + 1)

/*
 * Grants of all --preset and --policy together; live in `arena`.
 *
 * write   folders that other options grant to be written: a project is not
 *	   looked for above the current folder when that is among them
 * errors  ERR_USAGE   no such preset, with the nearest
 *	   ERR_CONFIG  a file that is wrong or not to be trusted
 */
int policy_sources_read(const struct args *args, const struct strlist *write,
			struct arena *arena, struct gate_policy *ret,
			struct err *err) MUST_USE;

/*
 * The projects of all --preset, for people: "/srv/p, for its package.json".
 *
 * write  what may be written, all together
 */
struct strlist policy_sources_projects(const struct args *args,
				       const struct strlist *write,
				       struct arena *arena) MUST_USE;

/* Print the presets on stdout, for --help. */
void policy_sources_help(void);

/* The files of --policy, absolute: no child may write them. */
struct strlist policy_sources_files(const struct args *args,
				    struct arena *arena) MUST_USE;

#endif
