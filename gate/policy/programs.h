/*
 * Rules on the arguments of programs: [sandbox.programs.NAME].
 *
 * A rule says how one program may be called. Rules restrict, so they add up:
 * every rule that means the program must hold. They keep honest programs
 * honest, and a mistaken or tricked caller from turning `node server.js` into
 * `node -e …`; a program that runs is bounded by the kernel.
 *
 *	struct programs set = {.rule = policy->programs, .n = ...};
 *	struct programs_call call = {"node", "/usr/bin/node", argv, false};
 *	if (programs_judge(&set, &call, err) < 0)
 *		...			ERR_POLICY, with a sentence
 *
 * When a rule means a program: its name is a path and equal to the one asked
 * for, or to the one that was found; or it is a bare name and equal to what was
 * asked for or to the last part of either path, of an interpreter with any
 * version behind it (python3.11 for python3); or it leads to the same file,
 * by its path or by its inode: a second name or a link makes no other program.
 * That is wider than a grant on purpose: `/tmp/x/git` is no git that `exec`
 * grants, but a rule for git holds for it.
 *
 * How options are read. `deny = ["-c"]` refuses an argument with one dash and
 * a `c` anywhere in it: `-c`, `-cfoo`, `-Ic`. `deny = ["--eval"]` refuses
 * `--eval`, `--eval=x`, `-eval` and what it may be cut down to (`--ev`). A
 * longer word with one dash (`-exec`) is compared as a whole; one without a
 * dash is a subcommand, compared with whole arguments; a star at the end
 * stands for anything. "-" is a program read from standard input. The
 * programs of programs.def are read as they read themselves, so that what
 * stands behind the script of `python3` is the script's own; of others, and
 * behind an option that is not known, all arguments are looked at, also behind
 * "--".
 *
 * "@eval" is for the programs of programs.def only, and turns the rule round:
 * refused is what runs code that is no file named as the script, or another
 * program, and every option and subcommand that is not known to be harmless.
 *
 * Pure: opens nothing, knows no process.
 */
#ifndef GATE_POLICY_PROGRAMS_H
#define GATE_POLICY_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/attr.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "gate/gate.h"

/* A file whatever it is called; inode 0: none. */
struct programs_file {
	uint64_t dev, ino;
};

/*
 * A script and its interpreter: executing `file` starts `path` with `prefix`,
 * then the script's own arguments.
 */
struct programs_start {
	const char *file; /* the script, links followed */
	const char *asked, *path;
	struct strlist prefix; /* argv of it up to the script's argv[1] */
	/* the first line goes through env(1) in a way not followed: a rule that
	   means the program refuses the script */
	bool is_unclear;
};

/*
 * The rules of one policy, ready to be asked: each has passed
 * programs_check(). Everything is borrowed.
 */
struct programs {
	const struct gate_program_rule *rule;
	const char *const *path; /* of each rule: the file that its name leads
				    to, links followed, or NULL; may be NULL */
	const struct programs_file
		*file; /* device and inode of .path; may be NULL */
	size_t n;
	const struct programs_start *start;
	size_t n_starts;
};

/* A program that is about to be executed. */
struct programs_call {
	const char *asked;	   /* a bare name or a path; may be NULL */
	const char *path;	   /* absolute, the file that was found */
	struct programs_file file; /* as well, where that is known */
	struct strlist argv;	   /* with argv[0], which no rule looks at */
	bool is_cut;		   /* there are more arguments than these */
};

/*
 * Does a rule make sense by itself?
 *
 * errors  ERR_POLICY  an unknown set in `deny`, "@eval" or `package` for a
 *		       program that has none, a version that is no pin, a
 *		       `sha256` that is none, or nothing ruled at all
 */
int programs_check(const struct gate_program_rule *rule, struct err *err)
	MUST_USE;

/* Does rule i mean this program? `asked` may be NULL. */
bool programs_means(const struct programs *set, size_t i, const char *asked,
		    const char *path) MUST_USE;

/*
 * May this program be executed with these arguments? Holds for what a script
 * brings with it, too, as far as .start lists it. Arguments that are not
 * there to be looked at (is_cut) are taken for the worst.
 *
 * errors  ERR_POLICY  names the rule, the argument, and what would be allowed
 */
int programs_judge(const struct programs *set, const struct programs_call *call,
		   struct err *err) MUST_USE;

/* A program that fetches a package and starts it: a row of programs.def. */
enum package_order { PACKAGE_STOPS, PACKAGE_MIXED };
enum package_spelling { PACKAGE_NPM, PACKAGE_PYPI };
enum package_place { PACKAGE_NOWHERE, PACKAGE_NODE, PACKAGE_UV, PACKAGE_PIPX };

struct package_tool {
	const char *names, *subcommand, *flags, *from; /* words */
	enum package_order order;
	enum package_spelling spelling;
	enum package_place place;
};

/* The row of a program, by the name it goes by; NULL: none. */
const struct package_tool *programs_tool(const char *asked, const char *path)
	MUST_USE;

/*
 * Where the script stands that an interpreter is told to run, its options read
 * as it reads them (programs.def).
 *
 * asked    as it was called; may be NULL
 * path     its file
 * argv     with argv[0]
 * returns  the index in argv; 0: none, or none that is surely one. No
 *	    interpreter of files; its program is the value of an option or a
 *	    module; an option stands before it that is not known.
 */
size_t programs_script(const char *asked, const char *path,
		       const struct strlist *argv) MUST_USE;

/*
 * Name of the module that python is told to run by -m, as programs_script()
 * reads; borrowed from argv. NULL: none.
 */
const char *programs_module(const char *asked, const char *path,
			    const struct strlist *argv) MUST_USE;

/*
 * Where the commands stand that a shell is told to run: behind its -c. 0: there
 * are none, as above.
 */
size_t programs_commands(const char *asked, const char *path,
			 const struct strlist *argv) MUST_USE;

/*
 * The first argument of these that says what a program runs: the script, code,
 * module, package or subcommand, an option with such a value, or one that may
 * be any of them behind an option that is not known.
 *
 * data     of each argument
 * returns  its index; 0: none, or another program, which runs no argument
 */
size_t programs_decided(const char *asked, const char *path,
			const struct strlist *argv, const bool *data) MUST_USE;

/* Does a row say how it reads its arguments? */
bool programs_is_launcher(const char *asked) MUST_USE;

/* Is it a name under which a program finds its own standard input? */
bool programs_is_stdin(const char *arg) MUST_USE;

/* Does the interpreter run its standard input, or may it? */
bool programs_reads_input(const char *asked, const char *path,
			  const struct strlist *argv) MUST_USE;

/*
 * Has the file one of the names, which stand in one text, apart by spaces? A
 * version behind the name of the file does not count.
 */
bool programs_is_one(const char *names, const char *path) MUST_USE;

/* Copy everything, strings too; lives as long as the arena. */
struct programs programs_copy(const struct programs *set, struct arena *arena)
	MUST_USE;

#endif
