/*
 * Paths of matins itself, and of its configuration, without links: what they
 * are compared with has none.
 */
#ifndef GATE_PREPARE_OWN_PATHS_H
#define GATE_PREPARE_OWN_PATHS_H

#include "gate/prepare/state.h"

/*
 * Path without links, for what is looked up before own_paths_resolve(): many
 * lie in one folder, which is looked up once. NULL: it leads nowhere.
 */
const char *own_paths_real(struct gate *gate, const char *path) MUST_USE;
/* Resolve .hide and .written of the gate's configuration; once. */
void own_paths_resolve(struct gate *gate);

/*
 * Paths that no child may write, as they are named and without links. They are
 * looked up when first asked for: where nothing can be written, never.
 */
const struct strlist *own_paths_protect(struct gate *gate) MUST_USE;
/* Values among them that must not appear either; likewise. */
const struct strlist *own_paths_absent(struct gate *gate) MUST_USE;
/* Paths that may lie in no writable grant, as they are named; likewise. */
const struct strlist *own_paths_sealed(struct gate *gate) MUST_USE;

#endif
