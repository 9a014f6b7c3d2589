/*
 * Advice about private, empty places that a program met: the folder that it
 * should have started in, HOME, and files that it looked for there or left
 * there.
 */
#ifndef CORE_RUN_UNSEEN_H
#define CORE_RUN_UNSEEN_H

#include <stdbool.h>

#include "core/base/attr.h"
#include "core/run/advice_piece.h"
#include "core/run/refused_file.h"

/*
 * Add the pieces; those that are there already are not repeated. The verdict
 * and the request are known.
 *
 * is_home  an argument names HOME as shells do, which explains a missing file
 * returns  whether something was refused that no program takes lightly
 */
bool unseen_add(struct file_finder *files, struct pieces *pieces, bool is_home)
	MUST_USE;

#endif
