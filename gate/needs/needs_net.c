/* The rows of `net` that a tree needs. */
#include <string.h>
#include <unistd.h>

#include "gate/needs/needs_inner.h"
#include "gate/proxy/proxy.h"

static const char is_lookup[] = "a name was looked up; grant the host by its "
				"name, and trace again with --net HOST";

/* "[::1]:80" into the host and the port. */
static bool split_address(const char *text, struct str *ret_host,
			  const char **ret_port)
{
	const char *colon = strrchr(text, ':');

	if (strncmp(text, "unix:", 5) == 0 || !colon || !colon[1])
		return false;
	*ret_host = (struct str){text, (size_t)(colon - text)};
	*ret_port = colon + 1;
	return true;
}

static bool is_loopback(struct str host)
{
	return str_eq(host, STR("[::1]")) ||
	       (host.n > 4 && memcmp(host.p, "127.", 4) == 0);
}

/* The tree itself serves this port. */
static bool is_served(const struct needs_finder *f, const char *port)
{
	for (size_t i = 0; i < f->v->n_records; i++) {
		const struct gate_record *r = &f->v->records[i];
		const char *own;
		struct str host;

		if (r->what == GATE_RECORD_NET &&
		    r->access & GATE_ACCESS_SERVE &&
		    split_address(r->path, &host, &own) &&
		    /* 0: any that is free */
		    (strcmp(own, port) == 0 || strcmp(own, "0") == 0))
			return true;
	}
	return false;
}

/* As exactly as this version can be told: an address, else its port. */
static const char *net_row(const struct needs_finder *f, const char *address,
			   const char *port)
{
	const char *only_port = arena_printf(f->arena, ":%s", port);
	struct gate_policy p = {.net = {&address, 1}};
	struct err ignored = ERR_INIT;

	return gate_policy_check(&p, &ignored) == 0 ? address : only_port;
}

/* Of the gate's own proxy, in the network of the trace. */
static bool is_proxy(const struct needs_finder *f, const char *port)
{
	struct err ignored = ERR_INIT;
	struct policy p;
	uint64_t n;

	if (policy_resolve(f->traced, NULL, f->arena, &p, &ignored) < 0)
		return false;
	policy_use_proxy(&p);
	return p.net == POLICY_NET_PROXY && str_uint64(str_of(port), &n) &&
	       n == proxy_port(&p);
}

/* Which of the names it was asked for, nobody tells apart. */
static void need_given_names(struct needs_finder *f,
			     const struct gate_record *r)
{
	for (size_t i = 0; i < f->traced->net.n; i++)
		needs_add(f, "net", f->traced->net.item[i], r, NULL);
}

static void need_address(struct needs_finder *f, const struct gate_record *r)
{
	const char *port;
	struct str host;

	if (!split_address(r->path, &host, &port)) {
		if (strncmp(r->path, "unix:/", 6) == 0 &&
		    access(r->path + 5, F_OK) == 0)
			needs_add(f, "net", r->path, r,
				  "a socket file; no row grants it");
		return;
	}
	/* getaddrinfo() asks so which address it would have */
	if (!(r->access & GATE_ACCESS_SERVE) && strcmp(port, "0") == 0)
		return;
	if (is_loopback(host) && is_proxy(f, port))
		need_given_names(f, r);
	else if (r->access & GATE_ACCESS_SERVE ||
		 (is_loopback(host) && is_served(f, port)))
		needs_add(f, "net", "loopback", r, NULL);
	else
		needs_add(f, "net", net_row(f, r->path, port), r,
			  /* a row would be TCP, and with a proxy nobody asks */
			  strcmp(port, "53") == 0 ? is_lookup : NULL);
}

/* "loopback" stands alone: with other rows it is all or nothing. */
static void join_net(struct needs_finder *f)
{
	struct gate_need *own = needs_find(f, "net", "loopback");
	size_t n = 0;

	for (size_t i = 0; i < f->out->n; i++)
		n += needs_is_row(&f->out->need[i], "net");
	if (!own || n < 2)
		return;
	for (size_t i = 0; i < f->out->n; i++)
		if (needs_is_row(&f->out->need[i], "net"))
			f->out->need[i].why_not =
				"part of \"all\": it serves, and connects to "
				"others";
	needs_add(f, "net", "all",
		  &(struct gate_record){.program = own->program,
					.count = own->count},
		  NULL);
}

void needs_find_net(struct needs_finder *f)
{
	for (size_t i = 0; i < f->v->n_records; i++)
		if (f->v->records[i].what == GATE_RECORD_NET)
			need_address(f, &f->v->records[i]);
	join_net(f);
}
