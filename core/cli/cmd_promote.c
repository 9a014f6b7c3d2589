/*
 * `matins promote`: a tool as an action of the configuration, with parameters
 * of its schema and a pin.
 */
#include "core/base/jw.h"
#include "core/base/log.h"
#include "core/base/scan.h"
#include "core/cli/command.h"
#include "core/cli/rewrite.h"
#include "core/cli/target.h"
#include "core/client/tool_check.h"
#include "core/config/edit.h"
#include "core/report/pins.h"
#include "core/schema/describe.h"

const struct option options_promote[] = {
	{"as", 0, "NAME", "name of the action; required"},
	{"server", 's', "SERVER", "use [servers.SERVER] of the configuration"},
	{"timeout", 0, "DURATION", "time for the answer to one request (60s)"},
	{0},
};

/* ---- the table ---- */

static void add_row(const char *key, struct str json, struct buf *out)
{
	if (!json.p)
		return;
	buf_addf(out, "%s = ", key);
	edit_add_json(out, json);
	buf_addc(out, '\n');
}

/* Can the schema of a parameter stand by itself, without what it refers to? */
static bool stands_alone(struct str schema)
{
	AUTO(schema_freep) struct schema *s = NULL;

	return schema_compile(schema, NULL, &s, ERR_IGNORED) == 0;
}

/* Does a value hold an integer beyond those of TOML? */
static bool holds_beyond(struct str json)
{
	int64_t n;

	if (scan_type(json) == SCAN_NUMBER)
		return !memchr(json.p, '.', json.n) &&
		       !memchr(json.p, 'e', json.n) &&
		       !memchr(json.p, 'E', json.n) && !scan_int64(json, &n);
	for (struct scan_iter it = scan_over(json); scan_next(&it);)
		if (holds_beyond(it.value))
			return true;
	return false;
}

/* Write a schema without members that TOML cannot hold: a rounded default
   would be another call, a rounded bound another rule. */
static void add_schema(const char *name, struct str schema, struct buf *out)
{
	AUTO(buf_release) struct buf kept = BUF_INIT(BUF_UNBOUNDED);
	struct jw w = jw_begin(&kept);

	for (struct scan_iter it = scan_over(schema); scan_next(&it);) {
		if (holds_beyond(it.value)) {
			log_note("%s: its %.*s holds an integer that TOML "
				 "cannot, and is not kept; the server's is "
				 "checked",
				 name, STR_ARG(it.key));
			continue;
		}
		jw_key_raw(&w, it.key);
		jw_raw(&w, it.value);
	}
	jw_end(&w);
	edit_add_json(out, buf_str(&kept));
}

/* Add a row for each parameter: [actions.NAME.params]. */
static void add_params(struct str input, const char *action, struct buf *out)
{
	struct str properties = scan_some(input, "properties");
	AUTO(buf_release) struct buf key = BUF_INIT(BUF_UNBOUNDED);
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	if (!properties.p || !scan_count(properties))
		return;
	buf_adds(out, "[actions.");
	edit_add_key(out, action);
	buf_adds(out, ".params]\n");
	for (struct scan_iter it = scan_over(properties); scan_next(&it);) {
		struct str schema = schema_deref(input, it.value, &arena);
		const bool is_whole = stands_alone(schema);

		buf_clear(&key);
		scan_string(it.key, &key);
		if (!is_whole)
			log_note("%s: its schema refers to others and is not "
				 "kept; the server's is checked",
				 buf_cstr(&key));
		edit_add_key(out, buf_cstr(&key));
		buf_adds(out, " = ");
		add_schema(buf_cstr(&key), is_whole ? schema : STR("{}"), out);
		buf_addc(out, '\n');
	}
}

static int add_table(const struct target *t, const struct listing_item *item,
		     const char *action, struct buf *out, struct err *err)
{
	AUTO(buf_release) struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct str input, required, text;
	char hex[SHA256_HEX_BYTES];

	if (scrub_finds(t->scrub, item->json))
		return err_set(err, ERR_CREDENTIAL,
			       "the tool holds a secret, and is not kept");
	if (pins_digest(item->json, hex, err) < 0)
		return -1;
	input = tool_input_schema(item->json);
	buf_adds(out, "[actions.");
	edit_add_key(out, action);
	buf_adds(out, "]\n");
	text = scan_decoded(scan_text(item->json, "description"), SIZE_MAX,
			    &arena);
	log_visible(&clean, str_first(text, str_find(text, '\n')), false);
	if (text.n) {
		buf_adds(out, "description = ");
		edit_add_string(out, buf_cstr(&clean));
		buf_addc(out, '\n');
	}
	buf_adds(out, "server = ");
	edit_add_string(out, t->server);
	buf_adds(out, "\ntool = ");
	edit_add_string(out, t->tool);
	buf_addf(out, "\npin = \"%s\"\n", hex);
	required = input.p ? scan_some(input, "required") : input;
	if (required.p && scan_count(required))
		add_row("required", required, out);
	if (input.p)
		add_params(input, action, out);
	return 0;
}

/* ---- the command ---- */

static int work(struct target *t, void *arg, struct err *err)
{
	struct buf *out = arg;
	const struct listing_item *item;
	struct listing tools;
	const char *why;
	bool asks;
	int r = target_list(t, LISTING_TOOLS, true, &tools, err);

	item = r == 0 ? listing_find(&tools, str_of(t->tool)) : NULL;
	why = item ? target_denial(t, item->json, &asks) : NULL;
	if (why && !asks)
		log_warning("the action will be denied: %s", why);
	if (r == 0)
		r = item ? add_table(t, item, args_get(t->args, "as"), out, err)
			 : target_unknown(t, &tools, t->tool, err);
	listing_release(&tools);
	return r;
}

int cmd_promote(const struct args *args, struct err *err)
{
	AUTO(buf_release) struct buf table = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const char *name = args_get(args, "as");
	const struct action *old;
	struct rewrite r;
	int status;

	if (!name)
		return err_set(err, ERR_USAGE,
			       "promote: name the action: --as NAME");
	status = target_run(args, TARGET_TOOL, work, &table, err);
	if (status)
		return status;
	status = rewrite_open(&r, args, "promote", err);
	if (status == 0)
		status = rewrite_lock(&r, args, err);
	old = status == 0 ? config_action(&r.file.config, name) : NULL;
	if (old)
		status = err_set(err, ERR_CONFIG,
				 "%s:%u: there is an action %s already; take "
				 "its tables out, or choose another name",
				 r.path, old->line, name);
	if (status == 0) {
		rewrite_appended(&r, buf_str(&table), &text);
		status = rewrite_write(&r, buf_str(&text), err);
	}
	rewrite_release(&r);
	return status;
}
