/*
 * References as rows of data.
 *
 *	read STRING		its parts: "text", or ROOT(step)path
 *	self STRING		a path into one result
 *	follow STRING | JSON	the value as it was written
 *	text STRING | JSON	the text of a string's values, and the same in
 *JSON
 */
#include "tests/unit/test.h"
#include "tests/unit/values.h"

#include "core/base/scan.h"
#include "core/config/ref.h"

static void print_ref(struct buf *out, const struct ref *ref)
{
	static const char *const words[] = {
#define X(name, word) word,
		REF_ROOTS(X)
#undef X
	};

	buf_adds(out, words[ref->root]);
	if (ref->step.p)
		buf_addf(out, "(%.*s)", STR_ARG(ref->step));
	buf_add_str(out, ref->path);
}

static int read_parts(struct value_row *r)
{
	struct ref_string s;

	if (ref_read(str_of(r->part[0]), &r->arena, &s, &r->err) < 0)
		return -1;
	buf_adds(&r->out, s.is_whole ? "whole" : s.has_refs ? "text" : "plain");
	for (size_t i = 0; i < s.n; i++) {
		buf_addc(&r->out, ' ');
		if (s.part[i].text.p)
			buf_addf(&r->out, "\"%.*s\"", STR_ARG(s.part[i].text));
		else
			print_ref(&r->out, &s.part[i].ref);
	}
	return 0;
}

static int read_self(struct value_row *r)
{
	struct ref ref;

	if (ref_read_self(str_of(r->part[0]), &ref, &r->err) < 0)
		return -1;
	buf_add_str(&r->out, ref.path);
	return 0;
}

static int follow(struct value_row *r)
{
	struct ref_string s;
	struct str value;

	if (scan_document(str_of(r->part[1]), NULL, &value, &r->err) < 0 ||
	    ref_read(str_of(r->part[0]), &r->arena, &s, &r->err) < 0 ||
	    ref_follow(&s.part[0].ref, value, &value, &r->err) < 0)
		return -1;
	buf_add_str(&r->out, value);
	return 0;
}

static int read_text(struct value_row *r)
{
	AUTO(buf_release) struct buf quoted = BUF_INIT(BUF_UNBOUNDED);
	struct ref_string s;
	struct str value;

	if (scan_document(str_of(r->part[1]), NULL, &value, &r->err) < 0 ||
	    ref_read(str_of(r->part[0]), &r->arena, &s, &r->err) < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		struct str at;

		if (s.part[i].text.p) {
			buf_add_str(&r->out, s.part[i].text);
			buf_add_str(&quoted, s.part[i].text);
			continue;
		}
		if (ref_follow(&s.part[i].ref, value, &at, &r->err) < 0)
			return -1;
		ref_add_text(at, &r->out);
		ref_add_quoted(at, &quoted);
	}
	buf_addf(&r->out, " | %s", buf_cstr(&quoted));
	return 0;
}

static const struct value_reader READERS[] = {
	{"read", read_parts},
	{"self", read_self},
	{"follow", follow},
	{"text", read_text},
};

TEST_VALUES(READERS, "tests/unit/config/values/refs.transcript");
