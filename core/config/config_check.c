#include "core/config/config_check.h"

#include <string.h>

#include "core/base/limits.h"
#include "core/base/place.h"
#include "core/config/golden_rules.h"
#include "core/config/keys.h"
#include "core/config/notify.h"
#include "core/config/paths.h"
#include "core/config/references.h"
#include "core/config/server_url.h"
#include "core/mcp/wire/mcp.h"
#include "core/secret/secret.h"
#include "core/toml/toml.h"
#include "gate/gate.h"

/* ---- in every use ---- */

static void check_commands(struct config_file *file, struct config_part *p)
{
	const struct env_ref *ref;

	while ((ref = config_next_ref(p))) {
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

/* Each is granted, whatever the program makes of it. */
static void check_keys_named(struct config_file *file,
			     const struct config_part *p)
{
	uint32_t line = p->step	    ? p->step->line
			: p->server ? p->server->line
			: p->notify ? p->notify->line
				    : 0;
	uint32_t col = p->step	   ? p->step->col
		       : p->server ? p->server->col
		       : p->notify ? p->notify->col
				   : 0;

	for (size_t i = 0; p->command && i < p->args->n; i++) {
		const char *arg = p->args->item[i];
		const char *row = path_keys_of(arg, &file->arena);

		if (row && !place_around(&p->sandbox->read, arg) &&
		    !place_around(&p->sandbox->write, arg))
			findings_addf(&file->findings, true, line, col,
				      "%s can be read, because an argument "
				      "names it; %s holds keys, tokens or "
				      "sessions: take it out of `args`, or "
				      "name it in `sandbox.read` if it is "
				      "meant",
				      arg, row);
	}
}

static void check_rules(struct config_file *file, const struct golden_rules *g)
{
	struct rules rules = {NULL, 0};

	golden_rules_load(g, &rules, &file->arena, &file->findings);
}

void config_check(struct config_file *file)
{
	const struct config *c = &file->config;

	for (struct config_part p = {0}; config_next(c, &p);) {
		check_keys_named(file, &p);
		check_commands(file, &p);
	}
	check_rules(file, &c->golden);
	for (size_t i = 0; i < c->n_routines; i++)
		check_rules(file, &c->routines[i].golden);
}

/* ---- for `check`: servers, steps and credentials ---- */

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

/* Each login refuses them: a token would go over the network in clear. */
static void check_endpoints(struct config_file *file, const struct server *s)
{
	const struct server_auth *a = &s->auth;
	const struct {
		const char *key, *text;
	} all[] = {{"token_endpoint", a->token_endpoint},
		   {"authorization_endpoint", a->authorization_endpoint},
		   {"idp_token_endpoint", a->idp_token_endpoint}};
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct url url;

	for (size_t i = 0; i < ARRAY_LEN(all) && !s->unset; i++)
		if (all[i].text &&
		    url_parse(str_of(all[i].text), &arena, &url, ERR_IGNORED) ==
			    0 &&
		    !str_is(url.scheme, "https") && !url_is_loopback(&url))
			findings_addf(
				&file->findings, true, s->line, s->col,
				"server \"%s\": %s is not https, so each "
				"login is refused: only https may be used, or "
				"http on this machine",
				s->name, all[i].key);
}

static void check_server(struct config_file *file, const struct server *s)
{
	const struct server_auth *a = &s->auth;
	const char *key = a->client_secret.from	  ? "client_secret"
			  : a->private_key.from	  ? "private_key"
			  : a->assertion_file	  ? "assertion_file"
			  : a->refresh_token.from ? "refresh_token"
						  : NULL;
	struct err err = ERR_INIT, why;
	int r = s->url && !s->unset ? server_url_check(s, &err) : 0;

	check_revision(file, s->protocol, s->line, s->col);
	err_at(&why, ERR_CONFIG, s->line, s->col, "server \"%s\": %s", s->name,
	       err.msg);
	if (r < 0)
		findings_add(&file->findings, false, &why);
	else if (r) /* allowed but risky: each run says it as well */
		findings_add_note(&file->findings, &why);
	check_endpoints(file, s);
	/* without an issuer the server could name anyone to give it to */
	if (s->url && key && !a->issuer && !a->token_endpoint)
		findings_addf(
			&file->findings, true, s->line, s->col,
			"server \"%s\": without `issuer` its %s is "
			"used only at an authorization server of its url's "
			"own origin; name the one that the client is "
			"registered at: issuer = \"https://...\"",
			s->name, key);
}

/* A run goes on: the notice fails, and the report says it. */
static void check_notify(struct config_file *file, const struct notify_rules *n)
{
	const char *const urls[] = {n->url, n->ping};

	for (size_t i = 0; i < ARRAY_LEN(urls) && !n->unset; i++) {
		struct err err = ERR_INIT;
		struct url url;

		if (urls[i] &&
		    notify_url(urls[i], &file->arena, &url, &err) < 0)
			findings_addf(&file->findings, false, n->line, n->col,
				      "[notify]: %s", err.msg);
	}
}

static void check_step(struct config_file *file, const struct step *s)
{
	check_revision(file, s->protocol, s->line, s->col);
	if (s->instead && step_kind_instead(s->type))
		findings_addf(&file->findings, true, s->line, s->col,
			      "step \"%s\" is skipped: \"%s\" is a step type "
			      "of modulex; %s",
			      s->name, s->type, s->instead);
}

static void check_lengths(struct config_file *file, struct config_part *p)
{
	const struct env_ref *ref;

	while ((ref = config_next_ref(p))) {
		AUTO(buf_wipe) struct buf value = BUF_INIT(LIMIT_SECRET_BYTES);
		struct err err = ERR_INIT;

		if (ref->source != SECRET_CMD &&
		    secret_resolve(ref->source, ref->from, NULL, &value,
				   &err) == 0 &&
		    value.n < LIMIT_SECRET_SCRUB_MIN)
			findings_addf(&file->findings, true, ref->line,
				      ref->col,
				      "the value of %s has fewer than %d "
				      "bytes; it cannot be scrubbed from "
				      "reports",
				      ref->name, LIMIT_SECRET_SCRUB_MIN);
	}
}

/* ---- rules for programs that nothing names ---- */

static bool is_meant(const char *rule, const char *program)
{
	return program && !strcmp(place_name(rule), place_name(program));
}

static bool names(const char *command, const struct gate_policy *s,
		  const char *rule)
{
	if (is_meant(rule, command))
		return true;
	for (size_t i = 0; i < s->exec.n; i++)
		if (is_meant(rule, s->exec.item[i]))
			return true;
	return false;
}

/* owner  has the rule; that of the whole file holds for every part */
static bool is_rule_used(const struct config *c, const char *rule,
			 const struct gate_policy *owner)
{
	bool is_for_all = owner == &c->sandbox;

	for (struct config_part p = {0}; config_next(c, &p);) {
		const struct server *s = p.step ? p.step->server : p.server;

		if (!is_for_all && p.sandbox != &c->sandbox &&
		    p.sandbox != owner && !(s && &s->sandbox == owner))
			continue;
		if (names(p.command, p.sandbox, rule) ||
		    (s && names(s->command, &s->sandbox, rule)))
			return true;
		/* the sampling program is held to [sandbox] alone */
		if (is_for_all && s && p.server && s->sampling.n &&
		    is_meant(rule, s->sampling.item[0]))
			return true;
	}
	return false;
}

static void check_rules_used(struct config_file *file,
			     const struct gate_policy *s)
{
	for (size_t i = 0; i < s->programs.n; i++) {
		const struct gate_program_rule *rule = &s->programs.item[i];

		if (!is_rule_used(&file->config, rule->name, s))
			findings_addf(
				&file->findings, true, rule->line, rule->col,
				"there is a rule for \"%s\", which is "
				"neither a command nor in `exec` here; it "
				"holds only where the first line of a "
				"script starts it",
				rule->name);
	}
}

/* -p of an undeclared one that no step uses is warned of in the run. */
static void check_params_used(struct config_file *file, const struct routine *r)
{
	const struct strlist used = references_inputs(r, &file->arena);

	if (!r->params || list_has(&used, REFERENCES_ALL))
		return;
	for (size_t i = 0; i < r->params->table.n; i++) {
		const struct toml_member *m = &r->params->table.member[i];

		if (!list_has(&used, m->key))
			findings_addf(
				&file->findings, true, m->line, m->col,
				"no step of routine \"%s\" uses the "
				"parameter \"%s\": write \"$input.%s\" in "
				"`params` or `args` of a step",
				r->name, m->key, m->key);
	}
}

void config_check_all(struct config_file *file)
{
	const struct config *c = &file->config;
	struct err err = ERR_INIT;

	if (!file->findings.has_error && !c->n_routines && !c->n_servers)
		findings_addf(&file->findings, true, 1, 1,
			      "the file has neither a routine nor a server, "
			      "so nothing can run");
	for (size_t i = 0; i < file->unset.n; i++)
		findings_add(&file->findings, false, &file->unset.item[i].err);
	if (file->not_allowed) {
		err_set(&err, ERR_NOT_ALLOWED, "%s", file->not_allowed);
		findings_add_note(&file->findings, &err);
	}
	for (struct config_part p = {0}; config_next(c, &p);) {
		check_rules_used(file, p.sandbox);
		if (!file->not_allowed)
			check_lengths(file, &p);
		if (p.token && p.token->from && p.token->source == SECRET_CMD)
			findings_addf(&file->findings, true, p.token->line,
				      p.token->col, "%s", CONFIG_TOKEN_CMD);
		if (p.server)
			check_server(file, p.server);
		if (p.step)
			check_step(file, p.step);
		if (p.notify)
			check_notify(file, p.notify);
	}
	for (size_t i = 0; i < c->n_routines; i++)
		check_params_used(file, &c->routines[i]);
	findings_sort(&file->findings);
}
