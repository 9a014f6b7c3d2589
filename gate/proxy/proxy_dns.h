/*
 * Questions and answers of the domain name system as bytes (RFC 1035, 4): as
 * much of it as the resolver of a child's network needs, which is one
 * question with one name, and an address or none.
 *
 *	switch (dns_read(packet, &question)) {
 *	case DNS_IGNORED:    no question: answer nothing
 *	case DNS_WRONG:      dns_answer(packet, &question, question.code, ...)
 *	case DNS_ASKED:      judge question.name, dns_answer()
 *	}
 *
 * Pure: the bytes are those of a hostile program.
 */
#ifndef GATE_PROXY_PROXY_DNS_H
#define GATE_PROXY_PROXY_DNS_H

#include <stdint.h>

#include "core/base/address.h"
#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/str.h"

/* The longest question, in any packet. */
#define DNS_QUESTION_BYTES 1024
/* The longest answer: head, question, address. */
#define DNS_ANSWER_BYTES (12 + 255 + 4 + 16)
/* RFC 1035, 2.3.4: length bytes and root included. */
#define DNS_NAME_BYTES 255

enum dns_type { DNS_TYPE_A = 1 };

/* RFC 1035, 4.1.1; RFC 2136, 2.2 */
enum dns_code {
	DNS_FOUND = 0, /* also without an address of that type */
	DNS_MALFORMED = 1,
	DNS_FAILED = 2,
	DNS_NO_NAME = 3,
	DNS_NOT_KNOWN = 4,
};

enum dns_said { DNS_IGNORED, DNS_WRONG, DNS_ASKED };

struct dns_question {
	enum dns_code code; /* when wrong */
	uint16_t type;
	/* Labels and dots, as they came; a dot or a NUL inside of a label is a
	   NUL, which no host has. Empty: the root. */
	char name[DNS_NAME_BYTES];
	size_t name_bytes;
	size_t bytes; /* of the packet, to the end of the question */
};

enum dns_said dns_read(struct str packet, struct dns_question *ret) MUST_USE;

/*
 * The answer to a packet that dns_read() has read.
 * a  IPv4; NULL: no address
 */
void dns_answer(struct str packet, const struct dns_question *q,
		enum dns_code code, const struct address *a, struct buf *out);

#endif
