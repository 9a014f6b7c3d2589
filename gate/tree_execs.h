/*
 * Execs of a running tree: judged while they wait, by the rules of
 * [sandbox.programs] and by the list of files that the kernel will let it
 * execute; and the denials that they leave.
 */
#ifndef GATE_TREE_EXECS_H
#define GATE_TREE_EXECS_H

#include "gate/gate_child.h"
#include "gate/prepare/prepared.h"

/* Keep which files the kernel will let this child execute. */
void tree_note_listed(struct gate_child *c, const struct prepared *p);

/*
 * For watch.judge; `child` is a struct gate_child. Refuses an exec that a rule
 * forbids, and names one that no grant lists.
 */
enum watch_answer tree_judge_exec(void *child, const struct watch_exec *x,
				  struct err *why) MUST_USE;

/* Name in the denials which execs were refused to a tree that has ended. */
void tree_add_denials(struct gate_child *c);

#endif
