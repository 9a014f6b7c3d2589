/*
 * Readers of texts, row by row: tests/unit/base/values.
 *
 *	json TEXT		a document: its value
 *	walk JSON		its members
 *	string JSON		the text of a string; cut JSON | N: cut to N
 *bytes same JSON | TEXT	is it this string? int64 JSON members JSON
 *how many are noted on the way tree TEXT		a document as a tree;
 *object TEXT: an object number TEXT		as a member of an object quote
 *TEXT		as JSON visible TEXT		as it is printed; lines TEXT:
 *with line feeds fit N | TEXT		cut to N bytes, with a mark url TEXT
 *text, origin, host, path, port and kind resolve TEXT		against
 *http://a/b/c/d;p?q: text and fragment origin A | B		have both URLs
 *one origin? loopback URL address TEXT		its class, and what is said of
 *it range FIRST | LAST	the class in it, before it, behind it
 *	peer A | B		are both addresses one peer?
 *	uint64 TEXT, milliseconds TEXT, bytes TEXT, size N
 *	utf8 TEXT		bytes of the first character
 *	distance A | B
 *	standard TEXT, plain TEXT	Base64 with and without padding, read
 */
#include "tests/unit/test.h"

#include "core/base/address.h"
#include "core/base/jdoc.h"
#include "core/base/json.h"
#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/base/text.h"
#include "core/base/url.h"
#include "tests/unit/values.h"

/* ---- JSON ---- */

static void assert_same_walk(struct str value,
			     const struct scan_members *members)
{
	struct scan_iter walked, noted;

	scan_iter_init(&walked, value);
	scan_iter_noted(&noted, value, members);
	assert_int_equal(noted.is_object, walked.is_object);
	while (scan_next(&walked)) {
		assert_true(scan_next(&noted));
		assert_true(noted.value.p == walked.value.p);
		assert_int_equal(noted.value.n, walked.value.n);
		if (!walked.is_object)
			continue;
		assert_true(noted.key.p == walked.key.p);
		assert_int_equal(noted.key.n, walked.key.n);
	}
	assert_false(scan_next(&noted));
}

static int read_members(struct value_row *r)
{
	struct scan_members members;
	struct str v = STR("unchanged");

	if (scan_members(value_bytes(r, r->part[0]), &v, &members, &r->err) <
	    0) {
		assert_true(str_is(v, "unchanged"));
		return -1;
	}
	assert_same_walk(v, &members);
	assert_same_walk(v, NULL);
	buf_addu(&r->out, members.n);
	return 0;
}

static int read_json(struct value_row *r)
{
	struct str text = value_bytes(r, r->part[0]), v;
	/* a copy of exactly this size: reading beyond it is seen */
	AUTO(mem_freep) char *copy = mem_alloc(text.n);
	struct scan_members members;

	if (text.n)
		memcpy(copy, text.p, text.n);
	if (scan_document((struct str){copy, text.n}, NULL, &v, &r->err) < 0) {
		assert_true(r->err.line >= 1 && r->err.col >= 1);
		return -1;
	}
	add_encoded(&r->out, v);
	assert_int_equal(scan_members(text, &v, &members, &r->err), 0);
	assert_same_walk(v, &members);
	return 0;
}

static struct str proved(struct value_row *r)
{
	struct str v;

	if (scan_document(value_bytes(r, r->part[0]), NULL, &v, &r->err) < 0)
		fail_msg("%s: %s", r->part[0], r->err.msg);
	return v;
}

static int read_walk(struct value_row *r)
{
	struct scan_iter it = scan_over(proved(r));

	while (scan_next(&it)) {
		add_encoded(&r->out, it.is_object ? it.key : STR(""));
		buf_adds(&r->out, it.is_object ? "=" : "");
		add_encoded(&r->out, it.value);
		buf_addc(&r->out, '|');
	}
	return 0;
}

static int read_string(struct value_row *r)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

	assert_true(scan_string(proved(r), &text));
	assert_int_equal(buf_cstr(&text)[text.n], '\0');
	add_encoded(&r->out, buf_str(&text));
	return 0;
}

static int read_cut(struct value_row *r)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t max = strtoul(r->part[1], NULL, 10);

	assert_true(scan_string_cut(proved(r), max, &text));
	add_encoded(&r->out, buf_str(&text));
	return 0;
}

/* Text as it is, which need not be JSON. */
static int read_same(struct value_row *r)
{
	struct str text = value_bytes(r, r->part[1]);

	return value_is(r, scan_is(value_bytes(r, r->part[0]), text.p));
}

static int read_int64(struct value_row *r)
{
	int64_t v = 7;

	if (scan_int64(proved(r), &v))
		buf_addf(&r->out, "%lld", (long long)v);
	else
		assert_int_equal(v, 7);
	return 0;
}

static int read_tree(struct value_row *r)
{
	struct jdoc *doc = NULL;

	if (jdoc_parse(value_bytes(r, r->part[0]), &r->arena, &doc, &r->err) <
	    0) {
		assert_null(doc);
		assert_int_equal(r->err.line, 1);
		return -1;
	}
	assert_int_equal(doc->type, scan_type(str_of(r->part[0])));
	add_encoded(&r->out, doc->raw);
	return 0;
}

static int read_object(struct value_row *r)
{
	AUTO(json_freep) struct json *doc = NULL;

	if (json_read(value_bytes(r, r->part[0]), &doc, &r->err) == 0)
		return 0;
	assert_null(doc);
	return -1;
}

static int read_number(struct value_row *r)
{
	AUTO(json_freep) struct json *doc = NULL;
	char *text = arena_printf(&r->arena, "{\"n\":%s}", r->part[0]);
	int64_t value = 0;

	if (json_read(str_of(text), &doc, &r->err) < 0)
		return -1;
	if (json_int64(doc, "n", &value))
		buf_addf(&r->out, "%lld", (long long)value);
	else
		assert_int_equal(value, 0);
	return 0;
}

static int read_quote(struct value_row *r)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct str v;

	jw_quote(&out, value_bytes(r, r->part[0]));
	assert_int_equal(scan_document(buf_str(&out), NULL, &v, &r->err), 0);
	add_encoded(&r->out, buf_str(&out));
	return 0;
}

/* ---- texts ---- */

static int show(struct value_row *r, bool keep_newlines)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	log_visible(&out, value_bytes(r, r->part[0]), keep_newlines);
	add_encoded(&r->out, buf_str(&out));
	return 0;
}

static int read_visible(struct value_row *r)
{
	return show(r, false);
}

static int read_lines(struct value_row *r)
{
	return show(r, true);
}

static int read_fit(struct value_row *r)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t max = strtoul(r->part[0], NULL, 10);

	assert_int_equal(buf_add_cut(&out, value_bytes(r, r->part[1]), max),
			 BUF_OK);
	add_encoded(&r->out, buf_str(&out));
	return 0;
}

static int read_uint64(struct value_row *r)
{
	struct str text = value_bytes(r, r->part[0]);
	int64_t i = 7;
	uint64_t u = 7;

	if (str_uint64(text, &u))
		buf_addu(&r->out, u);
	else
		assert_int_equal(u, 7);
	if (str_int64(text, &i))
		buf_addf(&r->out, " signed %lld", (long long)i);
	else
		assert_int_equal(i, 7);
	return 0;
}

static int add_number(struct value_row *r, bool (*read)(struct str, uint64_t *))
{
	uint64_t value = 7;

	if (read(value_bytes(r, r->part[0]), &value))
		buf_addu(&r->out, value);
	else
		assert_int_equal(value, 7);
	return 0;
}

static int read_milliseconds(struct value_row *r)
{
	return add_number(r, str_duration_ms);
}

static int read_bytes(struct value_row *r)
{
	return add_number(r, str_size_bytes);
}

static int read_size(struct value_row *r)
{
	char text[STR_SIZE_BYTES];

	buf_adds(&r->out, str_size_text(strtoull(r->part[0], NULL, 10), text));
	return 0;
}

static int read_utf8(struct value_row *r)
{
	buf_addu(&r->out, str_utf8_len(value_bytes(r, r->part[0])));
	return 0;
}

static int read_distance(struct value_row *r)
{
	struct str a = value_bytes(r, r->part[0]);
	struct str b = value_bytes(r, r->part[1]);

	buf_addu(&r->out, str_distance(a, b));
	assert_int_equal(str_distance(b, a), str_distance(a, b));
	return 0;
}

/* A text that is taken is written so again. */
static int decode(struct value_row *r, enum base64 kind)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf again = BUF_INIT(BUF_UNBOUNDED);
	struct str text = value_bytes(r, r->part[0]);

	buf_adds(&out, "kept");
	if (base64_decode(kind, text, &out, &r->err) < 0) {
		assert_string_equal(buf_cstr(&out), "kept");
		return -1;
	}
	buf_drop(&out, 4);
	add_encoded(&r->out, buf_str(&out));
	buf_adds(&again, "<");
	base64_encode(kind, buf_str(&out), &again);
	assert_string_equal(buf_cstr(&again) + 1, text.p);
	return 0;
}

static int read_standard(struct value_row *r)
{
	return decode(r, BASE64_STANDARD);
}

static int read_plain(struct value_row *r)
{
	return decode(r, BASE64_URL);
}

/* ---- URLs and addresses ---- */

static int read_url(struct value_row *r)
{
	struct url u;

	if (url_parse(value_bytes(r, r->part[0]), &r->arena, &u, &r->err) < 0)
		return -1;
	buf_addf(&r->out, "%.*s ", STR_ARG(u.text));
	url_origin(&u, &r->out);
	buf_addf(&r->out, " %.*s %.*s %u%s%s", STR_ARG(u.host), STR_ARG(u.path),
		 u.port, u.is_tls ? " tls" : "", u.is_ipv6 ? " ipv6" : "");
	return 0;
}

static struct url url_of(struct value_row *r, const char *text)
{
	struct url u;

	if (url_parse(str_of(text), &r->arena, &u, &r->err) < 0)
		fail_msg("%s: %s", text, r->err.msg);
	return u;
}

static int read_resolve(struct value_row *r)
{
	struct url base = url_of(r, "http://a/b/c/d;p?q"), u;

	if (url_resolve(&base, value_bytes(r, r->part[0]), &r->arena, &u,
			&r->err) < 0)
		return -1;
	add_encoded(&r->out, u.text);
	if (u.fragment.p)
		buf_addf(&r->out, " fragment %.*s", STR_ARG(u.fragment));
	return 0;
}

static int read_origin(struct value_row *r)
{
	struct url a = url_of(r, r->part[0]), b = url_of(r, r->part[1]);

	return value_is(r, url_same_origin(&a, &b));
}

static int read_loopback(struct value_row *r)
{
	struct url u = url_of(r, r->part[0]);

	return value_is(r, url_is_loopback(&u));
}

static struct address address_at(const char *text)
{
	struct address a;

	if (!address_read(str_of(text), &a))
		fail_msg("%s", text);
	return a;
}

static const char *class_of(const struct address *a)
{
	static const char *const names[] = {
		[ADDRESS_PUBLIC] = "public",
		[ADDRESS_PRIVATE] = "private",
		[ADDRESS_LINK] = "link",
		[ADDRESS_LOOPBACK] = "loopback",
		[ADDRESS_METADATA] = "metadata",
		[ADDRESS_NEVER] = "never",
	};

	/* what is said of it is never nothing */
	assert_int_not_equal(address_what(a)[0], '\0');
	return names[address_class_of(a)];
}

static int read_address(struct value_row *r)
{
	struct address a;

	if (address_read(value_bytes(r, r->part[0]), &a))
		buf_addf(&r->out, "%s: %s", class_of(&a), address_what(&a));
	return 0;
}

/* One more, or one less; beyond the end it begins anew. */
static struct address step(struct address a, int by)
{
	for (size_t i = a.is_v6 ? 16 : 4; i-- > 0;) {
		a.bytes[i] = (uint8_t)(a.bytes[i] + by);
		if (a.bytes[i] != (by > 0 ? 0 : 0xff))
			break;
	}
	return a;
}

static int read_range(struct value_row *r)
{
	struct address first = address_at(r->part[0]);
	struct address last = address_at(r->part[1]);
	struct address before = step(first, -1), after = step(last, 1);

	assert_string_equal(class_of(&first), class_of(&last));
	buf_addf(&r->out, "%s, %s, %s", class_of(&first), class_of(&before),
		 class_of(&after));
	return 0;
}

static int read_peer(struct value_row *r)
{
	struct address a = address_at(r->part[0]), b = address_at(r->part[1]);

	return value_is(r, address_same_peer(&a, &b));
}

#define READER(name)               \
	{                          \
#name, read_##name \
	}

static void play(const char *file, const char *name, const char *text)
{
	static const struct value_reader readers[] = {
		READER(json),	  READER(walk),	  READER(string),
		READER(cut),	  READER(same),	  READER(int64),
		READER(members),  READER(tree),	  READER(object),
		READER(number),	  READER(quote),  READER(visible),
		READER(lines),	  READER(fit),	  READER(url),
		READER(resolve),  READER(origin), READER(loopback),
		READER(address),  READER(range),  READER(peer),
		READER(uint64),	  READER(bytes),  READER(milliseconds),
		READER(size),	  READER(utf8),	  READER(distance),
		READER(standard), READER(plain),
	};

	values_play(readers, ARRAY_LEN(readers), file, name, text);
}

FIXTURE(none, NULL, NULL);

TEST_SCRIPTS(none, play, "tests/unit/base/values/*.transcript");
