/*
 * Heads of HTTP answers, line by line as libcurl hands them over: what is
 * found lies within the lines, and a header is found by each of its names.
 */
#include <stdint.h>

#include "core/base/mem.h"
#include "core/transport/http_head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct http_head *head)
{
	struct str rest = head->lines, value;

	if (head->status < 100 || head->status > 999 ||
	    (rest.n && !str_ends(rest, "\n")))
		abort();
	while (rest.n) {
		struct str line = str_cut(&rest, '\n');
		struct str name = str_cut(&line, ':');
		char *text = mem_strndup(name.p, name.n);

		if (line.p && strlen(text) == name.n &&
		    (!http_head_get(head, text, 0, &value) ||
		     value.p < head->lines.p ||
		     value.p + value.n > head->lines.p + head->lines.n))
			abort();
		free(text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = {(const char *)data, size};
	struct http_reader r = HTTP_READER_INIT;
	enum http_read read = HTTP_READ_MORE;
	struct http_head head;

	while (rest.n && read == HTTP_READ_MORE) {
		size_t n = str_find(rest, '\n');

		n += n < rest.n;
		read = http_reader_line(&r, (struct str){rest.p, n});
		rest = (struct str){rest.p + n, rest.n - n};
	}
	if (read == HTTP_READ_WHOLE) {
		http_reader_head(&r, &head);
		check(&head);
	}
	http_reader_release(&r);
	return 0;
}
