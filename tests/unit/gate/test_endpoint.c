/*
 * Rows of `net`, targets of hostile programs, and who may reach whom. Rows are
 * in values/endpoints.transcript:
 *
 *	row TEXT		its kind, and how it is written again
 *	meet ROW | ROW		what both allow, in either order; "-": nothing
 *	covers ROW | ROW	the first the second?
 *	target HOST		of port 80, as an address or a name
 *	authority TEXT | PORT	likewise; PORT where TEXT has none
 *	judge ROWS | TARGET	the widest grant that they give
 *	reaches ADDRESS		the least grant that leads there
 */
#include "tests/unit/test.h"

#include <arpa/inet.h>

#include "gate/policy/endpoint.h"
#include "tests/unit/values.h"

static const char *const GRANTS[] = {
	[ENDPOINT_REFUSED] = "refused",
	[ENDPOINT_PUBLIC] = "public",
	[ENDPOINT_PRIVATE] = "private",
	[ENDPOINT_LITERAL] = "literal",
};

static struct endpoint parse(const char *row)
{
	struct endpoint e = {.kind = ENDPOINT_PORT};
	struct err err = ERR_INIT;

	if (endpoint_parse(row, &e, &err) < 0)
		fail_msg("%s: %s", row, err.msg);
	return e;
}

static int do_row(struct value_row *r)
{
	static const char *const kinds[] = {
		[ENDPOINT_PORT] = "port",	[ENDPOINT_HOST] = "host",
		[ENDPOINT_BENEATH] = "beneath", [ENDPOINT_ADDRESS] = "address",
		[ENDPOINT_FORWARD] = "forward",
	};
	struct str row = value_bytes(r, r->part[0]);
	struct endpoint e;

	if (endpoint_parse(arena_strndup(&r->arena, row.p, row.n), &e,
			   &r->err) < 0)
		return -1;
	buf_addf(&r->out, "%s ", kinds[e.kind]);
	endpoint_text(&e, &r->out);
	return 0;
}

static void add_met(struct buf *out, const char *row, const char *other)
{
	struct endpoint a = parse(row), b = parse(other), both;

	if (endpoint_meet(&a, &b, &both)) {
		endpoint_text(&both, out);
		buf_adds(out, both.public_only ? ", public only" : "");
	} else {
		buf_addc(out, '-');
	}
}

static int do_meet(struct value_row *r)
{
	AUTO(buf_release) struct buf turned = BUF_INIT(BUF_UNBOUNDED);

	add_met(&r->out, r->part[0], r->part[1]);
	add_met(&turned, r->part[1], r->part[0]);
	assert_string_equal(buf_cstr(&r->out), buf_cstr(&turned));
	return 0;
}

static int do_covers(struct value_row *r)
{
	struct endpoint a = parse(r->part[0]), b = parse(r->part[1]);

	return value_is(r, endpoint_covers(&a, &b));
}

static int do_target(struct value_row *r)
{
	struct endpoint_target t;

	if (endpoint_target(value_bytes(r, r->part[0]), 80, &t) == 0)
		buf_addf(&r->out, "%s %s", t.is_address ? "address" : "host",
			 t.host);
	else
		buf_adds(&r->out, "refused");
	return 0;
}

static int do_authority(struct value_row *r)
{
	char text[ENDPOINT_TEXT_BYTES] = "refused";
	struct endpoint_target t;

	if (endpoint_target_authority(str_of(r->part[0]),
				      (uint16_t)strtoul(r->part[1], NULL, 10),
				      &t) == 0)
		endpoint_target_text(&t, text);
	buf_adds(&r->out, text);
	return 0;
}

static int do_judge(struct value_row *r)
{
	struct strlist list = value_words(r->part[0], &r->arena);
	struct endpoint row[4];
	struct endpoint_target t;

	assert_true(list.n <= ARRAY_LEN(row));
	for (size_t i = 0; i < list.n; i++)
		row[i] = parse(list.item[i]);
	assert_int_equal(endpoint_target_authority(str_of(r->part[1]), 0, &t),
			 0);
	buf_adds(&r->out, GRANTS[endpoint_judge(row, list.n, &t)]);
	return 0;
}

static int do_reaches(struct value_row *r)
{
	struct address a = {.is_v6 = strchr(r->part[0], ':')};
	int least = ENDPOINT_LITERAL;

	assert_int_equal(
		inet_pton(a.is_v6 ? AF_INET6 : AF_INET, r->part[0], a.bytes),
		1);
	while (least > ENDPOINT_REFUSED &&
	       endpoint_reaches((enum endpoint_grant)(least - 1), &a))
		least--;
	for (int g = ENDPOINT_REFUSED; g <= ENDPOINT_LITERAL; g++)
		assert_int_equal(endpoint_reaches((enum endpoint_grant)g, &a),
				 g >= least);
	buf_adds(&r->out, GRANTS[least]);
	return 0;
}

static const struct value_reader READERS[] = {
	{"row", do_row},	 {"meet", do_meet},
	{"covers", do_covers},	 {"target", do_target},
	{"judge", do_judge},	 {"authority", do_authority},
	{"reaches", do_reaches},
};

TEST_VALUES(READERS, "tests/unit/gate/values/endpoints.transcript");

/* Named exactly, but allowed by the leash only as one of a domain. */
TEST(judge, public_only, is_of_the_domain)
{
	struct endpoint rows[] = {parse(":443"), parse("*.example.com"),
				  parse("a.example.com")};
	struct endpoint_target t;

	assert_int_equal(endpoint_target(STR("a.example.com"), 443, &t), 0);
	rows[2].public_only = true;
	assert_int_equal(endpoint_judge(rows, 3, &t), ENDPOINT_PUBLIC);
}
