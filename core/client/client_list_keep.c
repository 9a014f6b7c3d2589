/*
 * How long a list is good: notices of change, and answers that show that it is
 * wrong.
 */
#include "core/base/log.h"
#include "core/client/client_list_inner.h"

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

/* ---- what makes it wrong ---- */

void client_lists_drop(struct list_state *s)
{
	cache_stale(&s->client->lists->cache, notices[s->held.kind], STR(""));
	s->is_stale = true;
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
