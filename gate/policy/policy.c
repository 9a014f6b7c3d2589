#include "gate/policy/policy.h"

#include <assert.h>

#include "core/base/place.h"
#include "gate/policy/allow.h"
#include "gate/policy/programs.h"
#include "gate/policy/recipes.h"

#define PORT_DNS 53

/* ---- the vocabulary: profiles, guarantees, mechanisms ---- */

const struct policy_word PROFILES[N_PROFILES] = {
#define PROFILE(id, name, groups, help) {name, help, NULL},
#include "gate/policy/profiles.def"
#undef PROFILE
};

const struct policy_word GUARANTEES[N_GUARANTEES] = {
#define GUARANTEE(id, name, help, lost) {name, help, lost},
#include "gate/policy/guarantees.def"
#undef GUARANTEE
};

const struct policy_word MECHANISMS[N_MECHANISMS] = {
#define MECHANISM(id, name, help, remedy) {name, help, remedy},
#include "gate/policy/mechanisms.def"
#undef MECHANISM
};

const char *gate_require_name(size_t turn)
{
	if (turn < N_GUARANTEES)
		return GUARANTEES[turn].name;
	turn -= N_GUARANTEES;
	return turn < N_MECHANISMS ? MECHANISMS[turn].name : NULL;
}

/* Index of the row, or -1. */
static int find_name(const struct policy_word *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* "did you mean ...?", or the whole vocabulary, which is short. */
static void add_names(struct buf *out, const char *asked,
		      const struct policy_word *rows, size_t n)
{
	const char *names[N_GUARANTEES + N_MECHANISMS + N_PROFILES];
	const char *near;

	for (size_t i = 0; i < n; i++)
		names[i] = rows[i].name;
	near = str_nearest(str_of(asked), names, n);
	if (near) {
		buf_addf(out, "did you mean \"%s\"?", near);
		return;
	}
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s%s", i ? ", " : "use one of ", rows[i].name);
}

static int read_require(const struct strlist *require, struct policy *p,
			struct err *err)
{
	for (size_t i = 0; i < require->n; i++) {
		const char *name = require->item[i];
		int g = find_name(GUARANTEES, ARRAY_LEN(GUARANTEES), name);
		int m = find_name(MECHANISMS, ARRAY_LEN(MECHANISMS), name);
		AUTO(buf_release) struct buf names = BUF_INIT(LIMIT_ERR_MSG);
		struct policy_word all[N_GUARANTEES + N_MECHANISMS];

		if (g >= 0)
			p->guarantees_required |= POLICY_BIT(g);
		if (m >= 0)
			p->mechanisms_required |= POLICY_BIT(m);
		if (g >= 0 || m >= 0)
			continue;
		memcpy(all, GUARANTEES, sizeof(GUARANTEES));
		memcpy(all + N_GUARANTEES, MECHANISMS, sizeof(MECHANISMS));
		add_names(&names, name, all, ARRAY_LEN(all));
		return err_set(err, ERR_POLICY,
			       "require: \"%s\" is neither a guarantee nor a "
			       "mechanism; %s",
			       name, buf_cstr(&names));
	}
	return 0;
}

static int read_profile(const char *name, struct policy *p, struct err *err)
{
	int i = PROFILE_DEFAULT;
	AUTO(buf_release) struct buf names = BUF_INIT(LIMIT_ERR_MSG);

	if (name)
		i = find_name(PROFILES, ARRAY_LEN(PROFILES), name);
	if (i < 0) {
		add_names(&names, name, PROFILES, ARRAY_LEN(PROFILES));
		return err_set(err, ERR_POLICY,
			       "profile: \"%s\" is not known; %s", name,
			       buf_cstr(&names));
	}
	p->profile = (enum policy_profile)i;
	return 0;
}

/* ---- rows of `net` ---- */

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
	struct arena *arena;
	struct endpoint *row; /* at most POLICY_ENDPOINTS_MAX */
	size_t n;
};

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
	e->row = arena_grow(e->arena, e->row, e->n, sizeof(*row));
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

static int read_net(const struct strlist *net, struct arena *arena,
		    struct policy *p, struct err *err)
{
	struct endpoints rows = {.arena = arena};
	bool all = false, loopback = false;

	for (size_t i = 0; i < net->n; i++) {
		const char *row = net->item[i];
		struct endpoint e;

		if (strcmp(row, "all") == 0) {
			all = true;
		} else if (strcmp(row, "loopback") == 0) {
			loopback = true;
		} else if (strcmp(row, "none") != 0) {
			if (endpoint_check_word(row, err) < 0 ||
			    endpoint_parse(row, &e, err) < 0)
				return -1;
			if (!add_endpoint(&rows, &e))
				return err_set(
					err, ERR_POLICY,
					"net: at most %d rows, %d of them to "
					"loopback",
					POLICY_ENDPOINTS_MAX,
					POLICY_FORWARDS_MAX);
		}
	}
	set_endpoints(p, &rows, arena);
	if (loopback && p->net == POLICY_NET_PORTS && !all)
		return err_set(err, ERR_POLICY,
			       "net: \"loopback\" is a network of its own "
			       "and cannot be combined with ports; use one of "
			       "them, or \"all\"");
	if (all)
		p->net = POLICY_NET_ALL;
	else if (loopback && p->net == POLICY_NET_NONE)
		p->net = POLICY_NET_LOOPBACK;
	if (p->net != POLICY_NET_PORTS)
		p->n_ports = 0;
	return 0;
}

/* ---- rows of `unix` ---- */

bool gate_unix_is_word(const char *row)
{
	return strcmp(row, "private") == 0 || strcmp(row, "none") == 0;
}

/* Of several tables "none" holds where no other names a socket. */
static int read_unix(const struct strlist *rows, struct arena *arena,
		     struct policy *p, struct err *err)
{
	bool is_none = false;

	for (size_t i = 0; i < rows->n; i++) {
		const char *row = rows->item[i];

		is_none |= strcmp(row, "none") == 0;
		if (gate_unix_is_word(row))
			continue;
		if (row[0] != '/')
			return err_set(err, ERR_POLICY,
				       "unix: \"%s\" is not an absolute path",
				       row);
		list_add(&p->unix_files, arena, row);
	}
	if (is_none && !p->unix_files.n)
		p->unix_own = POLICY_UNIX_NONE;
	return 0;
}

/* ---- meeting the leash ---- */

/* How much of a grant the leash leaves. */
enum met { MET_NOTHING, MET_PART, MET_ALL };

/*
 * Rest of a grant under the leash: itself when a row covers it, else the rows
 * that lie beneath it.
 */
static enum met meet_path(const struct gate_axis *axis, const char *path,
			  struct arena *arena, struct strlist *out)
{
	enum met met = MET_NOTHING;

	if (allow_axis_covers(axis, path)) {
		list_add_new(out, arena, path);
		return MET_ALL;
	}
	for (size_t i = 0; i < axis->only.n; i++)
		if (place_covers(path, axis->only.item[i])) {
			list_add_new(out, arena, axis->only.item[i]);
			met = MET_PART;
		}
	return met;
}

static void note_cap(struct policy *p, struct arena *arena, const char *key,
		     const char *value, enum met met, const char *axis)
{
	if (met != MET_ALL)
		list_add(&p->capped, arena,
			 arena_printf(arena, "%s \"%s\": %s (%s)", key, value,
				      met == MET_PART
					      ? "narrowed to what the leash "
						"allows"
					      : "dropped, the leash does not "
						"allow it",
				      axis));
}

static void meet_read(const struct strlist *asked,
		      const struct gate_leash *leash, struct arena *arena,
		      struct policy *p)
{
	for (size_t i = 0; i < asked->n; i++)
		note_cap(p, arena, "read", asked->item[i],
			 meet_path(&leash->fs_read, asked->item[i], arena,
				   &p->read),
			 "fs_read");
}

/*
 * A write grant reads too, so both axes bound it; where only fs_write does
 * not object, writing is left.
 */
static void meet_write(const struct strlist *asked,
		       const struct gate_leash *leash, struct arena *arena,
		       struct policy *p)
{
	for (size_t i = 0; i < asked->n; i++) {
		struct strlist may = {NULL, 0};

		note_cap(p, arena, "write", asked->item[i],
			 meet_path(&leash->fs_write, asked->item[i], arena,
				   &may),
			 "fs_write");
		for (size_t k = 0; k < may.n; k++) {
			if (meet_path(&leash->fs_read, may.item[k], arena,
				      &p->write) == MET_ALL)
				continue;
			list_add_new(&p->write_only, arena, may.item[k]);
			list_add(&p->capped, arena,
				 arena_printf(arena,
					      "write \"%s\": written, not "
					      "read, by the leash "
					      "(fs_read)",
					      may.item[k]));
		}
	}
}

/* A service behind a socket may do anything: both axes must name it. */
static void meet_unix(const struct gate_leash *leash, struct arena *arena,
		      struct policy *p)
{
	struct strlist asked = p->unix_files;

	p->unix_files = (struct strlist){NULL, 0};
	for (size_t i = 0; i < asked.n; i++) {
		bool may = allow_axis_covers(&leash->fs_read, asked.item[i]) &&
			   allow_axis_covers(&leash->fs_write, asked.item[i]);

		if (may)
			list_add(&p->unix_files, arena, asked.item[i]);
		note_cap(p, arena, "unix", asked.item[i],
			 may ? MET_ALL : MET_NOTHING, "fs_read, fs_write");
	}
}

/* Join what the leash leaves of one row to `out`. */
static enum met meet_endpoint(const struct endpoint *asked,
			      const struct endpoints *leash,
			      struct endpoints *out)
{
	enum met met = MET_NOTHING;
	struct endpoint both;

	for (size_t i = 0; i < leash->n; i++)
		if (endpoint_covers(&leash->row[i], asked))
			return add_endpoint(out, asked) ? MET_ALL : MET_NOTHING;
	for (size_t i = 0; i < leash->n; i++)
		if (endpoint_meet(asked, &leash->row[i], &both) &&
		    add_endpoint(out, &both))
			met = MET_PART;
	return met;
}

static void meet_endpoints(const struct gate_axis *axis, struct arena *arena,
			   struct policy *p)
{
	struct endpoints leash = {.arena = arena}, out = leash;

	for (size_t i = 0; i < axis->only.n; i++) {
		struct endpoint e;

		/* a row that is no endpoint allows nothing */
		if (endpoint_parse(axis->only.item[i], &e, ERR_IGNORED) == 0)
			(void)add_endpoint(&leash, &e);
	}
	if (p->net == POLICY_NET_ALL) {
		note_cap(p, arena, "net", "all",
			 leash.n ? MET_PART : MET_NOTHING, "net");
		set_endpoints(p, &leash, arena);
		return;
	}
	for (size_t i = 0; i < p->n_endpoints; i++) {
		AUTO(buf_release)
		struct buf text = BUF_INIT(2 * ENDPOINT_TEXT_BYTES);

		endpoint_text(&p->endpoints[i], &text);
		note_cap(p, arena, "net", buf_cstr(&text),
			 meet_endpoint(&p->endpoints[i], &leash, &out), "net");
	}
	set_endpoints(p, &out, arena);
}

static void meet_net(const struct gate_leash *leash, struct arena *arena,
		     struct policy *p)
{
	const struct gate_axis *axis = &leash->net;

	if (axis->all || list_has(&axis->only, "all") ||
	    p->net == POLICY_NET_NONE)
		return;
	if (p->net != POLICY_NET_LOOPBACK) {
		meet_endpoints(axis, arena, p);
	} else if (!list_has(&axis->only, "loopback")) {
		note_cap(p, arena, "net", "loopback", MET_NOTHING, "net");
		p->net = POLICY_NET_NONE;
	}
}

/* ---- checks ---- */

static int check_paths(const struct strlist *paths, const char *key,
		       struct err *err)
{
	for (size_t i = 0; i < paths->n; i++)
		if (paths->item[i][0] != '/')
			return err_set(err, ERR_POLICY,
				       "%s: \"%s\" is not an absolute path",
				       key, paths->item[i]);
	return 0;
}

static int check_exec(const struct strlist *exec, struct err *err)
{
	for (size_t i = 0; i < exec->n; i++) {
		const char *row = exec->item[i];

		if (!row[0] || (row[0] != '/' && strchr(row, '/')))
			return err_set(err, ERR_POLICY,
				       "exec: \"%s\" is neither a bare name "
				       "nor an absolute path",
				       row);
	}
	return 0;
}

/* Check all that needs no leash, and fill that in. */
static int read_names(const struct gate_policy *asked, struct arena *arena,
		      struct policy *p, struct err *err)
{
	if (check_paths(&asked->read, "read", err) < 0 ||
	    check_paths(&asked->write, "write", err) < 0 ||
	    check_exec(&asked->exec, err) < 0)
		return -1;
	if (read_profile(asked->profile, p, err) < 0 ||
	    read_require(&asked->require, p, err) < 0 ||
	    read_net(&asked->net, arena, p, err) < 0 ||
	    read_unix(&asked->unix_sockets, arena, p, err) < 0)
		return -1;
	if (recipes_check(&asked->preset, err) < 0)
		return -1;
	for (size_t i = 0; i < asked->programs.n; i++)
		if (programs_check(&asked->programs.item[i], err) < 0)
			return -1;
	if (asked->user && !asked->user[0])
		return err_set(err, ERR_POLICY, "user: the name is empty");
	return 0;
}

/* ---- the whole ---- */

/* number  NULL: a field of another type, whose unset value is the default */
static void set_default(uint64_t *number, const char *def)
{
	if (number && !*number && def && !str_size_bytes(str_of(def), number))
		assert(false); /* rows of sandbox.def are ours */
}

static struct policy with_defaults(const struct gate_policy *asked)
{
	struct policy p = {.net = POLICY_NET_NONE};

#define SANDBOX_READ(...)
#define SANDBOX(key, option, field, type, def, ...) \
	p.field = asked->field;                     \
	set_default(_Generic(p.field, uint64_t      \
			     : &p.field, default    \
			     : (uint64_t *)NULL),   \
		    def);
#include "gate/sandbox.def"
	return p;
}

int policy_resolve(const struct gate_policy *asked,
		   const struct gate_leash *leash, struct arena *arena,
		   struct policy *ret_policy, struct err *err)
{
	struct policy p = with_defaults(asked);

	if (read_names(asked, arena, &p, err) < 0)
		return -1;
	if (leash) {
		p.read = p.write = (struct strlist){NULL, 0};
		meet_read(&asked->read, leash, arena, &p);
		meet_write(&asked->write, leash, arena, &p);
		meet_net(leash, arena, &p);
		meet_unix(leash, arena, &p);
	}
	p.net_udp = p.net == POLICY_NET_ALL || policy_has_own_net(&p);
	for (size_t i = 0; i < p.n_ports; i++)
		p.net_udp |= p.ports[i] == PORT_DNS;
	*ret_policy = p;
	return 0;
}

struct gate_policy policy_bounds(const struct policy *p)
{
	struct gate_policy bounds = {.profile = NULL};

#define SANDBOX_READ(...)
#define SANDBOX(key, option, field, ...)                          \
	if (_Generic(p->field, uint64_t : true, default : false)) \
		bounds.field = p->field;
#include "gate/sandbox.def"
	return bounds;
}

bool policy_has_own_net(const struct policy *p)
{
	return p->net == POLICY_NET_LOOPBACK || p->net == POLICY_NET_PROXY;
}

void policy_use_proxy(struct policy *p)
{
	if (p->net != POLICY_NET_PORTS)
		return;
	p->net = POLICY_NET_PROXY;
	p->n_ports = 0;
	p->net_udp = true;
}
