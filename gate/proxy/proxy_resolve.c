#include "gate/proxy/proxy_resolve.h"

/* ---- packets ---- */

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

/* Answer a packet that dns_read() has read. a  IPv4; NULL: no address */
static void dns_answer(struct str packet, const struct dns_question *q,
		       enum dns_code code, const struct address *a,
		       struct buf *out)
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

/* ---- names ---- */

static const struct address LOOPBACK = {.bytes = {127, 0, 0, 1}};

/* ---- what was refused ---- */

/* Written before the child can read its answer, so it is there when it ends. */
static void deny(struct proxy_share *s, const char *name,
		 enum proxy_outcome outcome)
{
	size_t i = 0;

	while (i < s->n_denials && (s->denials[i].outcome != outcome ||
				    strcmp(s->denials[i].name, name) != 0))
		i++;
	if (i == PROXY_DENIALS_MAX) {
		s->denials_dropped += proxy_named_as(outcome) == NAMED_DENIED;
		return;
	}
	if (i == s->n_denials) {
		s->denials[i] = (struct proxy_denial){.outcome = outcome};
		snprintf(s->denials[i].name, sizeof(s->denials[i].name), "%s",
			 name);
		s->n_denials++;
	}
	s->denials[i].count++;
}

static bool is_unreached(const struct proxy_denial *d)
{
	return proxy_named_as(d->outcome) == NAMED_UNREACHED;
}

/* Rows of refusals are not used up by endpoints that are down. */
static bool has_room(const struct proxy_share *s, enum proxy_outcome outcome)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_denials; i++)
		n += is_unreached(&s->denials[i]);
	return proxy_named_as(outcome) != NAMED_UNREACHED ||
	       n < PROXY_UNREACHED_MAX;
}

void proxy_reached(struct proxy_known *known, const struct endpoint_target *t)
{
	struct proxy_share *s = known->share;
	char name[ENDPOINT_TEXT_BYTES];

	endpoint_target_text(t, name);
	for (size_t i = 0; i < s->n_denials; i++)
		if (is_unreached(&s->denials[i]) &&
		    strcmp(s->denials[i].name, name) == 0)
			s->denials[i--] = s->denials[--s->n_denials];
}

void proxy_deny(struct proxy_known *known, const struct endpoint_target *t,
		enum proxy_outcome outcome)
{
	char name[ENDPOINT_TEXT_BYTES];

	if (!has_room(known->share, outcome))
		return;
	if (t && t->port)
		endpoint_target_text(t, name);
	else
		snprintf(name, sizeof(name), "%s", t ? t->host : "?");
	deny(known->share, name, outcome);
}

/* ---- domains that resolvers try ---- */

/* Is `tried` the name with a domain of the search list behind it? */
static bool is_try_of(const struct proxy_known *known, const char *tried,
		      const char *name)
{
	size_t n = strlen(name);

	if (strncmp(tried, name, n) != 0 || tried[n] != '.')
		return false;
	for (size_t i = 0; i < known->n_search; i++)
		if (strcmp(tried + n + 1, known->search[i]) == 0)
			return true;
	return false;
}

/* The name before a domain of the search list is granted, or named already. */
static bool is_known_try(const struct proxy_known *known,
			 const struct endpoint_target *t)
{
	const struct proxy_share *s = known->share;
	struct endpoint_target name = {.port = 0};

	for (size_t i = 0; i < known->n_search; i++) {
		size_t n = strlen(t->host), domain = strlen(known->search[i]);

		if (n < domain + 2)
			continue;
		memcpy(name.host, t->host, n - domain - 1);
		name.host[n - domain - 1] = '\0';
		if (is_try_of(known, t->host, name.host) &&
		    endpoint_names(known->rows, known->n_rows, &name))
			return true;
	}
	for (size_t i = 0; i < s->n_denials; i++)
		if (is_try_of(known, t->host, s->denials[i].name))
			return true;
	return false;
}

static bool is_denied(const struct proxy_share *s, const char *name)
{
	for (size_t i = 0; i < s->n_denials; i++)
		if (strcmp(s->denials[i].name, name) == 0)
			return true;
	return false;
}

/*
 * Resolvers ask for the name itself first or last, and for both kinds of
 * address, which is one look-up.
 */
static void deny_name(struct proxy_known *known, uint16_t type,
		      const struct endpoint_target *t)
{
	struct proxy_share *s = known->share;
	struct endpoint_target name = *t;

	name.port = 0;
	if (is_known_try(known, t) ||
	    (type != DNS_TYPE_A &&
	     (s->n_denials == PROXY_DENIALS_MAX || is_denied(s, t->host))))
		return;
	for (size_t i = 0; i < s->n_denials; i++)
		if (is_try_of(known, s->denials[i].name, t->host))
			s->denials[i--] = s->denials[--s->n_denials];
	proxy_deny(known, &name, PROXY_UNLISTED);
}

/* ---- answers ---- */

/* Names that no server of the world is asked for. */
static bool is_own_name(const char *host)
{
	return strcmp(host, "localhost") == 0 ||
	       str_ends(str_of(host), ".localhost");
}

/* Names of addresses: asked for by programs that want to show more. */
static bool is_reverse(const char *host)
{
	return str_ends(str_of(host), ".in-addr.arpa") ||
	       str_ends(str_of(host), ".ip6.arpa");
}

/* ret  stays NULL where there is no address */
static enum dns_code find_name(struct proxy_known *known,
			       const struct dns_question *q,
			       const struct address **ret)
{
	const struct str name = {q->name, q->name_bytes};
	/* any port: only connections have one */
	struct endpoint_target t;

	if (endpoint_target(name, 1, &t) < 0) {
		proxy_deny(known, NULL, PROXY_BAD_HOST);
		return DNS_NO_NAME;
	}
	if (t.is_address || is_reverse(t.host))
		return DNS_NO_NAME;
	if (is_own_name(t.host)) {
		*ret = &LOOPBACK;
		return DNS_FOUND;
	}
	if (!endpoint_names(known->rows, known->n_rows, &t)) {
		deny_name(known, q->type, &t);
		return DNS_NO_NAME;
	}
	*ret = proxy_names_add(&known->share->names, t.host, known->rows,
			       known->n_rows);
	if (*ret)
		return DNS_FOUND;
	t.port = 0;
	proxy_deny(known, &t, PROXY_TOO_MANY);
	return DNS_FAILED;
}

void proxy_resolve(struct proxy_known *known, struct str packet,
		   struct buf *answer)
{
	const struct address *a = NULL;
	struct dns_question q;
	enum dns_code code;

	switch (dns_read(packet, &q)) {
	case DNS_IGNORED:
		return;
	case DNS_WRONG:
		dns_answer(packet, &q, q.code, NULL, answer);
		return;
	case DNS_ASKED:
		break;
	}
	/* the root: programs ask for it to see whether someone answers */
	code = q.name_bytes ? find_name(known, &q, &a) : DNS_FOUND;
	dns_answer(packet, &q, code, q.type == DNS_TYPE_A ? a : NULL, answer);
}
