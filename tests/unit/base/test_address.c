/* Which class each address is of, at the edges of every range. */

#include "tests/unit/test.h"

#include "core/base/address.h"

#define PUBLIC ADDRESS_PUBLIC
#define PRIVATE ADDRESS_PRIVATE
#define LINK ADDRESS_LINK
#define LOOPBACK ADDRESS_LOOPBACK
#define METADATA ADDRESS_METADATA
#define NEVER ADDRESS_NEVER

/* First and last of a range; the class there, one before, one after. */
static const struct {
	const char *first, *last;
	enum address_class is, before, after;
} RANGES[] = {
	/* 0.0.0.0 and 255.255.255.255 have one neighbour, the other wraps */
	{"0.0.0.0", "0.255.255.255", NEVER, NEVER, PUBLIC},
	{"10.0.0.0", "10.255.255.255", PRIVATE, PUBLIC, PUBLIC},
	{"100.64.0.0", "100.127.255.255", PRIVATE, PUBLIC, PUBLIC},
	{"100.100.100.200", "100.100.100.200", METADATA, PRIVATE, PRIVATE},
	{"127.0.0.0", "127.255.255.255", LOOPBACK, PUBLIC, PUBLIC},
	{"168.63.129.16", "168.63.129.16", METADATA, PUBLIC, PUBLIC},
	{"169.254.0.0", "169.254.255.255", LINK, PUBLIC, PUBLIC},
	{"169.254.0.23", "169.254.0.23", METADATA, LINK, LINK},
	{"169.254.42.42", "169.254.42.42", METADATA, LINK, LINK},
	{"169.254.169.254", "169.254.169.254", METADATA, LINK, LINK},
	{"169.254.170.2", "169.254.170.2", METADATA, LINK, LINK},
	{"169.254.170.23", "169.254.170.23", METADATA, LINK, LINK},
	{"172.16.0.0", "172.31.255.255", PRIVATE, PUBLIC, PUBLIC},
	{"192.0.0.0", "192.0.0.255", PRIVATE, PUBLIC, PUBLIC},
	{"192.0.0.192", "192.0.0.192", METADATA, PRIVATE, PRIVATE},
	{"192.0.2.0", "192.0.2.255", PRIVATE, PUBLIC, PUBLIC},
	{"192.88.99.0", "192.88.99.255", NEVER, PUBLIC, PUBLIC},
	{"192.168.0.0", "192.168.255.255", PRIVATE, PUBLIC, PUBLIC},
	{"198.18.0.0", "198.19.255.255", PRIVATE, PUBLIC, PUBLIC},
	{"198.51.100.0", "198.51.100.255", PRIVATE, PUBLIC, PUBLIC},
	{"203.0.113.0", "203.0.113.255", PRIVATE, PUBLIC, PUBLIC},
	{"224.0.0.0", "239.255.255.255", NEVER, PUBLIC, NEVER},
	{"240.0.0.0", "255.255.255.255", NEVER, NEVER, NEVER},

	{"::", "::", NEVER, NEVER, LOOPBACK},
	{"::1", "::1", LOOPBACK, NEVER, NEVER},
	/* IPv4-compatible */
	{"::2", "::ffff:ffff", NEVER, LOOPBACK, NEVER},
	{"::127.0.0.1", "::127.0.0.1", NEVER, NEVER, NEVER},
	/* IPv4-mapped: as the IPv4 address */
	{"::ffff:0.0.0.0", "::ffff:0.255.255.255", NEVER, NEVER, PUBLIC},
	{"::ffff:10.0.0.0", "::ffff:10.255.255.255", PRIVATE, PUBLIC, PUBLIC},
	{"::ffff:127.0.0.0", "::ffff:127.255.255.255", LOOPBACK, PUBLIC,
	 PUBLIC},
	{"::ffff:169.254.169.254", "::ffff:169.254.169.254", METADATA, LINK,
	 LINK},
	{"::ffff:168.63.129.16", "::ffff:168.63.129.16", METADATA, PUBLIC,
	 PUBLIC},
	{"::ffff:255.255.255.255", "::ffff:255.255.255.255", NEVER, NEVER,
	 NEVER},
	/* translated (SIIT): a translator of this network stands between */
	{"::ffff:0:1.0.0.0", "::ffff:0:9.255.255.255", PRIVATE, NEVER, PRIVATE},
	{"::ffff:0:127.0.0.0", "::ffff:0:127.255.255.255", NEVER, PRIVATE,
	 PRIVATE},
	{"::ffff:0:169.254.169.254", "::ffff:0:169.254.169.254", METADATA, LINK,
	 LINK},
	{"::fffe:ffff:ffff:ffff", "::fffe:ffff:ffff:ffff", NEVER, NEVER, NEVER},
	{"::ffff:1:0:0", "::ffff:1:0:0", NEVER, NEVER, NEVER},
	/* NAT64 */
	{"64:ff9b::1.0.0.0", "64:ff9b::9.255.255.255", PUBLIC, NEVER, PRIVATE},
	{"64:ff9b::10.0.0.0", "64:ff9b::10.255.255.255", PRIVATE, PUBLIC,
	 PUBLIC},
	{"64:ff9b::127.0.0.0", "64:ff9b::127.255.255.255", NEVER, PUBLIC,
	 PUBLIC},
	{"64:ff9b::169.254.169.254", "64:ff9b::169.254.169.254", METADATA, LINK,
	 LINK},
	{"64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff",
	 "64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff", NEVER, NEVER, NEVER},
	{"64:ff9b::1:0:0", "64:ff9b:0:ffff:ffff:ffff:ffff:ffff", NEVER, NEVER,
	 PRIVATE},
	/* local NAT64, wherever the address lies in it */
	{"64:ff9b:1::", "64:ff9b:1::9.255.255.255", PRIVATE, NEVER, PRIVATE},
	{"64:ff9b:1::169.254.169.254", "64:ff9b:1::169.254.169.254", METADATA,
	 LINK, LINK},
	{"64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1:a9fe:a9:fe00:ff:ffff", METADATA,
	 LINK, METADATA},
	{"64:ff9b:1:a9:fe:a9fe::", "64:ff9b:1:a9:fe:a9fe:0:ffff", METADATA,
	 LINK, METADATA},
	{"64:ff9b:1:0:a9:fea9:fe00:0", "64:ff9b:1:0:a9:fea9:fe00:ffff",
	 METADATA, LINK, METADATA},
	{"64:ff9b:2::", "64:ff9b:2::", NEVER, PRIVATE, NEVER},
	/* 6to4 */
	{"2002:100::", "2002:9ff:ffff:ffff:ffff:ffff:ffff:ffff", PUBLIC, NEVER,
	 PRIVATE},
	{"2002:a00::", "2002:aff:ffff:ffff:ffff:ffff:ffff:ffff", PRIVATE,
	 PUBLIC, PUBLIC},
	{"2002:7f00::", "2002:7fff:ffff:ffff:ffff:ffff:ffff:ffff", NEVER,
	 PUBLIC, PUBLIC},
	{"2002:a9fe:a9fe::", "2002:a9fe:a9fe:ffff:ffff:ffff:ffff:ffff",
	 METADATA, LINK, LINK},
	{"2002:e000::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NEVER,
	 PUBLIC, PUBLIC},
	/* Teredo, and the rest of the block of protocols */
	{"2001::", "2001::ffff:ffff:ffff:ffff:ffff:ffff", NEVER, PUBLIC, NEVER},
	{"2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", PRIVATE, NEVER,
	 NEVER},
	{"2001:3::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", NEVER, NEVER,
	 PUBLIC},
	{"2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", PRIVATE,
	 PUBLIC, PUBLIC},
	{"3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", PRIVATE, PUBLIC,
	 PUBLIC},
	{"2003::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", PUBLIC, NEVER,
	 PRIVATE},
	{"100::", "100::ffff:ffff:ffff:ffff", NEVER, NEVER, NEVER},
	{"4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NEVER, PUBLIC,
	 PRIVATE},
	{"fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", PRIVATE, NEVER,
	 NEVER},
	{"fd00:ec2::23", "fd00:ec2::23", METADATA, PRIVATE, PRIVATE},
	{"fd00:ec2::254", "fd00:ec2::254", METADATA, PRIVATE, PRIVATE},
	{"fd20:ce::254", "fd20:ce::254", METADATA, PRIVATE, PRIVATE},
	{"fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", LINK, NEVER,
	 PRIVATE},
	{"fe80::a9fe:a9fe", "fe80::a9fe:a9fe", METADATA, LINK, LINK},
	{"fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", PRIVATE, LINK,
	 NEVER},
	{"ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NEVER, PRIVATE,
	 NEVER},
};

static struct address read_address(const char *text)
{
	struct address a;

	if (!address_read(str_of(text), &a))
		fail_msg("%s", text);
	return a;
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

static void expect(const struct address *a, enum address_class want)
{
	enum address_class is = address_class_of(a);
	char text[ADDRESS_TEXT_BYTES];

	address_text(a, text);
	if (is != want)
		fail_msg("%s: %d, not %d", text, is, want);
	/* what is said of it is never nothing */
	assert_int_not_equal(address_what(a)[0], '\0');
}

TEST(class, at_the_edges_of_each_range, is_as_listed)
{
	for (size_t i = 0; i < ARRAY_LEN(RANGES); i++) {
		struct address first = read_address(RANGES[i].first);
		struct address last = read_address(RANGES[i].last);
		struct address before = step(first, -1), after = step(last, 1);

		expect(&first, RANGES[i].is);
		expect(&last, RANGES[i].is);
		expect(&before, RANGES[i].before);
		expect(&after, RANGES[i].after);
	}
}

TEST(what, of_ipv4_inside, is_said_of_what_it_leads_to)
{
	static const struct {
		const char *address, *says;
	} row[] = {
		{"10.1.2.3", "private (RFC 1918)"},
		{"::ffff:10.1.2.3", "private (RFC 1918)"},
		{"64:ff9b::a9fe:a9fe", "a metadata service (most clouds)"},
		{"::ffff:0:8.8.8.8", "for translators (RFC 2765)"},
		{"::127.0.0.1", "IPv4-compatible (RFC 4291)"},
		{"2a00::1", "public"},
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct address a = read_address(row[i].address);

		assert_string_equal(address_what(&a), row[i].says);
	}
}

TEST(read, other_spellings, are_no_address)
{
	static const char *const texts[] = {
		"",	     "127.1",	   "0x7f.0.0.1", "010.0.0.1",
		"1.2.3",     "1.2.3.4.5",  "2130706433", "[::1]",
		"fe80::1%1", "::ffff:1.2", "1.2.3.4 ",	 "localhost",
	};
	struct address a;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (address_read(str_of(texts[i]), &a))
			fail_msg("%s", texts[i]);
	assert_false(address_read((struct str){"1.2.3.4\0", 8}, &a));
}

TEST(same_peer, however_it_is_written, found)
{
	static const struct {
		const char *a, *b;
		bool same;
	} cases[] = {
		{"93.184.216.34", "93.184.216.34", true},
		{"93.184.216.34", "::ffff:93.184.216.34", true},
		{"64:ff9b::5db8:d822", "93.184.216.34", true},
		{"2002:5db8:d822::1", "::ffff:93.184.216.34", true},
		{"::ffff:0:5db8:d822", "93.184.216.34", true},
		{"2a00::1", "2a00::1", true},
		{"2a00::1", "2a00::2", false},
		{"93.184.216.34", "::ffff:93.184.216.35", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct address a = read_address(cases[i].a);
		struct address b = read_address(cases[i].b);

		if (address_same_peer(&a, &b) != cases[i].same)
			fail_msg("%s, %s", cases[i].a, cases[i].b);
	}
}
