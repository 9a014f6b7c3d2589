/*
 * Programs that run what their arguments say: the rows of programs.def, and how
 * each of them reads its arguments. Pure.
 */
#ifndef GATE_POLICY_LAUNCHERS_H
#define GATE_POLICY_LAUNCHERS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/attr.h"
#include "core/base/str.h"

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

/* Is this file, by its name, the bare one; of an interpreter, any version? */
bool launcher_is_version(const char *path, const char *name) MUST_USE;
/* Is a word in a list that is separated by spaces? */
bool launcher_has_word(const char *words, struct str word) MUST_USE;
/*
 * The row of a program that goes by these names, some of them NULL: of its
 * file, as it was asked for, of the rule. NULL when there is none.
 */
const struct launcher *launcher_find(const char *const name[3]) MUST_USE;
/* Likewise, but NULL where only the script of a program is known. */
const struct launcher *launcher_find_judged(const char *const name[3]) MUST_USE;
/*
 * The row of an option, or of an operand that is one, by its whole name;
 * NULL when there is none. Where options stand anywhere, and for operands,
 * those of the parent count, too.
 */
const struct launcher_option *launcher_find_option(const struct launcher *l,
						   struct str name) MUST_USE;
const struct tool *tool_find(const char *const name[3]) MUST_USE;

/* The names of all tools, each after a space; for messages. */
extern const char tool_names[];

/*
 * How a program reads its arguments.
 *
 * Each number is an index of argv; 0: there is none.
 */
struct launcher_reading {
	const struct launcher *launcher; /* of the subcommand, if there is one;
					    NULL: nothing is known */
	size_t operand;	  /* the first; none behind an option without a row */
	size_t end;	  /* arguments from 1 to end - 1 are looked at */
	size_t unknown;	  /* the first option without a row */
	size_t code;	  /* the first that runs code, or whose value does */
	bool has_program; /* an option is the program: no operand is a script */
	bool is_sure;	  /* arguments behind `end` are data */
};

/* l  NULL: every argument may be an option */
struct launcher_reading launcher_read(const struct launcher *l,
				      const struct strlist *argv) MUST_USE;

#endif
