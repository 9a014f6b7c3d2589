/* Programs and files that a tree needs, beside those that are granted anyway.
 */
#ifndef GATE_NEEDS_NEEDS_FILES_H
#define GATE_NEEDS_NEEDS_FILES_H

#include "gate/needs/needs_rows.h"

/* Add the rows of `exec`. */
void needs_find_programs(struct needs_finder *f);
/* Add the rows of `write` and `read`; .p grants the programs by now. */
void needs_find_files(struct needs_finder *f);

#endif
