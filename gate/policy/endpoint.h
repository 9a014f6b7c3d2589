/*
 * Endpoints: the rows of `net`, what a program asks to be connected to, and
 * whether the one allows the other.
 *
 * A row is parsed once, with the policy. A target comes from a hostile
 * program; it is parsed by the same rules for names, judged as a name before
 * anybody looks it up, and each address that the name leads to is judged
 * again before it is connected to.
 *
 *	struct endpoint row;
 *	endpoint_parse("*.example.org", &row, err);
 *	struct endpoint_target t;
 *	if (endpoint_target(host, port, &t) != 0)
 *		refuse, it is no host
 *	grant = endpoint_judge(rows, n, &t);
 *	if (grant == ENDPOINT_REFUSED)
 *		refuse
 *	... for each address: if (endpoint_reaches(grant, &address)) connect
 *
 * Names: letters, digits, hyphens and underscores in labels of 1 to 63, at
 * most 253 in all, one trailing dot ignored, upper case folded. A name whose
 * last label is a number is an IPv4 address and must be written as four
 * decimal numbers without leading zeros; all other ways to write one (0x7f.1,
 * 2130706433, 127.1) are refused, and so are zone ids, percent signs, control
 * bytes and NUL.
 *
 * Pure.
 */
#ifndef GATE_POLICY_ENDPOINT_H
#define GATE_POLICY_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/address.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/str.h"

/* RFC 1035, 2.3.4, as text without the trailing dot; and the NUL. */
#define ENDPOINT_HOST_BYTES 254
/* "[", a host, "]:65535" and the NUL. */
#define ENDPOINT_TEXT_BYTES (ENDPOINT_HOST_BYTES + 8)

enum endpoint_kind {
	ENDPOINT_PORT,	  /* ":443": any public host */
	ENDPOINT_HOST,	  /* "example.com": this name */
	ENDPOINT_BENEATH, /* "*.example.com": names beneath, not itself */
	ENDPOINT_ADDRESS, /* "10.0.0.5:8080": this address */
	ENDPOINT_FORWARD, /* "127.0.0.1:5432": on the loopback of the host */
};

struct endpoint {
	enum endpoint_kind kind;
	bool public_only; /* a HOST that a leash allows by "*.…" only */
	uint16_t port;	  /* 0: 443 and 80; never with PORT and FORWARD */
	char host[ENDPOINT_HOST_BYTES]; /* of HOST and BENEATH, folded */
	struct address address;		/* of ADDRESS and FORWARD */
};

/*
 * Refuse a misspelt word, which looks like the name of a host.
 * errors  ERR_POLICY with the word that was meant
 */
int endpoint_check_word(const char *row, struct err *err) MUST_USE;

/*
 * Parse a row.
 * errors  ERR_POLICY  what is wrong with it and what to write instead
 */
int endpoint_parse(const char *row, struct endpoint *ret, struct err *err)
	MUST_USE;
/* The row as it would be written; `out` gets at most ENDPOINT_TEXT_BYTES. */
void endpoint_text(const struct endpoint *e, struct buf *out);

/* Ports of a row: its own, or 443 and 80. Returns how many. */
size_t endpoint_ports(const struct endpoint *e, uint16_t ret[2]);

/*
 * Meet two rows: what both allow; false when that is nothing. A port alone
 * meets every host at that port, "*.d" the names beneath d.
 */
bool endpoint_meet(const struct endpoint *a, const struct endpoint *b,
		   struct endpoint *ret) MUST_USE;
/* Everything that b allows is allowed by a. */
bool endpoint_covers(const struct endpoint *a, const struct endpoint *b)
	MUST_USE;

/* ---- what a program asks for ---- */

struct endpoint_target {
	bool is_address;
	char host[ENDPOINT_HOST_BYTES]; /* folded; an address as text */
	struct address address;
	uint16_t port;
};

/*
 * host     bytes from outside: a name, "1.2.3.4", or IPv6 without brackets
 * returns  0, or -1 when it is no host by the rules above, or the port is 0
 */
int endpoint_target(struct str host, uint16_t port, struct endpoint_target *ret)
	MUST_USE;
/* From an address that came as bytes. */
int endpoint_target_bytes(const uint8_t *bytes, bool is_v6, uint16_t port,
			  struct endpoint_target *ret) MUST_USE;
/*
 * From "host:port" or "[v6]:port"; `port` when none is written, 0 = there
 * must be one.
 */
int endpoint_target_authority(struct str text, uint16_t port,
			      struct endpoint_target *ret) MUST_USE;
/* "example.com:443", "[2001:db8::1]:443" */
void endpoint_target_text(const struct endpoint_target *t,
			  char out[ENDPOINT_TEXT_BYTES]);

/* How much a target is granted; more is greater. */
enum endpoint_grant {
	ENDPOINT_REFUSED,
	ENDPOINT_PUBLIC,  /* where it leads to a public address */
	ENDPOINT_PRIVATE, /* or to one of a private network */
	ENDPOINT_LITERAL, /* a listed address, whatever its class */
};

enum endpoint_grant endpoint_judge(const struct endpoint *rows, size_t n,
				   const struct endpoint_target *t) MUST_USE;
/* Is the name granted at some port? The port of the target is not looked at. */
bool endpoint_names(const struct endpoint *rows, size_t n,
		    const struct endpoint_target *t) MUST_USE;

/*
 * May a target with this grant be connected to this address? A name leads to
 * public addresses, an exact one to private ones as well; to this machine, its
 * link and metadata services leads none but the address itself.
 */
bool endpoint_reaches(enum endpoint_grant grant, const struct address *a)
	MUST_USE;

#endif
