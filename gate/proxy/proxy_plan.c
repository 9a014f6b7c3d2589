#include "gate/proxy/proxy_plan.h"

/* First port to try: below those that the kernel gives out, and free in
   /etc/services. */
#define PORT_FIRST 23128
/* Room that ports at every address leave: the proxy's own, and forwards. */
#define WIDE_MAX (PROXY_SOCKETS_MAX - POLICY_FORWARDS_MAX - 1)

static const struct address LOOPBACK = {.bytes = {127, 0, 0, 1}};
static const struct address EVERY[] = {{.is_v6 = false}, {.is_v6 = true}};

uint16_t proxy_plan_port(const struct endpoint *rows, size_t n_rows)
{
	uint16_t port = PORT_FIRST;
	size_t i = 0;

	/* a port that is a row itself leads there */
	while (i < n_rows)
		if (rows[i].port == port) {
			port++;
			i = 0;
		} else {
			i++;
		}
	return port;
}

struct plan {
	const struct endpoint *rows;
	size_t n_rows;
	const struct proxy_names *names;
	struct child_socket *on;
	size_t n;
	bool is_crowded; /* single rows take every address, too */
};

static bool is_every(const struct address *a)
{
	return address_equal(a, &EVERY[a->is_v6]);
}

/* Is there a socket that gets connections to this address and port already? */
static bool is_served(const struct plan *p, const struct address *a,
		      uint16_t port)
{
	const struct address_socket at = address_socket(a, port);

	for (size_t i = 0; i < p->n; i++) {
		const struct child_socket *s = &p->on[i];
		struct address has;

		/* the ports of both families lie at one place */
		if (s->type == SOCK_STREAM && address_of(&s->at.any, &has) &&
		    s->at.v4.sin_port == at.v4.sin_port &&
		    has.is_v6 == a->is_v6 &&
		    (is_every(&has) || address_equal(&has, a)))
			return true;
	}
	return false;
}

static struct child_socket *add(struct plan *p, int type,
				const struct address *a, uint16_t port)
{
	struct child_socket *s = &p->on[p->n++];

	*s = (struct child_socket){.at = address_socket(a, port), .type = type};
	s->is_optional = a->is_v6 || type == SOCK_RAW;
	return s;
}

static void serve(struct plan *p, const struct address *a, uint16_t port,
		  size_t max)
{
	if (p->n < max && !is_served(p, a, port))
		(void)add(p, SOCK_STREAM, a, port);
}

/* ---- ports at every address ---- */

static bool is_wide(const struct plan *p, const struct endpoint *row)
{
	return row->kind == ENDPOINT_PORT || row->kind == ENDPOINT_BENEATH ||
	       (p->is_crowded && row->kind != ENDPOINT_FORWARD);
}

static void add_wide(struct plan *p)
{
	for (size_t i = 0; i < p->n_rows; i++) {
		uint16_t port[2];
		size_t n = endpoint_ports(&p->rows[i], port);

		/* names stand for IPv4 addresses alone */
		for (size_t k = 0; is_wide(p, &p->rows[i]) && k < n; k++) {
			serve(p, &EVERY[0], port[k], WIDE_MAX);
			if (p->rows[i].kind == ENDPOINT_PORT)
				serve(p, &EVERY[1], port[k], WIDE_MAX);
		}
	}
}

/* ---- single addresses ---- */

static void add_name(struct plan *p, const struct proxy_name *name)
{
	struct endpoint_target t = {.port = 0};

	memcpy(t.host, name->host, sizeof(t.host));
	for (size_t i = 0; i < p->n_rows; i++) {
		uint16_t port[2];
		size_t n = endpoint_ports(&p->rows[i], port);

		for (size_t k = 0; p->rows[i].kind != ENDPOINT_PORT &&
				   endpoint_names(&p->rows[i], 1, &t) && k < n;
		     k++)
			serve(p, &name->address, port[k], PROXY_SOCKETS_MAX);
	}
}

static void add_single(struct plan *p)
{
	for (size_t i = 0; i < p->n_rows; i++) {
		uint16_t port[2];
		size_t n = endpoint_ports(&p->rows[i], port);

		for (size_t k = 0; p->rows[i].kind == ENDPOINT_ADDRESS && k < n;
		     k++)
			serve(p, &p->rows[i].address, port[k],
			      PROXY_SOCKETS_MAX);
	}
	for (size_t i = 0; i < p->names->n; i++)
		add_name(p, &p->names->row[i]);
}

/* ---- all of them ---- */

static void add_all(struct plan *p)
{
	p->n = 0;
	for (size_t v6 = 0; v6 < ARRAY_LEN(EVERY); v6++) {
		(void)add(p, SOCK_DGRAM, &EVERY[v6], PROXY_PORT_DNS);
		(void)add(p, SOCK_STREAM, &EVERY[v6], PROXY_PORT_DNS);
		(void)add(p, SOCK_RAW, &EVERY[v6], 0);
	}
	add_wide(p);
	serve(p, &LOOPBACK, proxy_plan_port(p->rows, p->n_rows),
	      PROXY_SOCKETS_MAX);
	for (size_t i = 0; i < p->n_rows; i++)
		if (p->rows[i].kind == ENDPOINT_FORWARD &&
		    !is_served(p, &p->rows[i].address, p->rows[i].port))
			add(p, SOCK_STREAM, &p->rows[i].address,
			    p->rows[i].port)
				->is_optional = false;
	add_single(p);
}

size_t proxy_plan(const struct endpoint *rows, size_t n_rows,
		  const struct proxy_names *names, struct child_socket *ret)
{
	struct plan p = {
		.rows = rows, .n_rows = n_rows, .names = names, .on = ret};

	add_all(&p);
	if (p.n == PROXY_SOCKETS_MAX) {
		p.is_crowded = true;
		add_all(&p);
	}
	return p.n;
}
