#include "core/cli/merged_tools.h"

#include <stdlib.h>

#include "core/base/log.h"
#include "core/base/state_dir.h"
#include "core/cli/open.h"
#include "core/cli/put.h"
#include "core/cli/route.h"
#include "core/cli/sync.h"
#include "core/cli/tool_forms.h"
#include "core/cli/tool_text.h"
#include "core/client/catalogue.h"
#include "core/config/config.h"
#include "core/mcp/wire/merged_name.h"
#include "core/run/advice_command.h"
#include "core/run/tool_policy.h"

struct merged_tool {
	const struct server *server;
	const struct catalogue_entry *entry; /* has_items: of the catalogue */
	size_t at;			     /* in the server's list */
	const char *name;
	const char *says; /* has_lines: begin of the description */
	bool is_gone;
	unsigned score;	    /* of a search; else 1 */
	const char *denied; /* sentence by which a call is denied; or NULL */
	bool asks;	    /* with it: a person may agree */
};

struct merged_tools {
	struct arena arena;
	bool has_lines, has_items; /* which of both is kept of each tool */
	struct catalogue *of;	   /* one of each server, in its order */
	size_t n_of;
	struct merged_tool *tool; /* owned by the arena */
	size_t n;
	struct strlist unlisted; /* servers of which nothing is known */
	bool *met;		 /* of each pattern: some tool fits it */
};

/* ---- reading ---- */

/* Does the tool fit one of the patterns? Each that it fits is met. */
static bool is_chosen(const struct merged_tool *t, const char *name,
		      const struct strlist *patterns, struct buf *dotted,
		      bool *met)
{
	bool ret = !patterns->n;

	if (ret)
		return true;
	buf_clear(dotted);
	buf_addf(dotted, "%s.%.*s", t->server->name, STR_ARG(t->entry->name));
	for (size_t i = 0; i < patterns->n; i++)
		if (str_fits(str_of(name), patterns->item[i]) ||
		    str_fits(buf_str(dotted), patterns->item[i]) ||
		    str_fits(t->entry->name, patterns->item[i]))
			ret = met[i] = true;
	return ret;
}

static const char *first_line(const struct catalogue_entry *e,
			      struct arena *arena)
{
	AUTO(buf_release) struct buf says = BUF_INIT(BUF_UNBOUNDED);

	text_line(NULL, e->description, TEXT_LINE_CHARS, &says);
	return arena_strdup(arena, buf_cstr(&says));
}

static void add_tools(struct merged_tools *m, const struct config *config,
		      const struct server *server, struct catalogue *c,
		      const struct strlist *patterns, const char *words)
{
	AUTO(buf_release) struct buf dotted = BUF_INIT(BUF_UNBOUNDED);
	const struct catalogue_list *l = &c->list[LISTING_TOOLS];
	const struct str name = str_of(server->name);

	for (size_t i = 0; i < l->n; i++) {
		struct merged_tool t = {.server = server,
					.entry = &l->entry[i],
					.at = i,
					.is_gone = l->entry[i].deprecated,
					.score = 1};
		char merged[MERGED_NAME_BYTES + 1];

		if (words && !catalogue_may_fit(name, t.entry, str_of(words)))
			continue;
		merged_name(name, t.entry->name, merged);
		if (!is_chosen(&t, merged, patterns, &dotted, m->met) ||
		    !catalogue_prove(&l->entry[i]))
			continue;
		if (words)
			t.score = catalogue_score(name, t.entry, str_of(words));
		if (!t.score)
			continue;
		t.denied = tool_policy_listed(
			server, t.entry->item,
			tool_policy_write(config,
					  &(struct step){.server = server}),
			&t.asks, &m->arena);
		t.name = arena_strdup(&m->arena, merged);
		if (m->has_lines)
			t.says = first_line(t.entry, &m->arena);
		m->tool = arena_grow(&m->arena, m->tool, m->n, sizeof(t));
		m->tool[m->n++] = t;
	}
}

static int by_score(const void *a, const void *b)
{
	const struct merged_tool *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/*
 * Read what is known of the tools of all servers that are not switched off,
 * and sort it: the best of a search first, else as the servers have them.
 *
 * ret       has_lines and has_items are set
 * config    borrowed until release()
 * patterns  only tools whose merged name, SERVER.TOOL or name fits one of
 *	     these; n = 0: all
 * words     only tools that catalogue_score() these; NULL: all
 */
static void read_all(const struct config *config,
		     const struct strlist *patterns, const char *words,
		     struct merged_tools *ret)
{
	const char *state_dir;

	*ret = (struct merged_tools){.arena = ARENA_INIT,
				     .has_lines = ret->has_lines,
				     .has_items = ret->has_items,
				     .n_of = config->n_servers};
	state_dir = state_dir_find(&ret->arena);
	ret->of = ARENA_ARRAY(&ret->arena, struct catalogue,
			      config->n_servers + 1);
	ret->met = ARENA_ARRAY(&ret->arena, bool, patterns->n + 1);
	for (size_t i = 0; i < config->n_servers; i++) {
		const struct server *s = &config->servers[i];
		const size_t before = ret->n;

		if (!s->enabled)
			continue;
		if (catalogue_read_heads(state_dir, config->path, s->name,
					 &ret->of[i]))
			add_tools(ret, config, s, &ret->of[i], patterns, words);
		if (!ret->of[i].synced && !ret->of[i].list[LISTING_TOOLS].n)
			list_add(&ret->unlisted, &ret->arena, s->name);
		/* the next one takes the memory: fresh pages cost more than a
		   search in them */
		if (ret->n == before || !ret->has_items) {
			catalogue_release(&ret->of[i]);
			ret->of[i] = (struct catalogue){.arena = ARENA_INIT};
		}
	}
	if (ret->n)
		qsort(ret->tool, ret->n, sizeof(*ret->tool), by_score);
}

static void release(struct merged_tools *m)
{
	for (size_t i = 0; i < m->n_of; i++)
		catalogue_release(&m->of[i]);
	arena_release(&m->arena);
}

/* ---- `tools` ---- */

static void add_json(const struct merged_tool *t, struct jw *w)
{
	const struct catalogue_entry *e = t->entry;
	const struct {
		const char *name, *text;
	} texts[] = {
		{"first_seen", e->first_seen},
		{"last_seen", e->last_seen},
		{"updated", e->updated},
		{"deprecated", e->deprecated},
		{"renamed_to", e->renamed_to},
		{t->asks ? "asks" : "denied", t->denied},
	};

	jw_object(w);
	jw_kv_cstr(w, "name", t->name);
	jw_kv_cstr(w, "server", t->server->name);
	jw_kv_str(w, "tool", e->name);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		jw_kv_opt(w, texts[i].name, texts[i].text);
	jw_kv_raw(w, "definition", e->item);
	jw_end(w);
}

/* A line of the list: the name, and the begin of the description. */
static void add_line(const struct merged_tool *t, size_t width, struct buf *out)
{
	const size_t before = out->n;

	buf_adds(out, t->name);
	while ((*t->says || t->denied) && out->n < before + width)
		buf_addc(out, ' ');
	if (t->denied)
		buf_adds(out, t->asks ? "  (asks)" : "  (denied)");
	if (*t->says)
		buf_adds(out, t->denied ? " " : "  ");
	buf_adds(out, t->says);
	buf_addc(out, '\n');
}

static void add_lines(const struct merged_tools *m, struct buf *out)
{
	size_t width = 0;

	for (size_t i = 0; i < m->n; i++) {
		const size_t n = strlen(m->tool[i].name);

		if (n > width && n <= 40)
			width = n;
	}
	for (size_t i = 0; i < m->n; i++)
		add_line(&m->tool[i], width, out);
}

static void explain(const struct merged_tool *t, struct buf *out)
{
	const struct listing_item item = {t->entry->name, t->entry->item};

	buf_addf(out, "%s\n", t->name);
	text_tool(NULL, &item, out);
	if (t->denied)
		buf_addf(out, "  %s: %s\n", t->asks ? "asks" : "denied",
			 t->denied);
}

/* Leave out tools that are gone, or with is_usable denied. */
static void drop(struct merged_tools *m, bool is_usable)
{
	size_t n = 0, gone = 0, denied = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct merged_tool *t = &m->tool[i];

		if (t->is_gone)
			gone++;
		else if (is_usable && t->denied)
			denied++;
		else
			m->tool[n++] = *t;
	}
	m->n = n;
	if (gone)
		log_note("deprecated tools are left out: %zu; --json has them",
			 gone);
	if (denied)
		log_note("tools whose calls are denied are left out: %zu",
			 denied);
}

/* One tool by its name is explained when it is found. */
static bool is_one(const struct strlist *patterns)
{
	return patterns->n == 1 && !strchr(patterns->item[0], '*');
}

static void print(struct merged_tools *m, const struct strlist *patterns,
		  const struct tool_form *form, struct page *page)
{
	if (form) {
		struct jw w;

		tool_form_begin(form, &w, &page->out);
		for (size_t i = 0; i < m->n; i++)
			tool_form_add(form, &w, m->tool[i].name,
				      m->tool[i].entry->item);
		tool_form_end(form, &w);
		if (tool_form_is_json(form))
			page->form = PUT_JSON;
		buf_adds(&page->out, tool_form_is_json(form) ? "\n" : "");
	} else if (page->is_json) {
		jw_kv_array(&page->w, "tools");
		for (size_t i = 0; i < m->n; i++)
			add_json(&m->tool[i], &page->w);
		jw_end(&page->w);
		jw_kv_list(&page->w, "unlisted", &m->unlisted);
	} else if (m->n == 1 && is_one(patterns)) {
		explain(&m->tool[0], &page->out);
	} else {
		add_lines(m, &page->out);
	}
}

/* Say which servers are not in the list, and what changes that. */
static void say_unlisted(const struct merged_tools *m,
			 const struct config *config)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;

	if (m->unlisted.n)
		log_note("not listed yet: %s; matins sync%s lists the tools of "
			 "all servers",
			 list_join(&m->unlisted, ", ", &arena),
			 advice_config(config, &arena));
}

/* errors  ERR_UNKNOWN_SERVER, ERR_UNKNOWN_TOOL: a word names no tool */
static int say_unknown(const struct config *config,
		       const struct merged_tools *m, const char *word,
		       struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const struct server *server;
	struct strlist names;
	const char *tool;

	if (config_server(config, word))
		return err_set(err, ERR_UNKNOWN_TOOL,
			       "%s is a server: matins tools '%s.*'%s", word,
			       word, advice_config(config, &arena));
	if (!route_find(config, word, &arena, &server, &tool))
		return err_set(err, ERR_UNKNOWN_TOOL,
			       "no tool that the catalogue knows is called %s",
			       word);
	if (list_has(&m->unlisted, server->name))
		return err_set(err, ERR_UNKNOWN_TOOL,
			       "the tools of %s are not listed yet; matins "
			       "sync%s lists them",
			       server->name, advice_config(config, &arena));
	names = catalogue_tools(state_dir_find(&arena), config->path,
				server->name, &arena);
	return err_set(err, ERR_UNKNOWN_TOOL, "%s has no tool %s%s",
		       server->name, tool,
		       args_meant(str_of(tool), names.item, names.n).text);
}

static bool is_found_by_words(const struct args *args)
{
	return args_get(args, "search") != NULL;
}

/* errors  ERR_UNKNOWN_SERVER  SERVER.TOOL names none, nor a tool with a dot */
static int check_server(const struct config *config, const char *pattern,
			struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	const char *dot = strchr(pattern, '.'), *star = strchr(pattern, '*');
	const struct server *found;

	if (!dot || (star && star < dot))
		return 0;
	for (size_t i = 0; i < config->n_servers; i++)
		if (strncmp(config->servers[i].name, pattern,
			    (size_t)(dot - pattern)) == 0 ||
		    strchr(config->servers[i].name, '.'))
			return 0;
	return find_server(
		config, arena_strndup(&arena, pattern, (size_t)(dot - pattern)),
		&found, err);
}

static int list(const struct args *args, const struct config *config,
		const struct tool_form *form, struct page *page,
		struct err *err)
{
	AUTO(release) struct merged_tools m;
	const struct strlist patterns = {(const char **)args->positional,
					 args->n_positional};

	m.has_lines = !page->is_json && !form;
	m.has_items = !m.has_lines || is_one(&patterns);
	read_all(config, &patterns, args_get(args, "search"), &m);
	if (!page->is_json || form)
		drop(&m, form);
	if (!m.n && is_one(&patterns))
		return say_unknown(config, &m, patterns.item[0], err);
	for (size_t i = 0; !is_found_by_words(args) && i < patterns.n; i++) {
		if (check_server(config, patterns.item[i], err) < 0)
			return -1;
		if (!strchr(patterns.item[i], '*') && !m.met[i])
			return say_unknown(config, &m, patterns.item[i], err);
	}
	print(&m, &patterns, form, page);
	if (!page->is_json && !patterns.n)
		say_unlisted(&m, config);
	if (!m.n && m.unlisted.n < config->n_servers)
		log_note("no tool fits");
	return page_put(page, err);
}

int merged_tools_list(const struct args *args, struct err *err)
{
	const bool is_live = args_has(args, "live");
	const struct config_options options = {
		.server = "", .passive = !is_live, .names_only = !is_live};
	AUTO(config_release) struct config_file file = {.path = NULL};
	AUTO(page_release) struct page page;
	const struct tool_form *form = NULL;
	const char *as = args_get(args, "as");
	int status = 0, r;

	page_open(&page, args);
	if (as && tool_form_find(as, &form, err) < 0)
		return -1;
	if (form && page.is_json)
		return err_set(err, ERR_USAGE,
			       "tools: use --as or --json, not both");
	if (open_config(args, options, &file, err) < 0)
		return -1;
	if (is_live)
		status = sync_quietly(args, &file.config, err);
	if (status < 0)
		return -1;
	r = list(args, &file.config, form, &page, err);
	return r < 0 ? -1 : status;
}
