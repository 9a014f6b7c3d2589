/*
 * `matins __complete WORDS…`: answers for the last word. The completion scripts
 * of the shells ask for everything here.
 *
 * The value of an option is said by its row: "full|golden" are words, FILE and
 * the like are files, SERVER is one of the configuration, A,B are steps of the
 * routine. The words behind a command are said by its synopsis: small letters
 * stand for themselves, ROUTINE, STEP, COMMAND and TOOL for the names of those.
 */
#ifndef CORE_CLI_COMPLETION_ANSWER_H
#define CORE_CLI_COMPLETION_ANSWER_H

#include "core/cli/command.h"

/*
 * Print the answers, a line each, and not only those that begin as the last
 * word does: "VALUE" or "VALUE<tab>HELP". Before them may stand
 *
 *	:before TEXT	the last word begins with TEXT, the answers do not
 *	:files		names of files are answers, too
 *	:programs	names of programs are answers, too
 *
 * Nothing is started, no server is asked, and a configuration that cannot be
 * read has no names.
 *
 * all   the table of commands
 * argv  the words behind "matins"; the last one is completed and may be "".
 *	 "=" alone may stand between an option and its value, as in bash
 */
int completion_answer(const struct command *all, int argc, char **argv,
		      struct err *err) MUST_USE;

#endif
