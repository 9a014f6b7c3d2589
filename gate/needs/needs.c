/*
 * From what a tree did to the rows of a policy that grants it: the list of
 * rows, system calls, and the order in which all is looked for.
 */
#include <stdlib.h>
#include <string.h>

#include "gate/needs/needs_inner.h"

static const char *const keys[] = {"exec", "read", "write", "net", "syscalls"};

const char needs_went_on[] = "the trace refused it, and the program went on";

/* ---- rows ---- */

struct gate_need *needs_find(struct needs_finder *f, const char *key,
			     const char *value)
{
	for (size_t i = 0; i < f->out->n; i++) {
		struct gate_need *n = &f->out->need[i];

		if (strcmp(n->key, key) == 0 && strcmp(n->value, value) == 0)
			return n;
	}
	return NULL;
}

void needs_add(struct needs_finder *f, const char *key, const char *value,
	       const struct gate_record *r, const char *why_not)
{
	struct gate_need *same = needs_find(f, key, value);

	if (same) {
		same->count += r->count;
		/* asked for in two ways, of which one can be granted */
		if (!why_not)
			same->why_not = NULL;
		return;
	}
	f->out->need = arena_grow(f->arena, f->out->need, f->out->n,
				  sizeof(*f->out->need));
	f->out->need[f->out->n++] = (struct gate_need){
		.key = key,
		.value = arena_strdup(f->arena, value),
		.program = arena_strdup(f->arena, r->program),
		.count = r->count,
		.why_not = why_not,
	};
}

bool needs_is_row(const struct gate_need *n, const char *key)
{
	return !n->why_not && strcmp(n->key, key) == 0;
}

/* ---- system calls ---- */

/* The value of `sandbox = { KEY = ["VALUE"] }`; NULL when there is none. */
static const char *allowed_value(const struct needs_finder *f, const char *line,
				 const char *key)
{
	const char *at = strstr(line, arena_printf(f->arena, "{ %s = ", key));
	const char *from = at ? strchr(at, '"') : NULL;
	const char *to = from ? strchr(from + 1, '"') : NULL;

	return to ? arena_strndup(f->arena, from + 1, (size_t)(to - from - 1))
		  : NULL;
}

static void need_calls(struct needs_finder *f)
{
	for (size_t i = 0; i < f->v->n_denials; i++) {
		const struct gate_denial *d = &f->v->denials[i];
		const struct gate_record r = {.program = d->program,
					      .count = d->count};
		const char *why_not = f->ended_well ? needs_went_on : NULL;
		const char *line = d->allow ? d->allow : "";
		const char *call = allowed_value(f, line, "syscalls");
		const char *net = allowed_value(f, line, "net");

		if (call)
			needs_add(f, "syscalls", call, &r, why_not);
		if (net)
			needs_add(f, "net", net, &r, why_not);
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

static void each(struct needs_finder *f, unsigned what, unsigned access,
		 void (*fn)(struct needs_finder *f,
			    const struct gate_record *r))
{
	for (size_t i = 0; i < f->v->n_records; i++) {
		const struct gate_record *r = &f->v->records[i];

		if (r->what == what && r->access & access && r->path[0] == '/')
			fn(f, r);
	}
}

/* With the programs that are needed comes what they may read. */
static void find_files(struct needs_finder *f)
{
	each(f, GATE_RECORD_FILES, GATE_ACCESS_WRITE, needs_find_written);
	needs_drop_covered(f);
	each(f, GATE_RECORD_FILES, GATE_ACCESS_READ, needs_find_read);
	needs_widen(f);
	needs_drop_covered(f);
	needs_find_net(f);
	need_calls(f);
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
		.closed = gate_closed(gate),
		.ended_well = v->exited && v->exit_status == 0,
		.out = ret,
	};
	int r = prepare_by(gate, plain, false, prepare_until(plain), &p, err);

	*ret = (struct gate_needs){NULL, 0};
	if (r == 0)
		each(&f, GATE_RECORD_EXEC, GATE_ACCESS_RUN, needs_find_program);
	prepared_release(&p);
	if (r < 0)
		return -1;
	gate_needs_policy(plain->policy ? plain->policy : &none, ret, arena,
			  &policy);
	with_programs.policy = &policy;
	r = prepare_by(gate, &with_programs, false,
		       prepare_until(&with_programs), &p, err);
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
			if (needs_is_row(&needs->need[i], lists[k].key))
				list_add(lists[k].list, arena,
					 needs->need[i].value);
	gate_policy_merge(base, &more, arena, ret);
}
