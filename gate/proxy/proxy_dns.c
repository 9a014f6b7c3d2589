#include "gate/proxy/proxy_dns.h"

#include <string.h>

#define HEAD_BYTES 12
#define LABEL_MAX 63
#define CLASS_IN 1
/* A pointer to the name of the question, which follows the head. */
#define NAME_OF_QUESTION (0xc000 | HEAD_BYTES)
/* The address of a name stays what it is as long as the child lives. */
#define TTL_S 60

/* The two bytes of flags: RFC 1035, 4.1.1. */
enum {
	IS_ANSWER = 0x8000,
	OPCODE = 0x7800,
	RECURSION_DESIRED = 0x0100,
	RECURSION_AVAILABLE = 0x0080,
};

static uint16_t number_at(struct str in, size_t at)
{
	return (uint16_t)((uint8_t)in.p[at] << 8 | (uint8_t)in.p[at + 1]);
}

/*
 * Labels to the root. No pointers: in a first name they could only lead into
 * the head, or to themselves.
 *
 * returns  bytes that it takes, or 0: it is cut short, or no name
 */
static size_t read_name(struct str in, size_t at, struct dns_question *q)
{
	size_t from = at;

	while (at < in.n) {
		size_t n = (uint8_t)in.p[at++];

		if (at - from + n > DNS_NAME_BYTES)
			return 0;
		if (!n)
			return at - from;
		if (n > LABEL_MAX || at + n > in.n)
			return 0;
		if (q->name_bytes)
			q->name[q->name_bytes++] = '.';
		for (size_t i = 0; i < n; i++, at++)
			q->name[q->name_bytes++] =
				(char)(in.p[at] == '.' ? '\0' : in.p[at]);
	}
	return 0;
}

static enum dns_said wrong(struct dns_question *q, enum dns_code code)
{
	q->code = code;
	return DNS_WRONG;
}

enum dns_said dns_read(struct str packet, struct dns_question *ret)
{
	uint16_t flags;
	size_t n;

	*ret = (struct dns_question){.bytes = HEAD_BYTES};
	if (packet.n < HEAD_BYTES)
		return DNS_IGNORED;
	flags = number_at(packet, 2);
	/* two that answer each other would never end */
	if (flags & IS_ANSWER)
		return DNS_IGNORED;
	if (flags & OPCODE)
		return wrong(ret, DNS_NOT_KNOWN);
	/* further records may follow (EDNS), but they are no answers */
	if (number_at(packet, 4) != 1 || number_at(packet, 6) ||
	    number_at(packet, 8))
		return wrong(ret, DNS_MALFORMED);
	n = read_name(packet, HEAD_BYTES, ret);
	if (!n || packet.n < HEAD_BYTES + n + 4)
		return wrong(ret, DNS_MALFORMED);
	ret->bytes = HEAD_BYTES + n + 4;
	ret->type = number_at(packet, HEAD_BYTES + n);
	if (number_at(packet, HEAD_BYTES + n + 2) != CLASS_IN)
		return wrong(ret, DNS_NOT_KNOWN);
	return DNS_ASKED;
}

static void add_number(struct buf *out, unsigned n)
{
	const uint8_t bytes[] = {(uint8_t)(n >> 8), (uint8_t)n};

	buf_add(out, bytes, sizeof(bytes));
}

void dns_answer(struct str packet, const struct dns_question *q,
		enum dns_code code, const struct address *a, struct buf *out)
{
	const unsigned kept =
		number_at(packet, 2) & (OPCODE | RECURSION_DESIRED);
	const bool has_question = q->bytes > HEAD_BYTES;

	buf_add(out, packet.p, 2);
	add_number(out, IS_ANSWER | RECURSION_AVAILABLE | kept | code);
	add_number(out, has_question);
	add_number(out, a != NULL);
	add_number(out, 0);
	add_number(out, 0);
	if (has_question)
		buf_add(out, packet.p + HEAD_BYTES, q->bytes - HEAD_BYTES);
	if (!a)
		return;
	add_number(out, NAME_OF_QUESTION);
	add_number(out, DNS_TYPE_A);
	add_number(out, CLASS_IN);
	add_number(out, 0);
	add_number(out, TTL_S);
	add_number(out, 4);
	buf_add(out, a->bytes, 4);
}
