#include "core/transport/remote_headers.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/mcp/wire/http_fields.h"
#include "core/mcp/wire/listing.h"

/* Tools beyond get no fields; lists of the session end there, too. */
#define TOOLS_MAX 100000

struct tool_schema {
	struct str name;
	struct http_params params;
	size_t age; /* place within a page; 0 in earlier pages */
};

/* ---- schemas ---- */

static int compare_names(const void *a, const void *b)
{
	const struct tool_schema *x = a, *y = b;
	size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
	int order = n ? memcmp(x->name.p, y->name.p, n) : 0;

	if (order)
		return order;
	return (x->name.n > y->name.n) - (x->name.n < y->name.n);
}

/* By name; of equal names the newest is the first. */
static int compare_tools(const void *a, const void *b)
{
	const struct tool_schema *x = a, *y = b;
	int order = compare_names(a, b);

	return order ? order : (x->age < y->age) - (x->age > y->age);
}

static const struct tool_schema *find_called(const struct tools *t,
					     const struct post *p)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	struct tool_schema wanted = {0};
	struct str v;

	if (!t->n || !scan_get(p->params, "name", &v) || !scan_string(v, &name))
		return NULL;
	wanted.name = buf_str(&name);
	return bsearch(&wanted, t->tool, t->n, sizeof(wanted), compare_names);
}

void tools_forget(struct tools *t)
{
	free(t->tool);
	t->tool = NULL;
	t->n = t->cap = 0;
	t->is_complete = t->is_followed = false;
	arena_release(&t->arena);
}

static void learn_tool(struct tools *t, struct str json)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);
	struct http_params params;
	struct err ignored = ERR_INIT;
	struct str v;

	if (t->n == TOOLS_MAX || !scan_get(json, "name", &v) ||
	    !scan_string(v, &name))
		return;
	/* a tool that breaks the rules gets no fields; lists leave it out */
	if (http_params_read(json, &t->arena, &params, &ignored) < 0)
		params = (struct http_params){0};
	t->tool = mem_grow(t->tool, t->n + 1, &t->cap, sizeof(*t->tool));
	t->tool[t->n] = (struct tool_schema){
		.name = arena_str(&t->arena, buf_str(&name)),
		.params = params,
		.age = t->n,
	};
	t->n++;
}

/* Sort; of each name only the newest stays. */
static void settle(struct tools *t)
{
	size_t n = 0;

	if (!t->n)
		return;
	qsort(t->tool, t->n, sizeof(*t->tool), compare_tools);
	for (size_t i = 0; i < t->n; i++)
		if (!n || compare_names(&t->tool[n - 1], &t->tool[i]) != 0)
			t->tool[n++] = t->tool[i];
	for (size_t i = 0; i < n; i++)
		t->tool[i].age = 0;
	t->n = n;
}

void tools_learn(struct tools *t, const struct post *p, struct str result)
{
	struct scan_iter it;
	struct str list, cursor;

	if (!scan_get_some(result, "tools", &list))
		return;
	scan_iter_init(&it, list);
	while (!it.is_object && scan_next(&it))
		learn_tool(t, it.value);
	settle(t);
	if (!scan_get_some(p->params, "cursor", &cursor))
		t->is_followed = true;
	if (!scan_get_some(result, "nextCursor", &cursor))
		t->is_complete = t->is_followed;
}

bool tools_know(const struct tools *t, const struct post *p)
{
	return t->is_complete || find_called(t, p);
}

/* ---- asking for them ---- */

/* _meta of the call, but for its progress token. */
static void write_meta(const struct post *p, struct jw *w)
{
	struct scan_iter it;
	struct str meta;

	jw_kv_object(w, "_meta");
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

void tools_write_request(const struct post *like, const char *id,
			 struct str cursor, struct buf *out)
{
	struct jw w;

	jw_init(&w, out, false);
	jw_object(&w);
	jw_kv_cstr(&w, "jsonrpc", "2.0");
	jw_kv_cstr(&w, "id", id);
	jw_kv_cstr(&w, "method", "tools/list");
	jw_kv_object(&w, "params");
	if (cursor.p)
		jw_kv_raw(&w, "cursor", cursor);
	write_meta(like, &w);
	jw_end(&w);
	jw_end(&w);
}

bool tools_next_page(struct tools *t, const struct post *p, struct str result,
		     struct str *cursor)
{
	struct str before = {NULL, 0};

	if (!scan_get_some(result, "nextCursor", cursor) ||
	    scan_type(*cursor) != SCAN_STRING)
		return false;
	/* one page for ever */
	if (scan_get_some(p->params, "cursor", &before) &&
	    str_eq(before, *cursor))
		return false;
	return ++t->pages <= LISTING_PAGES_MAX;
}

/* ---- fields ---- */

static int add_arguments(const struct tools *t, const struct post *p,
			 struct http_headers *h, struct err *err)
{
	const struct tool_schema *tool = find_called(t, p);
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

static int add_modern(const struct post *p, const struct tools *t,
		      struct http_headers *h, struct err *err)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);

	if (http_headers_set(h, "MCP-Protocol-Version", str_of(p->protocol),
			     err) < 0 ||
	    http_headers_set(h, "Mcp-Method", str_of(p->method), err) < 0)
		return -1;
	if (http_name_value(p->method, p->params, &name) &&
	    http_headers_set(h, "Mcp-Name", buf_str(&name), err) < 0)
		return -1;
	return post_is(p, "tools/call") ? add_arguments(t, p, h, err) : 0;
}

static int add_legacy(struct post *p, const struct era *e,
		      struct http_headers *h, struct err *err)
{
	/* since 2025-06-18 */
	bool is_named = strcmp(e->protocol, "2025-06-18") >= 0 && !e->is_sse &&
			!post_is(p, "initialize");

	if (is_named && http_headers_set(h, "MCP-Protocol-Version",
					 str_of(e->protocol), err) < 0)
		return -1;
	p->session = 0;
	if (!e->session_id.n || e->is_sse)
		return 0;
	p->session = e->session;
	return http_headers_set(h, "Mcp-Session-Id", buf_str(&e->session_id),
				err);
}

static int add_content(const struct post *p, struct http_headers *h,
		       struct err *err)
{
	struct str last = buf_str(&p->sse.last_id);

	if (p->kind == POST_DELETE)
		return 0;
	if (!post_is_get(p))
		return http_headers_set(h, "Content-Type",
					STR("application/json"), err) < 0
			       ? -1
			       : http_headers_set(h, "Accept",
						  STR("application/json, "
						      "text/event-stream"),
						  err);
	if (http_headers_set(h, "Accept", STR("text/event-stream"), err) < 0)
		return -1;
	return last.n && p->kind != POST_EVENTS
		       ? http_headers_set(h, "Last-Event-ID", last, err)
		       : 0;
}

int headers_make(struct post *p, const struct era *e, const struct tools *t,
		 struct http_headers *h, struct err *err)
{
	if (add_content(p, h, err) < 0)
		return -1;
	return p->protocol ? add_modern(p, t, h, err)
			   : add_legacy(p, e, h, err);
}
