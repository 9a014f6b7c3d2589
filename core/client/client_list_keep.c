/*
 * How long a list is good: what the server says of it, notices of change,
 * answers that show that it is wrong; and the memory for the next process.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/client/client_list_inner.h"
#include "core/client/digest.h"

/* Subscriptions that are opened in one session, when they end. */
#define LISTENS_MAX 5

static const char *const notices[LISTING_KINDS] = {
	[LISTING_TOOLS] = "notifications/tools/list_changed",
	[LISTING_RESOURCES] = "notifications/resources/list_changed",
	[LISTING_TEMPLATES] = "notifications/resources/list_changed",
	[LISTING_PROMPTS] = "notifications/prompts/list_changed",
};

bool client_is_modern(const struct client *c)
{
	const struct mcp_revision *r = client_server(c)->revision;

	return r && r->era == MCP_ERA_PER_REQUEST;
}

/* ---- whose list it is ---- */

static bool find_file(const char *cwd, const char *arg, struct stat *ret)
{
	bool is_whole = arg[0] == '/' || !cwd;
	AUTO(mem_freep)
	char *path = mem_printf("%s%s%s", is_whole ? "" : cwd,
				is_whole ? "" : "/", arg);

	return stat(path, ret) == 0 && S_ISREG(ret->st_mode);
}

/*
 * A script is part of the server as its interpreter is: the first argument
 * that is a file. Those behind it are more often data.
 */
static uint64_t version_of(const struct gate_request *r)
{
	unsigned char digest[SHA256_BYTES];
	struct stat st = {0};
	struct sha256 sum;
	uint64_t version;
	bool found = false;

	for (size_t i = 1; r->argv[0] && r->argv[i] && !found; i++)
		found = find_file(r->cwd, r->argv[i], &st);
	if (!found)
		return 0;
	sha256_init(&sum);
	digest_number(&sum, (uint64_t)st.st_ino);
	digest_number(&sum, (uint64_t)st.st_size);
	digest_number(&sum, (uint64_t)st.st_mtim.tv_sec);
	digest_number(&sum, (uint64_t)st.st_mtim.tv_nsec);
	sha256_end(&sum, digest);
	memcpy(&version, digest, sizeof(version));
	return version;
}

static void digest_declared(struct sha256 *sum, const struct mcp_declared *d)
{
	digest_number(sum, d->roots);
	digest_number(sum, d->elicit_form);
	digest_number(sum, d->elicit_url);
	digest_number(sum, d->sampling);
	digest_number(sum, d->tasks);
}

/* False: it is nothing that another process could know again. */
static bool key_of(const struct client *c, struct kept_key *ret)
{
	const struct gate_request *r = c->o.request;
	unsigned char digest[SHA256_BYTES];
	struct era_key program;
	struct sha256 sum;

	if (!r || !c->ctx.kept || !c->child.program || !client_is_modern(c))
		return false;
	eras_key(&program, c->child.program, r->argv, r->cwd);
	sha256_init(&sum);
	digest_text(&sum, program.hex);
	digest_policy(&sum, r->policy);
	digest_text(&sum, client_server(c)->revision->date);
	digest_declared(&sum, &c->o.session.declared);
	sha256_end(&sum, digest);
	sha256_text(digest, ret->hex);
	ret->version = version_of(r);
	ret->secrets = r->env;
	return true;
}

/* ---- the next process ---- */

void client_lists_collect(struct list_state *s, struct str result)
{
	const struct scrub *scrub = s->client->ctx.scrub;

	if (!s->is_bound || s->making.kind != LISTING_TOOLS)
		return;
	/* a secret is not written anywhere, a page without it is none */
	if ((scrub && scrub_finds(scrub, result)) ||
	    buf_addf(&s->pages, "%s", s->pages.n ? "," : "[") == BUF_FULL ||
	    buf_add_str(&s->pages, result) == BUF_FULL)
		s->is_bound = false;
}

void client_lists_keep(struct list_state *s)
{
	struct client *c = s->client;
	uint64_t now = loop_now(c->ctx.loop);
	struct kept_key key;

	if (s->held.kind != LISTING_TOOLS || !key_of(c, &key))
		return;
	/* it changed while it was read */
	if (s->is_stale || !s->is_bound || s->until_ns <= now ||
	    buf_addc(&s->pages, ']') == BUF_FULL)
		kept_lists_forget(c->ctx.kept, &key);
	else
		kept_lists_put(c->ctx.kept, &key, c->ctx.loop->clock,
			       (s->until_ns - now) / NS_PER_MS,
			       buf_str(&s->pages));
	buf_release(&s->pages);
}

/* All of them, or it is no list. */
static bool read_pages(struct str pages, struct listing *l)
{
	struct err ignored = ERR_INIT;
	struct scan_iter it;
	int got = LISTING_MORE;

	scan_iter_init(&it, pages);
	while (got == LISTING_MORE && scan_next(&it))
		got = listing_add(l, it.value, &ignored);
	return got == LISTING_DONE && !scan_next(&it);
}

bool client_lists_recall(struct list_state *s)
{
	AUTO(buf_release) struct buf text = BUF_INIT(KEPT_LIST_BYTES);
	struct client *c = s->client;
	struct kept_key key;
	struct str pages;
	uint64_t ms;

	/* what was asked for in this session is newer */
	if (s->is_asked || s->held.kind != LISTING_TOOLS || !key_of(c, &key) ||
	    !kept_lists_find(c->ctx.kept, &key, c->ctx.loop->clock, &text,
			     &pages, &ms))
		return false;
	listing_release(&s->making);
	if (!read_pages(pages, &s->making)) {
		kept_lists_forget(c->ctx.kept, &key);
		return false;
	}
	log_debug("%s: the tools are known, for %llu s yet", c->o.name,
		  (unsigned long long)(ms / 1000));
	listing_release(&s->held);
	s->held = s->making;
	listing_init(&s->making, s->held.kind);
	s->is_held = true;
	s->until_ns = loop_now(c->ctx.loop) + ms * NS_PER_MS;
	return true;
}

/* ---- what makes it wrong ---- */

void client_lists_drop(struct list_state *s)
{
	struct client *c = s->client;
	struct kept_key key;

	cache_stale(&c->lists->cache, notices[s->held.kind], STR(""));
	s->is_stale = true;
	s->is_asked = true;
	if (s->held.kind == LISTING_TOOLS && key_of(c, &key))
		kept_lists_forget(c->ctx.kept, &key);
}

void client_lists_changed(struct client *c, const char *notice, struct str uri)
{
	if (!c->lists)
		return;
	cache_stale(&c->lists->cache, notice, uri);
	for (int i = 0; i < LISTING_KINDS; i++)
		if (strcmp(notices[i], notice) == 0)
			client_lists_drop(&c->lists->of[i]);
}

void client_lists_doubt(struct client *c)
{
	if (c->lists)
		client_lists_drop(&c->lists->of[LISTING_TOOLS]);
}

/* ---- to be told of changes ---- */

/* Without it nobody says that a list has changed; its time still ends. */
static void on_listen(void *arg, const struct client_event *e)
{
	struct client *c = arg;

	if (e->type != CLIENT_RESULT && e->type != CLIENT_ERROR &&
	    e->type != CLIENT_FAILED)
		return;
	c->lists->listen = 0;
	c->lists->is_listen_vain = e->type == CLIENT_ERROR;
	/* what was not told in between is not known (SUB-6) */
	if (e->type != CLIENT_ERROR && c->is_open)
		client_lists_drop(&c->lists->of[LISTING_TOOLS]);
}

void client_lists_watch(struct client *c, enum listing_kind kind)
{
	const struct client_call call = {
		.method = "subscriptions/listen",
		.params = STR("{\"toolsListChanged\":true}"),
		.on_event = on_listen,
		.arg = c,
	};
	struct client_lists *l = c->lists;
	struct err err = ERR_INIT;

	if (!c->o.watches_lists || kind != LISTING_TOOLS || l->listen ||
	    l->is_listen_vain || l->n_listens == LISTENS_MAX ||
	    !client_is_modern(c) || !client_offers(c, "tools.listChanged"))
		return;
	l->n_listens++;
	if (client_call(c, &call, &l->listen, &err) < 0)
		log_debug("%s: %s", c->o.name, err.msg);
}

size_t client_lists_own_calls(const struct client *c)
{
	return c->lists && c->lists->listen ? 1 : 0;
}
