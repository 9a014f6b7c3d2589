#include "core/transport/reach.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>

/* ---- tables; the first row that fits counts ---- */

struct row4 {
	uint8_t prefix[4];
	unsigned bits;
	enum reach_range range;
};

static const struct row4 rows4[] = {
	/* metadata services outside of 169.254/16: Alibaba, Oracle */
	{{100, 100, 100, 200}, 32, REACH_LINK},
	{{192, 0, 0, 192}, 32, REACH_LINK},
	{{0, 0, 0, 0}, 8, REACH_NEVER}, /* "this network"; Linux: itself */
	{{10, 0, 0, 0}, 8, REACH_PRIVATE},
	{{100, 64, 0, 0}, 10, REACH_PRIVATE}, /* shared by carriers */
	{{127, 0, 0, 0}, 8, REACH_LOOPBACK},
	{{169, 254, 0, 0}, 16, REACH_LINK},
	{{172, 16, 0, 0}, 12, REACH_PRIVATE},
	{{192, 0, 0, 0}, 24, REACH_NEVER}, /* protocol assignments */
	/* For documentation and benchmarks: never public, in use in labs. */
	{{192, 0, 2, 0}, 24, REACH_PRIVATE},
	{{198, 51, 100, 0}, 24, REACH_PRIVATE},
	{{203, 0, 113, 0}, 24, REACH_PRIVATE},
	{{198, 18, 0, 0}, 15, REACH_PRIVATE},
	{{192, 88, 99, 0}, 24, REACH_NEVER}, /* relays of 6to4, ended */
	{{192, 168, 0, 0}, 16, REACH_PRIVATE},
	{{224, 0, 0, 0}, 4, REACH_NEVER}, /* multicast */
	{{240, 0, 0, 0}, 4, REACH_NEVER}, /* reserved, and broadcast */
	{{0, 0, 0, 0}, 0, REACH_PUBLIC},
};

struct row6 {
	uint8_t prefix[16];
	unsigned bits;
	int embedded; /* where an IPv4 address lies that counts; 0: none */
	enum reach_range range;
};

/* clang-format off */
static const struct row6 rows6[] = {
	{{[15] = 1}, 128, 0, REACH_LOOPBACK},
	{{[10] = 0xff, 0xff}, 96, 12, REACH_NEVER},	/* mapped */
	{{0, 0x64, 0xff, 0x9b}, 96, 12, REACH_NEVER},	/* NAT64 */
	{{0, 0x64, 0xff, 0x9b, 0, 1}, 48, 0, REACH_PRIVATE},
	{{0x20, 0x02}, 16, 2, REACH_NEVER},		/* 6to4 */
	/* Teredo has ended, as has ORCHID; the rest of the block is no host's */
	{{0x20, 0x01, 0, 0x02}, 48, 0, REACH_PRIVATE},	/* benchmarks */
	{{0x20, 0x01}, 23, 0, REACH_NEVER},
	{{0x20, 0x01, 0x0d, 0xb8}, 32, 0, REACH_PRIVATE}, /* documentation */
	{{0x3f, 0xff}, 20, 0, REACH_PRIVATE},		/* documentation */
	{{0x20}, 3, 0, REACH_PUBLIC},
	/* metadata services: Amazon, Google */
	{{0xfd, 0, 0x0e, 0xc2, [14] = 0x02, 0x54}, 128, 0, REACH_LINK},
	{{0xfd, 0x20, 0, 0xce, [14] = 0x02, 0x54}, 128, 0, REACH_LINK},
	{{0xfc}, 7, 0, REACH_PRIVATE},			/* unique local */
	{{0xfe, 0x80}, 10, 0, REACH_LINK},
	{{0xfe, 0xc0}, 10, 0, REACH_PRIVATE},		/* site-local, old */
	/* unspecified, IPv4-compatible, discard, multicast, not assigned */
	{{0}, 0, 0, REACH_NEVER},
};
/* clang-format on */

static bool is_within(const uint8_t *address, const uint8_t *prefix,
		      unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;
	uint8_t mask = (uint8_t)(0xff00 >> rest);

	return memcmp(address, prefix, whole) == 0 &&
	       (!rest || !((address[whole] ^ prefix[whole]) & mask));
}

static enum reach_range range4(const uint8_t *address)
{
	size_t i = 0;

	while (!is_within(address, rows4[i].prefix, rows4[i].bits))
		i++;
	return rows4[i].range;
}

static enum reach_range range6(const uint8_t *address)
{
	size_t i = 0;

	while (!is_within(address, rows6[i].prefix, rows6[i].bits))
		i++;
	if (rows6[i].embedded)
		return range4(address + rows6[i].embedded);
	return rows6[i].range;
}

enum reach_range reach_range_of(const struct sockaddr *address)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	switch (address->sa_family) {
	case AF_INET:
		memcpy(&v4, address, sizeof(v4));
		return range4((const uint8_t *)&v4.sin_addr);
	case AF_INET6:
		memcpy(&v6, address, sizeof(v6));
		return range6((const uint8_t *)&v6.sin6_addr);
	default:
		return REACH_NEVER;
	}
}

const char *reach_range_word(enum reach_range range)
{
	static const char *const words[] = {
#define REACH_RANGE(name, word) [name] = (word),
		REACH_RANGES(REACH_RANGE)
#undef REACH_RANGE
	};

	return words[range];
}

struct reach reach_of_user(void)
{
	return (struct reach){.loopback = true, .private = true, .link = true};
}

struct reach reach_of_server(enum reach_range of_server)
{
	return (struct reach){
		.loopback = of_server == REACH_LOOPBACK,
		.private = of_server == REACH_PRIVATE,
		.link = of_server == REACH_LINK,
	};
}

/* ---- judgement ---- */

static bool is_range_allowed(const struct reach *r, enum reach_range range)
{
	switch (range) {
	case REACH_PUBLIC:
		return true;
	case REACH_LOOPBACK:
		return r->loopback;
	case REACH_PRIVATE:
		return r->private;
	case REACH_LINK:
		return r->link;
	case REACH_NEVER:
		break;
	}
	return false;
}

static const char *address_text(const struct sockaddr *address,
				char text[INET6_ADDRSTRLEN])
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	if (address->sa_family == AF_INET) {
		memcpy(&v4, address, sizeof(v4));
		return inet_ntop(AF_INET, &v4.sin_addr, text, INET6_ADDRSTRLEN);
	}
	if (address->sa_family == AF_INET6) {
		memcpy(&v6, address, sizeof(v6));
		return inet_ntop(AF_INET6, &v6.sin6_addr, text,
				 INET6_ADDRSTRLEN);
	}
	return "no address of the internet";
}

bool reach_judge(const struct reach *r, struct str host,
		 const struct sockaddr *address, struct err *err)
{
	enum reach_range range = reach_range_of(address);
	char buffer[INET6_ADDRSTRLEN];
	const char *text = address_text(address, buffer);

	if (range == REACH_NEVER) {
		err_set(err, ERR_PEER,
			"%.*s is %s, which nothing can be connected to by "
			"(unspecified, multicast or reserved)",
			STR_ARG(host), text);
		return false;
	}
	if (r->is_loopback_only && range != REACH_LOOPBACK) {
		err_set(err, ERR_PEER,
			"%.*s is %s, which is not this machine: plain http "
			"goes to loopback addresses only; use https",
			STR_ARG(host), text);
		return false;
	}
	if (!is_range_allowed(r, range)) {
		err_set(err, ERR_PEER,
			"%.*s is %s, a %s address: a server may only name "
			"public addresses, or those of its own range",
			STR_ARG(host), text, reach_range_word(range));
		return false;
	}
	return !r->allows || r->allows(r->arg, host, address, err);
}
