/*
 * Addresses of the internet as bytes, and which class each is of: one table
 * (address.def) for everything that decides who may be connected to. The
 * address is judged, not the name that led to it, and at each connection.
 *
 *	struct address a;
 *	if (address_read(STR("::ffff:10.0.0.1"), &a))
 *		address_class_of(&a)	ADDRESS_PRIVATE
 *
 * IPv4 that IPv6 carries (mapped, translated, 6to4) counts as what it is.
 *
 * Pure.
 */
#ifndef CORE_BASE_ADDRESS_H
#define CORE_BASE_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "core/base/attr.h"
#include "core/base/str.h"

/* In the order in which the greater wins. */
enum address_class {
	ADDRESS_PUBLIC,
	ADDRESS_PRIVATE, /* any network but the internet */
	ADDRESS_LINK,
	ADDRESS_LOOPBACK, /* of this machine */
	ADDRESS_METADATA, /* hands out a machine's credentials */
	ADDRESS_NEVER,	  /* no peer has it */
};

/* IPv4 as it is, IPv6 as it is; never one inside the other. */
struct address {
	bool is_v6;
	uint8_t bytes[16]; /* network order; the first 4 of IPv4 */
};

/* The longest, "xxxx:…:255.255.255.255", and the NUL: INET6_ADDRSTRLEN. */
#define ADDRESS_TEXT_BYTES 46

/* Four decimal numbers, or IPv6 without brackets and zone. */
bool address_read(struct str text, struct address *ret) MUST_USE;
/* false: neither AF_INET nor AF_INET6 */
bool address_of(const struct sockaddr *from, struct address *ret) MUST_USE;
/* An address and a port as bind(2) and connect(2) take them. */
struct address_socket {
	socklen_t bytes; /* of the one that it is */
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
};
struct address_socket address_socket(const struct address *a, uint16_t port)
	MUST_USE;
/* Without brackets. */
void address_text(const struct address *a, char out[ADDRESS_TEXT_BYTES]);

enum address_class address_class_of(const struct address *a) MUST_USE;
/* Text of the table for an address: "private (RFC 1918)" */
const char *address_what(const struct address *a) MUST_USE;

/* IPv4 that an IPv6 address carries; false when it carries none. */
bool address_inner(const struct address *a, struct address *ret) MUST_USE;
bool address_equal(const struct address *a, const struct address *b) MUST_USE;
/* Both lead to one peer: IPv4 inside IPv6 is that of the same number. */
bool address_same_peer(const struct address *a, const struct address *b)
	MUST_USE;

#endif
