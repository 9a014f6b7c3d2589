/*
 * Recipes of a request: the rows of recipes.def that its policy names, with
 * the project that they are for.
 */
#ifndef GATE_PREPARE_PREPARE_RECIPES_H
#define GATE_PREPARE_PREPARE_RECIPES_H

#include "gate/prepare/prepared.h"

/* Fill .recipes; the leash is asked where a grant is opened. */
void prepare_recipes(struct prepared *p);

#endif
