#include "core/auth/challenge.h"

#include <strings.h>

#include "core/base/text.h"

/* Where the reader stands. */
struct reader {
	struct str rest;
	struct arena *arena;
	bool is_ours; /* within a challenge that is read */
	bool is_dpop;
};

static void step(struct reader *r, size_t n)
{
	r->rest.p += n;
	r->rest.n -= n;
}

static void skip(struct reader *r, const char *set)
{
	while (r->rest.n && r->rest.p[0] && strchr(set, r->rest.p[0]))
		step(r, 1);
}

static struct str token(struct reader *r)
{
	struct str t = {r->rest.p, http_token_len(r->rest)};

	step(r, t.n);
	return t;
}

static bool is_word(struct str s, const char *word)
{
	return s.n == strlen(word) && !strncasecmp(s.p, word, s.n);
}

/* Behind the opening quote; an open end is the end. */
static const char *quoted(struct reader *r)
{
	size_t raw = 0, n = 0;
	char *out;

	while (raw < r->rest.n && r->rest.p[raw] != '"')
		raw += r->rest.p[raw] == '\\' && raw + 1 < r->rest.n ? 2 : 1;
	out = arena_alloc(r->arena, raw + 1);
	for (size_t i = 0; i < raw; i++) {
		if (r->rest.p[i] == '\\' && i + 1 < raw)
			i++;
		out[n++] = r->rest.p[i];
	}
	step(r, raw < r->rest.n ? raw + 1 : raw);
	return out;
}

/* A token; a URL without quotes is taken, too. */
static const char *plain(struct reader *r)
{
	size_t n = 0;
	const char *out;

	while (n < r->rest.n && !strchr(", \t", r->rest.p[n]))
		n++;
	out = arena_strndup(r->arena, r->rest.p, n);
	step(r, n);
	return out;
}

static void keep(struct challenge *c, const struct reader *r, struct str name,
		 const char *value)
{
	const struct {
		const char *name;
		const char **field;
	} fields[] = {
		{"resource_metadata", &c->resource_metadata},
		{"scope", &c->scope},
		{"error_description", &c->error_description},
		{"error", &c->error},
	};

	if (is_word(name, "error") && r->is_dpop &&
	    !strcmp(value, "use_dpop_nonce")) {
		c->wants_nonce = true;
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (is_word(name, fields[i].name) && !*fields[i].field)
			*fields[i].field = value;
}

/* A scheme, or a name with its value. */
static void word(struct challenge *c, struct reader *r)
{
	struct str name = token(r);
	const char *value;

	if (!name.n) {
		step(r, 1); /* of no use, and no reason to stop */
		return;
	}
	skip(r, " \t");
	if (!r->rest.n || r->rest.p[0] != '=') {
		r->is_dpop = is_word(name, "DPoP");
		r->is_ours = r->is_dpop || is_word(name, "Bearer");
		return;
	}
	skip(r, "= \t");
	if (r->rest.n && r->rest.p[0] == '"') {
		step(r, 1);
		value = quoted(r);
	} else {
		value = plain(r);
	}
	if (r->is_ours)
		keep(c, r, name, value);
}

void challenge_add(struct challenge *c, struct str value, struct arena *arena)
{
	struct reader r = {.rest = value, .arena = arena};

	for (skip(&r, ", \t"); r.rest.n; skip(&r, ", \t"))
		word(c, &r);
}

void challenge_read(struct challenge *c, const struct http_head *head,
		    struct arena *arena)
{
	struct str value;

	for (size_t n = 0; http_head_get(head, "WWW-Authenticate", n, &value);
	     n++)
		challenge_add(c, value, arena);
}
