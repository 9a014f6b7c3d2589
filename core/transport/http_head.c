#include "core/transport/http_head.h"

#include <strings.h>

#include "core/base/text.h"
#include "core/base/mem.h"

/* ---- of a request ---- */

static char *line_of(const char *name, struct str value, struct err *err)
{
	value = str_trim(value);
	if (!http_is_token(str_of(name))) {
		err_set(err, ERR_SYNTAX, "a header with an invalid name");
		return NULL;
	}
	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];

		if ((c >= ' ' && c != 0x7f) || c == '\t')
			continue;
		err_set(err, ERR_SYNTAX,
			"header \"%s\": its value has a line end or another "
			"control character",
			name);
		return NULL;
	}
	if (!value.n)
		return mem_printf("%s;", name);
	return mem_printf("%s: %.*s", name, STR_ARG(value));
}

static void wipe_line(char *line)
{
	mem_wipe(line, strlen(line));
	free(line);
}

/* Is it a line of that name? */
static bool line_is(const char *line, const char *name)
{
	size_t n = strlen(name);

	return strncasecmp(line, name, n) == 0 &&
	       (line[n] == ':' || line[n] == ';');
}

bool http_headers_has(const struct http_headers *h, const char *name)
{
	for (size_t i = 0; h && i < h->n; i++)
		if (line_is(h->line[i], name))
			return true;
	return false;
}

static void append(struct http_headers *h, char *line)
{
	h->line = mem_realloc(h->line, (h->n + 1) * sizeof(*h->line));
	h->line[h->n++] = line;
}

static void remove_name(struct http_headers *h, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->n; i++) {
		if (line_is(h->line[i], name))
			wipe_line(h->line[i]);
		else
			h->line[kept++] = h->line[i];
	}
	h->n = kept;
}

int http_headers_set(struct http_headers *h, const char *name, struct str value,
		     struct err *err)
{
	char *line = line_of(name, value, err);

	if (!line)
		return -1;
	remove_name(h, name);
	append(h, line);
	return 0;
}

void http_headers_replace(struct http_headers *to,
			  const struct http_headers *from)
{
	for (size_t i = 0; from && i < from->n; i++) {
		const char *line = from->line[i];
		AUTO(mem_freep)
		char *name = mem_strndup(line, strcspn(line, ":;"));

		remove_name(to, name);
		append(to, mem_strdup(line));
	}
}

void http_headers_write(const struct http_headers *h, struct buf *out)
{
	for (size_t i = 0; i < h->n; i++) {
		const char *line = h->line[i];
		size_t n = strcspn(line, ":;");

		buf_add(out, line, n);
		buf_addf(out, ":%s\r\n", line[n] == ':' ? line + n + 1 : "");
	}
}

void http_headers_release(struct http_headers *h)
{
	for (size_t i = 0; i < h->n; i++)
		wipe_line(h->line[i]);
	free(h->line);
	*h = (struct http_headers){NULL, 0};
}

/* ---- of an answer ---- */

bool http_head_get(const struct http_head *head, const char *name, size_t nth,
		   struct str *ret)
{
	struct str rest = head->lines, line;

	while (rest.n) {
		struct str key;

		line = str_cut(&rest, '\n');
		key = str_cut(&line, ':');

		if (!line.p || key.n != strlen(name) ||
		    strncasecmp(key.p, name, key.n) != 0 || nth--)
			continue;
		*ret = str_trim(line);
		return true;
	}
	return false;
}

/* "HTTP/1.1 200 OK": three digits after the first space. */
static bool read_status(struct http_reader *r, struct str line)
{
	struct str rest = line, version = str_cut(&rest, ' ');
	struct str digits = {rest.p, rest.n < 3 ? rest.n : 3};
	uint64_t status;

	if (!str_starts(version, "HTTP/") || digits.n != 3 ||
	    !str_uint64(digits, &status) || status < 100 ||
	    (rest.n > 3 && rest.p[3] != ' '))
		return false;
	r->status = (int)status;
	r->is_http2 = str_starts(version, "HTTP/2");
	buf_clear(&r->lines);
	return true;
}

/* A line that begins with a space belongs to the one before (RFC 9112 5.2). */
static void add_line(struct http_reader *r, struct str line)
{
	struct str text = str_trim(line);

	if (line.p[0] != ' ' && line.p[0] != '\t') {
		buf_add_str(&r->lines, text);
	} else if (r->lines.n) {
		r->lines.p[r->lines.n - 1] = ' ';
		buf_add_str(&r->lines, text);
	} else {
		return;
	}
	buf_addc(&r->lines, '\n');
}

enum http_read http_reader_line(struct http_reader *r, struct str line)
{
	r->bytes += line.n;
	if (r->bytes > LIMIT_HEAD_BYTES)
		return HTTP_READ_FULL;
	while (line.n &&
	       (line.p[line.n - 1] == '\n' || line.p[line.n - 1] == '\r'))
		line.n--;
	if (r->is_whole)
		return HTTP_READ_MORE; /* a trailer, after the body */
	if (!r->is_begun) {
		r->is_begun = true;
		return read_status(r, line) ? HTTP_READ_MORE : HTTP_READ_BAD;
	}
	if (line.n) {
		add_line(r, line);
		return HTTP_READ_MORE;
	}
	r->is_begun = false;
	r->is_whole = r->status >= 200 || r->status == 101;
	return r->is_whole ? HTTP_READ_WHOLE : HTTP_READ_MORE;
}

void http_reader_head(struct http_reader *r, struct http_head *ret)
{
	struct str value, type;

	*ret = (struct http_head){
		.status = r->status,
		.lines = buf_str(&r->lines),
		.is_http2 = r->is_http2,
	};
	/* the first Content-Type, up to its parameters, in lower case */
	buf_clear(&r->media_type);
	if (http_head_get(ret, "content-type", 0, &value)) {
		type = str_trim(str_cut(&value, ';'));
		for (size_t i = 0; i < type.n; i++)
			buf_addc(&r->media_type, text_is_alpha(type.p[i])
							 ? type.p[i] | 0x20
							 : type.p[i]);
	}
	ret->media_type = buf_str(&r->media_type);
}

void http_reader_release(struct http_reader *r)
{
	buf_wipe(&r->lines);
	buf_release(&r->media_type);
}
