/* Which range an address is of, and who may connect to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "core/transport/reach.h"

static const struct row {
	const char *address;
	enum reach_range range;
} ROWS[] = {
	/* the edges of each range, and what lies beside them */
	{"0.0.0.0", REACH_NEVER},
	{"0.255.255.255", REACH_NEVER},
	{"1.0.0.0", REACH_PUBLIC},
	{"8.8.8.8", REACH_PUBLIC},
	{"9.255.255.255", REACH_PUBLIC},
	{"10.0.0.0", REACH_PRIVATE},
	{"10.255.255.255", REACH_PRIVATE},
	{"11.0.0.0", REACH_PUBLIC},
	{"100.63.255.255", REACH_PUBLIC},
	{"100.64.0.0", REACH_PRIVATE},
	{"100.100.100.200", REACH_LINK},
	{"100.100.100.201", REACH_PRIVATE},
	{"100.127.255.255", REACH_PRIVATE},
	{"100.128.0.0", REACH_PUBLIC},
	{"126.255.255.255", REACH_PUBLIC},
	{"127.0.0.1", REACH_LOOPBACK},
	{"127.255.255.255", REACH_LOOPBACK},
	{"128.0.0.0", REACH_PUBLIC},
	{"169.253.255.255", REACH_PUBLIC},
	{"169.254.0.0", REACH_LINK},
	{"169.254.169.254", REACH_LINK},
	{"169.254.170.2", REACH_LINK},
	{"169.255.0.0", REACH_PUBLIC},
	{"172.15.255.255", REACH_PUBLIC},
	{"172.16.0.0", REACH_PRIVATE},
	{"172.31.255.255", REACH_PRIVATE},
	{"172.32.0.0", REACH_PUBLIC},
	{"192.0.0.1", REACH_NEVER},
	{"192.0.0.192", REACH_LINK},
	{"192.0.0.255", REACH_NEVER},
	{"192.0.1.0", REACH_PUBLIC},
	{"192.0.2.1", REACH_PRIVATE},
	{"192.0.3.0", REACH_PUBLIC},
	{"192.88.99.1", REACH_NEVER},
	{"192.167.255.255", REACH_PUBLIC},
	{"192.168.0.0", REACH_PRIVATE},
	{"192.168.255.255", REACH_PRIVATE},
	{"192.169.0.0", REACH_PUBLIC},
	{"198.17.255.255", REACH_PUBLIC},
	{"198.18.0.0", REACH_PRIVATE},
	{"198.19.255.255", REACH_PRIVATE},
	{"198.20.0.0", REACH_PUBLIC},
	{"198.51.100.7", REACH_PRIVATE},
	{"203.0.113.255", REACH_PRIVATE},
	{"203.0.114.0", REACH_PUBLIC},
	{"223.255.255.255", REACH_PUBLIC},
	{"224.0.0.1", REACH_NEVER},
	{"239.255.255.255", REACH_NEVER},
	{"240.0.0.1", REACH_NEVER},
	{"255.255.255.255", REACH_NEVER},

	{"::", REACH_NEVER},
	{"::1", REACH_LOOPBACK},
	{"::2", REACH_NEVER},
	{"::127.0.0.1", REACH_NEVER},
	/* IPv4 within IPv6 */
	{"::ffff:127.0.0.1", REACH_LOOPBACK},
	{"::ffff:169.254.169.254", REACH_LINK},
	{"::ffff:10.1.2.3", REACH_PRIVATE},
	{"::ffff:0.0.0.0", REACH_NEVER},
	{"::ffff:8.8.8.8", REACH_PUBLIC},
	{"::fffe:8.8.8.8", REACH_NEVER},
	{"64:ff9b::8.8.8.8", REACH_PUBLIC},
	{"64:ff9b::169.254.169.254", REACH_LINK},
	{"64:ff9b::127.0.0.1", REACH_LOOPBACK},
	{"64:ff9b::192.168.0.1", REACH_PRIVATE},
	{"64:ff9b:0:1::8.8.8.8", REACH_NEVER},
	{"64:ff9b:1::8.8.8.8", REACH_PRIVATE},
	{"64:ff9b:1:ffff::1", REACH_PRIVATE},
	{"64:ff9b:2::1", REACH_NEVER},
	{"2002:7f00:1::1", REACH_LOOPBACK},
	{"2002:a9fe:a9fe::1", REACH_LINK},
	{"2002:c0a8:1::1", REACH_PRIVATE},
	{"2002:808:808::1", REACH_PUBLIC},
	{"2002:e000:1::1", REACH_NEVER},
	/* blocks of their own use */
	{"100::1", REACH_NEVER},
	{"2001::1", REACH_NEVER},
	{"2001:0:4136:e378:8000:63bf:3fff:fdd2", REACH_NEVER},
	{"2001:2::1", REACH_PRIVATE},
	{"2001:10::1", REACH_NEVER},
	{"2001:1ff:ffff::1", REACH_NEVER},
	{"2001:200::1", REACH_PUBLIC},
	{"2001:db7:ffff::1", REACH_PUBLIC},
	{"2001:db8::1", REACH_PRIVATE},
	{"2001:db9::1", REACH_PUBLIC},
	{"2606:4700::1111", REACH_PUBLIC},
	{"3ffe:ffff::1", REACH_PUBLIC},
	{"3fff::1", REACH_PRIVATE},
	{"3fff:fff::1", REACH_PRIVATE},
	{"3fff:1000::1", REACH_PUBLIC},
	{"1fff::1", REACH_NEVER},
	{"4000::1", REACH_NEVER},
	{"5f00::1", REACH_NEVER},
	{"fbff::1", REACH_NEVER},
	{"fc00::1", REACH_PRIVATE},
	{"fd12:3456::1", REACH_PRIVATE},
	{"fd00:ec2::254", REACH_LINK},
	{"fd00:ec2::253", REACH_PRIVATE},
	{"fd20:ce::254", REACH_LINK},
	{"fdff:ffff::1", REACH_PRIVATE},
	{"fe00::1", REACH_NEVER},
	{"fe7f::1", REACH_NEVER},
	{"fe80::1", REACH_LINK},
	{"febf::1", REACH_LINK},
	{"fec0::1", REACH_PRIVATE},
	{"feff::1", REACH_PRIVATE},
	{"ff02::1", REACH_NEVER},
};

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

static union address address_of(const char *text)
{
	union address a = {.v6 = {.sin6_family = AF_INET6}};

	if (inet_pton(AF_INET6, text, &a.v6.sin6_addr) == 1)
		return a;
	a.v4 = (struct sockaddr_in){.sin_family = AF_INET};
	assert_int_equal(inet_pton(AF_INET, text, &a.v4.sin_addr), 1);
	return a;
}

static void range_of__table(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		union address a = address_of(ROWS[i].address);
		enum reach_range range = reach_range_of(&a.any);

		if (range != ROWS[i].range)
			fail_msg("%s: %s, not %s", ROWS[i].address,
				 reach_range_word(range),
				 reach_range_word(ROWS[i].range));
	}
}

static void range_of__no_address_of_the_internet__unusable(void **state)
{
	union address a = {.local = {.sun_family = AF_UNIX}};

	(void)state;
	assert_int_equal(reach_range_of(&a.any), REACH_NEVER);
}

/* One address of each range. */
static const struct row SAMPLES[] = {
	{"8.8.8.8", REACH_PUBLIC},	    {"127.0.0.1", REACH_LOOPBACK},
	{"::ffff:10.0.0.1", REACH_PRIVATE}, {"169.254.169.254", REACH_LINK},
	{"0.0.0.0", REACH_NEVER},
};

static bool is_allowed(const struct reach *r, const char *address)
{
	union address a = address_of(address);
	struct err err = {.msg = ""};
	bool is = reach_judge(r, STR("h.example"), &a.any, &err);

	/* a refusal says who and what, an assent nothing */
	assert_int_equal(is, !strstr(err.msg, "h.example is "));
	if (!is)
		assert_int_equal(err.kind, ERR_PEER);
	return is;
}

static void judge__what_the_user_named__all_but_unusable(void **state)
{
	struct reach r = reach_of_user();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(SAMPLES); i++)
		assert_int_equal(is_allowed(&r, SAMPLES[i].address),
				 SAMPLES[i].range != REACH_NEVER);
}

static void SEC_2__what_a_server_named__public_or_its_own_range(void **state)
{
	(void)state;
	for (size_t s = 0; s < ARRAY_LEN(SAMPLES); s++) {
		struct reach r = reach_of_server(SAMPLES[s].range);

		for (size_t i = 0; i < ARRAY_LEN(SAMPLES); i++)
			assert_int_equal(
				is_allowed(&r, SAMPLES[i].address),
				SAMPLES[i].range == REACH_PUBLIC ||
					(i == s &&
					 SAMPLES[i].range != REACH_NEVER));
	}
}

static void judge__plain_http__loopback_only(void **state)
{
	struct reach user = reach_of_user();
	struct reach remote = reach_of_server(REACH_PUBLIC);

	(void)state;
	user.is_loopback_only = remote.is_loopback_only = true;
	assert_true(is_allowed(&user, "127.0.0.1"));
	assert_true(is_allowed(&user, "::1"));
	assert_false(is_allowed(&user, "8.8.8.8"));
	assert_false(is_allowed(&user, "10.0.0.1"));
	assert_false(is_allowed(&remote, "127.0.0.1"));
	assert_false(is_allowed(&remote, "8.8.8.8"));
}

static bool never(void *arg, struct str host, const struct sockaddr *address,
		  struct err *err)
{
	(*(int *)arg)++;
	assert_int_equal(address->sa_family, AF_INET);
	err_set(err, ERR_PEER, "%.*s is leashed", STR_ARG(host));
	return false;
}

static void judge__further_rule__asked_last_and_obeyed(void **state)
{
	struct reach r = reach_of_server(REACH_PUBLIC);
	int asked = 0;

	(void)state;
	r.allows = never;
	r.arg = &asked;
	assert_false(is_allowed(&r, "127.0.0.1"));
	assert_int_equal(asked, 0);
	assert_false(is_allowed(&r, "8.8.8.8"));
	assert_int_equal(asked, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(range_of__table),
		cmocka_unit_test(
			range_of__no_address_of_the_internet__unusable),
		cmocka_unit_test(judge__what_the_user_named__all_but_unusable),
		cmocka_unit_test(
			SEC_2__what_a_server_named__public_or_its_own_range),
		cmocka_unit_test(judge__plain_http__loopback_only),
		cmocka_unit_test(judge__further_rule__asked_last_and_obeyed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
