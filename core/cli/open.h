/*
 * Openings that commands share: the gate of a command that starts programs of
 * its own command line, with the leash that holds for them and the files that
 * no program may touch, and a routine of a configuration.
 */
#ifndef CORE_CLI_OPEN_H
#define CORE_CLI_OPEN_H

#include "core/cli/args.h"
#include "core/config/config.h"
#include "gate/gate.h"

/*
 * config_open() with --config and --lax of the command line.
 *
 * options  the others
 */
int open_config(const struct args *args, struct config_options options,
		struct config_file *ret, struct err *err) MUST_USE;

struct gate_wish {
	const struct config *config; /* NULL: the command needs none */
	struct strlist named;	     /* programs that the command line names */
	const struct strlist *exec;  /* more programs, of --exec; may be NULL */
	struct strlist files;	     /* absolute; no program may write them */
	const char *token_store;     /* hidden from programs; may be NULL */
	bool is_trace;		     /* leash_open_for_trace() */
};

/*
 * arena   for lists that the gate borrows
 * errors  leash_find(), gate_new()
 */
int open_gate(const struct gate_wish *wish, struct arena *arena,
	      struct gate **ret, struct err *err) MUST_USE;

/*
 * Find a routine of a configuration by its name.
 * errors  ERR_UNKNOWN_ROUTINE with the nearest name
 */
int find_routine(const struct config *config, const char *name,
		 const struct routine **ret, struct err *err) MUST_USE;

/* Find a server of the configuration by its name. errors  ERR_UNKNOWN_SERVER */
int find_server(const struct config *config, const char *name,
		const struct server **ret, struct err *err) MUST_USE;

/*
 * Check that each name of --approve is a step of that type in the routine.
 * errors  ERR_USAGE
 */
int find_approvals(const struct config *config, const struct routine *routine,
		   const struct strlist *names, struct err *err) MUST_USE;

/* Raise the limit of open files: each grant is one, and a trace has hundreds.
 */
void open_many_files(void);

#endif
