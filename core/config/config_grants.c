#include "core/config/config_grants.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/config/keys.h"

/* Columns of one row, where not all is shown: it stays one line. */
#define ROW_SHOWN 64

/* In the order in which they are shown. */
static const char *const words[] = {
	"starts", "browser",  "weakens",    "writes",
	"reads",  "connects", "credential",
};

enum kind {
	STARTS,
	BROWSER,
	WEAKENS,
	WRITES,
	READS,
	CONNECTS,
	CREDENTIAL,
};

struct rows {
	struct arena *arena;
	const char **item; /* owned */
	size_t n, cap;
};

/* ---- collecting ---- */

static void collect(struct rows *r, const char *word, const char *text)
{
	r->item = mem_grow(r->item, r->n + 1, &r->cap, sizeof(*r->item));
	r->item[r->n++] = arena_printf(r->arena, "%s %s", word, text);
}

static void add(struct rows *r, enum kind kind, const char *text)
{
	if (text)
		collect(r, words[kind], text);
}

/* A command line; words with blanks are quoted. */
static void add_command(struct rows *r, const char *command,
			const struct strlist *args)
{
	AUTO(buf_release) struct buf line = BUF_INIT(BUF_UNBOUNDED);

	if (!command)
		return;
	buf_adds(&line, command);
	for (size_t i = 0; i < args->n; i++) {
		const char *word = args->item[i];
		bool is_plain = *word && !strpbrk(word, " \t\r\n'\"");

		buf_addf(&line, is_plain ? " %s" : " '%s'", word);
	}
	add(r, STARTS, buf_cstr(&line));
}

static void add_ref(struct rows *r, const struct env_ref *ref)
{
	if (!ref->from)
		return;
	switch (ref->source) {
	case SECRET_CMD:
		add(r, STARTS, ref->from);
		break;
	case SECRET_FILE:
		add(r, CREDENTIAL, ref->from);
		break;
	case SECRET_ENV:
		add(r, CREDENTIAL, arena_printf(r->arena, "$%s", ref->from));
		break;
	}
}

static void add_refs(struct rows *r, const struct env_refs *refs)
{
	for (size_t i = 0; i < refs->n; i++)
		add_ref(r, &refs->item[i]);
}

static void add_value(struct rows *r, const struct key *k, const char *value)
{
	if (k->grants && strcmp(value, "none") != 0)
		collect(r, k->grants, value);
	if (k->weakens &&
	    (strcmp(k->weakens, "*") == 0 || strcmp(k->weakens, value) == 0))
		add(r, WEAKENS,
		    arena_printf(r->arena, "%s = %s", k->name, value));
}

static void add_section(struct rows *r, enum key_section section,
			const void *object)
{
	size_t n;
	const struct key *keys = keys_all(&n);

	for (size_t i = 0; i < n; i++) {
		struct strlist values = {NULL, 0};

		if (keys[i].section == section &&
		    (keys[i].grants || keys[i].weakens))
			values = key_values(&keys[i], object, r->arena);
		for (size_t k = 0; k < values.n; k++)
			add_value(r, &keys[i], values.item[k]);
	}
}

static void add_sandbox(struct rows *r, const struct gate_policy *p)
{
	add_section(r, SECTION_sandbox, p);
}

static void add_auth(struct rows *r, const struct server_auth *a)
{
	if (a->browser)
		add(r, BROWSER,
		    arena_printf(r->arena, "%s (outside of the sandbox)",
				 a->browser));
	add_section(r, SECTION_auth, a);
}

/* Traffic in the clear, or to addresses that are not public. */
static void add_transport(struct rows *r, const struct server *s)
{
	if (s->insecure_http)
		add(r, WEAKENS, "insecure_http");
	if (s->insecure_credentials)
		add(r, WEAKENS, "insecure_credentials");
	if (s->auth.allow_private)
		add(r, WEAKENS, "allow_private");
}

static void add_server(struct rows *r, const struct server *s)
{
	struct strlist rest = {NULL, 0};

	add_command(r, s->command, &s->args);
	add_refs(r, &s->env);
	add_sandbox(r, &s->sandbox);
	add(r, CONNECTS, s->url);
	add_section(r, SECTION_server, s);
	add_auth(r, &s->auth);
	add_transport(r, s);
	for (size_t i = 0; i < SERVER_REFERENCES; i++)
		add_ref(r, server_reference(s, i));
	if (!s->sampling.n)
		return;
	rest = (struct strlist){s->sampling.item + 1, s->sampling.n - 1};
	add_command(r, s->sampling.item[0], &rest);
}

/* Variables in headers, URLs and paths are sent or used as they are. */
static void add_variables(struct rows *r, const char *text)
{
	const char *end;

	while (text && (text = strstr(text, "${"))) {
		text += 2;
		end = text + strcspn(text, ":}");
		add(r, CREDENTIAL,
		    arena_printf(r->arena, "$%.*s", (int)(end - text), text));
	}
}

/* ---- in order ---- */

static size_t kind_of(const char *row)
{
	size_t kind = 0;

	while (kind + 1 < ARRAY_LEN(words) &&
	       !(str_starts(str_of(row), words[kind]) &&
		 row[strlen(words[kind])] == ' '))
		kind++;
	return kind;
}

static int compare(const char *a, const char *b)
{
	size_t x = kind_of(a), y = kind_of(b);

	if (x == y) {
		x = strlen(a);
		y = strlen(b);
	}
	return x != y ? (x < y ? -1 : 1) : strcmp(a, b);
}

static int by_kind(const void *a, const void *b)
{
	return compare(*(const char *const *)a, *(const char *const *)b);
}

static struct strlist in_order(struct rows *r)
{
	struct strlist list = {ARENA_ARRAY(r->arena, const char *, r->n + 1),
			       0};

	if (r->n)
		qsort(r->item, r->n, sizeof(*r->item), by_kind);
	for (size_t i = 0; i < r->n; i++)
		if (!i || strcmp(r->item[i], r->item[i - 1]) != 0)
			list.item[list.n++] = r->item[i];
	return list;
}

struct strlist config_grants(const struct config *c, struct arena *arena)
{
	struct rows r = {.arena = arena};
	struct strlist list;

	add_sandbox(&r, &c->sandbox);
	for (size_t i = 0; i < c->n_servers; i++)
		add_server(&r, &c->servers[i]);
	for (size_t i = 0; i < c->n_routines; i++) {
		for (size_t k = 0; k < c->routines[i].n_steps; k++) {
			const struct step *s = &c->routines[i].steps[k];

			add_command(&r, s->command, &s->args);
			add_refs(&r, &s->env);
			add_sandbox(&r, &s->sandbox);
		}
	}
	for (const struct expansion *e = c->expansions; e; e = e->next)
		add_variables(&r, *e->slot);
	list = in_order(&r);
	free(r.item);
	return list;
}

bool config_grants_has(const struct strlist *grants, const char *word,
		       const struct strlist *others)
{
	for (size_t i = 0; i < grants->n; i++) {
		bool is_there = strcmp(words[kind_of(grants->item[i])], word);

		for (size_t k = 0; k < others->n && !is_there; k++)
			is_there = !strcmp(grants->item[i], others->item[k]);
		if (!is_there)
			return false;
	}
	return true;
}

/* ---- for a person ---- */

/* Cut as it is shown: no character takes more columns than bytes. */
static void add_text(struct buf *out, const char *text, bool is_cut)
{
	AUTO(buf_release) struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	log_visible(&shown, str_of(text), false);
	buf_add_cut(out, buf_str(&shown), is_cut ? ROW_SHOWN : shown.n);
	buf_addc(out, '\n');
}

static void add_row(struct buf *out, const char *word, const char *row,
		    bool is_cut)
{
	const char *value = strchr(row, ' ');

	buf_addf(out, "  %-10s  ", word);
	add_text(out, value ? value + 1 : row, is_cut);
}

bool config_grants_show(const struct strlist *grants, size_t most,
			struct buf *out)
{
	bool is_whole = true;
	size_t n = 0;

	for (size_t i = 0; i < grants->n; i++) {
		size_t kind = kind_of(grants->item[i]);
		bool is_last = i + 1 == grants->n ||
			       kind_of(grants->item[i + 1]) != kind;

		if (!most || n < most)
			add_row(out, n ? "" : words[kind], grants->item[i],
				most);
		n++;
		if (!is_last)
			continue;
		if (most && n > most) {
			buf_addf(out, "  %-10s  and %zu more\n", "", n - most);
			is_whole = false;
		}
		n = 0;
	}
	return is_whole;
}

static void add_change(struct buf *out, char sign, const char *row, size_t most,
		       size_t *n)
{
	if ((*n)++ >= most)
		return;
	buf_addf(out, "  %c ", sign);
	add_text(out, row, most != SIZE_MAX);
}

/* Rows that are not among the others. */
static void add_changes(struct buf *out, char sign, const struct strlist *rows,
			const struct strlist *others, size_t most, size_t *n)
{
	for (size_t i = 0; i < rows->n; i++)
		if (!others->n ||
		    !bsearch(&rows->item[i], others->item, others->n,
			     sizeof(*others->item), by_kind))
			add_change(out, sign, rows->item[i], most, n);
}

void config_grants_diff(const struct strlist *before, const struct strlist *now,
			size_t most, struct buf *out)
{
	size_t n = 0;

	/* where not all are shown, what is new counts more */
	add_changes(out, '+', now, before, most, &n);
	add_changes(out, '-', before, now, most, &n);
	if (n > most)
		buf_addf(out, "  and %zu more\n", n - most);
}
