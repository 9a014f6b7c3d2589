/*
 * Names in the network of one child, and the addresses that stand for them
 * there: 198.18.0.0/15, which no network of the world has (RFC 2544).
 *
 * An address belongs to one name for as long as the child lives, so a
 * connection tells by its address which name was meant. An address of
 * /etc/hosts belongs to its name as well: the child looks there first.
 *
 *	struct proxy_names names = {0};
 *	a = proxy_names_add(&names, "api.example.com", rows, n_rows);
 *	proxy_names_target(&names, a, 443, rows, n_rows, &target);
 *	... "api.example.com:443"
 *
 * Pure.
 */
#ifndef GATE_PROXY_PROXY_NAMES_H
#define GATE_PROXY_PROXY_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/address.h"
#include "core/base/attr.h"
#include "core/base/str.h"
#include "gate/policy/endpoint.h"

/* A crawler of "*.example.com" meets fewer; 1.1 MiB, where they are used. */
#define PROXY_NAMES_MAX 4096
/* Names out of /etc/hosts among them. */
#define PROXY_NAMES_OF_HOSTS 64

struct proxy_names {
	uint32_t n;
	uint32_t used; /* addresses of the range that were given out */
	struct proxy_name {
		struct address address;
		char host[ENDPOINT_HOST_BYTES]; /* folded */
	} row[PROXY_NAMES_MAX];
};

/*
 * IPv4 address of a name; a new one gets the next that is no row of its own.
 *
 * host     folded, as of struct endpoint_target
 * returns  NULL when all rows are used
 */
const struct address *proxy_names_add(struct proxy_names *t, const char *host,
				      const struct endpoint *rows,
				      size_t n_rows) MUST_USE;
/*
 * The target of a connection to an address: the name that it stands for and
 * that is granted at this port, else the address where that is granted, else
 * what the refusal is to name.
 */
void proxy_names_target(const struct proxy_names *t, const struct address *a,
			uint16_t port, const struct endpoint *rows,
			size_t n_rows, struct endpoint_target *ret);

/*
 * Add what /etc/hosts says of names that a row grants by name. Loopback is
 * left out: there the child finds itself.
 *
 * text  of the file
 */
void proxy_names_read(struct proxy_names *t, struct str text,
		      const struct endpoint *rows, size_t n_rows);

#endif
