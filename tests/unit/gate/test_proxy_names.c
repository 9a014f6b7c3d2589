/*
 * The network of a child as data: addresses of names, answers of its resolver,
 * the sockets that are served in it. Rows are in values/names.transcript:
 *
 *	ask ROWS | SEARCH | NAME[/TYPE]...	answers, then what was refused
 *	say BYTES			the answer to a packet; rows: "*.test"
 *	to ROWS | HOSTS | A.B.C.D:PORT	whom a connection is judged as
 *	plan ROWS | HOSTS		sockets
 */
#include "tests/unit/test.h"

#include "core/base/mem.h"
#include "gate/proxy/proxy_plan.h"
#include "gate/proxy/proxy_resolve.h"
#include "tests/unit/values.h"

static struct proxy_known *known_new(struct value_row *row, const char *rows,
				     const char *hosts, const char *search)
{
	struct strlist list = value_words(rows, &row->arena);
	struct strlist domains = value_words(search, &row->arena);
	struct proxy_known *k = mem_zalloc(sizeof(*k));

	k->share = mem_zalloc(sizeof(*k->share));
	for (size_t i = 0; i < list.n; i++) {
		struct endpoint *e = &k->rows[k->n_rows++];

		assert_int_equal(endpoint_parse(list.item[i], e, &row->err), 0);
	}
	for (size_t i = 0; i < k->n_rows; i++)
		if (k->rows[i].kind == ENDPOINT_HOST)
			assert_non_null(proxy_names_add(&k->share->names,
							k->rows[i].host,
							k->rows, k->n_rows));
	proxy_names_read(&k->share->names, value_bytes(row, hosts), k->rows,
			 k->n_rows);
	for (size_t i = 0; i < domains.n; i++)
		snprintf(k->search[k->n_search++], sizeof(k->search[0]), "%s",
			 domains.item[i]);
	return k;
}

static void known_free(struct proxy_known *k)
{
	free(k->share);
	free(k);
}

/* A question as resolvers send it, with EDNS behind it. */
static void put_question(struct str name, uint8_t type, struct buf *out)
{
	static const uint8_t edns[] = {0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0};

	buf_add(out, "\1\2\1\0\0\1\0\0\0\0\0\1", 12);
	while (name.n) {
		struct str label = str_cut(&name, '.');

		buf_addc(out, (char)label.n);
		buf_add_str(out, label);
	}
	buf_add(out, "\0\0", 2);
	buf_addc(out, (char)type);
	buf_add(out, "\0\1", 2);
	buf_add(out, edns, sizeof(edns));
}

static void add_answer(struct str answer, struct buf *out)
{
	static const char *const codes[] = {"none", "malformed", "failed",
					    "no name", "not known"};
	const uint8_t *at = (const uint8_t *)answer.p;

	assert_true(answer.n >= 12 && answer.n <= DNS_ANSWER_BYTES);
	assert_true(at[3] % 16 < ARRAY_LEN(codes));
	if (at[7])
		buf_addf(out, "%u.%u.%u.%u", at[answer.n - 4], at[answer.n - 3],
			 at[answer.n - 2], at[answer.n - 1]);
	else
		buf_adds(out, codes[at[3] % 16]);
}

static void add_denials(const struct proxy_share *s, struct buf *out)
{
	for (size_t i = 0; i < s->n_denials; i++)
		buf_addf(out, "%s%s %llu",
			 i ? ", " : "; refused: ", s->denials[i].name,
			 (unsigned long long)s->denials[i].count);
}

static int do_ask(struct value_row *row)
{
	struct proxy_known *k = known_new(row, row->part[0], "", row->part[1]);
	struct strlist names = value_words(row->part[2], &row->arena);

	for (size_t i = 0; i < names.n; i++) {
		AUTO(buf_release) struct buf in = BUF_INIT(BUF_UNBOUNDED);
		AUTO(buf_release) struct buf out = BUF_INIT(DNS_ANSWER_BYTES);
		struct str type = str_of(names.item[i]);
		struct str name = str_cut(&type, '/');
		uint64_t number = DNS_TYPE_A;

		if (type.n)
			assert_true(str_uint64(type, &number));
		put_question(value_bytes(row, arena_strndup(&row->arena, name.p,
							    name.n)),
			     (uint8_t)number, &in);
		proxy_resolve(k, buf_str(&in), &out);
		buf_adds(&row->out, i ? ", " : "");
		add_answer(buf_str(&out), &row->out);
	}
	add_denials(k->share, &row->out);
	known_free(k);
	return 0;
}

static int do_say(struct value_row *row)
{
	AUTO(buf_release) struct buf out = BUF_INIT(DNS_ANSWER_BYTES);
	struct proxy_known *k = known_new(row, "*.test", "", "");

	proxy_resolve(k, value_bytes(row, row->part[0]), &out);
	add_encoded(&row->out, buf_str(&out));
	known_free(k);
	return 0;
}

static int do_to(struct value_row *row)
{
	struct proxy_known *k = known_new(row, row->part[0], row->part[1], "");
	char text[ENDPOINT_TEXT_BYTES];
	struct endpoint_target t, got;

	assert_int_equal(endpoint_target_authority(str_of(row->part[2]), 0, &t),
			 0);
	proxy_names_target(&k->share->names, &t.address, t.port, k->rows,
			   k->n_rows, &got);
	endpoint_target_text(&got, text);
	buf_addf(&row->out, "%s%s", text,
		 endpoint_judge(k->rows, k->n_rows, &got) ? "" : ", refused");
	known_free(k);
	return 0;
}

static int do_plan(struct value_row *row)
{
	static const char *const types[] = {[SOCK_STREAM] = "tcp",
					    [SOCK_DGRAM] = "udp",
					    [SOCK_RAW] = "raw"};
	struct proxy_known *k = known_new(row, row->part[0], row->part[1], "");
	struct child_socket on[PROXY_SOCKETS_MAX];
	size_t n = proxy_plan(k->rows, k->n_rows, &k->share->names, on);

	assert_true(n <= PROXY_SOCKETS_MAX);
	for (size_t i = 0; i < n; i++) {
		struct endpoint_target t = {.is_address = true};
		char text[ENDPOINT_TEXT_BYTES];

		assert_true(address_of(&on[i].at.any, &t.address));
		address_text(&t.address, t.host);
		t.port = ntohs(on[i].at.v4.sin_port);
		endpoint_target_text(&t, text);
		buf_addf(&row->out, "%s%s %s%s", i ? ", " : "",
			 types[on[i].type], text, on[i].is_optional ? "?" : "");
	}
	known_free(k);
	return 0;
}

static const struct value_reader READERS[] = {
	{"ask", do_ask}, {"say", do_say}, {"to", do_to}, {"plan", do_plan}};

TEST_VALUES(READERS, "tests/unit/gate/values/names.transcript");

/* One address for one name, and none for what comes beyond. */
TEST(names, more_than_there_is_room_for, are_refused)
{
	struct proxy_names *t = mem_zalloc(sizeof(*t));
	struct endpoint row;
	struct err err = ERR_INIT;
	char host[32];

	assert_int_equal(endpoint_parse("198.18.0.2:80", &row, &err), 0);
	for (int i = 0; i < PROXY_NAMES_MAX; i++) {
		snprintf(host, sizeof(host), "h%d.test", i);
		assert_non_null(proxy_names_add(t, host, &row, 1));
	}
	assert_null(proxy_names_add(t, "more.test", &row, 1));
	assert_non_null(proxy_names_add(t, "h7.test", &row, 1));
	assert_int_equal(t->n, PROXY_NAMES_MAX);
	for (int i = 0; i < PROXY_NAMES_MAX; i++) {
		const uint8_t *a = t->row[i].address.bytes;
		/* .2 is a row of its own */
		int number = i + (i ? 2 : 1);

		assert_int_equal(a[0] << 8 | a[1], 198 << 8 | 18);
		assert_int_equal(a[2] << 8 | a[3], number);
	}
	free(t);
}

/* A packed plan: no port twice, and nothing beyond what is passed on. */
TEST(plan, many_hosts, take_the_port_at_every_address)
{
	static struct endpoint rows[POLICY_ENDPOINTS_MAX];
	struct proxy_names *t = mem_zalloc(sizeof(*t));
	struct child_socket on[PROXY_SOCKETS_MAX];
	struct err err = ERR_INIT;
	char host[32];
	size_t n, wide = 0;

	for (int i = 0; i < POLICY_ENDPOINTS_MAX; i++) {
		snprintf(host, sizeof(host), "h%d.test%s", i,
			 i % 2 ? ":8080" : "");
		assert_int_equal(endpoint_parse(host, &rows[i], &err), 0);
		assert_non_null(proxy_names_add(t, rows[i].host, rows,
						POLICY_ENDPOINTS_MAX));
	}
	n = proxy_plan(rows, POLICY_ENDPOINTS_MAX, t, on);
	assert_true(n < PROXY_SOCKETS_MAX);
	for (size_t i = 0; i < n; i++)
		wide += on[i].type == SOCK_STREAM && !on[i].is_optional &&
			on[i].at.v4.sin_addr.s_addr == 0;
	/* 53, 443, 80, 8080 */
	assert_int_equal(wide, 4);
	free(t);
}

/* Endpoints that are down leave the rows of refusals alone. */
TEST(denials, of_what_is_down, are_few_and_forgotten)
{
	struct proxy_known *k = mem_zalloc(sizeof(*k));
	struct endpoint_target t;

	k->share = mem_zalloc(sizeof(*k->share));
	for (uint16_t port = 1; port < 100; port++) {
		assert_int_equal(endpoint_target(STR("a.test"), port, &t), 0);
		proxy_deny(k, &t, PROXY_NOT_THERE);
	}
	assert_int_equal(k->share->n_denials, PROXY_UNREACHED_MAX);
	assert_int_equal(k->share->denials_dropped, 0);
	proxy_deny(k, &t, PROXY_UNLISTED);
	assert_int_equal(k->share->n_denials, PROXY_UNREACHED_MAX + 1);
	for (uint16_t port = 1; port < 100; port++) {
		assert_int_equal(endpoint_target(STR("a.test"), port, &t), 0);
		proxy_reached(k, &t);
	}
	assert_int_equal(k->share->n_denials, 1);
	assert_int_equal(k->share->denials[0].outcome, PROXY_UNLISTED);
	free(k->share);
	free(k);
}
