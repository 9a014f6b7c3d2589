#include "gate/policy.h"

#include "core/base/limits.h"
#include "gate/allow.h"
#include "gate/seccomp.h"

#define DEFAULT_MEMORY_BYTES (UINT64_C(2) << 30)
#define DEFAULT_FILE_SIZE_BYTES (UINT64_C(1) << 30)
#define DEFAULT_PROCESSES 256
#define DEFAULT_FILES 1024

#define PORT_DNS 53

/* ---- names ---- */

struct name_row {
	const char *name, *help, *lost;
};

static const struct name_row PROFILES[] = {
#define PROFILE(id, name, groups, help) {name, help, NULL},
#include "gate/profiles.def"
#undef PROFILE
};

static const struct name_row GUARANTEES[] = {
#define GUARANTEE(id, name, help, lost) {name, help, lost},
#include "gate/guarantees.def"
#undef GUARANTEE
};

static const struct name_row MECHANISMS[] = {
#define MECHANISM(id, name, help) {name, help, NULL},
#include "gate/mechanisms.def"
#undef MECHANISM
};

const char *profile_name(enum policy_profile p)
{
	return PROFILES[p].name;
}

const char *guarantee_name(enum guarantee g)
{
	return GUARANTEES[g].name;
}

const char *guarantee_help(enum guarantee g)
{
	return GUARANTEES[g].help;
}

const char *guarantee_lost(enum guarantee g)
{
	return GUARANTEES[g].lost;
}

const char *mechanism_name(enum mechanism m)
{
	return MECHANISMS[m].name;
}

const char *mechanism_help(enum mechanism m)
{
	return MECHANISMS[m].help;
}

/* Index of the row, or -1. */
static int find_name(const struct name_row *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* "; did you mean ..." or the whole vocabulary, which is short. */
static void add_names(struct buf *out, const char *asked,
		      const struct name_row *rows, size_t n)
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
		buf_addf(out, "%s%s", i ? ", " : "one of ", rows[i].name);
}

/* ---- requirements ---- */

static int unknown_require(const char *name, struct err *err)
{
	struct name_row all[N_GUARANTEES + N_MECHANISMS];
	AUTO(buf_release) struct buf names = BUF_INIT(LIMIT_ERR_MSG);

	memcpy(all, GUARANTEES, sizeof(GUARANTEES));
	memcpy(all + N_GUARANTEES, MECHANISMS, sizeof(MECHANISMS));
	add_names(&names, name, all, ARRAY_LEN(all));
	return err_set(err, ERR_POLICY,
		       "require: \"%s\" is neither a guarantee nor a "
		       "mechanism; %s",
		       name, buf_cstr(&names));
}

static int resolve_require(const struct strlist *require, struct policy *p,
			   struct err *err)
{
	for (size_t i = 0; i < require->n; i++) {
		const char *name = require->item[i];
		int g = find_name(GUARANTEES, ARRAY_LEN(GUARANTEES), name);
		int m = find_name(MECHANISMS, ARRAY_LEN(MECHANISMS), name);

		if (g < 0 && m < 0)
			return unknown_require(name, err);
		if (g >= 0)
			p->guarantees_required |= POLICY_BIT(g);
		if (m >= 0)
			p->mechanisms_required |= POLICY_BIT(m);
	}
	return 0;
}

static int resolve_profile(const char *name, struct policy *p, struct err *err)
{
	int i = PROFILE_DEFAULT;
	AUTO(buf_release) struct buf names = BUF_INIT(LIMIT_ERR_MSG);

	if (name)
		i = find_name(PROFILES, ARRAY_LEN(PROFILES), name);
	if (i < 0) {
		add_names(&names, name, PROFILES, ARRAY_LEN(PROFILES));
		return err_set(err, ERR_POLICY,
			       "profile: there is no \"%s\"; %s", name,
			       buf_cstr(&names));
	}
	p->profile = (enum policy_profile)i;
	return 0;
}

/* ---- network ---- */

/* ":443"; anything else is a host of some kind. */
static bool read_port(const char *row, uint16_t *ret)
{
	uint64_t n;

	if (row[0] != ':' || !str_uint64(str_of(row + 1), &n) || !n ||
	    n > UINT16_MAX)
		return false;
	*ret = (uint16_t)n;
	return true;
}

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

static int refuse_endpoint(const char *row, struct err *err)
{
	static const char *const WORDS[] = {"none", "loopback", "all"};
	const char *near = str_nearest(str_of(row), WORDS, ARRAY_LEN(WORDS));
	const char *colon = strrchr(row, ':');
	uint16_t port;

	if (near)
		return err_set(err, ERR_POLICY,
			       "net: \"%s\" is not known; did you mean \"%s\"?",
			       row, near);
	if (row[0] == ':' || !row[0])
		return err_set(err, ERR_POLICY,
			       "net: \"%s\": a port is a number from 1 to "
			       "65535, as in \":443\"",
			       row);
	if (!colon || !read_port(colon, &port))
		colon = ":443";
	return err_set(err, ERR_PROTECTION,
		       "net: \"%s\": lists of hosts need the proxy, which this "
		       "version does not have; use \"%s\" (TCP to that port "
		       "of any host) or \"all\"",
		       row, colon);
}

static int mixed_loopback(struct err *err)
{
	return err_set(err, ERR_POLICY,
		       "net: \"loopback\" is a network of its own and cannot "
		       "be combined with ports; use one of them, or \"all\"");
}

static int resolve_net(const struct strlist *net, struct arena *arena,
		       struct policy *p, struct err *err)
{
	uint16_t *ports = ARENA_ARRAY(arena, uint16_t, net->n + 1);
	bool all = false, loopback = false;
	size_t n = 0;

	for (size_t i = 0; i < net->n; i++) {
		const char *row = net->item[i];
		uint16_t port;

		if (strcmp(row, "all") == 0)
			all = true;
		else if (strcmp(row, "loopback") == 0)
			loopback = true;
		else if (read_port(row, &port))
			add_port(ports, &n, port);
		else if (strcmp(row, "none") != 0)
			return refuse_endpoint(row, err);
	}
	if (loopback && n && !all)
		return mixed_loopback(err);
	p->net = all	    ? POLICY_NET_ALL
		 : loopback ? POLICY_NET_LOOPBACK
		 : n	    ? POLICY_NET_PORTS
			    : POLICY_NET_NONE;
	p->ports = ports;
	p->n_ports = p->net == POLICY_NET_PORTS ? n : 0;
	return 0;
}

static void set_udp(struct policy *p)
{
	p->net_udp = p->net == POLICY_NET_ALL || p->net == POLICY_NET_LOOPBACK;
	for (size_t i = 0; i < p->n_ports; i++)
		if (p->ports[i] == PORT_DNS)
			p->net_udp = true;
}

/* ---- meeting the leash ---- */

static void strlist_push(struct strlist *list, struct arena *arena,
			 const char *s)
{
	size_t n = list->n;

	/* full at 4, 8, 16, ...; the arena keeps the old ones */
	if (!n || (n >= 4 && (n & (n - 1)) == 0)) {
		const char **item =
			ARENA_ARRAY(arena, const char *, n ? 2 * n : 4);

		if (n)
			memcpy(item, list->item, n * sizeof(*item));
		list->item = item;
	}
	list->item[list->n++] = s;
}

static void push_new(struct strlist *list, struct arena *arena, const char *s)
{
	if (!allow_has(list, s))
		strlist_push(list, arena, s);
}

/*
 * What is left of a grant: itself when a row covers it, else the rows that lie
 * beneath it. Returns how much: all of it, a part, nothing.
 */
enum meet { MEET_NOTHING, MEET_PART, MEET_ALL };

static enum meet meet_path(const struct gate_axis *axis, const char *path,
			   struct arena *arena, struct strlist *out)
{
	enum meet met = MEET_NOTHING;

	if (allow_axis_covers(axis, path)) {
		push_new(out, arena, path);
		return MEET_ALL;
	}
	for (size_t i = 0; i < axis->only.n; i++) {
		if (!allow_covers(path, axis->only.item[i]))
			continue;
		push_new(out, arena, axis->only.item[i]);
		met = MEET_PART;
	}
	return met;
}

static void note_cap(struct policy *p, struct arena *arena, const char *key,
		     const char *what, enum meet met, const char *axis)
{
	const char *text;

	if (met == MEET_PART)
		text = arena_printf(arena,
				    "%s \"%s\": narrowed to what the leash "
				    "allows (%s)",
				    key, what, axis);
	else
		text = arena_printf(arena,
				    "%s \"%s\": dropped, the leash does not "
				    "allow it (%s)",
				    key, what, axis);
	strlist_push(&p->capped, arena, text);
}

static void meet_read(const struct strlist *asked,
		      const struct gate_leash *leash, struct arena *arena,
		      struct policy *p)
{
	for (size_t i = 0; i < asked->n; i++) {
		enum meet met = meet_path(&leash->fs_read, asked->item[i],
					  arena, &p->read);

		if (met != MEET_ALL)
			note_cap(p, arena, "read", asked->item[i], met,
				 "fs_read");
	}
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
		enum meet met = meet_path(&leash->fs_write, asked->item[i],
					  arena, &may);

		if (met != MEET_ALL)
			note_cap(p, arena, "write", asked->item[i], met,
				 "fs_write");
		for (size_t k = 0; k < may.n; k++) {
			met = meet_path(&leash->fs_read, may.item[k], arena,
					&p->write);
			if (met == MEET_ALL)
				continue;
			push_new(&p->write_only, arena, may.item[k]);
			strlist_push(&p->capped, arena,
				     arena_printf(arena,
						  "write \"%s\": written, not "
						  "read, by the leash "
						  "(fs_read)",
						  may.item[k]));
		}
	}
}

/* Ports of the policy that the leash lists; of "all", those of the leash. */
static void meet_ports(const struct gate_axis *axis, struct arena *arena,
		       struct policy *p)
{
	uint16_t *ports = ARENA_ARRAY(arena, uint16_t, axis->only.n + 1);
	bool all = p->net == POLICY_NET_ALL;
	size_t n = 0;

	for (size_t i = 0; i < axis->only.n; i++) {
		bool asked = all;
		uint16_t port;

		if (!read_port(axis->only.item[i], &port))
			continue;
		for (size_t k = 0; k < p->n_ports; k++)
			asked = asked || p->ports[k] == port;
		if (asked)
			add_port(ports, &n, port);
	}
	if (all || n < p->n_ports)
		note_cap(p, arena, "net", all ? "all" : "ports",
			 n ? MEET_PART : MEET_NOTHING, "net");
	p->net = n ? POLICY_NET_PORTS : POLICY_NET_NONE;
	p->ports = ports;
	p->n_ports = n;
}

/*
 * Rows of the leash that are hosts cannot be kept without a proxy, so they
 * allow nothing here: less than the leash, never more.
 */
static void meet_net(const struct gate_leash *leash, struct arena *arena,
		     struct policy *p)
{
	const struct gate_axis *axis = &leash->net;

	if (axis->all || allow_has(&axis->only, "all") ||
	    p->net == POLICY_NET_NONE)
		return;
	if (p->net != POLICY_NET_LOOPBACK) {
		meet_ports(axis, arena, p);
		return;
	}
	if (allow_has(&axis->only, "loopback"))
		return;
	note_cap(p, arena, "net", "loopback", MEET_NOTHING, "net");
	p->net = POLICY_NET_NONE;
}

static void meet_leash(const struct gate_policy *asked,
		       const struct gate_leash *leash, struct arena *arena,
		       struct policy *p)
{
	if (!leash) {
		p->read = asked->read;
		p->write = asked->write;
		return;
	}
	meet_read(&asked->read, leash, arena, p);
	meet_write(&asked->write, leash, arena, p);
	meet_net(leash, arena, p);
}

/* ---- public ---- */

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

/* What is wrong whatever the leash says; fills what needs no leash. */
static int resolve_names(const struct gate_policy *asked, struct arena *arena,
			 struct policy *p, struct err *err)
{
	if (check_paths(&asked->read, "read", err) < 0 ||
	    check_paths(&asked->write, "write", err) < 0 ||
	    check_exec(&asked->exec, err) < 0)
		return -1;
	if (resolve_profile(asked->profile, p, err) < 0 ||
	    resolve_require(&asked->require, p, err) < 0 ||
	    resolve_net(&asked->net, arena, p, err) < 0)
		return -1;
	for (size_t i = 0; i < asked->syscalls.n; i++)
		if (seccomp_check_name(asked->syscalls.item[i], err) < 0)
			return -1;
	if (asked->user && !asked->user[0])
		return err_set(err, ERR_POLICY, "user: the name is empty");
	return 0;
}

int policy_resolve(const struct gate_policy *asked,
		   const struct gate_leash *leash, struct arena *arena,
		   struct policy *ret_policy, struct err *err)
{
	struct policy p = {
		.exec = asked->exec,
		.memory_bytes = asked->memory_bytes ? asked->memory_bytes
						    : DEFAULT_MEMORY_BYTES,
		.file_size_bytes = asked->file_size_bytes
					   ? asked->file_size_bytes
					   : DEFAULT_FILE_SIZE_BYTES,
		.processes =
			asked->processes ? asked->processes : DEFAULT_PROCESSES,
		.files = asked->files ? asked->files : DEFAULT_FILES,
		.cpu_seconds = asked->cpu_seconds,
		.tmp_shared = asked->tmp_shared,
		.isolate = asked->isolate,
		.syscalls = asked->syscalls,
		.user = asked->user,
	};

	if (resolve_names(asked, arena, &p, err) < 0)
		return -1;
	meet_leash(asked, leash, arena, &p);
	set_udp(&p);
	*ret_policy = p;
	return 0;
}

int gate_policy_check(const struct gate_policy *p, struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct policy scratch = {.net = POLICY_NET_NONE};

	return resolve_names(p, &arena, &scratch, err);
}

static struct strlist join(const struct strlist *a, const struct strlist *b,
			   struct arena *arena)
{
	struct strlist out = {
		.item = ARENA_ARRAY(arena, const char *, a->n + b->n + 1),
	};

	for (size_t i = 0; i < a->n + b->n; i++) {
		const char *s = i < a->n ? a->item[i] : b->item[i - a->n];

		if (!allow_has(&out, s))
			out.item[out.n++] = s;
	}
	return out;
}

void gate_policy_merge(const struct gate_policy *base,
		       const struct gate_policy *more, struct arena *arena,
		       struct gate_policy *ret)
{
	struct gate_policy p = *base;

	p.read = join(&base->read, &more->read, arena);
	p.write = join(&base->write, &more->write, arena);
	p.exec = join(&base->exec, &more->exec, arena);
	p.net = join(&base->net, &more->net, arena);
	p.require = join(&base->require, &more->require, arena);
	p.syscalls = join(&base->syscalls, &more->syscalls, arena);
#define WIN(field) p.field = more->field ? more->field : base->field
	WIN(profile);
	WIN(memory_bytes);
	WIN(file_size_bytes);
	WIN(processes);
	WIN(files);
	WIN(cpu_seconds);
	WIN(tmp_shared);
	WIN(isolate);
	WIN(user);
#undef WIN
	*ret = p;
}
