/*
 * From the records of a tree to the rows of a policy that grants what it
 * needs: programs, files, network, system calls.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate/gate.h"
#include "gate/needs/needs_files.h"
#include "gate/needs/needs_rows.h"
#include "gate/prepare/places.h"
#include "gate/prepare/prepare.h"
#include "gate/proxy/proxy.h"

static const char *const keys[] = {"exec", "read", "write", "net", "syscalls"};

/* ---- the network ---- */

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
		    /* 0: any free port */
		    (strcmp(own, port) == 0 || strcmp(own, "0") == 0))
			return true;
	}
	return false;
}

/* Row for an address; for its port where a policy cannot name it. */
static const char *net_row(const struct needs_finder *f, const char *address,
			   const char *port)
{
	const char *only_port = arena_printf(f->arena, ":%s", port);
	struct gate_policy p = {.net = {&address, 1}};
	struct err ignored = ERR_INIT;

	return gate_policy_check(&p, &ignored) == 0 ? address : only_port;
}

/* Is the port that of the gate's own proxy in the network of the trace? */
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

/* Need all names that the trace granted: the records do not tell them apart. */
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
	/* getaddrinfo() connects to port 0 to learn its own address */
	if (!(r->access & GATE_ACCESS_SERVE) && strcmp(port, "0") == 0)
		return;
	if (is_loopback(host) && is_proxy(f, port))
		need_given_names(f, r);
	else if (r->access & GATE_ACCESS_SERVE ||
		 (is_loopback(host) && is_served(f, port)))
		needs_add(f, "net", "loopback", r, NULL);
	else
		needs_add(f, "net", net_row(f, r->path, port), r,
			  /* a row would be TCP; with a proxy no program asks */
			  strcmp(port, "53") == 0 ? is_lookup : NULL);
}

/* Join "loopback" and other rows to "all": it cannot stand beside them. */
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

static void find_net(struct needs_finder *f)
{
	for (size_t i = 0; i < f->v->n_records; i++)
		if (f->v->records[i].what == GATE_RECORD_NET)
			need_address(f, &f->v->records[i]);
	join_net(f);
}

/* ---- system calls ---- */

static void need_calls(struct needs_finder *f)
{
	for (size_t i = 0; i < f->v->n_denials; i++) {
		const struct gate_denial *d = &f->v->denials[i];
		const struct gate_record r = {.program = d->program,
					      .count = d->count};
		const char *why_not = f->ended_well ? needs_went_on : NULL;
		const char *key = d->allow.key;

		if (key &&
		    (strcmp(key, "syscalls") == 0 || strcmp(key, "net") == 0))
			needs_add(f, key, d->allow.value, &r, why_not);
	}
}

/* ---- the whole ---- */

static size_t key_order(const char *key)
{
	size_t i = 0;

	while (i < ARRAY_LEN(keys) && strcmp(keys[i], key) != 0)
		i++;
	return i;
}

static int compare(const void *a, const void *b)
{
	const struct gate_need *x = a, *y = b;
	size_t kx = key_order(x->key), ky = key_order(y->key);

	if (kx != ky)
		return kx < ky ? -1 : 1;
	return strcmp(x->value, y->value);
}

int gate_needs(struct gate *gate, const struct gate_request *plain,
	       const struct gate_policy *traced, const struct gate_verdict *v,
	       struct arena *arena, struct gate_needs *ret, struct err *err)
{
	static const struct gate_policy none;
	struct gate_request with_programs = *plain;
	struct gate_policy policy;
	struct prepared p;
	struct needs_finder f = {
		.gate = gate,
		.arena = arena,
		.plain = plain,
		.traced = traced,
		.v = v,
		.p = &p,
		.closed = places_closed(gate),
		.ended_well = v->exited && v->exit_status == 0,
		.out = ret,
	};
	int r = prepare_by(gate, plain, false, prepare_until(plain), &p, err);

	*ret = (struct gate_needs){NULL, 0};
	if (r == 0)
		needs_find_programs(&f);
	prepared_release(&p);
	if (r < 0)
		return -1;
	gate_needs_policy(plain->policy ? plain->policy : &none, ret, arena,
			  &policy);
	with_programs.policy = &policy;
	r = prepare_by(gate, &with_programs, false,
		       prepare_until(&with_programs), &p, err);
	if (r == 0) {
		needs_find_files(&f);
		find_net(&f);
		need_calls(&f);
	}
	prepared_release(&p);
	if (ret->n)
		qsort(ret->need, ret->n, sizeof(*ret->need), compare);
	return r;
}

void gate_needs_policy(const struct gate_policy *base,
		       const struct gate_needs *needs, struct arena *arena,
		       struct gate_policy *ret)
{
	struct gate_policy more = {.profile = NULL};
	struct {
		const char *key;
		struct strlist *list;
	} lists[] = {
		{"read", &more.read},	      {"write", &more.write},
		{"exec", &more.exec},	      {"net", &more.net},
		{"syscalls", &more.syscalls},
	};

	for (size_t i = 0; i < needs->n; i++)
		for (size_t k = 0; k < ARRAY_LEN(lists); k++)
			if (needs_is_row(&needs->need[i], lists[k].key))
				list_add(lists[k].list, arena,
					 needs->need[i].value);
	gate_policy_merge(base, &more, arena, ret);
}
