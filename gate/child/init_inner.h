/*
 * What the files of the owner of a tree share. Who starts one sees child.h,
 * whose rules hold here: raw system calls only.
 *
 *	init.c	      the owner's life, the program's start
 *	init_enter.c  descriptors, session, namespaces, what is opened in there
 *	init_sweep.c  the end of a tree that has no pid namespace
 */
#ifndef GATE_CHILD_INIT_INNER_H
#define GATE_CHILD_INIT_INNER_H

#include "gate/child/child.h"

/* init_enter.c; results as of system calls: negative is an errno */
/* Fails the launch when the result is negative. */
void init_must(struct launch *l, enum child_stage stage, long r);
/* Before anything else changes a descriptor: it would be the runner's. */
long init_leave_table(const struct launch *l) MUST_USE;
void init_join_namespaces(struct launch *l);
/* Open them in here, where the program is, and send them to the gate. */
long init_send_listeners(const struct launch *l) MUST_USE;
/* Rules for what is only there in the view. */
long init_add_late_rules(const struct launch *l) MUST_USE;
/* The file as it stands in the view must be the one that was judged. */
long init_open_program(struct launch *l) MUST_USE;

/* init_sweep.c */
/* program  leader of the group that most of the tree is in */
void init_end_tree(struct child_state *state, int program);

#endif
