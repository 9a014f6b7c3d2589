/* The rows of `net`: read, and met with those of the leash. */
#include <strings.h>

#include "gate/policy/allow.h"
#include "gate/policy/policy_inner.h"

#define PORT_DNS 53

/* ---- reading ---- */

/* Ascending and without repeats. */
static void add_port(uint16_t *ports, size_t *n, uint16_t port)
{
	size_t i = 0;

	while (i < *n && ports[i] < port)
		i++;
	if (i < *n && ports[i] == port)
		return;
	memmove(ports + i + 1, ports + i, (*n - i) * sizeof(*ports));
	ports[i] = port;
	(*n)++;
}

struct endpoints {
	struct endpoint *row; /* room for POLICY_ENDPOINTS_MAX */
	size_t n;
};

static struct endpoints endpoints_new(struct arena *arena)
{
	return (struct endpoints){.row = ARENA_ARRAY(arena, struct endpoint,
						     POLICY_ENDPOINTS_MAX)};
}

/* False when there is no room; one that is there is not added twice. */
static bool add_endpoint(struct endpoints *e, const struct endpoint *row)
{
	size_t forwards = 0;

	for (size_t i = 0; i < e->n; i++) {
		if (endpoint_covers(&e->row[i], row) &&
		    e->row[i].kind == row->kind)
			return true;
		forwards += e->row[i].kind == ENDPOINT_FORWARD;
	}
	if (e->n == POLICY_ENDPOINTS_MAX ||
	    (row->kind == ENDPOINT_FORWARD && forwards == POLICY_FORWARDS_MAX))
		return false;
	e->row[e->n++] = *row;
	return true;
}

/* Ports alone can be watched by the kernel, anything else is the proxy's. */
static void set_endpoints(struct policy *p, const struct endpoints *e,
			  struct arena *arena)
{
	uint16_t *ports = ARENA_ARRAY(arena, uint16_t, e->n + 1);
	size_t n = 0;

	p->net = e->n ? POLICY_NET_PORTS : POLICY_NET_NONE;
	for (size_t i = 0; i < e->n; i++)
		if (e->row[i].kind == ENDPOINT_PORT)
			add_port(ports, &n, e->row[i].port);
		else
			p->net = POLICY_NET_PROXY;
	p->ports = ports;
	p->n_ports = p->net == POLICY_NET_PORTS ? n : 0;
	p->endpoints = e->row;
	p->n_endpoints = e->n;
}

/* The word that was meant: "all" for "everything" or "al"; or NULL. */
static const char *word_near(const char *text)
{
	static const char *const WORDS[] = {"none", "loopback", "all"};
	static const struct {
		const char *said, *meant;
	} OTHERS[] = {
		{"off", "none"},       {"no", "none"},
		{"nothing", "none"},   {"false", "none"},
		{"on", "all"},	       {"yes", "all"},
		{"true", "all"},       {"any", "all"},
		{"everything", "all"}, {"everywhere", "all"},
		{"anything", "all"},   {"internet", "all"},
		{"network", "all"},    {"local", "loopback"},
		{"lo", "loopback"},
	};
	size_t n = strlen(text);

	if (!n || strpbrk(text, ".:*[/"))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(OTHERS); i++)
		if (strcasecmp(text, OTHERS[i].said) == 0)
			return OTHERS[i].meant;
	/* "loop" */
	for (size_t i = 0; i < ARRAY_LEN(WORDS); i++)
		if (n > 1 && strncasecmp(text, WORDS[i], n) == 0)
			return WORDS[i];
	return str_nearest(str_of(text), WORDS, ARRAY_LEN(WORDS));
}

/* A word that is written wrong looks like the name of a host. */
static int check_word(const char *row, struct err *err)
{
	const char *near = word_near(row);

	if (near)
		return err_set(err, ERR_POLICY,
			       "net: \"%s\" is not known; did you mean \"%s\"? "
			       "(a host of that name: \"%s:443\")",
			       row, near, row);
	return 0;
}

static int mixed_loopback(struct err *err)
{
	return err_set(err, ERR_POLICY,
		       "net: \"loopback\" is a network of its own and cannot "
		       "be combined with ports; use one of them, or \"all\"");
}

static int too_many(struct err *err)
{
	return err_set(err, ERR_POLICY,
		       "net: at most %d rows, %d of them to loopback",
		       POLICY_ENDPOINTS_MAX, POLICY_FORWARDS_MAX);
}

int policy_read_net(const struct strlist *net, struct arena *arena,
		    struct policy *p, struct err *err)
{
	struct endpoints rows = endpoints_new(arena);
	bool all = false, loopback = false;

	for (size_t i = 0; i < net->n; i++) {
		const char *row = net->item[i];
		struct endpoint e;

		if (strcmp(row, "all") == 0) {
			all = true;
		} else if (strcmp(row, "loopback") == 0) {
			loopback = true;
		} else if (strcmp(row, "none") != 0) {
			if (check_word(row, err) < 0 ||
			    endpoint_parse(row, &e, err) < 0)
				return -1;
			if (!add_endpoint(&rows, &e))
				return too_many(err);
		}
	}
	set_endpoints(p, &rows, arena);
	if (loopback && p->net == POLICY_NET_PORTS && !all)
		return mixed_loopback(err);
	if (all)
		p->net = POLICY_NET_ALL;
	else if (loopback && p->net == POLICY_NET_NONE)
		p->net = POLICY_NET_LOOPBACK;
	if (p->net != POLICY_NET_PORTS)
		p->n_ports = 0;
	return 0;
}

/* ---- meeting the leash ---- */

/* The rows of the leash that are endpoints; what is none allows nothing. */
static struct endpoints leash_endpoints(const struct gate_axis *axis,
					struct arena *arena)
{
	struct endpoints rows = endpoints_new(arena);

	for (size_t i = 0; i < axis->only.n; i++) {
		struct err ignored = ERR_INIT;
		struct endpoint e;

		if (endpoint_parse(axis->only.item[i], &e, &ignored) == 0)
			(void)add_endpoint(&rows, &e);
	}
	return rows;
}

/* What the leash leaves of one row, joined to `out`. */
static enum meet meet_endpoint(const struct endpoint *asked,
			       const struct endpoints *leash,
			       struct endpoints *out)
{
	enum meet met = MEET_NOTHING;

	for (size_t i = 0; i < leash->n; i++)
		if (endpoint_covers(&leash->row[i], asked))
			return add_endpoint(out, asked) ? MEET_ALL
							: MEET_NOTHING;
	for (size_t i = 0; i < leash->n; i++) {
		struct endpoint both;

		if (endpoint_meet(asked, &leash->row[i], &both) &&
		    add_endpoint(out, &both))
			met = MEET_PART;
	}
	return met;
}

static void meet_endpoints(const struct gate_axis *axis, struct arena *arena,
			   struct policy *p)
{
	struct endpoints leash = leash_endpoints(axis, arena);
	struct endpoints out = endpoints_new(arena);

	if (p->net == POLICY_NET_ALL) {
		out = leash;
		policy_note_cap(p, arena, "net", "all",
				out.n ? MEET_PART : MEET_NOTHING, "net");
		set_endpoints(p, &out, arena);
		return;
	}
	for (size_t i = 0; i < p->n_endpoints; i++) {
		AUTO(buf_release)
		struct buf text = BUF_INIT(2 * ENDPOINT_TEXT_BYTES);
		enum meet met = meet_endpoint(&p->endpoints[i], &leash, &out);

		endpoint_text(&p->endpoints[i], &text);
		if (met != MEET_ALL)
			policy_note_cap(p, arena, "net",
					arena_strdup(arena, buf_cstr(&text)),
					met, "net");
	}
	set_endpoints(p, &out, arena);
}

void policy_meet_net(const struct gate_leash *leash, struct arena *arena,
		     struct policy *p)
{
	const struct gate_axis *axis = &leash->net;

	if (axis->all || allow_has(&axis->only, "all") ||
	    p->net == POLICY_NET_NONE)
		return;
	if (p->net != POLICY_NET_LOOPBACK) {
		meet_endpoints(axis, arena, p);
		return;
	}
	if (allow_has(&axis->only, "loopback"))
		return;
	policy_note_cap(p, arena, "net", "loopback", MEET_NOTHING, "net");
	p->net = POLICY_NET_NONE;
}

void policy_use_proxy(struct policy *p)
{
	if (p->net != POLICY_NET_PORTS)
		return;
	p->net = POLICY_NET_PROXY;
	p->n_ports = 0;
	p->net_udp = true;
}

void policy_set_udp(struct policy *p)
{
	p->net_udp = p->net == POLICY_NET_ALL ||
		     p->net == POLICY_NET_LOOPBACK ||
		     p->net == POLICY_NET_PROXY;
	for (size_t i = 0; i < p->n_ports; i++)
		if (p->ports[i] == PORT_DNS)
			p->net_udp = true;
}
