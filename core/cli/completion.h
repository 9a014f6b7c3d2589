/*
 * Completion scripts, printed from the same tables as the help.
 *
 * What a value may be is said by the row of its option: "full|golden" are its
 * words, FILE and the like are files, SERVER one of the configuration, A,B
 * steps of the routine. What may stand behind a command is said by its
 * synopsis: words in small letters stand for themselves, ROUTINE, STEP,
 * COMMAND and TOOL for the names of those.
 *
 *	cmd_completion.c	the command, and what the tables say
 *	completion_bash.c	one file per shell
 */
#ifndef CORE_CLI_COMPLETION_H
#define CORE_CLI_COMPLETION_H

#include "core/cli/command.h"

enum completion_kind {
	COMPLETION_NOTHING,
	COMPLETION_WORDS, /* completion_print_words() prints them */
	COMPLETION_FILES,
	COMPLETION_PROGRAMS,
	COMPLETION_SERVERS,
	COMPLETION_STEPS, /* several, with commas between */
};

/* What the value of an option may be; NOTHING of one that takes none, too. */
enum completion_kind completion_value(const struct option *o) MUST_USE;
/* The words of a value with spaces between. */
void completion_print_words(const struct option *o);

/* Does the synopsis have this word? */
bool completion_takes(const struct command *c, const char *kind) MUST_USE;
/* The words that may stand first behind a command. */
bool completion_has_first(const struct command *c) MUST_USE;
void completion_print_first(const struct command *c);
/*
 * What stands behind the first word: "names" of routines, "steps" of one
 * behind it, remote "servers", "tools" of the server of --server, "programs"
 * and what follows one, "files", "".
 */
const char *completion_rest(const struct command *c) MUST_USE;
/*
 * All options that take a value, "--only -o", with spaces between; those that
 * every command has first. c: NULL for those of all commands
 */
void completion_print_valued(const struct command *c);
/* Inside of single quotes, with a backslash before each of `special`. */
void completion_print_quoted(const char *s, const char *special);

/* A whole script on stdout. */
void completion_print_bash(void);
void completion_print_zsh(void);
void completion_print_fish(void);

#endif
