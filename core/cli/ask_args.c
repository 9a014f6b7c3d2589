#include "core/cli/ask_args.h"

#include <errno.h>
#include <unistd.h>

#include "core/base/scan.h"
#include "core/schema/describe.h"

/* Ceiling of what is typed, and of nesting. */
#define TYPED_BYTES (64 * 1024)
#define DEPTH_MAX 8

struct asker {
	struct target *t;
	struct str root; /* schema of all arguments: references lead there */
	struct loop_watch typed;
	struct buf line; /* typed and not yet used */
	bool ended;	 /* stdin has ended */
};

/* ---- lines ---- */

static void on_typed(void *arg, UNUSED uint32_t events)
{
	struct asker *a = arg;
	char *room = buf_room(&a->line, 4096);
	ssize_t r = room ? read(STDIN_FILENO, room, 4096) : 0;

	if (r < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (r > 0)
		a->line.n += (size_t)r;
	else
		a->ended = true;
}

/* Print a prompt and read a line, trimmed, in the arena of the target. */
static int ask_line(struct asker *a, const struct buf *prompt, struct str *ret,
		    struct err *err)
{
	struct target *t = a->t;
	size_t end;

	live_clear(&t->live);
	live_put(prompt);
	while ((end = str_find(buf_str(&a->line), '\n')) == a->line.n) {
		if (a->ended)
			return err_set(err, ERR_USAGE,
				       "--ask: the input ended before all "
				       "values were given");
		if (loop_turn(&t->loop, err) < 0)
			return -1;
		if (t->loop.signal)
			return target_interrupted(t, err);
	}
	*ret = arena_str(&t->arena, str_trim((struct str){a->line.p, end}));
	buf_drop(&a->line, end + 1);
	return 0;
}

/* ---- schemas ---- */

static bool read_property(struct asker *a, struct str schema,
			  struct schema_property *ret)
{
	AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);
	AUTO(schema_freep) struct schema *s = NULL;
	struct jw w = jw_begin(&text);

	jw_kv_object(&w, "properties");
	jw_kv_raw(&w, "v", schema_deref(a->root, schema, &a->t->arena));
	jw_end(&w);
	jw_end(&w);
	return schema_compile(arena_str(&a->t->arena, buf_str(&text)), NULL, &s,
			      ERR_IGNORED) == 0 &&
	       schema_property(s, STR("v"), &a->t->arena, ret);
}

/* ---- values ---- */

static void add_question(struct asker *a, const struct schema_property *p,
			 const char *path, bool required, struct buf *out)
{
	const struct target *t = a->t;

	if (p->description.n) {
		buf_adds(out, "    ");
		target_show(t, str_trim(p->description), false, out);
		buf_addc(out, '\n');
	}
	for (size_t i = 0; i < p->n_choices; i++) {
		buf_addf(out, "    %zu) ", i + 1);
		target_show(t, p->choice[i].value, false, out);
		if (p->choice[i].title.n) {
			buf_adds(out, "  ");
			target_show(t, p->choice[i].title, false, out);
		}
		buf_addc(out, '\n');
	}
	buf_adds(out, "  ");
	target_show(t, str_of(path), false, out);
	buf_addf(out, " [%s%s",
		 p->n_choices ? "one of these"
		 : p->types == SCHEMA_TYPE_BOOLEAN
			 ? "y or n"
			 : schema_type_name(p->types ? p->types & -p->types
						     : SCHEMA_TYPE_STRING),
		 required ? "" : ", or nothing");
	if (p->fallback.p) {
		buf_adds(out, ", else ");
		target_show(t, p->fallback, false, out);
	}
	buf_adds(out, "] ");
}

/* The choice that is typed, by its number or as it is. */
static bool read_choice(const struct schema_property *p, struct str line,
			struct buf *out)
{
	uint64_t n;

	for (size_t i = 0; i < p->n_choices; i++) {
		struct str value = p->choice[i].value;
		AUTO(buf_release) struct buf text = BUF_INIT(BUF_UNBOUNDED);

		if (!scan_string(value, &text))
			buf_add_str(&text, value);
		if (!str_eq(line, buf_str(&text)))
			continue;
		buf_add_str(out, value);
		return true;
	}
	if (!str_uint64(line, &n) || !n || n > p->n_choices)
		return false;
	buf_add_str(out, p->choice[n - 1].value);
	return true;
}

/* Append the JSON of a typed line; false: it is of another type. */
static bool read_typed(const struct schema_property *p, struct str line,
		       struct buf *out)
{
	struct str json;
	bool is_json = scan_document(line, NULL, &json, ERR_IGNORED) == 0;

	if (p->n_choices && !p->is_list)
		return read_choice(p, line, out);
	if (p->types == SCHEMA_TYPE_BOOLEAN && (line.n == 1 || !is_json) &&
	    strchr("yYnN", line.p[0])) {
		buf_adds(out, strchr("yY", line.p[0]) ? "true" : "false");
		return true;
	}
	if (is_json && (!p->types || schema_types_of(json) & p->types) &&
	    !(p->types & SCHEMA_TYPE_STRING && scan_type(json) != SCAN_OBJECT &&
	      scan_type(json) != SCAN_ARRAY)) {
		buf_add_str(out, json);
		return true;
	}
	if (p->types && !(p->types & SCHEMA_TYPE_STRING))
		return false;
	jw_quote(out, line);
	return true;
}

static int ask_object(struct asker *a, struct str schema, struct str given,
		      const char *path, int depth, struct buf *out,
		      struct err *err);

static int ask_value(struct asker *a, struct str schema, const char *path,
		     bool required, int depth, struct buf *out,
		     struct err *err);

/* Ask for elements until a line is empty. */
static int ask_array(struct asker *a, struct str items, const char *path,
		     int depth, struct buf *out, struct err *err)
{
	struct arena *arena = &a->t->arena;
	struct jw w;

	jw_init(&w, out, false);
	jw_array(&w);
	for (size_t i = 0;; i++) {
		AUTO(buf_release) struct buf value = BUF_INIT(BUF_UNBOUNDED);

		if (ask_value(a, items, arena_printf(arena, "%s[%zu]", path, i),
			      false, depth + 1, &value, err) < 0)
			return -1;
		if (!value.n)
			break;
		jw_raw(&w, buf_str(&value));
	}
	jw_end(&w);
	return 0;
}

/* returns  1: there shall be one */
static int ask_whether(struct asker *a, const char *path, struct err *err)
{
	AUTO(buf_release) struct buf prompt = BUF_INIT(BUF_UNBOUNDED);
	struct str line;

	buf_adds(&prompt, "  ");
	target_show(a->t, str_of(path), false, &prompt);
	buf_adds(&prompt, " [y: add it, or nothing] ");
	if (ask_line(a, &prompt, &line, err) < 0)
		return -1;
	return line.n && strchr("yY", line.p[0]);
}

/* out  stays empty where the answer is, and none is required */
static int ask_value(struct asker *a, struct str schema, const char *path,
		     bool required, int depth, struct buf *out, struct err *err)
{
	const struct str none = {NULL, 0},
			 whole = schema_deref(a->root, schema, &a->t->arena);
	const bool nests = depth < DEPTH_MAX;
	struct schema_property p = {.types = 0};
	struct str line = {NULL, 0}, items = scan_some(whole, "items");
	int r;

	if (!read_property(a, whole, &p))
		p = (struct schema_property){.types = 0};
	if (p.types == SCHEMA_TYPE_ARRAY && nests && items.p &&
	    scan_type(items) == SCAN_OBJECT)
		return ask_array(a, items, path, depth, out, err);
	if (p.types == SCHEMA_TYPE_OBJECT && nests &&
	    scan_some(whole, "properties").p) {
		if (!required && !p.fallback.p) {
			r = ask_whether(a, path, err);
			if (r <= 0)
				return r;
		}
		return ask_object(a, whole, none, path, depth, out, err);
	}
	for (;;) {
		AUTO(buf_release) struct buf prompt = BUF_INIT(BUF_UNBOUNDED);

		add_question(a, &p, path, required, &prompt);
		if (ask_line(a, &prompt, &line, err) < 0)
			return -1;
		if (!line.n && p.fallback.p)
			buf_add_str(out, p.fallback);
		if (!line.n && (p.fallback.p || !required))
			return 0;
		if (line.n && read_typed(&p, line, out))
			return 0;
	}
}

/* Write the members that are given, and ask for those that are required. */
static int ask_object(struct asker *a, struct str schema, struct str given,
		      const char *path, int depth, struct buf *out,
		      struct err *err)
{
	struct str properties = scan_some(schema, "properties"), v;
	struct arena *arena = &a->t->arena;
	struct jw w;

	w = jw_begin(out);
	jw_members(&w, given, NULL);
	for (struct scan_iter it = scan_over(scan_some(schema, "required"));
	     scan_next(&it);) {
		AUTO(buf_release) struct buf value = BUF_INIT(BUF_UNBOUNDED);
		struct str key = scan_decoded(it.value, SIZE_MAX, arena);

		if (!key.n || (given.p && scan_named(given, key).p))
			continue;
		v = properties.p ? scan_named(properties, key) : properties;
		if (ask_value(a, v.p ? v : STR("{}"),
			      arena_printf(arena, "%s%s%.*s", path,
					   *path ? "." : "", STR_ARG(key)),
			      true, depth + 1, &value, err) < 0)
			return -1;
		jw_key_str(&w, key);
		jw_raw(&w, buf_str(&value));
	}
	jw_end(&w);
	return 0;
}

static bool is_whole(struct str schema, struct str args, struct arena *arena)
{
	for (struct scan_iter it = scan_over(scan_some(schema, "required"));
	     scan_next(&it);) {
		struct str key = scan_decoded(it.value, SIZE_MAX, arena);

		if (key.n && !(args.p && scan_named(args, key).p))
			return false;
	}
	return true;
}

int ask_args(struct target *t, struct str schema, struct str *args,
	     struct err *err)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct asker a = {.t = t,
			  .root = schema,
			  .typed = {.fd = -1},
			  .line = BUF_INIT(TYPED_BYTES)};
	int r;

	if (!schema.p || scan_type(schema) != SCAN_OBJECT ||
	    is_whole(schema, *args, &t->arena))
		return 0;
	if (!ask_person_is_there())
		return err_set(err, ERR_USAGE,
			       "--ask needs a terminal: nobody can be asked "
			       "here for the missing arguments");
	r = loop_watch(&t->loop, &a.typed, STDIN_FILENO, EPOLLIN, on_typed, &a,
		       err);
	if (r < 0)
		return -1;
	r = ask_object(&a, schema_deref(schema, schema, &t->arena), *args, "",
		       0, &out, err);
	loop_unwatch(&t->loop, &a.typed);
	buf_release(&a.line);
	if (r == 0)
		*args = arena_str(&t->arena, buf_str(&out));
	return r;
}
