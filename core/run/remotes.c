#include "core/run/remotes.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/run/remotes_inner.h"

/* One for each file of authorities: connections are shared within one. */
struct engine {
	char *ca_file; /* owned; NULL: those of the system alone */
	struct http *http;
	struct engine *next;
};

struct kept_store {
	char *dir;
	struct store *store;
	struct kept_store *next;
};

/* ---- all of them ---- */

struct remotes *remotes_new(const struct remotes_options *options)
{
	struct remotes *r = mem_zalloc(sizeof(*r));

	r->o = *options;
	return r;
}

void remotes_free(struct remotes *r)
{
	if (!r)
		return;
	while (r->engines) {
		struct engine *e = r->engines;

		r->engines = e->next;
		http_free(e->http);
		free(e->ca_file);
		free(e);
	}
	while (r->stores) {
		struct kept_store *s = r->stores;

		r->stores = s->next;
		store_free(s->store);
		free(s->dir);
		free(s);
	}
	free(r);
}

/* ---- the engine ---- */

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

int remotes_engine(struct remotes *r, const char *ca_file, struct http **ret,
		   struct err *err)
{
	const struct http_options options = {
		.loop = r->o.loop,
		.user_agent = "matins/" MATINS_VERSION,
		.ca_file = ca_file,
	};
	struct engine *e = r->engines;

	while (e && !same(e->ca_file, ca_file))
		e = e->next;
	if (!e) {
		struct http *http;

		if (http_new(&options, &http, err) < 0)
			return -1;
		e = mem_zalloc(sizeof(*e));
		e->ca_file = ca_file ? mem_strdup(ca_file) : NULL;
		e->http = http;
		e->next = r->engines;
		r->engines = e;
	}
	*ret = e->http;
	return 0;
}

/* ---- stores of tokens ---- */

static enum store_key key_of(const char *word)
{
	enum store_key key;

	return word && store_key_find(word, &key) ? key : STORE_KEY_AUTO;
}

static struct store *found_store(const struct remotes *r, const char *dir)
{
	const struct kept_store *s = r->stores;

	while (s && strcmp(s->dir, dir) != 0)
		s = s->next;
	return s ? s->store : NULL;
}

struct store *remotes_store(struct remotes *r, const struct remote_spec *spec)
{
	AUTO(mem_freep) char *dir = NULL;
	struct err err = ERR_INIT;
	struct kept_store *s;
	struct store *store;

	if (!spec->token_store && !r->o.state_dir)
		return NULL;
	dir = spec->token_store ? mem_strdup(spec->token_store)
				: mem_printf("%s/tokens", r->o.state_dir);
	store = found_store(r, dir);
	if (store)
		return store;
	if (store_open(dir, key_of(spec->store_key), &store, &err) < 0) {
		log_warning("tokens are not kept beyond this run: %s", err.msg);
		return NULL;
	}
	s = mem_zalloc(sizeof(*s));
	s->dir = dir;
	dir = NULL;
	s->store = store;
	s->next = r->stores;
	r->stores = s;
	return store;
}
