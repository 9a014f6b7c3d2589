/*
 * `matins sync`: lists of all servers into the catalogue, and what has changed.
 */
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/state_dir.h"
#include "core/cli/command.h"
#include "core/cli/open.h"
#include "core/cli/put.h"
#include "core/cli/sync.h"
#include "core/cli/target.h"
#include "core/client/catalogue.h"

const struct option options_sync[] = {
	{"json", 0, NULL, "print one JSON document"},
	{"timeout", 0, "DURATION", "time for the answer to one request (60s)"},
	{"sha256", 0, "DIGEST", "refuse a configuration of other bytes"},
	{0},
};

/* One invocation. */
struct sync {
	const struct args *args;
	const char *state_dir;
	struct page page;
	bool all;     /* servers, whatever words the command has */
	bool has_new; /* a server was listed for the first time */
	size_t n_failed;
};

/* One server of it. */
struct synced {
	const char *state_dir, *server;
	struct page *page;
	bool is_first;
	bool is_held; /* nobody is to be waited for again */
};

/* Words of a change, by enum catalogue_what: its sign and its name. */
static const struct {
	char sign;
	const char *word;
} words[] = {
	[CATALOGUE_ADDED] = {'+', "added"},
	[CATALOGUE_UPDATED] = {'~', "updated"},
	[CATALOGUE_DEPRECATED] = {'-', "deprecated"},
};

/* Singular of listing_member(). */
static const char *const nouns[] = {
	[LISTING_TOOLS] = "tool",
	[LISTING_RESOURCES] = "resource",
	[LISTING_TEMPLATES] = "resource template",
	[LISTING_PROMPTS] = "prompt",
};

/* ---- what is said ---- */

static void add_changes_json(const struct catalogue_changes *changes,
			     struct jw *w)
{
	for (size_t k = 0; k < ARRAY_LEN(words); k++) {
		jw_kv_array(w, words[k].word);
		for (size_t i = 0; i < changes->n; i++) {
			const struct catalogue_change *c = &changes->item[i];

			if (c->what != k)
				continue;
			jw_object(w);
			jw_kv_cstr(w, "kind", nouns[c->kind]);
			jw_kv_str(w, "name", c->name);
			jw_kv_opt(w, "renamed_to", c->renamed_to);
			jw_end(w);
		}
		jw_end(w);
	}
}

static void add_json(const char *server, const struct catalogue *c,
		     const struct catalogue_changes *changes, struct jw *w)
{
	jw_object(w);
	jw_kv_cstr(w, "name", server);
	jw_kv_bool(w, "ok", true);
	jw_kv_cstr(w, "synced", c->synced);
	for (int k = 0; k < CATALOGUE_LISTS; k++)
		jw_kv_int(w, listing_member(k), (int64_t)catalogue_count(c, k));
	add_changes_json(changes, w);
	jw_end(w);
}

/* "notes: 3 tools, 1 prompt; 1 added, 2 deprecated" and a line for each. */
static void add_text(const char *server, const struct catalogue *c,
		     const struct catalogue_changes *changes, bool is_first,
		     struct buf *out)
{
	size_t counts[ARRAY_LEN(words)] = {0};
	const char *between = "; ";

	log_visible(out, str_of(server), false);
	for (int k = 0; k < CATALOGUE_LISTS; k++) {
		const size_t n = catalogue_count(c, k);

		if (n || k == LISTING_TOOLS)
			buf_addf(out, "%s%zu %s%s", k ? ", " : ": ", n,
				 nouns[k], n == 1 ? "" : "s");
	}
	for (size_t i = 0; i < changes->n; i++)
		counts[changes->item[i].what]++;
	for (size_t i = 0; !is_first && i < ARRAY_LEN(words); i++) {
		if (!counts[i])
			continue;
		buf_addf(out, "%s%zu %s", between, counts[i], words[i].word);
		between = ", ";
	}
	buf_adds(out, is_first ? "; listed for the first time\n" : "\n");
	for (size_t i = 0; !is_first && i < changes->n; i++) {
		const struct catalogue_change *x = &changes->item[i];

		buf_addf(out, "  %c %s ", words[x->what].sign, nouns[x->kind]);
		log_visible(out, x->name, false);
		if (x->renamed_to) {
			buf_adds(out, ", which is now ");
			log_visible(out, str_of(x->renamed_to), false);
		}
		buf_addc(out, '\n');
	}
}

/* ---- one server ---- */

static bool offers(const struct target *t, enum listing_kind kind)
{
	return client_offers(t->client, kind == LISTING_TOOLS ? "tools"
					: kind == LISTING_PROMPTS
						? "prompts"
						: "resources");
}

/* Ask for all lists. ret_has  those that are whole */
static int list_all(struct target *t, struct listing lists[CATALOGUE_LISTS],
		    bool ret_has[CATALOGUE_LISTS], struct err *err)
{
	int r = 0;

	for (int k = 0; r >= 0 && k < CATALOGUE_LISTS; k++) {
		/* servers with resources need not know of templates */
		const bool is_needed = k != LISTING_TEMPLATES;

		r = 0;
		if (offers(t, k))
			r = target_list(t, k, is_needed, &lists[k], err);
		ret_has[k] = r == 0;
	}
	return r < 0 ? -1 : 0;
}

/* Merge lists, which end with the caller, since the catalogue borrows. */
static int merge_all(struct target *t, struct synced *s,
		     const struct listing lists[CATALOGUE_LISTS],
		     const bool has[CATALOGUE_LISTS], struct catalogue *c,
		     struct catalogue_changes *changes, struct err *err)
{
	AUTO(fd_closep) int held = catalogue_hold(s->state_dir);
	const char *now = target_now(t);

	s->is_held = held < 0;
	(void)catalogue_read(s->state_dir, t->config->path, s->server, c);
	s->is_first = !c->synced;
	for (int k = 0; k < CATALOGUE_LISTS; k++)
		if (has[k])
			catalogue_merge(c, &lists[k], t->scrub, now, true,
					changes);
	c->synced = now;
	c->failed = c->error = c->error_kind = NULL;
	return held >= 0 && catalogue_write(s->state_dir, t->config->path,
					    s->server, c)
		       ? 0
		       : err_set(err, ERR_SYS,
				 "the catalogue in %s cannot be written%s",
				 s->state_dir,
				 held < 0 ? ", or another matins holds it"
					  : "");
}

static int work(struct target *t, void *arg, struct err *err)
{
	AUTO(catalogue_release)
	struct catalogue c = {.arena = ARENA_INIT, .text = BUF_INIT(0)};
	struct listing lists[CATALOGUE_LISTS];
	bool has[CATALOGUE_LISTS] = {false};
	struct catalogue_changes changes = {NULL, 0};
	struct synced *s = arg;
	int r;

	for (int k = 0; k < CATALOGUE_LISTS; k++)
		listing_init(&lists[k], k);
	r = list_all(t, lists, has, err);
	if (r == 0)
		r = merge_all(t, s, lists, has, &c, &changes, err);
	if (r == 0 && s->page->is_json)
		add_json(s->server, &c, &changes, &s->page->w);
	else if (r == 0)
		add_text(s->server, &c, &changes, s->is_first, &s->page->out);
	for (int k = 0; k < CATALOGUE_LISTS; k++)
		listing_release(&lists[k]);
	return r;
}

/* Keep and tell of a failure; lists stay as they were. Nobody is waited for
   twice. */
static void say_failure(struct sync *s, const struct config *config,
			const struct synced *one, const struct err *why)
{
	const char *server = one->server;
	struct clock *clock = clock_system();
	char now[CLOCK_TEXT_BYTES];
	struct jw *w = &s->page.w;

	clock_format(clock->wall_ns(clock), now);
	s->n_failed++;
	log_error("%s: %s", server, why->msg);
	if (one->is_held ||
	    !catalogue_note(s->state_dir, config->path, server, why, now))
		log_warning("%s: the catalogue in %s cannot be written, so it "
			    "does not tell of this",
			    server, s->state_dir);
	if (!s->page.is_json)
		return;
	jw_object(w);
	jw_kv_cstr(w, "name", server);
	jw_kv_bool(w, "ok", false);
	jw_kv_object(w, "error");
	jw_kv_cstr(w, "kind", err_word(why->kind));
	jw_kv_cstr(w, "message", why->msg);
	jw_end(w);
	jw_end(w);
}

/* returns  0, also after a failure of the server; 128 + N after a signal */
static int sync_server(struct sync *s, const struct config *config,
		       const char *server)
{
	struct synced one = {
		.state_dir = s->state_dir, .server = server, .page = &s->page};
	struct err err = ERR_INIT;
	int r = target_survey(s->args, server, work, &one, &err);

	s->has_new |= r == 0 && one.is_first;
	if (r < 0 && err.kind == ERR_DISABLED)
		log_note("%s", err.msg);
	else if (r < 0)
		say_failure(s, config, &one, &err);
	return r > 0 ? r : 0;
}

static bool is_chosen(const struct sync *s, const char *server)
{
	bool is = s->all || !s->args->n_positional;

	for (size_t i = 0; i < s->args->n_positional; i++)
		is |= strcmp(s->args->positional[i], server) == 0;
	return is;
}

/* returns  as sync_quietly() */
static int sync_all(struct sync *s, const struct config *config,
		    struct err *err)
{
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	int r = 0;

	s->state_dir = state_dir_find(&arena);
	if (!s->state_dir)
		return err_set(err, ERR_SYS,
			       "the catalogue has no place: HOME is not set");
	if (!config->n_servers)
		return err_set(err, ERR_CONFIG, "%s has no [servers.NAME]",
			       config->path);
	if (s->page.is_json)
		jw_kv_array(&s->page.w, "servers");
	for (size_t i = 0; r == 0 && i < config->n_servers; i++)
		if (is_chosen(s, config->servers[i].name))
			r = sync_server(s, config, config->servers[i].name);
	if (s->page.is_json)
		jw_end(&s->page.w);
	return r ? r : s->n_failed > 0;
}

int sync_quietly(const struct args *args, const struct config *config,
		 struct err *err)
{
	struct sync s = {
		.args = args, .all = true, .page.out = BUF_INIT(BUF_UNBOUNDED)};
	int r = sync_all(&s, config, err);

	page_release(&s.page);
	return r;
}

int cmd_sync(const struct args *args, struct err *err)
{
	const struct config_options options = {.server = ""};
	AUTO(config_release) struct config_file file = {.path = NULL};
	struct sync s = {.args = args};
	const struct server *found;
	int r;

	if (open_config(args, options, &file, err) < 0)
		return -1;
	for (size_t i = 0; i < args->n_positional; i++)
		if (find_server(&file.config, args->positional[i], &found,
				err) < 0)
			return -1;
	page_open(&s.page, args);
	r = sync_all(&s, &file.config, err);
	if (s.has_new && !s.page.is_json)
		log_note("sync: listed as for a call without options; tools "
			 "that a server keeps for clients which answer its "
			 "questions: its keys sampling and roots, or `matins "
			 "tools --server NAME` with --elicit, --root, "
			 "--sampling");
	if (r >= 0 && page_put(&s.page, err) < 0)
		r = -1;
	page_release(&s.page);
	return r;
}
