/* [servers] and [mcp_servers]: each server, and what must go together in it. */
#include "core/config/load.h"

/* Keys that hold for a url, or for a program, by their rows. */
static void check_belonging(struct loader *l, const struct toml_value *from,
			    const struct server *s)
{
	bool has_url = toml_get(from, "url");
	size_t n;
	const struct key *keys = keys_all(&n);

	for (size_t i = 0; i < n; i++) {
		const struct key *k = &keys[i];

		if (k->section != SECTION_server || !k->of ||
		    !toml_get(from, k->name))
			continue;
		if (!has_url && strcmp(k->of, "url") == 0)
			load_error(l, s->line, s->col,
				   "server \"%s\": \"%s\" is for a \"url\"",
				   s->name, k->name);
		else if (s->url && strcmp(k->of, "command") == 0)
			load_warning(l, s->line, s->col,
				     "server \"%s\": \"%s\" is for a program; "
				     "nothing is started for a \"url\"",
				     s->name, k->name);
	}
}

/* Keys count by presence: a value of the wrong type has its own error. */
static void check_server(struct loader *l, const struct toml_value *from,
			 const struct server *s)
{
	bool has_command = toml_get(from, "command");
	bool has_url = toml_get(from, "url");

	if (has_command == has_url)
		load_error(l, s->line, s->col,
			   "server \"%s\" has %s; it takes exactly one of the "
			   "two",
			   s->name,
			   has_url ? "both \"command\" and \"url\""
				   : "neither \"command\" nor \"url\"");
	check_belonging(l, from, s);
	if (toml_get(from, "token") && toml_get(from, "api_key"))
		load_error(l, s->line, s->col,
			   "server \"%s\" has both \"token\" and \"api_key\"; "
			   "keep one",
			   s->name);
	if (s->args.n && !has_command)
		load_error(l, s->line, s->col,
			   "server \"%s\": \"args\" are for a \"command\"",
			   s->name);
}

/* Before it is expanded. */
static bool has_reference_behind_host(const char *url)
{
	const char *host = url ? strstr(url, "://") : NULL;

	if (!host)
		return false;
	host += 3;
	return strstr(host + strcspn(host, "/?"), "${") != NULL;
}

static void load_server(struct loader *l, const struct key *k,
			const struct toml_member *m)
{
	struct server *s = &l->config->servers[l->config->n_servers];

	load_check_name(l, "server", m->key, m->line, m->col);
	if (!load_is_table(l, k, &m->value))
		return;
	if (config_server(l->config, m->key)) {
		load_error(l, m->line, m->col,
			   "duplicate server \"%s\", in [servers] and in "
			   "[mcp_servers]",
			   m->key);
		return;
	}
	s->name = m->key;
	s->line = m->line;
	s->col = m->col;
	l->config->n_servers++;
	l->server = m->key;
	l->unset = &s->unset;
	load_table(l, &m->value, SECTION_server, SECTION_server, s);
	l->server = NULL;
	l->unset = NULL;
	s->url_has_reference = has_reference_behind_host(s->url);
	check_server(l, &m->value, s);
}

void read_SERVERS(struct loader *l, const struct key *k,
		  const struct toml_member *m, void *object)
{
	(void)object;
	if (!load_is_table(l, k, &m->value))
		return;
	for (size_t i = 0; i < m->value.table.n; i++)
		load_server(l, k, &m->value.table.member[i]);
}
