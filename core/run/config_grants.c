/* What a file that nobody named allows, said in one line. */
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/run/config_inner.h"

#define GRANTS_SHOWN 6 /* a line is for reading */

struct grant {
	int group; /* of one kind; the widest kinds have the lowest */
	const char *key, *value;
};

struct grants {
	struct grant *item;
	size_t n, cap;
	int group;
};

static void add_grant(struct grants *g, const char *key, const char *value)
{
	for (size_t i = 0; i < g->n; i++)
		if (!strcmp(g->item[i].key, key) &&
		    !strcmp(g->item[i].value, value))
			return;
	g->item = mem_grow(g->item, g->n + 1, &g->cap, sizeof(*g->item));
	g->item[g->n++] = (struct grant){g->group, key, value};
}

static void add_grants(struct grants *g, const char *key,
		       const struct strlist *list)
{
	for (size_t i = 0; i < list->n; i++)
		add_grant(g, key, list->item[i]);
}

static void add_words(struct grants *g, const struct sandbox *s)
{
	for (size_t i = 0; i < s->net.n; i++)
		if (!strcmp(s->net.item[i], "all"))
			add_grant(g, "net", "all");
	if (config_is_named(s->profile, "open"))
		add_grant(g, "profile", "open");
	if (config_is_named(s->isolate, "off"))
		add_grant(g, "isolate", "off");
	if (config_is_named(s->tmp, "shared"))
		add_grant(g, "tmp", "shared");
	if (config_is_named(s->user, "root"))
		add_grant(g, "user", "root");
}

static void add_writes(struct grants *g, const struct sandbox *s)
{
	add_grants(g, "write", &s->write);
}

static void add_nets(struct grants *g, const struct sandbox *s)
{
	add_grants(g, "net", &s->net);
}

static void add_execs(struct grants *g, const struct sandbox *s)
{
	add_grants(g, "exec", &s->exec);
}

static void add_reads(struct grants *g, const struct sandbox *s)
{
	add_grants(g, "read", &s->read);
}

static void each_sandbox(const struct config *c, struct grants *g,
			 void (*add)(struct grants *, const struct sandbox *))
{
	add(g, &c->sandbox);
	for (size_t i = 0; i < c->n_servers; i++)
		add(g, &c->servers[i].sandbox);
	for (size_t i = 0; i < c->n_routines; i++)
		for (size_t j = 0; j < c->routines[i].n_steps; j++)
			add(g, &c->routines[i].steps[j].sandbox);
}

/* Of paths the shorter is the wider. */
static int by_width(const void *a, const void *b)
{
	const struct grant *x = a, *y = b;
	size_t nx = strlen(x->value), ny = strlen(y->value);

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (nx != ny)
		return nx < ny ? -1 : 1;
	return strcmp(x->value, y->value);
}

void config_log_grants(const struct config_file *file)
{
	static void (*const kinds[])(struct grants *,
				     const struct sandbox *) = {
		add_words, add_writes, add_nets, add_execs, add_reads};
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct grants g = {0};

	for (; g.group < (int)ARRAY_LEN(kinds); g.group++)
		each_sandbox(&file->config, &g, kinds[g.group]);
	if (g.n)
		qsort(g.item, g.n, sizeof(*g.item), by_width);
	for (size_t i = 0; i < g.n && i < GRANTS_SHOWN; i++)
		buf_addf(&text, "%s%s %s", i ? ", " : "", g.item[i].key,
			 g.item[i].value);
	if (g.n > GRANTS_SHOWN)
		buf_addf(&text, ", and %zu more", g.n - GRANTS_SHOWN);
	log_note("using %s of the current folder; beyond the default policy "
		 "it grants %s",
		 file->path, g.n ? buf_cstr(&text) : "nothing");
	buf_release(&text);
	free(g.item);
}
