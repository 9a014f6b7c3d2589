/*
 * From what a tree did to the rows of a policy that grants it.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "gate/allow.h"
#include "gate/closed.h"
#include "gate/inner.h"
#include "gate/proxy.h"

/* This many files in one folder, and folders in one, are that folder. */
#define COLLAPSE_FILES 2
#define COLLAPSE_FOLDERS 8

static const char *const keys[] = {"exec", "read", "write", "net", "syscalls"};

static const char too_wide[] = "too wide to be granted as a whole; name what "
			       "is needed of it";
static const char is_lookup[] = "a name was looked up; grant the host by its "
				"name, and trace again with --net HOST";
static const char is_secret[] = "keys, tokens or sessions; grant it by hand if "
				"that is meant";
static const char went_on[] = "the trace refused it, and the program went on";
static const char hidden[] = "the trace hid it, and the program went on";

struct finder {
	struct gate *gate;
	struct arena *arena;
	const struct gate_request *plain;
	const struct gate_policy *traced;
	const struct gate_verdict *v;
	const struct prepared *p; /* what holds anyway */
	struct closed closed;
	bool ended_well;
	struct strlist brought; /* interpreters that come with scripts */
	struct gate_needs *out;
	size_t cap;
};

/* ---- rows ---- */

static struct gate_need *find(struct finder *f, const char *key,
			      const char *value)
{
	for (size_t i = 0; i < f->out->n; i++) {
		struct gate_need *n = &f->out->need[i];

		if (strcmp(n->key, key) == 0 && strcmp(n->value, value) == 0)
			return n;
	}
	return NULL;
}

static void need(struct finder *f, const char *key, const char *value,
		 const struct gate_record *r, const char *why_not)
{
	struct gate_need *same = find(f, key, value);

	if (same) {
		same->count += r->count;
		/* asked for in two ways, of which one can be granted */
		if (!why_not)
			same->why_not = NULL;
		return;
	}
	if (f->out->n == f->cap) {
		size_t cap = f->cap ? 2 * f->cap : 32;
		struct gate_need *more =
			ARENA_ARRAY(f->arena, struct gate_need, cap);

		if (f->cap)
			memcpy(more, f->out->need, f->out->n * sizeof(*more));
		f->out->need = more;
		f->cap = cap;
	}
	f->out->need[f->out->n++] = (struct gate_need){
		.key = key,
		.value = arena_strdup(f->arena, value),
		.program = arena_strdup(f->arena, r->program),
		.count = r->count,
		.why_not = why_not,
	};
}

static bool is_row(const struct gate_need *n, const char *key)
{
	return !n->why_not && strcmp(n->key, key) == 0;
}

/* Some row of this key that is granted covers the path. */
static bool is_needed(const struct finder *f, const char *key, const char *path)
{
	for (size_t i = 0; i < f->out->n; i++)
		if (is_row(&f->out->need[i], key) &&
		    allow_covers(f->out->need[i].value, path))
			return true;
	return false;
}

/* ---- what holds anyway ---- */

static bool grants_cover(const struct grants *g, const char *path,
			 unsigned what)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->grant[i].what & what &&
		    allow_covers(g->grant[i].path, path))
			return true;
	return false;
}

static bool holds(const struct finder *f, const char *path, unsigned what)
{
	return grants_cover(&f->p->grants, path, what) ||
	       grants_cover(&f->gate->base, path, what);
}

static bool list_covers(const struct strlist *list, const char *path)
{
	char real[PATH_MAX];

	for (size_t i = 0; i < list->n; i++)
		if (allow_covers(list->item[i], path) ||
		    (realpath(list->item[i], real) && allow_covers(real, path)))
			return true;
	return false;
}

/*
 * In a private place the program saw its own file, not that of the machine,
 * unless the trace had put that there; and so it will be without a grant.
 */
static bool is_private(const struct finder *f, const char *path)
{
	return prepared_is_replaced(f->p, path) &&
	       !list_covers(&f->traced->read, path) &&
	       !list_covers(&f->traced->write, path);
}

/* A private place itself: there the program has its own. */
static bool is_place(const struct finder *f, const char *path)
{
	for (size_t i = 0; f->p->own_view && i < f->gate->n_places; i++)
		if (strcmp(f->gate->place[i].path, path) == 0)
			return true;
	return false;
}

static bool is_system(const char *path)
{
	return allow_covers("/proc", path) || allow_covers("/dev", path);
}

/* Why a path is not granted by a trace, or NULL. Explicit options say so. */
static const char *refusal(const struct finder *f, const char *path)
{
	enum closed_kind kind = closed_kind_of(&f->closed, path);

	return kind == CLOSED_SECRET || kind == CLOSED_OTHERS ? is_secret
							      : NULL;
}

/* ---- programs ---- */

/* "ls" when that name leads to the file, else the path. */
static const char *program_row(const struct finder *f, const char *path,
			       const char *real)
{
	struct resolved r = RESOLVED_INIT;
	struct err ignored = ERR_INIT;
	const char *name = resolve_basename(path);
	bool is_bare =
		resolve_program(name, NULL, f->arena, &r, &ignored) == 0 &&
		strcmp(r.file[0].path, real) == 0;

	resolved_release(&r);
	return is_bare ? name : real;
}

/*
 * Why the gate would not start it, in the arena; NULL: it would, and starts
 * what its first line names, too.
 */
static const char *unrunnable(struct finder *f, const char *row)
{
	struct resolved r = RESOLVED_INIT;
	struct err err = ERR_INIT;
	int result = resolve_program(row, NULL, f->arena, &r, &err);

	for (size_t i = 1; result == 0 && i < r.n; i++)
		if (!r.file[i].is_loader)
			list_add(&f->brought, f->arena, r.file[i].path);
	resolved_release(&r);
	return result == 0 ? NULL : arena_strdup(f->arena, err.msg);
}

static void need_program(struct finder *f, const struct gate_record *r)
{
	char real[PATH_MAX];
	const char *row, *why_not;
	struct stat st;

	if (r->refused || !realpath(r->path, real) || stat(real, &st) < 0 ||
	    !S_ISREG(st.st_mode) || access(real, X_OK) < 0 ||
	    holds(f, real, GRANT_EXEC) || is_private(f, real) ||
	    allow_has(&f->brought, real))
		return;
	row = program_row(f, r->path, real);
	why_not = refusal(f, real);
	if (!why_not)
		why_not = unrunnable(f, row);
	need(f, "exec", row, r, why_not);
}

/* ---- files ---- */

/* The folder of a name, as it really lies; false: there is none. */
static bool real_folder(const struct finder *f, const char *path,
			char real[PATH_MAX])
{
	return realpath(resolve_dirname(path, f->arena), real) != NULL;
}

static void need_written(struct finder *f, const struct gate_record *r)
{
	bool is_entry = r->access & GATE_ACCESS_ENTRY;
	const char *why_not;
	char real[PATH_MAX];
	struct stat st;

	if (is_entry ? !real_folder(f, r->path, real)
		     : !realpath(r->path, real))
		return;
	if (is_system(real) || holds(f, real, GRANT_WRITE | GRANT_DEVICE) ||
	    is_place(f, real) || stat(real, &st) < 0 ||
	    closed_kind_of(&f->closed, real) == CLOSED_CACHE ||
	    access(real, W_OK) < 0)
		return;
	why_not = refusal(f, real);
	if (!why_not && is_private(f, real) && f->ended_well)
		why_not = hidden;
	if (!why_not && S_ISDIR(st.st_mode) &&
	    !closed_may_widen(&f->closed, real))
		why_not = too_wide;
	if (!why_not && f->ended_well && !list_covers(&f->traced->write, real))
		why_not = went_on;
	need(f, "write", real, r, why_not);
}

/*
 * A name in a private place is there again only when it is asked for itself,
 * so a link in one is asked for by its name.
 */
static const char *read_row(const struct finder *f, const char *path,
			    const char *real)
{
	return prepared_is_replaced(f->p, path) && !strstr(path, "/..") ? path
									: real;
}

/*
 * git looks at whose the folder around its `.git` is, which no record shows;
 * with the folder granted it is its own.
 */
static const char *working_tree(const struct finder *f, const char *path)
{
	const char *at = strstr(path, "/.git");
	const char *tree;

	if (!at || at == path || (at[5] && at[5] != '/'))
		return path;
	tree = arena_strndup(f->arena, path, (size_t)(at - path));
	return closed_may_widen(&f->closed, tree) ? tree : path;
}

static void need_read(struct finder *f, const struct gate_record *r)
{
	char real[PATH_MAX];
	const char *why_not;
	struct stat st;

	if (!realpath(r->path, real) || is_system(real) ||
	    stat(real, &st) < 0 ||
	    (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) ||
	    access(real, R_OK) < 0)
		return;
	if (holds(f, real,
		  GRANT_READ | GRANT_WRITE | GRANT_EXEC | GRANT_DEVICE) ||
	    is_needed(f, "write", real))
		return;
	why_not = refusal(f, real);
	if (closed_kind_of(&f->closed, real) == CLOSED_CACHE)
		return;
	/* the program may have looked for its own file of that name */
	if (!why_not && is_private(f, real) && f->ended_well)
		why_not = hidden;
	if (!why_not && S_ISDIR(st.st_mode) &&
	    !closed_may_widen(&f->closed, real))
		why_not = too_wide;
	need(f, "read", working_tree(f, read_row(f, r->path, real)), r,
	     why_not);
}

static void each(struct finder *f, unsigned what, unsigned access,
		 void (*fn)(struct finder *f, const struct gate_record *r))
{
	for (size_t i = 0; i < f->v->n_records; i++) {
		const struct gate_record *r = &f->v->records[i];

		if (r->what == what && r->access & access && r->path[0] == '/')
			fn(f, r);
	}
}

/* ---- fewer rows ---- */

/* The rows directly in `dir` that are one kind of file. */
static size_t count_in(struct finder *f, const char *dir, bool folders)
{
	size_t n = 0;

	for (size_t i = 0; i < f->out->n; i++) {
		const struct gate_need *row = &f->out->need[i];
		struct stat st;

		if (is_row(row, "read") &&
		    strcmp(resolve_dirname(row->value, f->arena), dir) == 0 &&
		    stat(row->value, &st) == 0 &&
		    S_ISDIR(st.st_mode) == folders)
			n++;
	}
	return n;
}

static void remove_row(struct finder *f, size_t i)
{
	f->out->n--;
	memmove(&f->out->need[i], &f->out->need[i + 1],
		(f->out->n - i) * sizeof(f->out->need[i]));
}

/* Everything beneath `dir` becomes it. */
static void widen(struct finder *f, const char *dir)
{
	struct gate_record sum = {.program = NULL};

	for (size_t i = 0; i < f->out->n;) {
		struct gate_need *row = &f->out->need[i];

		if (!is_row(row, "read") || !allow_covers(dir, row->value)) {
			i++;
			continue;
		}
		if (!sum.program)
			sum.program = row->program;
		sum.count += row->count;
		remove_row(f, i);
	}
	need(f, "read", dir, &sum, NULL);
}

static bool widen_one(struct finder *f)
{
	for (size_t i = 0; i < f->out->n; i++) {
		const struct gate_need *row = &f->out->need[i];
		const char *dir;

		if (!is_row(row, "read"))
			continue;
		dir = resolve_dirname(row->value, f->arena);
		if (!closed_may_widen(&f->closed, dir) ||
		    (count_in(f, dir, false) < COLLAPSE_FILES &&
		     count_in(f, dir, true) < COLLAPSE_FOLDERS))
			continue;
		widen(f, dir);
		return true;
	}
	return false;
}

/* Rows beneath another row of the same key, or reads beneath a write. */
static void drop_covered(struct finder *f)
{
	for (size_t i = 0; i < f->out->n;) {
		const struct gate_need *a = &f->out->need[i];
		bool is_covered = false, is_file = a->value[0] == '/';

		for (size_t k = 0; is_file && k < f->out->n; k++) {
			const struct gate_need *b = &f->out->need[k];

			if (k == i || b->why_not || b->value[0] != '/' ||
			    strcmp(b->key, "exec") == 0 ||
			    strcmp(a->key, "exec") == 0)
				continue;
			is_covered |= (strcmp(a->key, b->key) == 0 ||
				       strcmp(b->key, "write") == 0) &&
				      allow_covers(b->value, a->value);
		}
		if (is_covered)
			remove_row(f, i);
		else
			i++;
	}
}

/* ---- the network ---- */

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
static bool is_served(const struct finder *f, const char *port)
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
static const char *net_row(const struct finder *f, const char *address,
			   const char *port)
{
	const char *only_port = arena_printf(f->arena, ":%s", port);
	struct gate_policy p = {.net = {&address, 1}};
	struct err ignored = ERR_INIT;

	return gate_policy_check(&p, &ignored) == 0 ? address : only_port;
}

/* Of the gate's own proxy, in the network of the trace. */
static bool is_proxy(const struct finder *f, const char *port)
{
	struct err ignored = ERR_INIT;
	struct policy p;
	uint64_t n;

	return policy_resolve(f->traced, NULL, f->arena, &p, &ignored) == 0 &&
	       p.net == POLICY_NET_PROXY && str_uint64(str_of(port), &n) &&
	       n == proxy_port(&p);
}

/* Which of the names it was asked for, nobody tells apart. */
static void need_given_names(struct finder *f, const struct gate_record *r)
{
	for (size_t i = 0; i < f->traced->net.n; i++)
		need(f, "net", f->traced->net.item[i], r, NULL);
}

static void need_address(struct finder *f, const struct gate_record *r)
{
	const char *port;
	struct str host;

	if (!split_address(r->path, &host, &port)) {
		if (strncmp(r->path, "unix:/", 6) == 0 &&
		    access(r->path + 5, F_OK) == 0)
			need(f, "net", r->path, r,
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
		need(f, "net", "loopback", r, NULL);
	else
		need(f, "net", net_row(f, r->path, port), r,
		     /* a row would be TCP, and with a proxy nobody asks */
		     strcmp(port, "53") == 0 ? is_lookup : NULL);
}

/* "loopback" stands alone: with other rows it is all or nothing. */
static void join_net(struct finder *f)
{
	struct gate_need *own = find(f, "net", "loopback");
	size_t n = 0;

	for (size_t i = 0; i < f->out->n; i++)
		n += is_row(&f->out->need[i], "net");
	if (!own || n < 2)
		return;
	for (size_t i = 0; i < f->out->n; i++)
		if (is_row(&f->out->need[i], "net"))
			f->out->need[i].why_not =
				"part of \"all\": it serves, and connects to "
				"others";
	need(f, "net", "all",
	     &(struct gate_record){.program = own->program,
				   .count = own->count},
	     NULL);
}

static void need_network(struct finder *f)
{
	for (size_t i = 0; i < f->v->n_records; i++)
		if (f->v->records[i].what == GATE_RECORD_NET)
			need_address(f, &f->v->records[i]);
	join_net(f);
}

/* ---- system calls ---- */

/* The value of `sandbox = { KEY = ["VALUE"] }`; NULL when there is none. */
static const char *allowed_value(const struct finder *f, const char *line,
				 const char *key)
{
	const char *at = strstr(line, arena_printf(f->arena, "{ %s = ", key));
	const char *from = at ? strchr(at, '"') : NULL;
	const char *to = from ? strchr(from + 1, '"') : NULL;

	return to ? arena_strndup(f->arena, from + 1, (size_t)(to - from - 1))
		  : NULL;
}

static void need_calls(struct finder *f)
{
	for (size_t i = 0; i < f->v->n_denials; i++) {
		const struct gate_denial *d = &f->v->denials[i];
		const struct gate_record r = {.program = d->program,
					      .count = d->count};
		const char *why_not = f->ended_well ? went_on : NULL;
		const char *line = d->allow ? d->allow : "";
		const char *call = allowed_value(f, line, "syscalls");
		const char *net = allowed_value(f, line, "net");

		if (call)
			need(f, "syscalls", call, &r, why_not);
		if (net)
			need(f, "net", net, &r, why_not);
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

/* With the programs that are needed comes what they may read. */
static void find_files(struct finder *f)
{
	each(f, GATE_RECORD_FILES, GATE_ACCESS_WRITE, need_written);
	drop_covered(f);
	each(f, GATE_RECORD_FILES, GATE_ACCESS_READ, need_read);
	while (widen_one(f))
		;
	drop_covered(f);
	need_network(f);
	need_calls(f);
}

int gate_needs(struct gate *gate, const struct gate_request *plain,
	       const struct gate_policy *traced, const struct gate_verdict *v,
	       struct arena *arena, struct gate_needs *ret, struct err *err)
{
	static const struct gate_policy none;
	struct gate_request with_programs = *plain;
	bool leash_all = gate->config.leash.exec.all;
	struct gate_policy policy;
	struct prepared p;
	struct finder f = {
		.gate = gate,
		.arena = arena,
		.plain = plain,
		.traced = traced,
		.v = v,
		.p = &p,
		.closed = gate_closed(gate),
		.ended_well = v->exited && v->exit_status == 0,
		.out = ret,
	};
	int r = prepare(gate, plain, false, &p, err);

	*ret = (struct gate_needs){NULL, 0};
	if (r == 0)
		each(&f, GATE_RECORD_EXEC, GATE_ACCESS_RUN, need_program);
	prepared_release(&p);
	if (r < 0)
		return -1;
	gate_needs_policy(plain->policy ? plain->policy : &none, ret, arena,
			  &policy);
	with_programs.policy = &policy;
	/* the leash of the trace names folders; nothing is started here */
	gate->config.leash.exec.all = true;
	r = prepare(gate, &with_programs, false, &p, err);
	gate->config.leash.exec.all = leash_all;
	if (r == 0)
		find_files(&f);
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
			if (is_row(&needs->need[i], lists[k].key))
				list_add(lists[k].list, arena,
					 needs->need[i].value);
	gate_policy_merge(base, &more, arena, ret);
}
