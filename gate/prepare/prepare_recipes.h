/*
 * Recipes of a request: the rows of recipes.def that its policy names, and
 * those that apply to its program by themselves.
 */
#ifndef GATE_PREPARE_PREPARE_RECIPES_H
#define GATE_PREPARE_PREPARE_RECIPES_H

#include "gate/prepare/prepared.h"

/*
 * Fill .recipes and .recipe_env; needs .program and .policy. A folder that a
 * recipe is known to need in a writable project is made, when a start is due.
 * returns  0: nothing in there fails
 */
int prepare_recipes(struct prepared *p, struct err *err) MUST_USE;

/*
 * Say for people what recipes have granted: "git: starts git; reads /srv/p, for
 * its .git". One sentence for each that granted something; in the arena of
 * `p`, whose .grants are complete.
 */
struct strlist recipes_say(struct prepared *p) MUST_USE;

/* Projects alone: "/srv/p, for its package.json". In the arena of `p`. */
struct strlist recipes_projects(struct prepared *p) MUST_USE;

#endif
