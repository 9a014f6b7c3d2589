/*
 * Comma-separated values, a record at a time.
 *
 * Fields are separated by commas, records by LF or CR LF; a field in quotes may
 * hold both, and a quote twice. A byte order mark at the start is passed over.
 *
 * Pure.
 *
 * source  RFC 4180
 */
#ifndef CORE_FAN_CSV_H
#define CORE_FAN_CSV_H

#include <sys/types.h>

#include "core/base/arena.h"
#include "core/base/err.h"

struct csv_field {
	struct str text;
	bool is_quoted; /* "" is a text, and nothing is none */
};

struct csv_record {
	struct csv_field *field; /* in the arena */
	size_t n;		 /* 0: an empty line */
	size_t lines;		 /* that it takes */
};

/*
 * Read the record at the start of `text`.
 *
 * is_end   nothing follows `text`
 * ret      in `arena`
 * returns  its bytes with the end of the line; 0: more text is needed; -1
 * errors   ERR_SYNTAX  a quote inside of a field, or bytes behind one; `line`
 *			of the record, from 1
 */
ssize_t csv_read(struct str text, bool is_end, struct arena *arena,
		 struct csv_record *ret, struct err *err) MUST_USE;

#endif
