/*
 * Schemas of tools, for header fields that are made of arguments (XH-1). They
 * are learned from the lists that pass through, or asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/scan.h"
#include "core/mcp/wire/listing.h"
#include "core/transport/remote_inner.h"

/* Those beyond get no fields; lists of the session end there, too. */
#define TOOLS_MAX 100000

/* ---- what is known ---- */

static int compare_names(const void *a, const void *b)
{
	const struct remote_tool *x = a, *y = b;
	size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
	int order = n ? memcmp(x->name.p, y->name.p, n) : 0;

	if (order)
		return order;
	return (x->name.n > y->name.n) - (x->name.n < y->name.n);
}

/* By name; of the same name the newest is the first. */
static int compare(const void *a, const void *b)
{
	const struct remote_tool *x = a, *y = b;
	int order = compare_names(a, b);

	return order ? order : (x->age < y->age) - (x->age > y->age);
}

static struct remote_tool *find(struct remote *r, struct str name)
{
	const struct remote_tool wanted = {.name = name};

	if (!r->list.n)
		return NULL;
	return bsearch(&wanted, r->list.tool, r->list.n, sizeof(wanted),
		       compare_names);
}

static struct remote_tool *find_called(const struct post *p)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	struct str v;

	if (!scan_get(p->params, "name", &v) || !scan_string(v, &name))
		return NULL;
	return find(p->remote, buf_str(&name));
}

void remote_list_forget(struct remote *r)
{
	struct remote_list *l = &r->list;

	free(l->tool);
	l->tool = NULL;
	l->n = l->cap = 0;
	l->is_complete = l->is_followed = false;
	arena_release(&l->arena);
}

static void learn_tool(struct remote *r, struct str json)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	struct remote_list *l = &r->list;
	struct http_params params;
	struct err ignored = ERR_INIT;
	struct str v;

	if (l->n == TOOLS_MAX || !scan_get(json, "name", &v) ||
	    !scan_string(v, &name))
		return;
	/* one that breaks the rules gets no fields; lists leave it out */
	if (http_params_read(json, &l->arena, &params, &ignored) < 0)
		params = (struct http_params){0};
	l->tool = mem_grow(l->tool, l->n + 1, &l->cap, sizeof(*l->tool));
	l->tool[l->n] = (struct remote_tool){
		.name = arena_str(&l->arena, buf_str(&name)),
		.params = params,
		.age = l->n,
	};
	l->n++;
}

/* In order, and of each name the newest only. */
static void settle(struct remote_list *l)
{
	size_t n = 0;

	if (!l->n)
		return;
	qsort(l->tool, l->n, sizeof(*l->tool), compare);
	for (size_t i = 0; i < l->n; i++)
		if (!n || compare_names(&l->tool[n - 1], &l->tool[i]) != 0)
			l->tool[n++] = l->tool[i];
	for (size_t i = 0; i < n; i++)
		l->tool[i].age = 0;
	l->n = n;
}

void remote_list_learn(struct remote *r, const struct post *p,
		       struct str result)
{
	struct scan_iter it;
	struct str list, cursor;

	if (!scan_get_some(result, "tools", &list))
		return;
	scan_iter_init(&it, list);
	while (!it.is_object && scan_next(&it))
		learn_tool(r, it.value);
	settle(&r->list);
	if (!scan_get_some(p->params, "cursor", &cursor))
		r->list.is_followed = true;
	if (!scan_get_some(result, "nextCursor", &cursor))
		r->list.is_complete = r->list.is_followed;
}

/* ---- asking ---- */

static void on_page(struct remote *r, struct post *p,
		    const struct rpc_message *m,
		    const struct transport_item *lost);

/* _meta of the call, but for its token (META-1). */
static void write_meta(const struct post *p, struct jw *w)
{
	struct scan_iter it;
	struct str meta;

	jw_key(w, "_meta");
	jw_object(w);
	if (!scan_get(p->params, "_meta", &meta))
		meta = STR("{}");
	scan_iter_init(&it, meta);
	while (it.is_object && scan_next(&it)) {
		AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);

		if (scan_is(it.key, "progressToken"))
			continue;
		scan_string(it.key, &key);
		jw_key_str(w, buf_str(&key));
		jw_raw(w, it.value);
	}
	jw_end(w);
}

static void ask(struct remote *r, const struct post *like, struct str cursor)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &text, false);
	jw_object(&w);
	jw_kv_cstr(&w, "jsonrpc", "2.0");
	jw_key(&w, "id");
	remote_write_own_id(r, &w);
	jw_kv_cstr(&w, "method", "tools/list");
	jw_key(&w, "params");
	jw_object(&w);
	if (cursor.p)
		jw_kv_raw(&w, "cursor", cursor);
	write_meta(like, &w);
	jw_end(&w);
	jw_end(&w);
	r->list.is_asked = true;
	remote_request(r, buf_str(&text))->answer = on_page;
}

/* What is known now is all; a list that fails means calls without fields. */
static void done(struct remote *r)
{
	r->list.is_asked = false;
	r->list.is_complete = true;
	remote_wake(r);
}

static void on_page(struct remote *r, struct post *p,
		    const struct rpc_message *m,
		    const struct transport_item *lost)
{
	struct str cursor, before = {NULL, 0};

	if (lost || m->type != RPC_RESULT ||
	    !scan_get_some(m->result, "nextCursor", &cursor) ||
	    scan_type(cursor) != SCAN_STRING) {
		done(r);
		return;
	}
	/* the same page for ever (PAG-6) */
	if ((scan_get_some(p->params, "cursor", &before) &&
	     str_eq(before, cursor)) ||
	    ++r->list.pages > LISTING_PAGES_MAX) {
		done(r);
		return;
	}
	ask(r, p, cursor);
}

/* ---- for a call ---- */

bool remote_list_ready(struct post *p)
{
	const struct str first = {NULL, 0};
	struct remote *r = p->remote;

	if (r->list.is_complete || find_called(p))
		return true;
	if (!r->list.is_asked) {
		r->list.pages = 0;
		ask(r, p, first);
	}
	return false;
}

int remote_list_headers(struct post *p, struct http_headers *h, struct err *err)
{
	struct remote_tool *tool = find_called(p);
	struct str arguments;

	if (!tool || !scan_get_some(p->params, "arguments", &arguments))
		return 0;
	for (size_t i = 0; i < tool->params.n; i++) {
		const struct http_param *param = &tool->params.item[i];
		AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
		AUTO(buf_release) struct buf value = BUF_INIT(BUF_UNBOUNDED);

		if (!http_param_value(param, arguments, &value))
			continue;
		buf_addf(&name, "Mcp-Param-%.*s", STR_ARG(param->header));
		if (http_headers_set(h, buf_cstr(&name), buf_str(&value), err) <
		    0)
			return -1;
	}
	return 0;
}

bool remote_list_mismatch(struct post *p)
{
	if (p->was_mismatched)
		return false;
	p->was_mismatched = true;
	remote_list_forget(p->remote);
	post_again(p);
	return true;
}
