#include "core/mcp/wire/mcp.h"

#include <string.h>
#include <strings.h>

#include "core/base/scan.h"

/* Names and versions, bytes of JSON text: they are shown on one line. */
#define NAME_BYTES 1024
/* Instructions, bytes of JSON text. */
#define INSTRUCTIONS_BYTES (64 * 1024)

static const struct mcp_revision revisions[] = {
#define MCP_REVISION(name, date, era, structured) \
	{date, MCP_ERA_##era, MCP_STRUCTURED_##structured},
#include "core/mcp/wire/revisions.def"
#undef MCP_REVISION
};

const struct mcp_revision *mcp_revisions(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(revisions);
	return revisions;
}

const struct mcp_revision *mcp_revision_find(struct str date)
{
	for (size_t i = 0; i < ARRAY_LEN(revisions); i++)
		if (str_is(date, revisions[i].date))
			return &revisions[i];
	return NULL;
}

/* Dates of one form sort as text; any other text is older than all. */
static bool not_after(const char *date, struct str limit)
{
	return limit.n == strlen(date) && memcmp(date, limit.p, limit.n) <= 0;
}

const struct mcp_revision *mcp_revision_nearest(struct str date)
{
	const struct mcp_revision *best = &revisions[0];

	for (size_t i = 0; i < ARRAY_LEN(revisions); i++)
		if (revisions[i].era == MCP_ERA_INITIALIZE &&
		    not_after(revisions[i].date, date))
			best = &revisions[i];
	return best;
}

const struct mcp_revision *mcp_revision_newest(void)
{
	return mcp_revision_nearest(STR("9999-99-99"));
}

const struct mcp_revision *mcp_revision_modern(void)
{
	const struct mcp_revision *best = NULL;

	for (size_t i = 0; i < ARRAY_LEN(revisions); i++)
		if (revisions[i].era == MCP_ERA_PER_REQUEST)
			best = &revisions[i];
	return best;
}

void mcp_revision_list(struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(revisions); i++)
		buf_addf(out, "%s%s", i ? ", " : "", revisions[i].date);
}

static void write_peer(struct jw *w, const char *key, struct str name,
		       struct str version)
{
	jw_kv_object(w, key);
	jw_kv_str(w, "name", name);
	jw_kv_str(w, "version", version);
	jw_end(w);
}

static bool is_empty_array(struct str v)
{
	return scan_type(v) == SCAN_ARRAY && scan_count(v) == 0;
}

/* Decode and cut a text member into the arena; "" when absent. */
static struct str read_text(struct str object, const char *name, size_t max,
			    struct arena *arena)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct str v, copy = STR("");

	if (scan_get(object, name, &v) && scan_string_cut(v, max, &text))
		copy = arena_str(arena, buf_str(&text));
	buf_release(&text);
	return copy;
}

static struct str read_name(struct str object, const char *name,
			    struct arena *arena)
{
	return read_text(object, name, NAME_BYTES, arena);
}

/* Find an object member; "{}" and *odd when absent or of another type. */
static struct str read_object(struct str object, const char *name,
			      uint32_t *odd)
{
	struct str v;

	if (scan_get(object, name, &v) && scan_type(v) == SCAN_OBJECT)
		return v;
	++*odd;
	return STR("{}");
}

static void write_empty(struct jw *w, const char *key)
{
	jw_kv_raw(w, key, STR("{}"));
}

void mcp_write_declared(struct jw *w, const struct mcp_declared *d,
			const struct mcp_revision *revision)
{
	jw_object(w);
	if (d->roots)
		write_empty(w, "roots");
	if (d->sampling)
		write_empty(w, "sampling");
	/* known since 2025-06-18, and its modes since 2025-11-25 */
	if (strcmp(revision->date, "2025-11-25") < 0) {
		if (d->elicit_form && strcmp(revision->date, "2025-06-18") >= 0)
			write_empty(w, "elicitation");
	} else if (d->elicit_form || d->elicit_url) {
		jw_kv_object(w, "elicitation");
		if (d->elicit_form)
			write_empty(w, "form");
		if (d->elicit_url)
			write_empty(w, "url");
		jw_end(w);
	}
	if (d->tasks && revision->era == MCP_ERA_PER_REQUEST) {
		jw_kv_object(w, "extensions");
		write_empty(w, "io.modelcontextprotocol/tasks");
		jw_end(w);
	}
	jw_end(w);
}

void mcp_write_initialize(struct jw *w, const struct mcp_initialize *init)
{
	jw_object(w);
	jw_kv_str(w, "protocolVersion", init->protocol);
	jw_kv_raw(w, "capabilities", init->capabilities);
	write_peer(w, "clientInfo", init->name, init->version);
	jw_end(w);
}

int mcp_read_initialize(struct str params, struct arena *arena,
			struct mcp_initialize *ret, struct err *err)
{
	struct str version, info;
	uint32_t odd = 0;

	if (!scan_get(params, "protocolVersion", &version) ||
	    scan_type(version) != SCAN_STRING)
		return err_set(err, ERR_PEER,
			       "initialize without a protocolVersion");
	info = read_object(params, "clientInfo", &odd);
	*ret = (struct mcp_initialize){
		.protocol = read_name(params, "protocolVersion", arena),
		.capabilities = read_object(params, "capabilities", &odd),
		.name = read_name(info, "name", arena),
		.version = read_name(info, "version", arena),
	};
	return 0;
}

void mcp_write_initialize_result(struct jw *w,
				 const struct mcp_initialize_result *init)
{
	jw_object(w);
	jw_kv_str(w, "protocolVersion", init->protocol);
	jw_kv_raw(w, "capabilities", init->capabilities);
	write_peer(w, "serverInfo", init->name, init->version);
	if (init->instructions.n)
		jw_kv_str(w, "instructions", init->instructions);
	jw_end(w);
}

void mcp_read_initialize_result(struct str result, struct arena *arena,
				struct mcp_initialize_result *ret)
{
	uint32_t odd = 0;
	struct str info = read_object(result, "serverInfo", &odd);

	*ret = (struct mcp_initialize_result){
		.protocol = read_name(result, "protocolVersion", arena),
		.capabilities = read_object(result, "capabilities", &odd),
		.name = read_name(info, "name", arena),
		.version = read_name(info, "version", arena),
		.instructions = read_text(result, "instructions",
					  INSTRUCTIONS_BYTES, arena),
	};
	ret->oddities = odd;
}

static bool are_strings(struct str array)
{
	struct scan_iter it;

	if (scan_type(array) != SCAN_ARRAY)
		return false;
	scan_iter_init(&it, array);
	while (scan_next(&it))
		if (scan_type(it.value) != SCAN_STRING)
			return false;
	return true;
}

bool mcp_read_discovered(struct str result, struct arena *arena,
			 struct mcp_discovered *ret)
{
	struct str versions, meta, info;
	uint32_t odd = 0;

	if (!scan_get(result, "supportedVersions", &versions) ||
	    !are_strings(versions))
		return false;
	/* the place by the rules, or where some servers put it (RW-82) */
	if (!scan_get_some(result, "_meta", &meta) ||
	    !scan_get_some(meta, "io.modelcontextprotocol/serverInfo", &info))
		info = read_object(result, "serverInfo", &(uint32_t){0});
	*ret = (struct mcp_discovered){
		.versions = versions,
		.capabilities = read_object(result, "capabilities", &odd),
		.name = read_name(info, "name", arena),
		.version = read_name(info, "version", arena),
		.instructions = read_text(result, "instructions",
					  INSTRUCTIONS_BYTES, arena),
	};
	ret->oddities = odd;
	return true;
}

/* Members of a CallToolResult, as they came. */
struct result_members {
	struct str content, structured, is_error;
};

static void collect_result(struct str object, struct result_members *ret)
{
	struct scan_iter it;

	*ret = (struct result_members){0};
	scan_iter_init(&it, object);
	while (scan_next(&it)) {
		if (scan_is(it.key, "structuredContent"))
			ret->structured = it.value;
		else if (scan_is(it.key, "content"))
			ret->content = it.value;
		else if (scan_is(it.key, "isError"))
			ret->is_error = it.value;
	}
	if (ret->content.p && scan_type(ret->content) == SCAN_NULL)
		ret->content = (struct str){NULL, 0};
}

/* Make [{"type":"text","text":V}] of a JSON string V (RW-75). */
static void wrap_text(struct mcp_tool_result *r, struct str text)
{
	struct jw w;

	jw_init(&w, &r->fixed, false);
	jw_array(&w);
	jw_object(&w);
	jw_kv_cstr(&w, "type", "text");
	jw_kv_raw(&w, "text", text);
	jw_end(&w);
	jw_end(&w);
	r->content = buf_str(&r->fixed);
	r->repairs++;
}

static void wrap_one(struct mcp_tool_result *r, struct str block)
{
	buf_addc(&r->fixed, '[');
	buf_add_str(&r->fixed, block);
	buf_addc(&r->fixed, ']');
	r->content = buf_str(&r->fixed);
	r->repairs++;
}

static int not_a_result(struct err *err, const char *why)
{
	return err_set(err, ERR_RESULT, "not a CallToolResult: %s", why);
}

static bool is_block(struct str v)
{
	struct str type, text;

	if (scan_type(v) != SCAN_OBJECT || !scan_get(v, "type", &type) ||
	    scan_type(type) != SCAN_STRING)
		return false;
	return !scan_is(type, "text") ||
	       (scan_get(v, "text", &text) && scan_type(text) == SCAN_STRING);
}

/* Refuse other elements: nothing would be shown of them. */
static int judge_blocks(struct str content, struct err *err)
{
	struct scan_iter it;

	scan_iter_init(&it, content);
	for (size_t i = 0; scan_next(&it); i++)
		if (!is_block(it.value))
			return err_set(err, ERR_RESULT,
				       "not a CallToolResult: content[%zu] is "
				       "not an object with a \"type\", or is a "
				       "text without \"text\"",
				       i);
	return 0;
}

static int read_content(struct mcp_tool_result *ret, struct str content,
			struct err *err)
{
	if (!content.p) {
		ret->content = STR("[]");
		ret->repairs++;
		return 0;
	}
	switch (scan_type(content)) {
	case SCAN_ARRAY:
		ret->content = content;
		return judge_blocks(content, err);
	case SCAN_STRING:
		wrap_text(ret, content);
		return 0;
	case SCAN_OBJECT:
		wrap_one(ret, content);
		return judge_blocks(ret->content, err);
	default:
		return not_a_result(err, "\"content\" is not an array");
	}
}

static bool is_zero(struct str number)
{
	for (size_t i = 0; i < number.n; i++) {
		if (number.p[i] >= '1' && number.p[i] <= '9')
			return false;
		if (number.p[i] == 'e' || number.p[i] == 'E')
			break;
	}
	return true;
}

/* Take a value for true as other languages do, to miss no failure. */
static bool means_true(struct str v)
{
	switch (scan_type(v)) {
	case SCAN_FALSE:
	case SCAN_NULL:
		return false;
	case SCAN_STRING:
		return !scan_is(v, "") && !scan_is(v, "0") &&
		       !(v.n == 7 && strncasecmp(v.p, "\"false\"", 7) == 0);
	case SCAN_NUMBER:
		return !is_zero(v);
	case SCAN_ARRAY:
		return scan_count(v) != 0;
	default:
		return true;
	}
}

static void read_is_error(struct mcp_tool_result *ret, struct str v)
{
	enum scan_type type;

	if (!v.p)
		return;
	type = scan_type(v);
	ret->is_error = means_true(v);
	ret->repairs +=
		type != SCAN_TRUE && type != SCAN_FALSE && type != SCAN_NULL;
}

int mcp_read_tool_result(struct str value, const struct mcp_revision *revision,
			 struct mcp_tool_result *ret, struct err *err)
{
	bool null_is_value = revision->structured == MCP_STRUCTURED_ANY;
	struct result_members m;

	*ret = (struct mcp_tool_result){.fixed = BUF_INIT(BUF_UNBOUNDED)};
	if (scan_type(value) == SCAN_STRING) {
		wrap_text(ret, value);
		return 0;
	}
	if (is_empty_array(value))
		value = STR("{}");
	if (scan_type(value) != SCAN_OBJECT)
		return not_a_result(err, "it is not an object");
	collect_result(value, &m);
	if (m.structured.p &&
	    (null_is_value || scan_type(m.structured) != SCAN_NULL))
		ret->structured = m.structured;
	if (!m.content.p && !ret->structured.p)
		return not_a_result(err, "it has neither content nor "
					 "structuredContent");
	read_is_error(ret, m.is_error);
	return read_content(ret, m.content, err);
}

bool mcp_looks_like_result(struct str text)
{
	static const char *const names[] = {"content", "structuredContent"};
	struct err ignored = ERR_INIT;
	struct str value, v;
	bool is_whole = scan_document(text, NULL, &value, &ignored) == 0;

	text = str_trim(text);
	if (is_whole ? scan_type(value) != SCAN_OBJECT : !str_starts(text, "{"))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char key[24];
		int n = snprintf(key, sizeof(key), "\"%s\"", names[i]);

		if (is_whole ? scan_get_some(value, names[i], &v)
			     : memmem(text.p, text.n, key, (size_t)n) != NULL)
			return true;
	}
	return false;
}

void mcp_tool_result_release(struct mcp_tool_result *r)
{
	buf_release(&r->fixed);
}
