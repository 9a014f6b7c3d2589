#include "core/transport/remote_headers.h"

#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/mcp/wire/http_fields.h"
#include "core/mcp/wire/listing.h"

/* Tools that are learned of one server at most: those beyond get no fields;
   lists of the session end there, too. */
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
	struct str v;

	if (t->n == TOOLS_MAX || !scan_get(json, "name", &v) ||
	    !scan_string(v, &name))
		return;
	/* a tool that breaks the rules gets no fields; lists leave it out */
	if (http_params_read(json, &t->arena, &params, ERR_IGNORED) < 0)
		params = (struct http_params){0};
	t->tool = mem_grow(t->tool, t->n + 1, &t->cap, sizeof(*t->tool));
	t->tool[t->n] = (struct tool_schema){
		.name = arena_str(&t->arena, buf_str(&name)),
		.params = params,
		.age = t->n,
	};
	t->n++;
}

void tools_learn(struct tools *t, const struct post *p, struct str result)
{
	struct scan_iter it;
	struct str list, cursor;
	size_t n = 0;

	if (!scan_get_some(result, "tools", &list))
		return;
	scan_iter_init(&it, list);
	while (!it.is_object && scan_next(&it))
		learn_tool(t, it.value);
	if (t->n)
		qsort(t->tool, t->n, sizeof(*t->tool), compare_tools);
	/* of each name only the newest stays */
	for (size_t i = 0; i < t->n; i++)
		if (!n || compare_names(&t->tool[n - 1], &t->tool[i]) != 0)
			t->tool[n++] = t->tool[i];
	for (size_t i = 0; i < n; i++)
		t->tool[i].age = 0;
	t->n = n;
	if (!scan_get_some(p->params, "cursor", &cursor))
		t->is_followed = true;
	if (!scan_get_some(result, "nextCursor", &cursor))
		t->is_complete = t->is_followed;
}

/* ---- asking for them ---- */

bool tools_write_request(struct tools *t, const struct post *p,
			 struct str result, unsigned number, struct buf *out)
{
	struct str cursor = {NULL, 0}, before, meta;
	struct jw w;

	if (!result.p)
		t->pages = 0;
	else if (!scan_get_some(result, "nextCursor", &cursor) ||
		 scan_type(cursor) != SCAN_STRING ||
		 /* one page for ever */
		 (scan_get_some(p->params, "cursor", &before) &&
		  str_eq(before, cursor)) ||
		 ++t->pages > LISTING_PAGES_MAX)
		return false;
	buf_addf(out,
		 "{\"jsonrpc\":\"2.0\",\"id\":\"matins-%u\","
		 "\"method\":\"tools/list\",\"params\":",
		 number);
	w = jw_begin(out);
	if (cursor.p)
		jw_kv_raw(&w, "cursor", cursor);
	jw_kv_object(&w, "_meta");
	if (scan_get(p->params, "_meta", &meta))
		jw_members(&w, meta, "progressToken");
	jw_end(&w);
	jw_end(&w);
	buf_addc(out, '}');
	return true;
}

/* ---- fields ---- */

static int add_arguments(const struct tool_schema *tool, const struct post *p,
			 struct http_headers *h, struct err *err)
{
	struct str arguments;

	if (!scan_get_some(p->params, "arguments", &arguments))
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

static int add_modern(const struct post *p, const struct tool_schema *tool,
		      struct http_headers *h, struct err *err)
{
	AUTO(buf_release) struct buf name = BUF_INIT(BUF_UNBOUNDED);

	if (http_headers_set(h, "MCP-Protocol-Version", str_of(p->protocol),
			     err) < 0 ||
	    http_headers_set(h, "Mcp-Method", str_of(p->method), err) < 0 ||
	    (http_name_value(p->method, p->params, &name) &&
	     http_headers_set(h, "Mcp-Name", buf_str(&name), err) < 0))
		return -1;
	return tool ? add_arguments(tool, p, h, err) : 0;
}

static int add_legacy(struct post *p, struct http_headers *h, struct err *err)
{
	const struct era *e = &p->remote->era;

	p->session = 0;
	if (e->is_sse)
		return 0;
	/* since 2025-06-18 */
	if (strcmp(e->protocol, "2025-06-18") >= 0 &&
	    !post_is(p, "initialize") &&
	    http_headers_set(h, "MCP-Protocol-Version", str_of(e->protocol),
			     err) < 0)
		return -1;
	if (!e->session_id.n)
		return 0;
	p->session = e->session;
	return http_headers_set(h, "Mcp-Session-Id", buf_str(&e->session_id),
				err);
}

int headers_make(struct post *p, struct http_headers *h, struct err *err)
{
	const struct str stream = STR("text/event-stream"),
			 both = STR("application/json, "
				    "text/event-stream"),
			 json = STR("application/json");
	const struct tools *t = &p->remote->tools;
	bool is_call = p->protocol && post_is(p, "tools/call");
	const struct tool_schema *tool = is_call ? find_called(t, p) : NULL;
	struct str last = buf_str(&p->sse.last_id);
	bool is_get = post_is_get(p);

	if (is_call && !tool && !t->is_complete)
		return HEADERS_NEED_TOOLS;
	if (p->kind != POST_DELETE &&
	    ((!is_get && http_headers_set(h, "Content-Type", json, err) < 0) ||
	     http_headers_set(h, "Accept", is_get ? stream : both, err) < 0))
		return -1;
	if (is_get && last.n && p->kind != POST_EVENTS &&
	    http_headers_set(h, "Last-Event-ID", last, err) < 0)
		return -1;
	return p->protocol ? add_modern(p, tool, h, err)
			   : add_legacy(p, h, err);
}
