/* Rewrites JSON documents, so that what comes out is one as well. */
#include <string.h>

#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/secret/scrub_inner.h"

static const struct scrub_reading as_bytes = {.in_json = false};
static const struct scrub_reading as_string = {.in_json = true};

/* A string, from the byte behind its quote to the closing one. */
static size_t json_string_inside(const struct scrub *s, struct str in,
				 struct buf *out, size_t *hits)
{
	size_t at = 0, done = 0;

	while ((at = scrub_skip(s, in, at, true)) < in.n && in.p[at] != '"') {
		struct str rest = {in.p + at, in.n - at};
		struct scrub_found f = scrub_match(s, rest, &as_string);

		if (!f.n) {
			at += scrub_step_of(rest, true);
			continue;
		}
		scrub_grow(s, rest, &as_string, &f);
		buf_add(out, in.p + done, at - done);
		buf_adds(out, SCRUB_STARS);
		at += f.n;
		done = at;
		++*hits;
	}
	buf_add(out, in.p + done, at - done);
	return at;
}

static bool is_number_byte(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' ||
	       c == 'e' || c == 'E';
}

static size_t json_number(const struct scrub *s, struct str in, struct buf *out,
			  size_t *hits)
{
	struct str number = {in.p, 0};

	while (number.n < in.n && is_number_byte(in.p[number.n]))
		number.n++;
	if (scrub_finds(s, number)) {
		buf_adds(out, "\"" SCRUB_STARS "\"");
		++*hits;
	} else {
		buf_add_str(out, number);
	}
	return number.n;
}

/* A value that is itself JSON, such as a key file, may stand here as such. */
static size_t json_container(const struct scrub *s, struct str in,
			     struct buf *out, size_t *hits)
{
	struct scrub_found f = scrub_match(s, in, &as_bytes);
	struct err err;
	struct str whole;

	if (f.n && scan_value(in, NULL, &whole, &err) == 0 && whole.n <= f.n) {
		buf_adds(out, "\"" SCRUB_STARS "\"");
		++*hits;
		return whole.n;
	}
	buf_addc(out, in.p[0]);
	return 1;
}

static size_t json_token(const struct scrub *s, struct str in, struct buf *out,
			 size_t *hits)
{
	char c = in.p[0];

	if (c == '-' || (c >= '0' && c <= '9'))
		return json_number(s, in, out, hits);
	if (c == '{' || c == '[')
		return json_container(s, in, out, hits);
	buf_addc(out, c);
	if (c == '"')
		return 1 +
		       json_string_inside(s, scrub_behind(in, 1), out, hits);
	return 1;
}

/* Without escapes: a value that reaches over the end of a string. */
static bool finds_literally(const struct scrub *s, struct str in)
{
	for (; in.n; in = scrub_behind(in, 1)) {
		const struct scrub_pattern *p =
			s->by_first[(unsigned char)in.p[0]];

		for (; p; p = p->next)
			if (p->n <= in.n && !memcmp(p->bytes, in.p, p->n))
				return true;
	}
	return false;
}

size_t scrub_json(const struct scrub *s, struct str in, struct buf *out)
{
	size_t hits = 0, before = out->n;
	bool in_string = false;

	if (scrub_is_empty(s)) {
		buf_add_str(out, in);
		return 0;
	}
	while (in.n) {
		/* the closing quote is left for the loop to see */
		if (in_string && in.p[0] == '"') {
			buf_addc(out, '"');
			in = scrub_behind(in, 1);
			in_string = false;
			continue;
		}
		in_string = in.p[0] == '"';
		in = scrub_behind(in, json_token(s, in, out, &hits));
	}
	/* what cannot be replaced piece by piece goes as a whole */
	if (s->has_quote && finds_literally(s, (struct str){out->p + before,
							    out->n - before})) {
		mem_wipe(out->p + before, out->n - before);
		out->n = before;
		buf_adds(out, "\"" SCRUB_STARS "\"");
		hits++;
	}
	return hits;
}
