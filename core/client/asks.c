#include "core/client/asks.h"

#include "core/base/mem.h"
#include "core/base/scan.h"
#include "core/mcp/wire/rpc.h"
#include "core/config/paths.h"

/* ---- roots ---- */

/* Percent-encode a path by RFC 3986. */
static void add_path(struct buf *out, const char *path)
{
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || strchr("-._~/", c))
			buf_addc(out, (char)c);
		else
			buf_addf(out, "%%%02X", c);
	}
}

int asks_add_root(struct asks *asks, const char *path,
		  const struct gate_policy *policy, struct arena *arena,
		  struct err *err)
{
	AUTO(buf_release) struct buf uri = BUF_INIT(BUF_UNBOUNDED);
	AUTO(mem_freep) char *real = realpath(path, NULL);
	struct strlist more = {
		ARENA_ARRAY(arena, const char *, asks->roots.n + 1),
		asks->roots.n};

	if (!real)
		return err_set(err, ERR_CONFIG, "root %s: no such folder",
			       path);
	if (policy && !path_is_beneath(real, &policy->read) &&
	    !path_is_beneath(real, &policy->write))
		return err_set(err, ERR_CONFIG,
			       "root %s: the server may not read it; grant it "
			       "with read = [\"%s\"] or --read %s",
			       path, real, path);
	if (more.n)
		memcpy(more.item, asks->roots.item,
		       more.n * sizeof(*more.item));
	buf_adds(&uri, "file://");
	add_path(&uri, real);
	more.item[more.n++] = arena_strdup(arena, buf_cstr(&uri));
	asks->roots = more;
	return 0;
}

int asks_of_server(const struct server *server,
		   const struct gate_policy *policy, struct arena *arena,
		   struct asks *ret, struct err *err)
{
	AUTO(buf_release) struct buf json = BUF_INIT(BUF_UNBOUNDED);
	struct asks asks = {0};

	for (size_t i = 0; i < server->roots.n; i++)
		if (asks_add_root(&asks, server->roots.item[i],
				  server->url ? NULL : policy, arena, err) < 0)
			return err_wrap(err, "server %s", server->name);
	asks.has_elicit = server->elicit &&
			  elicit_action_find(server->elicit, &asks.elicit);
	if (server->elicit_content) {
		toml_to_json(server->elicit_content, &json);
		asks.content = arena_str(arena, buf_str(&json));
	}
	asks.sampling = server->sampling;
	*ret = asks;
	return 0;
}

void asks_declare(const struct asks *asks, struct mcp_declared *declared)
{
	declared->roots |= asks->roots.n > 0;
	declared->elicit_form |= asks->has_elicit;
	/* consent to a page is a person's: a policy can only say no */
	declared->elicit_url |=
		asks->has_elicit && asks->elicit != ELICIT_ACCEPT;
	declared->sampling |= asks->sampler != NULL;
}

/* ---- answers ---- */

static void answer_roots(const struct asks *asks, struct client *client,
			 const struct client_event *e)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct jw w;

	jw_init(&w, &out, false);
	jw_object(&w);
	jw_kv_array(&w, "roots");
	for (size_t i = 0; i < asks->roots.n; i++) {
		const char *uri = asks->roots.item[i];

		jw_object(&w);
		jw_kv_cstr(&w, "uri", uri);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	client_answer(client, e->of->ask, buf_str(&out));
}

static const char *word_of(enum elicit_action action)
{
	return action == ELICIT_ACCEPT	  ? "accept"
	       : action == ELICIT_DECLINE ? "decline"
					  : "cancel";
}

static void answer_elicit(struct asks *asks, struct client *client,
			  const struct client_event *e, struct buf *says)
{
	AUTO(buf_release) struct buf out = BUF_INIT(BUF_UNBOUNDED);
	AUTO(arena_release) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct elicit question;
	enum elicit_action given;
	struct str why;

	if (elicit_read(e->of->params, &arena, &question, &err) < 0) {
		asks->is_unmet |= asks->elicit == ELICIT_ACCEPT;
		buf_addf(says, "a question that cannot be asked: %s", err.msg);
		client_answer_error(client, e->of->ask, RPC_INVALID_PARAMS,
				    err.msg);
		return;
	}
	given = elicit_answer(&question, asks->elicit, asks->content, &arena,
			      &out, &why);
	asks->is_unmet |= given != asks->elicit;
	buf_addf(says, "for values, answered by %s: ", word_of(given));
	buf_add_cut(says, question.message, 400);
	if (why.p)
		buf_addf(says, " (%.*s)", STR_ARG(why));
	client_answer(client, e->of->ask, buf_str(&out));
}

bool asks_answer(struct asks *asks, struct client *client,
		 const struct client_event *e, struct buf *ret_says)
{
	const char *method = e->of->method;

	if (strcmp(method, "roots/list") == 0) {
		answer_roots(asks, client, e);
		return true;
	}
	if (strcmp(method, "elicitation/create") == 0 && asks->has_elicit) {
		answer_elicit(asks, client, e, ret_says);
		return true;
	}
	if (strcmp(method, "sampling/createMessage") == 0 && asks->sampler) {
		sampler_answer(asks->sampler, client, e, ret_says);
		return true;
	}
	return false;
}
