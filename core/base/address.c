#include "core/base/address.h"

#include <arpa/inet.h>

/* ---- the table ---- */

/* Where four bytes of IPv4 lie in IPv6: RFC 6052, 2.2; RFC 3056, 2. */
enum layout { AT_12, AT_9, AT_7, AT_6, AT_2 };

static const uint8_t layouts[][4] = {
	[AT_12] = {12, 13, 14, 15}, [AT_9] = {9, 10, 11, 12},
	[AT_7] = {7, 9, 10, 11},    [AT_6] = {6, 7, 9, 10},
	[AT_2] = {2, 3, 4, 5},
};

/* Layouts that a row carries, a bit each; the lowest is the likely one. */
enum {
	CARRIES_NOTHING = 0,
	CARRIES_LAST = 1 << AT_12,
	CARRIES_SECOND = 1 << AT_2,
	CARRIES_ANY = 1 << AT_12 | 1 << AT_9 | 1 << AT_7 | 1 << AT_6,
	/* the kernel takes it for IPv4; no translator is between */
	IS_MAPPED = 1 << 7,
	CARRIES_MAPPED = CARRIES_LAST | IS_MAPPED,
};

struct row {
	bool is_v6;
	uint8_t bits, carries;
	enum address_class class;
	uint8_t prefix[16];
	const char *what;
};

#define GROUP(g) (uint8_t)((g) >> 8), (uint8_t)(g)

static const struct row rows[] = {
#define V4(a, b, c, d, bits, class, what) \
	{false, bits, 0, ADDRESS_##class, {a, b, c, d}, what},
#define V6(a, b, c, d, e, f, g, h, bits, class, carries, what)        \
	{true,                                                        \
	 bits,                                                        \
	 CARRIES_##carries,                                           \
	 ADDRESS_##class,                                             \
	 {GROUP(a), GROUP(b), GROUP(c), GROUP(d), GROUP(e), GROUP(f), \
	  GROUP(g), GROUP(h)},                                        \
	 what},
#include "core/base/address.def"
#undef V4
#undef V6
};

static bool is_within(const struct row *r, const struct address *a)
{
	size_t whole = r->bits / 8, rest = r->bits % 8;

	if (r->is_v6 != a->is_v6 || memcmp(r->prefix, a->bytes, whole) != 0)
		return false;
	return !rest || (r->prefix[whole] ^ a->bytes[whole]) >> (8 - rest) == 0;
}

/* The last row of each family fits always. */
static const struct row *row_of(const struct address *a)
{
	const struct row *r = rows;

	while (!is_within(r, a))
		r++;
	return r;
}

/* ---- IPv4 inside IPv6 ---- */

static struct address carried(const struct address *a, size_t layout)
{
	struct address inner = {.is_v6 = false};

	for (size_t i = 0; i < 4; i++)
		inner.bytes[i] = a->bytes[layouts[layout][i]];
	return inner;
}

/*
 * The class of what is carried, where it counts. Behind a translator loopback
 * is nobody's, and zeros where the address does not lie are no address.
 */
static enum address_class class_carried(const struct row *r,
					const struct address *a, size_t layout)
{
	struct address inner = carried(a, layout);
	enum address_class class = row_of(&inner)->class;

	if (r->carries & IS_MAPPED)
		return class;
	if (class == ADDRESS_LOOPBACK)
		return ADDRESS_NEVER;
	return class == ADDRESS_NEVER && r->carries == CARRIES_ANY
		       ? ADDRESS_PUBLIC
		       : class;
}

enum address_class address_class_of(const struct address *a)
{
	const struct row *r = row_of(a);
	enum address_class worst = r->class;

	for (size_t i = 0; i < ARRAY_LEN(layouts); i++) {
		enum address_class one =
			r->carries >> i & 1 ? class_carried(r, a, i) : worst;

		worst = one > worst ? one : worst;
	}
	return worst;
}

bool address_inner(const struct address *a, struct address *ret)
{
	const struct row *r = row_of(a);

	for (size_t i = 0; i < ARRAY_LEN(layouts); i++)
		if (r->carries >> i & 1) {
			*ret = carried(a, i);
			return true;
		}
	return false;
}

const char *address_what(const struct address *a)
{
	struct address inner;

	/* the address meant says more than its spelling */
	if (address_inner(a, &inner) &&
	    address_class_of(&inner) == address_class_of(a))
		return row_of(&inner)->what;
	return row_of(a)->what;
}

bool address_equal(const struct address *a, const struct address *b)
{
	return a->is_v6 == b->is_v6 &&
	       memcmp(a->bytes, b->bytes, a->is_v6 ? 16 : 4) == 0;
}

bool address_same_peer(const struct address *a, const struct address *b)
{
	struct address x = *a, y = *b, inner;

	if (address_inner(a, &inner))
		x = inner;
	if (address_inner(b, &inner))
		y = inner;
	return address_equal(&x, &y);
}

/* ---- text and sockets ---- */

bool address_read(struct str text, struct address *ret)
{
	struct address a = {.is_v6 = false};
	char copy[ADDRESS_TEXT_BYTES];

	if (!text.n || text.n >= sizeof(copy) || memchr(text.p, '\0', text.n))
		return false;
	a.is_v6 = memchr(text.p, ':', text.n) != NULL;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	/* strict: no leading zeros, no fewer than four numbers, no zone */
	if (inet_pton(a.is_v6 ? AF_INET6 : AF_INET, copy, a.bytes) != 1)
		return false;
	*ret = a;
	return true;
}

bool address_of(const struct sockaddr *from, struct address *ret)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	*ret = (struct address){.is_v6 = from->sa_family == AF_INET6};
	if (from->sa_family == AF_INET) {
		memcpy(&v4, from, sizeof(v4));
		memcpy(ret->bytes, &v4.sin_addr, 4);
		return true;
	}
	if (from->sa_family != AF_INET6)
		return false;
	memcpy(&v6, from, sizeof(v6));
	memcpy(ret->bytes, &v6.sin6_addr, 16);
	return true;
}

struct address_socket address_socket(const struct address *a, uint16_t port)
{
	struct address_socket s = {.bytes = sizeof(s.v6)};

	if (a->is_v6) {
		s.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6,
					     .sin6_port = htons(port)};
		memcpy(&s.v6.sin6_addr, a->bytes, 16);
		return s;
	}
	s.bytes = sizeof(s.v4);
	s.v4 = (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port)};
	memcpy(&s.v4.sin_addr, a->bytes, 4);
	return s;
}

void address_text(const struct address *a, char out[ADDRESS_TEXT_BYTES])
{
	inet_ntop(a->is_v6 ? AF_INET6 : AF_INET, a->bytes, out,
		  ADDRESS_TEXT_BYTES);
}
