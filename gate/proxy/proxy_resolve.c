#include "gate/proxy/proxy_resolve.h"

#include <string.h>

#include "gate/proxy/proxy_dns.h"

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
		s->denials_dropped++;
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

void proxy_deny(struct proxy_known *known, const struct endpoint_target *t,
		enum proxy_outcome outcome)
{
	char name[ENDPOINT_TEXT_BYTES];

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
