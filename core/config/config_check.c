#include "core/config/config_check.h"

#include <string.h>

#include "core/base/limits.h"
#include "core/mcp/wire/mcp.h"
#include "core/report/path.h"
#include "core/config/keys.h"
#include "core/config/server_url.h"
#include "core/secret/secret.h"
#include "core/toml/toml.h"
#include "gate/gate.h"

static void check_refs(struct config_file *file, const struct env_refs *refs)
{
	for (size_t i = 0; i < refs->n; i++) {
		const struct env_ref *ref = &refs->item[i];
		struct err err = ERR_INIT;
		struct strlist words;

		if (ref->source == SECRET_CMD &&
		    secret_split_words(str_of(ref->from), &file->arena, &words,
				       &err) < 0)
			findings_addf(&file->findings, false, ref->line,
				      ref->col, "command of %s: %s", ref->name,
				      err.msg);
	}
}

/* Items that are not strings have an error and are not in the list. */
static const struct toml_value *rule_place(const struct golden_rules *rules,
					   size_t i)
{
	const struct toml_value *list = rules->written;

	return list->array.n == rules->ignore.n ? &list->array.item[i] : list;
}

static void check_rules(struct config_file *file,
			const struct golden_rules *rules)
{
	for (size_t i = 0; i < rules->ignore.n; i++) {
		const struct toml_value *at = rule_place(rules, i);
		const char *rule = rules->ignore.item[i];
		struct err err = ERR_INIT;
		struct path *path;

		if (path_parse(rule, &file->arena, &path, &err) < 0)
			findings_addf(&file->findings, false, at->line, at->col,
				      "\"ignore\" of [golden]: %s", err.msg);
	}
}

static void check_all_rules(struct config_file *file)
{
	const struct config *c = &file->config;

	check_rules(file, &c->golden);
	for (size_t i = 0; i < c->n_routines; i++)
		check_rules(file, &c->routines[i].golden);
}

/* Without an issuer the server could name anyone to give it to. */
static void check_issuer(struct config_file *file, const struct server *s)
{
	const struct server_auth *a = &s->auth;
	const char *what = a->client_secret.from ? "client_secret"
			   : a->private_key.from ? "private_key"
			   : a->assertion_file	 ? "assertion_file"
						 : NULL;

	if (s->url && what && !a->issuer)
		findings_addf(
			&file->findings, true, s->line, s->col,
			"server \"%s\": without `issuer` its %s is "
			"used only at an authorization server of its url's "
			"own origin; name the one that the client is "
			"registered at: issuer = \"https://...\"",
			s->name, what);
}

/* A key that is allowed but risky is a note: each run says it as well. */
static void check_url(struct config_file *file, const struct server *s)
{
	struct err err = ERR_INIT, why;
	int r = s->url && !s->unset ? server_url_check(s, &err) : 0;

	if (r < 0) {
		findings_addf(&file->findings, false, s->line, s->col,
			      "server \"%s\": %s", s->name, err.msg);
	} else if (r) {
		err_at(&why, ERR_CONFIG, s->line, s->col, "server \"%s\": %s",
		       s->name, err.msg);
		findings_add_note(&file->findings, &why);
	}
}

static void check_urls(struct config_file *file)
{
	const struct config *c = &file->config;

	for (size_t i = 0; i < c->n_servers; i++) {
		const struct server *s = &c->servers[i];

		check_url(file, s);
		check_issuer(file, s);
	}
}

static void visit_refs(struct config_file *file, const struct server *s,
		       void (*refs)(struct config_file *,
				    const struct env_refs *))
{
	refs(file, &s->env);
	for (size_t i = 0; i < SERVER_REFERENCES; i++) {
		struct env_ref ref = *server_reference(s, i);
		const struct env_refs one = {&ref, ref.from != NULL};

		refs(file, &one);
	}
}

/* One visit of everything that has a policy and credentials. */
static void visit(struct config_file *file,
		  void (*policy)(struct config_file *,
				 const struct gate_policy *),
		  void (*refs)(struct config_file *, const struct env_refs *))
{
	const struct config *c = &file->config;

	if (policy)
		policy(file, &c->sandbox);
	for (size_t i = 0; i < c->n_servers; i++) {
		if (policy)
			policy(file, &c->servers[i].sandbox);
		if (refs)
			visit_refs(file, &c->servers[i], refs);
	}
	for (size_t i = 0; i < c->n_routines; i++) {
		for (size_t j = 0; j < c->routines[i].n_steps; j++) {
			const struct step *s = &c->routines[i].steps[j];

			if (policy)
				policy(file, &s->sandbox);
			if (refs)
				refs(file, &s->env);
		}
	}
}

static void check_lengths(struct config_file *file, const struct env_refs *refs)
{
	for (size_t i = 0; i < refs->n; i++) {
		AUTO(buf_wipe) struct buf value = BUF_INIT(LIMIT_SECRET_BYTES);
		const struct env_ref *ref = &refs->item[i];
		struct err err = ERR_INIT;

		if (ref->source == SECRET_CMD ||
		    secret_resolve(ref->source, ref->from, NULL, &value, &err) <
			    0 ||
		    value.n >= LIMIT_SECRET_SCRUB_MIN)
			continue;
		findings_addf(&file->findings, true, ref->line, ref->col,
			      "the value of %s has fewer than %d bytes; it "
			      "cannot be scrubbed from reports",
			      ref->name, LIMIT_SECRET_SCRUB_MIN);
	}
}

/* ---- rules for programs that nothing names ---- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_meant(const char *rule, const char *program)
{
	return program && !strcmp(last_part(rule), last_part(program));
}

static bool lists(const struct gate_policy *s, const char *rule)
{
	for (size_t i = 0; s && i < s->exec.n; i++)
		if (is_meant(rule, s->exec.item[i]))
			return true;
	return false;
}

/* `only`: whose rules they are; NULL: those of the whole file. */
static bool is_rule_used(const struct config *c, const char *rule,
			 const struct gate_policy *only)
{
	if (lists(&c->sandbox, rule))
		return true;
	for (size_t i = 0; i < c->n_servers; i++) {
		const struct server *s = &c->servers[i];

		if ((!only || only == &s->sandbox) &&
		    (is_meant(rule, s->command) || lists(&s->sandbox, rule)))
			return true;
		/* the sampling program is held to [sandbox] alone */
		if (!only && s->sampling.n &&
		    is_meant(rule, s->sampling.item[0]))
			return true;
	}
	for (size_t i = 0; i < c->n_routines; i++) {
		for (size_t j = 0; j < c->routines[i].n_steps; j++) {
			const struct step *s = &c->routines[i].steps[j];
			const struct server *server = s->server;

			if (only && only != &s->sandbox &&
			    !(server && only == &server->sandbox))
				continue;
			if (is_meant(rule, s->command) ||
			    lists(&s->sandbox, rule) ||
			    (server && (is_meant(rule, server->command) ||
					lists(&server->sandbox, rule))))
				return true;
		}
	}
	return false;
}

static void check_rule_used(struct config_file *file,
			    const struct gate_policy *s)
{
	const struct config *c = &file->config;
	const struct gate_policy *only = s == &c->sandbox ? NULL : s;

	for (size_t i = 0; i < s->programs.n; i++) {
		const struct gate_program_rule *rule = &s->programs.item[i];

		if (!is_rule_used(c, rule->name, only))
			findings_addf(
				&file->findings, true, rule->line, rule->col,
				"there is a rule for \"%s\", which is "
				"neither a command nor in `exec` here; it "
				"holds only where the first line of a "
				"script starts it",
				rule->name);
	}
}

/* A run goes on: a step or server that has one fails by itself. */
static void check_revision(struct config_file *file, const char *date,
			   uint32_t line, uint32_t col)
{
	AUTO(buf_release) struct buf all = BUF_INIT(BUF_UNBOUNDED);

	if (!date || mcp_revision_find(str_of(date)))
		return;
	mcp_revision_list(&all);
	findings_addf(&file->findings, false, line, col,
		      "\"protocol\": there is no revision \"%s\" of MCP; "
		      "there are %s",
		      date, buf_cstr(&all));
}

static void check_revisions(struct config_file *file)
{
	const struct config *c = &file->config;

	for (size_t i = 0; i < c->n_servers; i++)
		check_revision(file, c->servers[i].protocol, c->servers[i].line,
			       c->servers[i].col);
	for (size_t i = 0; i < c->n_routines; i++) {
		for (size_t j = 0; j < c->routines[i].n_steps; j++) {
			const struct step *s = &c->routines[i].steps[j];

			check_revision(file, s->protocol, s->line, s->col);
		}
	}
}

void config_check(struct config_file *file)
{
	visit(file, NULL, check_refs);
	check_all_rules(file);
}

static void check_types(struct config_file *file)
{
	const struct config *c = &file->config;

	for (size_t i = 0; i < c->n_routines; i++) {
		for (size_t j = 0; j < c->routines[i].n_steps; j++) {
			const struct step *s = &c->routines[i].steps[j];

			if (s->instead && step_kind_instead(s->type))
				findings_addf(
					&file->findings, true, s->line, s->col,
					"step \"%s\" is skipped: \"%s\" is a "
					"step type of modulex; %s",
					s->name, s->type, s->instead);
		}
	}
}

static void add_not_allowed(struct config_file *file)
{
	struct err err = ERR_INIT;

	err_set(&err, ERR_NOT_ALLOWED, "%s", file->not_allowed);
	findings_add_note(&file->findings, &err);
}

static void check_empty(struct config_file *file)
{
	if (!file->findings.has_error && !file->config.n_routines &&
	    !file->config.n_servers)
		findings_addf(&file->findings, true, 1, 1,
			      "the file has neither a routine nor a server, "
			      "so nothing can run");
}

void config_check_all(struct config_file *file)
{
	check_empty(file);
	check_revisions(file);
	for (size_t i = 0; i < file->unset.n; i++)
		findings_add(&file->findings, false, &file->unset.item[i].err);
	check_types(file);
	if (file->not_allowed)
		add_not_allowed(file);
	visit(file, check_rule_used, file->not_allowed ? NULL : check_lengths);
	check_urls(file);
	findings_sort(&file->findings);
}
