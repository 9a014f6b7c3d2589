#include "core/mcp/wire/mcp.h"

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

const struct mcp_revision *mcp_revision_nearest(struct str date)
{
	const struct mcp_revision *best = &revisions[0];

	/* dates of one form sort as text; any other text is older than all */
	for (size_t i = 0; i < ARRAY_LEN(revisions); i++)
		if (revisions[i].era == MCP_ERA_INITIALIZE &&
		    date.n == strlen(revisions[i].date) &&
		    memcmp(revisions[i].date, date.p, date.n) <= 0)
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

static void write_empty(struct jw *w, const char *key)
{
	jw_kv_raw(w, key, STR("{}"));
}

static const char *const log_levels[] = {
	"debug", "info",     "notice", "warning",
	"error", "critical", "alert",  "emergency",
};

unsigned mcp_log_rank(struct str level)
{
	for (unsigned i = 0; i < ARRAY_LEN(log_levels); i++)
		if (scan_is(level, log_levels[i]))
			return i + 1;
	return 0;
}

const char *mcp_log_level(unsigned rank)
{
	return log_levels[rank - 1];
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

/* ---- both sides of a handshake ---- */

void mcp_write_peer(struct jw *w, const struct mcp_peer *p, const char *key)
{
	jw_object(w);
	jw_kv_str(w, "protocolVersion", p->protocol);
	jw_kv_raw(w, "capabilities", p->capabilities);
	jw_kv_object(w, key);
	jw_kv_str(w, "name", p->name);
	jw_kv_str(w, "version", p->version);
	jw_end(w);
	if (p->instructions.n)
		jw_kv_str(w, "instructions", p->instructions);
	jw_end(w);
}

static struct str read_name(struct str object, const char *name,
			    struct arena *arena)
{
	return scan_decoded(scan_some(object, name), NAME_BYTES, arena);
}

/* Read what a message says of its sender; `info` names it and its version. */
static void read_peer(struct str message, struct str info, struct arena *arena,
		      struct mcp_peer *ret)
{
	struct str can = scan_some(message, "capabilities");
	bool is_odd = !can.p || scan_type(can) != SCAN_OBJECT;

	*ret = (struct mcp_peer){
		.protocol = read_name(message, "protocolVersion", arena),
		.capabilities = arena_str(arena, is_odd ? STR("{}") : can),
		.name = read_name(info, "name", arena),
		.version = read_name(info, "version", arena),
		.instructions = scan_decoded(scan_some(message, "instructions"),
					     INSTRUCTIONS_BYTES, arena),
		.oddities = is_odd,
	};
}

int mcp_read_initialize(struct str params, struct arena *arena,
			struct mcp_peer *ret, struct err *err)
{
	if (!scan_text(params, "protocolVersion").p)
		return err_set(err, ERR_PEER,
			       "initialize without a protocolVersion");
	read_peer(params, scan_some(params, "clientInfo"), arena, ret);
	return 0;
}

void mcp_read_initialize_result(struct str result, struct arena *arena,
				struct mcp_peer *ret)
{
	struct str info = scan_some(result, "serverInfo");

	read_peer(result, info, arena, ret);
	ret->oddities += !info.p || scan_type(info) != SCAN_OBJECT;
}

bool mcp_read_discovered(struct str result, struct arena *arena,
			 struct str *ret_versions, struct mcp_peer *ret)
{
	struct str versions = scan_some(result, "supportedVersions");
	struct str info = scan_some(scan_some(result, "_meta"),
				    "io.modelcontextprotocol/serverInfo");

	if (!versions.p || scan_type(versions) != SCAN_ARRAY)
		return false;
	for (struct scan_iter it = scan_over(versions); scan_next(&it);)
		if (scan_type(it.value) != SCAN_STRING)
			return false;
	/* the place by the rules, or where some servers put it (RW-82) */
	if (!info.p)
		info = scan_some(result, "serverInfo");
	read_peer(result, info, arena, ret);
	*ret_versions = versions;
	return true;
}

const char *mcp_peer_note(const struct mcp_peer *p)
{
	return p->is_assumed ? " (assumed: it has no initialize)" : "";
}

/* ---- results of tools ---- */

/* Make an array of content that is none (RW-75). */
static void wrap(struct mcp_tool_result *r, const char *before, struct str v,
		 const char *behind)
{
	buf_adds(&r->fixed, before);
	buf_add_str(&r->fixed, v);
	buf_adds(&r->fixed, behind);
	r->content = buf_str(&r->fixed);
	r->repairs++;
}

static void wrap_text(struct mcp_tool_result *r, struct str text)
{
	wrap(r, "[{\"type\":\"text\",\"text\":", text, "}]");
}

static int not_a_result(struct err *err, const char *why)
{
	return err_set(err, ERR_RESULT, "not a CallToolResult: %s", why);
}

static bool is_block(struct str v)
{
	struct str type = scan_text(v, "type");

	return type.p && (!scan_is(type, "text") || scan_text(v, "text").p);
}

/* Refuse other elements: nothing would be shown of them. */
static int judge_blocks(struct str content, struct err *err)
{
	struct scan_iter it = scan_over(content);

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
		wrap(ret, "[", content, "]");
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

int mcp_read_tool_result(struct str value, const struct mcp_revision *revision,
			 struct mcp_tool_result *ret, struct err *err)
{
	struct str content = {NULL, 0}, structured = {NULL, 0};

	*ret = (struct mcp_tool_result){.fixed = BUF_INIT(BUF_UNBOUNDED)};
	if (scan_type(value) == SCAN_STRING) {
		wrap_text(ret, value);
		return 0;
	}
	if (scan_type(value) != SCAN_OBJECT &&
	    (scan_type(value) != SCAN_ARRAY || scan_count(value)))
		return not_a_result(err, "it is not an object");
	for (struct scan_iter it = scan_over(value); scan_next(&it);) {
		enum scan_type type = scan_type(it.value);

		if (scan_is(it.key, "structuredContent")) {
			structured = it.value;
		} else if (scan_is(it.key, "content")) {
			content = it.value;
		} else if (scan_is(it.key, "isError")) {
			ret->is_error = means_true(it.value);
			ret->repairs = type != SCAN_TRUE &&
				       type != SCAN_FALSE && type != SCAN_NULL;
		}
	}
	if (content.p && scan_type(content) == SCAN_NULL)
		content.p = NULL;
	if (structured.p && (revision->structured == MCP_STRUCTURED_ANY ||
			     scan_type(structured) != SCAN_NULL))
		ret->structured = structured;
	if (!content.p && !ret->structured.p)
		return not_a_result(err, "it has neither content nor "
					 "structuredContent");
	return read_content(ret, content, err);
}

bool mcp_looks_like_result(struct str text)
{
	static const char *const names[] = {"content", "structuredContent"};
	struct str value;
	bool is_whole = scan_document(text, NULL, &value, ERR_IGNORED) == 0;

	text = str_trim(text);
	if (is_whole ? scan_type(value) != SCAN_OBJECT : !str_starts(text, "{"))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char key[24];
		int n = snprintf(key, sizeof(key), "\"%s\"", names[i]);

		if (is_whole ? scan_some(value, names[i]).p != NULL
			     : memmem(text.p, text.n, key, (size_t)n) != NULL)
			return true;
	}
	return false;
}

void mcp_tool_result_release(struct mcp_tool_result *r)
{
	buf_release(&r->fixed);
}
