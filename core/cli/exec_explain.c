#include "core/cli/exec_explain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/fd.h"
#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/cli/put.h"
#include "core/client/facts.h"

/* The lists of a policy by the names of their keys. */
static const struct list_row {
	const char *name;
	size_t offset;
} LISTS[] = {
	{"read", offsetof(struct gate_policy, read)},
	{"write", offsetof(struct gate_policy, write)},
	{"exec", offsetof(struct gate_policy, exec)},
	{"net", offsetof(struct gate_policy, net)},
	{"syscalls", offsetof(struct gate_policy, syscalls)},
};

static const struct strlist *list_of(const struct gate_policy *p, size_t row)
{
	return (const void *)((const char *)p + LISTS[row].offset);
}

/* Bytes of "NAME" in "NAME=VALUE". */
static struct str name_of(const char *variable)
{
	struct str rest = str_of(variable);

	return str_cut(&rest, '=');
}

/* ---- as text ---- */

static void begin(struct buf *out, const char *name)
{
	buf_addf(out, "%-13s ", name);
}

static void visible(struct buf *out, const char *text)
{
	log_visible(out, str_of(text), false);
}

static void line(struct buf *out, const char *name, const char *text)
{
	begin(out, name);
	visible(out, text);
	buf_addc(out, '\n');
}

static void list_lines(struct buf *out, const char *name,
		       const struct strlist *list)
{
	for (size_t i = 0; i < list->n; i++)
		line(out, i ? "" : name, list->item[i]);
}

static void list_line(struct buf *out, const char *name,
		      const struct strlist *list, const char *more)
{
	if (!list->n)
		return;
	begin(out, name);
	for (size_t i = 0; i < list->n; i++) {
		buf_adds(out, i ? ", " : "");
		visible(out, list->item[i]);
	}
	buf_addf(out, "%s\n", more);
}

/* By the most that may be done with it. */
static const char *may(unsigned access)
{
	if (access & GATE_ACCESS_WRITE)
		return access & GATE_ACCESS_READ ? "may write"
						 : "may write only";
	return access & GATE_ACCESS_RUN ? "may run" : "may read";
}

static void grant_lines(struct buf *out, const struct gate_explained *e)
{
	static const unsigned order[] = {GATE_ACCESS_WRITE, GATE_ACCESS_RUN,
					 GATE_ACCESS_READ};
	unsigned done = 0;

	for (size_t k = 0; k < ARRAY_LEN(order); done |= order[k++]) {
		for (size_t i = 0; i < e->n_grants; i++) {
			const struct gate_grant *g = &e->grant[i];

			if (!(g->access & order[k]) || g->access & done)
				continue;
			begin(out, may(g->access));
			visible(out, g->path);
			buf_addf(out, "%s (%s)",
				 !g->is_folder		     ? ""
				 : strcmp(g->path, "/") == 0 ? "…"
							     : "/…",
				 g->why);
			if (g->secret)
				buf_addf(out,
					 ": %s holds keys, tokens or "
					 "sessions",
					 g->secret);
			buf_addc(out, '\n');
		}
	}
}

/* Some of them say what kind of thing they are. */
static void base_line(struct buf *out, const struct gate_explained *e)
{
	enum { SHOWN = 3 };
	size_t shown = 0;

	begin(out, "may use");
	for (size_t i = 0; i < e->n_base && shown < SHOWN; i++) {
		if (!e->base[i].is_folder)
			continue;
		buf_adds(out, shown++ ? ", " : "");
		visible(out, e->base[i].path);
	}
	buf_addf(out,
		 " and %zu more of the system, as every program; --json "
		 "lists them\n",
		 e->n_base - shown);
}

static void size_text(struct buf *out, uint64_t bytes)
{
	static const char *const units[] = {" B", "KiB", "MiB", "GiB", "TiB"};
	size_t i = 0;

	for (; i + 1 < ARRAY_LEN(units) && bytes && bytes % 1024 == 0; i++)
		bytes /= 1024;
	buf_addf(out, "%" PRIu64 "%s", bytes, units[i]);
}

static void limits_line(struct buf *out, const struct gate_explained *e)
{
	begin(out, "limits");
	buf_adds(out, "memory ");
	size_text(out, e->memory_bytes);
	buf_addf(out, ", %" PRIu64 " processes, %" PRIu64 " open files of each",
		 e->processes, e->files);
	if (e->cpu_seconds)
		buf_addf(out, ", %" PRIu64 "s of processor time of each",
			 e->cpu_seconds);
	else
		buf_adds(out, ", any processor time");
	buf_adds(out, ", files ");
	if (e->file_size_bytes) {
		buf_adds(out, "up to ");
		size_text(out, e->file_size_bytes);
	} else {
		buf_adds(out, "of any size, since output goes to a file");
	}
	buf_addc(out, '\n');
}

static void rule_lines(struct buf *out, const struct gate_policy *p)
{
	for (size_t i = 0; i < p->n_programs; i++)
		line(out, i ? "" : "rules for", p->programs[i].name);
}

static void env_line(struct buf *out, const char *const *env)
{
	if (!env || !env[0])
		return;
	buf_addf(out, "%-13s", "environment");
	for (size_t i = 0; env[i]; i++) {
		buf_addc(out, ' ');
		log_visible(out, name_of(env[i]), false);
	}
	buf_addc(out, '\n');
}

static void start_line(struct buf *out, const struct gate_request *request,
		       const struct gate_explained *e)
{
	AUTO(mem_freep)
	char *real = request->cwd ? realpath(request->cwd, NULL) : NULL;

	begin(out, "starts in");
	visible(out, e->cwd ? e->cwd : "a private HOME");
	if (real && (!e->cwd || strcmp(real, e->cwd) != 0)) {
		buf_adds(out, ", for nothing in ");
		visible(out, real);
		buf_adds(out, " is granted");
	}
	buf_addc(out, '\n');
}

static void print_text(const struct gate_request *request,
		       const struct strlist *projects,
		       const struct gate_explained *e, struct buf *out)
{
	const struct gate_policy *p = request->policy;

	line(out, "program", e->program);
	if (e->interpreter)
		line(out, "interpreter", e->interpreter);
	if (e->installation)
		line(out, "installation", e->installation);
	line(out, "user", e->user);
	start_line(out, request, e);
	list_lines(out, "project", projects);
	grant_lines(out, e);
	base_line(out, e);
	list_line(out, "private", &e->private_places,
		  ": writable, empty at first, gone afterwards");
	list_line(out, "protected", &e->protect, ": only read, all the same");
	list_line(out, "hidden", &e->hidden, ": tokens, which no program sees");
	list_line(out, "network", &e->net, "");
	list_lines(out, "dropped", &e->dropped);
	list_lines(out, "syscalls", &p->syscalls);
	rule_lines(out, p);
	if (p->record_exec)
		line(out, "recorded", "every program that is executed");
	env_line(out, request->env);
	limits_line(out, e);
	line(out, "profile", e->profile);
	for (size_t i = 0; i < e->n_facts; i++)
		buf_addf(out, "%s%-14s %s (%s)\n", i ? "" : "\n",
			 e->facts[i].guarantee,
			 gate_level_name(e->facts[i].level), e->facts[i].how);
}

/* ---- as JSON ---- */

static void list_json(struct jw *w, const char *name,
		      const struct strlist *list)
{
	jw_key(w, name);
	jw_array(w);
	for (size_t i = 0; i < list->n; i++)
		jw_cstr(w, list->item[i]);
	jw_end(w);
}

static void access_json(struct jw *w, unsigned access)
{
	jw_key(w, "access");
	jw_array(w);
	if (access & GATE_ACCESS_READ)
		jw_cstr(w, "read");
	if (access & GATE_ACCESS_WRITE)
		jw_cstr(w, "write");
	if (access & GATE_ACCESS_RUN)
		jw_cstr(w, "run");
	jw_end(w);
}

static void grants_json(struct jw *w, const char *name,
			const struct gate_grant *grant, size_t n)
{
	jw_key(w, name);
	jw_array(w);
	for (size_t i = 0; i < n; i++) {
		const struct gate_grant *g = &grant[i];

		jw_object(w);
		jw_kv_cstr(w, "path", g->path);
		access_json(w, g->access);
		jw_kv_cstr(w, "why", g->why);
		jw_kv_bool(w, "folder", g->is_folder);
		if (g->secret)
			jw_kv_cstr(w, "secret", g->secret);
		jw_end(w);
	}
	jw_end(w);
}

/* 0 is no limit, and not written. */
static void limits_json(struct jw *w, const struct gate_explained *e)
{
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{"memory_bytes", e->memory_bytes},
		{"file_size_bytes", e->file_size_bytes},
		{"processes", e->processes},
		{"files", e->files},
		{"cpu_seconds", e->cpu_seconds},
	};

	jw_key(w, "limits");
	jw_object(w);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].value)
			jw_kv_int(w, rows[i].name, (int64_t)rows[i].value);
	jw_end(w);
}

/* What was asked for. */
static void policy_json(struct jw *w, const struct gate_request *request)
{
	const struct gate_policy *p = request->policy;
	const char *const *env = request->env;

	for (size_t i = 0; i < ARRAY_LEN(LISTS); i++)
		list_json(w, LISTS[i].name, list_of(p, i));
	jw_key(w, "rules");
	jw_array(w);
	for (size_t i = 0; i < p->n_programs; i++)
		jw_cstr(w, p->programs[i].name);
	jw_end(w);
	jw_kv_bool(w, "record_exec", p->record_exec);
	jw_key(w, "environment");
	jw_array(w);
	for (size_t i = 0; env && env[i]; i++)
		jw_str(w, name_of(env[i]));
	jw_end(w);
}

static void print_json(const struct gate_request *request,
		       const struct strlist *projects,
		       const struct gate_explained *e, struct buf *out)
{
	struct jw w;

	jw_init(&w, out, true);
	jw_object(&w);
	jw_kv_cstr(&w, "program", e->program);
	if (e->interpreter)
		jw_kv_cstr(&w, "interpreter", e->interpreter);
	if (e->installation)
		jw_kv_cstr(&w, "installation", e->installation);
	jw_kv_cstr(&w, "user", e->user);
	if (e->cwd)
		jw_kv_cstr(&w, "cwd", e->cwd);
	list_json(&w, "projects", projects);
	policy_json(&w, request);
	jw_kv_cstr(&w, "profile", e->profile);
	grants_json(&w, "grants", e->grant, e->n_grants);
	grants_json(&w, "base", e->base, e->n_base);
	list_json(&w, "private", &e->private_places);
	list_json(&w, "protected", &e->protect);
	list_json(&w, "hidden", &e->hidden);
	list_json(&w, "network", &e->net);
	list_json(&w, "dropped", &e->dropped);
	limits_json(&w, e);
	facts_enforced(&w, "enforced", e->facts, e->n_facts);
	jw_end(&w);
	buf_addc(out, '\n');
}

/* ---- public ---- */

void exec_warn_arguments(const struct gate_explained *e)
{
	for (size_t i = 0; i < e->n_grants; i++)
		if (e->grant[i].is_argument && e->grant[i].secret)
			log_warning("%s can be read, because an argument "
				    "names it; %s holds keys, tokens or "
				    "sessions",
				    e->grant[i].path, e->grant[i].secret);
}

int exec_explain(const struct gate_request *request,
		 const struct strlist *projects, const struct gate_explained *e,
		 bool json, struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (json)
		print_json(request, projects, e, &out);
	else
		print_text(request, projects, e, &out);
	return put(buf_str(&out), json ? PUT_JSON : PUT_TEXT, err);
}
