#include "core/cli/needs_print.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/jw.h"
#include "core/config/keys.h"

/* Append a basic string of TOML; file names may hold any byte but NUL. */
static void add_quoted(struct buf *out, const char *s)
{
	buf_addc(out, '"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			buf_addf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			buf_addf(out, "\\u%04x", c);
		else
			buf_addc(out, (char)c);
	}
	buf_addc(out, '"');
}

/* Append a text to a comment, which control characters must not end. */
static void add_plain(struct buf *out, const char *s)
{
	for (; *s; s++)
		buf_addc(out,
			 (unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s);
}

static bool is_of(const struct gate_need *n, const char *key)
{
	return strcmp(n->key, key) == 0;
}

static void add_row(struct buf *out, const struct gate_need *n)
{
	buf_adds(out, n->why_not ? "\t# " : "\t");
	add_quoted(out, n->value);
	buf_adds(out, ", # ");
	add_plain(out, n->program ? n->program : "?");
	buf_addf(out, ", %" PRIu64 " time%s", n->count,
		 n->count == 1 ? "" : "s");
	if (n->why_not) {
		buf_adds(out, "; not granted: ");
		add_plain(out, n->why_not);
	}
	buf_addc(out, '\n');
}

static bool is_list(const struct key *k)
{
	switch (k->type) {
	case KEY_READ_PATHS:
	case KEY_WRITE_PATHS:
	case KEY_PROGRAMS:
	case KEY_NET:
	case KEY_STRINGS:
		return k->section == SECTION_sandbox;
	default:
		return false;
	}
}

/* `net` is one word or a list. */
static bool is_word(const struct gate_need *n)
{
	return !n->why_not && (strcmp(n->value, "all") == 0 ||
			       strcmp(n->value, "loopback") == 0);
}

static bool add_net_word(const struct needs_print *p, struct buf *out)
{
	const struct gate_needs *needs = p->needs;

	for (size_t i = 0; i < needs->n; i++) {
		const struct gate_need *n = &needs->need[i];

		if (!is_of(n, "net") || !is_word(n))
			continue;
		buf_adds(out, "net = ");
		add_quoted(out, n->value);
		buf_adds(out, " # ");
		add_plain(out, n->program);
		buf_addc(out, '\n');
		return true;
	}
	return false;
}

static void add_list(const struct needs_print *p, const struct key *k,
		     const struct strlist *given, struct buf *out)
{
	bool any = given->n;

	for (size_t i = 0; i < p->needs->n; i++)
		any |= is_of(&p->needs->need[i], k->name);
	if (!any || (k->type == KEY_NET && add_net_word(p, out)))
		return;
	buf_addf(out, "%s = [\n", k->name);
	for (size_t i = 0; i < given->n; i++) {
		buf_addc(out, '\t');
		add_quoted(out, given->item[i]);
		buf_adds(out, ", # as given\n");
	}
	for (size_t i = 0; i < p->needs->n; i++)
		if (is_of(&p->needs->need[i], k->name))
			add_row(out, &p->needs->need[i]);
	buf_adds(out, "]\n");
}

/* A value that was given on the command line belongs to the table, too. */
static void add_value(const struct key *k, const char *value, struct buf *out)
{
	bool is_text = k->type == KEY_WORD || k->type == KEY_CHOICE ||
		       k->type == KEY_STRING;

	buf_addf(out, "%s = ", k->name);
	if (is_text)
		add_quoted(out, value);
	else
		buf_adds(out, value);
	buf_addc(out, '\n');
}

static void add_keys(const struct needs_print *p, bool lists, struct buf *out)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	size_t n;
	const struct key *keys = keys_all(&n);

	for (size_t i = 0; i < n; i++) {
		const struct key *k = &keys[i];
		struct strlist given;

		if (k->section != SECTION_sandbox ||
		    k->type == KEY_PROGRAM_RULES || is_list(k) != lists)
			continue;
		given = key_values(k, p->plain, &arena);
		if (is_list(k))
			add_list(p, k, &given, out);
		else if (given.n)
			add_value(k, given.item[0], out);
	}
}

/* Programs that the trace could not follow, and what to do. */
static void add_incomplete(const struct needs_print *p, struct buf *out)
{
	for (size_t i = 0; i < p->needs->n; i++) {
		const struct gate_need *n = &p->needs->need[i];

		if (!n->was_refused)
			continue;
		buf_adds(out, "# incomplete: the trace could not run ");
		add_quoted(out, n->value);
		buf_adds(out, ", so the needs of that program are missing; "
			      "trace again with --exec of it\n");
	}
	if (p->dropped)
		buf_adds(out,
			 "# incomplete: the program used more paths than a "
			 "trace keeps; trace a smaller piece of its work\n");
}

void needs_print_toml(const struct needs_print *p, struct buf *out)
{
	size_t before;

	buf_addf(out, "%s\n", p->table);
	before = out->n;
	/* a table reads better with its lists at the end */
	add_keys(p, false, out);
	add_keys(p, true, out);
	if (out->n == before)
		buf_adds(out, "# nothing: the default policy is enough\n");
	add_incomplete(p, out);
}

static void json_list(const struct needs_print *p, const struct key *k,
		      const struct strlist *given, struct jw *w)
{
	size_t n = given->n;

	for (size_t i = 0; i < p->needs->n; i++)
		n += is_of(&p->needs->need[i], k->name) &&
		     !p->needs->need[i].why_not;
	if (!n)
		return;
	jw_kv_array(w, k->name);
	for (size_t i = 0; i < given->n; i++)
		jw_cstr(w, given->item[i]);
	for (size_t i = 0; i < p->needs->n; i++)
		if (is_of(&p->needs->need[i], k->name) &&
		    !p->needs->need[i].why_not)
			jw_cstr(w, p->needs->need[i].value);
	jw_end(w);
}

static void json_lists(const struct needs_print *p, struct jw *w)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	size_t n;
	const struct key *keys = keys_all(&n);

	for (size_t i = 0; i < n; i++) {
		struct strlist given;

		if (!is_list(&keys[i]))
			continue;
		given = key_values(&keys[i], p->plain, &arena);
		json_list(p, &keys[i], &given, w);
	}
}

void needs_print_json(const struct needs_print *p, struct buf *out)
{
	struct jw w;

	jw_init(&w, out, true);
	jw_object(&w);
	jw_kv_object(&w, "sandbox");
	json_lists(p, &w);
	jw_end(&w);
	jw_kv_array(&w, "needs");
	for (size_t i = 0; i < p->needs->n; i++) {
		const struct gate_need *n = &p->needs->need[i];

		jw_object(&w);
		jw_kv_cstr(&w, "key", n->key);
		jw_kv_cstr(&w, "value", n->value);
		jw_kv_cstr(&w, "program", n->program ? n->program : "?");
		jw_kv_int(&w, "count", (int64_t)n->count);
		if (n->why_not)
			jw_kv_cstr(&w, "not_granted", n->why_not);
		if (n->was_refused)
			jw_kv_bool(&w, "refused_in_trace", true);
		jw_end(&w);
	}
	jw_end(&w);
	jw_kv_int(&w, "dropped", (int64_t)p->dropped);
	jw_end(&w);
	buf_addc(out, '\n');
}
