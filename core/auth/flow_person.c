/*
 * The person at the authorization server's page, and the answer that the
 * browser brings back.
 */
#include "core/auth/answer.h"
#include "core/auth/flow_inner.h"
#include "core/auth/jwt.h"

#define PERSON_MS (5 * 60 * 1000)
/* Every process of this machine can connect. A state cannot be guessed; more
   answers than these are an attack that its user should hear of. */
#define OTHERS_MAX 100

static void note_others(struct flow *f)
{
	struct err err = ERR_INIT;

	if (f->others++ == 0)
		flow_say(f, "an answer came that is not to this login (its "
			    "state is another); the wait goes on");
	if (f->others < OTHERS_MAX)
		return;
	err_set(&err, ERR_PEER,
		"%d answers came that are not to this login (state): another "
		"program of this machine sends them to %s; try again",
		OTHERS_MAX, f->redirect_uri);
	flow_end(f, &err);
}

/* Nothing is shown of a query that is not to our request. */
static enum redirect_verdict judge(void *arg, struct str query)
{
	struct flow *f = arg;
	const struct answer_expect expect = {
		.state = buf_cstr(&f->secret),
		.issuer = f->server.issuer,
		.sends_iss = f->server.sends_iss,
	};
	struct err err = ERR_INIT;
	int r;

	if (f->state != FLOW_PERSON)
		return REDIRECT_OTHERS;
	r = answer_redirect(query, &expect, &f->code, &err);
	if (r > 0) {
		note_others(f);
		return REDIRECT_OTHERS;
	}
	loop_timer_clear(f->setting.context->loop, &f->timer);
	flow_secret(f, buf_str(&f->secret));
	if (r < 0) {
		flow_end(f, &err);
		return REDIRECT_BAD;
	}
	flow_secret(f, buf_str(&f->code));
	return REDIRECT_GOOD;
}

static void closed(void *arg)
{
	struct flow *f = arg;

	redirect_free(f->redirect);
	f->redirect = NULL;
	buf_wipe(&f->secret);
	if (f->state == FLOW_PERSON)
		flow_token(f);
}

int flow_listen(struct flow *f, const char *uri, struct err *err)
{
	const struct redirect_handler handler = {judge, closed, f};
	const char *wanted = f->setting.options->redirect_uri;
	int r;

	/* what is configured now, not what was then */
	if (uri && wanted && strcmp(uri, wanted) != 0)
		return err_set(err, ERR_CREDENTIAL, "another redirect address");
	if (!uri)
		uri = wanted;
	redirect_free(f->redirect);
	f->redirect = NULL;
	r = redirect_open(f->setting.context->loop, uri, &handler, &f->redirect,
			  err);
	if (r < 0)
		return -1;
	f->redirect_uri = arena_strdup(&f->arena,
				       r > 0 ? uri : redirect_uri(f->redirect));
	return 0;
}

bool flow_redirected(struct flow *f, struct str url)
{
	struct str rest = str_trim(url);
	size_t at = str_find(rest, '?');

	if (f->state != FLOW_PERSON)
		return false;
	rest.p += at;
	rest.n -= at;
	if (rest.n) {
		rest.p++;
		rest.n--;
	}
	if (judge(f, str_cut(&rest, '#')) != REDIRECT_OTHERS)
		closed(f);
	return true;
}

static int open_page(struct flow *f, const char *url, struct err *err)
{
	const struct auth_person *p = &f->setting.context->person;
	uint64_t wait_ms = p->timeout_ms ? p->timeout_ms : PERSON_MS;
	struct loop *loop = f->setting.context->loop;
	struct url u;

	if (guard_page(&f->guard, "authorization endpoint", url, &f->arena, &u,
		       err) < 0)
		return -1;
	flow_to(f, FLOW_PERSON);
	loop_timer_set(loop, &f->timer, loop_now(loop) + wait_ms * NS_PER_MS);
	return p->open(p->arg, url, err);
}

void flow_ask_person(struct flow *f)
{
	AUTO(buf_release) struct buf challenge = BUF_INIT(BUF_UNBOUNDED);
	AUTO(buf_wipe) struct buf url = BUF_INIT(BUF_UNBOUNDED);
	struct err err = ERR_INIT;

	if (!f->redirect_uri && flow_listen(f, NULL, &err) < 0) {
		flow_end(f, &err);
		return;
	}
	f->has_repeated = false;
	buf_wipe(&f->verifier);
	buf_wipe(&f->secret);
	buf_wipe(&f->code);
	jwt_pkce_verifier(&f->verifier);
	jwt_pkce_verifier(&f->secret);
	jwt_pkce_challenge(buf_str(&f->verifier), &challenge);
	flow_secret(f, buf_str(&f->verifier));
	grant_authorization_url(
		&(struct grant_ask){
			.endpoint = f->server.authorization,
			.client_id = f->client.id,
			.redirect_uri = f->redirect_uri,
			.challenge = buf_cstr(&challenge),
			.state = buf_cstr(&f->secret),
			.resource = f->resource,
			.scope = f->scope,
		},
		&url);
	if (open_page(f, buf_cstr(&url), &err) < 0) {
		flow_end(f, &err);
		return;
	}
	flow_say(f, "waiting for the browser");
	if (f->waits)
		f->waits(f->arg);
}
