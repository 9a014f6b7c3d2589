/*
 * Shared by the files behind programs.h: the rows of programs.def, and the
 * sentences of a refusal. programs.c joins the parts, programs_read.c reads
 * arguments as a program does, programs_options.c judges them by `deny`,
 * programs_package.c by the pins of `package`.
 *
 * Pure.
 */
#ifndef GATE_POLICY_PROGRAMS_INNER_H
#define GATE_POLICY_PROGRAMS_INNER_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "gate/policy/programs.h"

enum syntax { SYNTAX_CLUSTERS, SYNTAX_SHELL, SYNTAX_WORDS };
enum order { ORDER_STOPS, ORDER_MIXED };
enum operand {
	OPERAND_DATA,
	OPERAND_FILE,
	OPERAND_SCRIPT,
	OPERAND_PROGRAM,
	OPERAND_PACKAGE,
	OPERAND_SUBCOMMAND
};
enum takes { TAKES_NOTHING, TAKES_VALUE, TAKES_MAYBE, TAKES_ATTACHED };
enum runs { RUNS_NO, RUNS_CODE, RUNS_PROGRAM };
enum spelling { SPELLING_NPM, SPELLING_PYPI };

/* Rows of programs.def, whose head says what the members are. */
struct launcher {
	const struct launcher *parent; /* NULL: a program */
	const char *names;
	enum syntax syntax;
	enum order order;
	enum operand operand;
};

struct launcher_option {
	const struct launcher *launcher;
	const char *names;
	enum takes takes;
	enum runs runs;
	const char *values;
};

struct tool {
	const char *names, *subcommand;
	enum order order;
	const char *flags;
	enum spelling spelling;
};

/* The last part of a path. */
struct str programs_base_name(const char *path) MUST_USE;
/* Is this file, by its name, the bare one; of an interpreter, any version? */
bool programs_is_version(const char *path, const char *name) MUST_USE;
/* Is a word in a list that is separated by spaces? */
bool programs_has_word(const char *words, struct str word) MUST_USE;
/* Likewise, where a star in a word of the list stands for anything. */
bool programs_has_like(const char *words, struct str word) MUST_USE;

/*
 * The row of a program that goes by these names, some of them NULL: of its
 * file, as it was asked for, of the rule. NULL when there is none.
 */
const struct launcher *programs_launcher(const char *const name[3]) MUST_USE;
/* Likewise, but NULL where only the script of a program is known. */
const struct launcher *programs_judged(const char *const name[3]) MUST_USE;
/* The row of `l`'s subcommand `word`; NULL when there is none. */
const struct launcher *programs_subcommand(const struct launcher *l,
					   const char *word) MUST_USE;
/*
 * The row of an option, or of an operand that is one, by its whole name;
 * NULL when there is none. Where options stand anywhere, and for operands,
 * those of the parent count, too.
 */
const struct launcher_option *programs_option(const struct launcher *l,
					      struct str name) MUST_USE;
const struct tool *programs_tool(const char *const name[3]) MUST_USE;

/* The names of all tools, each after a space; for messages. */
extern const char programs_tools[];

/* Arguments, quoted and short, as they may stand in a message. */
void programs_add_list(struct buf *out, const struct strlist *list);
/*
 * "the rule for X: argument AT, "ARG", WHY"; without `arg` only the reason.
 * errors  ERR_POLICY, always
 */
int programs_refuse(const struct gate_program_rule *rule, const char *arg,
		    size_t at, const char *why, struct err *err) MUST_USE;
/* That there are arguments which nobody could look at. */
int programs_refuse_cut(const struct gate_program_rule *rule, struct err *err)
	MUST_USE;

/*
 * How a program reads its arguments.
 *
 * Each number is an index of argv; 0: there is none.
 */
struct programs_reading {
	const struct launcher *launcher; /* of the subcommand, if there is one;
					    NULL: nothing is known */
	size_t operand;	  /* the first; none behind an option without a row */
	size_t end;	  /* arguments from 1 to end - 1 are looked at */
	size_t unknown;	  /* the first option without a row */
	size_t code;	  /* the first that runs code, or whose value does */
	bool has_program; /* an option is the program: no operand is a script */
	bool is_sure;	  /* what comes behind `end` is data */
};

/* l  NULL: every argument may be an option */
struct programs_reading programs_read(const struct launcher *l,
				      const struct strlist *argv) MUST_USE;

/* The words of `deny`. */
int programs_judge_deny(const struct gate_program_rule *rule,
			const struct launcher *l, const struct programs_call *c,
			struct err *err) MUST_USE;
/* The pin of `package`: everything but it and known flags is refused. */
int programs_judge_package(const struct gate_program_rule *rule,
			   const struct tool *t, const struct programs_call *c,
			   struct err *err) MUST_USE;
/* Is the pin one, and of a program that fetches packages? */
int programs_check_package(const struct gate_program_rule *rule,
			   struct err *err) MUST_USE;

#endif
