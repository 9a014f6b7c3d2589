/*
 * Notes of `exec` on stderr about a program that has ended.
 */
#ifndef CORE_CLI_EXEC_SAY_H
#define CORE_CLI_EXEC_SAY_H

#include "core/base/buf.h"
#include "core/cli/child_run.h"
#include "gate/gate.h"

/*
 * Print refusals, the limit that was hit, the signal that killed the program,
 * and, where the policy is a likely cause of the failure, the option that would
 * change it. A program that succeeded gets only notes of its own rules.
 */
void exec_say(const struct gate_request *request, const struct child_end *e);

/* The words of its command, as far as a line goes; appended. */
void exec_command_words(const struct gate_request *request, struct buf *out);

/* Help for npm without a network that lacks a package. */
extern const char exec_hint_download[];

#endif
