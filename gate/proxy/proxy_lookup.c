/*
 * Names to addresses by the C library, which knows /etc/hosts, the
 * configuration of this machine and the wire format; in threads of its own,
 * so that a dead name server stops no other connection.
 */
#include <netdb.h>
#include <signal.h>

#include "core/base/mem.h"
#include "gate/policy/endpoint.h"
#include "gate/proxy/proxy_lookup.h"

struct lookup {
	struct lookup *next; /* among the abandoned ones */
	struct gaicb request;
	struct addrinfo hints;
	char name[ENDPOINT_HOST_BYTES];
};

static struct lookup *abandoned;

static void free_lookup(struct lookup *l)
{
	if (l->request.ar_result)
		freeaddrinfo(l->request.ar_result);
	free(l);
}

struct lookup *lookup_start(const char *name)
{
	struct lookup *l = mem_zalloc(sizeof(*l));
	struct gaicb *list[1] = {&l->request};
	struct sigevent tell = {.sigev_notify = SIGEV_SIGNAL,
				.sigev_signo = LOOKUP_SIGNAL};

	snprintf(l->name, sizeof(l->name), "%s", name);
	l->hints.ai_family = AF_UNSPEC;
	l->hints.ai_socktype = SOCK_STREAM;
	l->request.ar_name = l->name;
	l->request.ar_request = &l->hints;
	if (getaddrinfo_a(GAI_NOWAIT, list, 1, &tell) == 0)
		return l;
	free(l);
	return NULL;
}

enum lookup_state lookup_state(const struct lookup *l, struct address *ret,
			       size_t *ret_n)
{
	int r = gai_error((struct gaicb *)&l->request);
	size_t n = 0;

	if (r == EAI_INPROGRESS)
		return LOOKUP_PENDING;
	if (r != 0)
		return LOOKUP_NOTHING;
	for (const struct addrinfo *ai = l->request.ar_result;
	     ai && n < LOOKUP_ADDRESSES; ai = ai->ai_next)
		n += address_of(ai->ai_addr, &ret[n]);
	*ret_n = n;
	return n ? LOOKUP_FOUND : LOOKUP_NOTHING;
}

void lookup_end(struct lookup *l)
{
	if (!l)
		return;
	/* one that is being worked on cannot be taken back */
	if (gai_error(&l->request) != EAI_INPROGRESS ||
	    gai_cancel(&l->request) == EAI_CANCELED) {
		free_lookup(l);
		return;
	}
	l->next = abandoned;
	abandoned = l;
}

void lookup_sweep(void)
{
	struct lookup **at = &abandoned;

	while (*at) {
		struct lookup *l = *at;

		if (gai_error(&l->request) == EAI_INPROGRESS) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		free_lookup(l);
	}
}
