/*
 * What the files behind programs.h share: the rows of programs.def, and the
 * sentences of a refusal. programs.c joins the parts, programs_options.c reads
 * the options of `deny`, programs_package.c the pins of `package`,
 * programs_script.c which argument is a script.
 *
 * Pure.
 */
#ifndef GATE_PROGRAMS_INNER_H
#define GATE_PROGRAMS_INNER_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "gate/programs.h"

enum style { STYLE_ALL, STYLE_DASHES, STYLE_SCRIPT };
enum operand { OPERAND_WORD, OPERAND_FILE, OPERAND_CODE, OPERAND_PROGRAM };
enum spelling { SPELLING_NPM, SPELLING_PYPI };

/* A row of programs.def, whose head says what the members are. */
struct launcher {
	const char *names;
	enum style style;
	enum operand operand;
	const char *flags, *values, *long_flags, *eval;
};

struct tool {
	const char *names, *subcommand;
	enum style style;
	const char *flags;
	enum spelling spelling;
};

/* The last part of a path. */
struct str programs_base_name(const char *path) MUST_USE;
/* Is a word in a list that is separated by spaces? */
bool programs_has_word(const char *words, struct str word) MUST_USE;

/* Is it one of the names, with a version behind it or without? */
bool programs_is_name_of(const char *names, const char *path) MUST_USE;

/*
 * The row of a program that goes by these names, some of them NULL: of its
 * file, as it was asked for, of the rule. NULL when there is none.
 */
const struct launcher *programs_launcher(const char *const name[3]) MUST_USE;
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
