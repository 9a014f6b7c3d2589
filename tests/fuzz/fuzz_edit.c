/*
 * A configuration whose step gets more rows: the result means what was meant
 * (the module looks itself), and doing it again changes nothing.
 */
#include <stdint.h>
#include <stdlib.h>

#include "core/base/attr.h"
#include "core/config/edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *paths[] = {"./a b", "~/x\"y"}, *word[] = {"all"};
	struct edit_row rows[] = {
		{"read", {paths, 2}, false, false},
		{"exec", {paths, 1}, false, false},
		{"net", {word, 1}, true, false},
	};
	AUTO(buf_release) struct buf once = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf twice = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf diff = BUF_INIT(BUF_UNBOUNDED);
	struct str text = {size ? (const char *)data : "", size};
	struct err err = ERR_INIT;

	if (edit_sandbox(text, "r", "s", rows, ARRAY_LEN(rows), &once, &err) <
	    0)
		return 0;
	if (edit_sandbox(buf_str(&once), "r", "s", rows, ARRAY_LEN(rows),
			 &twice, &err) < 0 ||
	    !str_eq(buf_str(&once), buf_str(&twice)))
		abort();
	edit_diff(text, buf_str(&once), &diff);
	return 0;
}
