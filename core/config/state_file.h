/*
 * One small JSON document of the state directory that is a memory, not a
 * truth: a file that cannot be read, is too large or no such document counts
 * as none; one that cannot be written is left out silently.
 *
 *	const struct state_file f = {path, "matins-eras/1", 256 * 1024};
 *	if (state_file_read(&f, &text, &value)) ...
 *	state_file_write(&f, buf_str(&text));
 *
 * The file has mode 0600, its folder is made with 0700, and who reads sees
 * the old document or the new one.
 */
#ifndef CORE_CONFIG_STATE_FILE_H
#define CORE_CONFIG_STATE_FILE_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/base/str.h"

struct state_file {
	const char *path;   /* borrowed */
	const char *schema; /* value of the member "schema"; static */
	size_t max;	    /* bytes; not read and not written beyond */
};

/*
 * text  where it is read to; the value is a slice of it
 * returns  false: there is none
 */
bool state_file_read(const struct state_file *f, struct buf *text,
		     struct str *ret_value) MUST_USE;

/* False: it was not written. json  one object with that member "schema" */
bool state_file_write(const struct state_file *f, struct str json);

/*
 * Hold a folder of such files for who reads one, changes and writes it: two at
 * once would lose what the other one has written. Waits some seconds, and says
 * so.
 *
 * returns  a descriptor, whose end lets go; -1: it cannot be had
 */
int state_file_hold(const char *folder) MUST_USE;

#endif
