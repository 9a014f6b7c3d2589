/*
 * The programs that a shell script names: literal words that stand where
 * commands stand, in "$(…)", in "`…`" and behind `exec`, `env`, `xargs` and
 * the like, too. Builtins, functions of the script, words with expansions and
 * what only looks like a command (comments, here-documents, patterns of
 * `case`) are left out.
 *
 * A script is read once and not run: a name that it makes at run time is not
 * found, and one that is never reached is.
 *
 * Pure.
 */
#ifndef GATE_POLICY_SHELL_WORDS_H
#define GATE_POLICY_SHELL_WORDS_H

#include "core/base/arena.h"
#include "core/base/str.h"

/* Names that are taken from one script. */
#define SHELL_WORDS_MAX 256

/*
 * text     of the script; may be any bytes
 * arena    holds the words
 * returns  each word once, in the order of the text
 * source   POSIX.1-2017, XCU 2.10; bash(1)
 */
struct strlist shell_words(struct str text, struct arena *arena) MUST_USE;

#endif
