/* Who may connect to which class of address. */

#include "tests/unit/test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "core/transport/reach.h"

union sockaddr_any {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

static union sockaddr_any sockaddr_of(const char *text)
{
	union sockaddr_any a = {.v6 = {.sin6_family = AF_INET6}};

	if (inet_pton(AF_INET6, text, &a.v6.sin6_addr) == 1)
		return a;
	a.v4 = (struct sockaddr_in){.sin_family = AF_INET};
	assert_int_equal(inet_pton(AF_INET, text, &a.v4.sin_addr), 1);
	return a;
}

TEST(range_of, no_address_of_the_internet, unusable)
{
	union sockaddr_any a = {.local = {.sun_family = AF_UNIX}};

	assert_int_equal(reach_class_of(&a.any), ADDRESS_NEVER);
}

/* One address of each class; metadata services have their own rule. */
static const struct {
	const char *address;
	enum address_class range;
} SAMPLES[] = {
	{"8.8.8.8", ADDRESS_PUBLIC},	      {"127.0.0.1", ADDRESS_LOOPBACK},
	{"::ffff:10.0.0.1", ADDRESS_PRIVATE}, {"fe80::1", ADDRESS_LINK},
	{"0.0.0.0", ADDRESS_NEVER},
};

static bool is_allowed(const struct reach *r, const char *address)
{
	union sockaddr_any a = sockaddr_of(address);
	struct err err = {.msg = ""};
	bool is = reach_judge(r, STR("h.example"), &a.any, &err);

	/* a refusal says who and what, an assent nothing */
	assert_int_equal(is, !strstr(err.msg, "h.example is "));
	if (!is)
		assert_int_equal(err.kind, ERR_PEER);
	return is;
}

TEST(judge, what_the_user_named, all_but_unusable)
{
	struct reach r = reach_of_user();

	for (size_t i = 0; i < ARRAY_LEN(SAMPLES); i++)
		assert_int_equal(is_allowed(&r, SAMPLES[i].address),
				 SAMPLES[i].range != ADDRESS_NEVER);
}

TEST(SEC_2, what_a_server_named, public_or_its_own_range)
{
	for (size_t s = 0; s < ARRAY_LEN(SAMPLES); s++) {
		struct reach r = reach_of_server(SAMPLES[s].range);

		for (size_t i = 0; i < ARRAY_LEN(SAMPLES); i++)
			assert_int_equal(
				is_allowed(&r, SAMPLES[i].address),
				SAMPLES[i].range == ADDRESS_PUBLIC ||
					(i == s &&
					 SAMPLES[i].range != ADDRESS_NEVER));
	}
}

TEST(judge, metadata_service, only_as_the_address_itself)
{
	static const struct {
		const char *host, *address;
		bool user;
	} row[] = {
		{"mcp.example.com", "169.254.169.254", false},
		{"169.254.169.254", "169.254.169.254", true},
		{"mcp.example.com", "168.63.129.16", false},
		{"mcp.example.com", "100.100.100.200", false},
		{"100.100.100.200", "100.100.100.200", true},
		{"mcp.example.com", "fd00:ec2::254", false},
		{"[fd00:ec2::254]", "fd00:ec2::254", true},
		{"fd00:ec2::254", "fd00:ec2::254", true},
		{"mcp.example.com", "::ffff:169.254.169.254", false},
		{"169.254.169.254", "100.100.100.200", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		union sockaddr_any a = sockaddr_of(row[i].address);
		const struct reach user = reach_of_user();
		struct err err = ERR_INIT;

		if (reach_judge(&user, str_of(row[i].host), &a.any, &err) !=
		    row[i].user)
			fail_msg("%s at %s", row[i].host, row[i].address);
		for (int of = ADDRESS_PUBLIC; of <= ADDRESS_NEVER; of++) {
			const struct reach r =
				reach_of_server((enum address_class)of);

			assert_false(reach_judge(&r, str_of(row[i].host),
						 &a.any, &err));
		}
	}
}

TEST(judge, plain_http, loopback_only)
{
	struct reach user = reach_of_user();
	struct reach remote = reach_of_server(ADDRESS_PUBLIC);

	user.is_loopback_only = remote.is_loopback_only = true;
	assert_true(is_allowed(&user, "127.0.0.1"));
	assert_true(is_allowed(&user, "::1"));
	assert_false(is_allowed(&user, "8.8.8.8"));
	assert_false(is_allowed(&user, "10.0.0.1"));
	/* behind a translator it is another machine's */
	assert_false(is_allowed(&user, "64:ff9b::127.0.0.1"));
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

TEST(judge, further_rule, asked_last_and_obeyed)
{
	struct reach r = reach_of_server(ADDRESS_PUBLIC);
	int asked = 0;

	r.allows = never;
	r.arg = &asked;
	assert_false(is_allowed(&r, "127.0.0.1"));
	assert_int_equal(asked, 0);
	assert_false(is_allowed(&r, "8.8.8.8"));
	assert_int_equal(asked, 1);
}
