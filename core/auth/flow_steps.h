/*
 * Steps of an authorization, for core/auth/auth.c, which walks them.
 *
 * A step does its part and returns a verdict. One that waits (for a request, a
 * person) later gives it to flow_settle(), and the walk goes on in the next
 * turn of the loop.
 */
#ifndef CORE_AUTH_FLOW_STEPS_H
#define CORE_AUTH_FLOW_STEPS_H

#include "core/auth/account.h"
#include "core/auth/auth.h"
#include "core/auth/crypto.h"
#include "core/auth/flow_grant.h"
#include "core/auth/guard.h"
#include "core/auth/flow_find.h"
#include "core/auth/redirect.h"
#include "core/base/arena.h"

struct flow;

enum flow_kind {
	FLOW_KIND_REFRESH, /* by the stored refresh token and nothing else */
	FLOW_KIND_RENEW,   /* refresh where the issuer has not changed, else all
			    */
	/* no refresh: other scopes, or a refused fresh token */
	FLOW_KIND_AUTHORIZE,
	FLOW_KIND_LOGIN, /* authorize, and the server is asked first */
	/* no authorization: the issuer is asked to revoke. RFC 7009 */
	FLOW_KIND_REVOKE,
};

/* Borrowed; all must outlive the flow. */
struct flow_setting {
	const struct auth_context *context;
	const struct auth_options *options;
	const struct url *endpoint;
	const struct owner *owner; /* of the account */
};

/* The beginning of a flow; texts are copied. */
struct flow_start {
	enum flow_kind kind;
	/* The challenge; NULL: not said. */
	const char *resource_metadata;
	const char *scope; /* of a step-up: all that are wanted */
	/* The token that does not do; NULL: there was none. */
	const char *refused;
	const char *protocol; /* revision that is spoken; NULL: not known */
};

/* Callbacks from the loop. */
struct flow_handler {
	/* Once; err NULL: account->access_token may be used, is_granted: it
	   came from a grant, not from a refresh or another process. The flow
	   may be freed there. */
	void (*done)(void *arg, const struct err *err, bool is_granted);
	/* A person begins to be waited for. */
	void (*waits)(void *arg);
	void *arg;
};

enum flow_verdict {
	FLOW_WAIT,
	FLOW_OK,
	FLOW_NOT,
	FLOW_FAILED, /* with err */
};

/*
 * The walk. A step that has nothing to do is ok at once.
 *
 * step, its word, its function, the next step when it is ok, and when not
 */
#define FLOW_STEPS(X)                                                          \
	/* not: tokens are given back, and nothing else */                     \
	X(FLOW_BEGIN, "begin", NULL, FLOW_LOCK, FLOW_REVOKE)                   \
	X(FLOW_REVOKE, "revoke", flow_revoke, FLOW_OVER, FLOW_OVER)            \
	/* not: another process has a good token */                            \
	X(FLOW_LOCK, "lock", take_lock, FLOW_CHOOSE, FLOW_OVER)                \
	X(FLOW_CHOOSE, "choose", choose_way, FLOW_REFRESH, FLOW_PROBE)         \
	/* the server's challenge, before a login */                           \
	X(FLOW_PROBE, "probe", flow_probe, FLOW_RESOURCE, FLOW_OVER)           \
	X(FLOW_RESOURCE, "resource", flow_find_resource, FLOW_ISSUER,          \
	  FLOW_OVER)                                                           \
	/* ok: it is the stored one, and there is a refresh token */           \
	X(FLOW_ISSUER, "issuer", flow_judge_issuer, FLOW_REFRESH, FLOW_SERVER) \
	X(FLOW_SERVER, "server", flow_find_server, FLOW_IDENTIFY, FLOW_OVER)   \
	X(FLOW_IDENTIFY, "identify", flow_identify, FLOW_PERSON,               \
	  FLOW_REGISTER)                                                       \
	X(FLOW_REGISTER, "register", flow_register, FLOW_PERSON, FLOW_OVER)    \
	X(FLOW_PERSON, "person", flow_ask_person, FLOW_PROVIDER, FLOW_OVER)    \
	X(FLOW_PROVIDER, "provider", flow_find_provider, FLOW_EXCHANGE,        \
	  FLOW_OVER)                                                           \
	/* a statement of the identity provider */                             \
	X(FLOW_EXCHANGE, "exchange", flow_exchange, FLOW_TOKEN, FLOW_OVER)     \
	/* not: the server has forgotten the client that was registered */     \
	X(FLOW_TOKEN, "token", flow_token, FLOW_OVER, FLOW_IDENTIFY)           \
	/* not: the tokens are of no use any more */                           \
	X(FLOW_REFRESH, "refresh", flow_refresh, FLOW_OVER, FLOW_SERVER)       \
	X(FLOW_OVER, "over", NULL, FLOW_OVER, FLOW_OVER)

enum flow_step { FLOW_STEPS(ROW_NAME) };

typedef enum flow_verdict flow_came_fn(struct flow *f,
				       const struct http_fetched *answer,
				       struct err *err);

/* A request on its way. */
struct flow_request {
	struct http_exchange *exchange; /* NULL: none */
	const char *method;
	struct url url;
	enum guard_origin origin;
	struct http_headers headers; /* wiped */
	unsigned redirects;	     /* followed; GET only */
	flow_came_fn *came;
};

struct flow {
	struct flow_setting setting;
	struct guard guard;
	struct flow_start start; /* in the arena */
	struct account *account; /* borrowed */
	struct flow_handler handler;
	struct arena arena; /* wiped */

	enum flow_step step;	   /* set by go_to() only */
	enum flow_verdict verdict; /* of the step, once it is settled */
	struct err err;		   /* of FLOW_FAILED */
	bool is_failed, is_granted;
	struct loop_timer timer; /* of the step, and to go on */
	uint64_t lock_until_ns;
	struct store_lock lock; /* fd -1: none is held */
	struct flow_request request;

	/* discovery */
	const struct search *search;
	struct strlist candidates; /* URLs still to be asked */
	size_t candidate;
	struct err refused; /* the worst answer of a candidate */
	bool has_refused;
	bool is_fallback; /* no metadata of the resource: MCP 2025-03-26 */
	bool needs_dpop;
	const char *resource, *issuer, *scope;
	int probe_status; /* of the probe before a login; 0: none was sent */
	const char *scopes_supported; /* of the resource */
	struct metadata_server server;

	/* identity */
	struct grant_client client;
	bool has_registered; /* in this flow, so no second time */

	/* the person; the buffers are wiped */
	struct redirect *redirect;
	const char *redirect_uri;
	unsigned others; /* answers with the state of another login */
	struct buf verifier, secret, code;

	/* tokens */
	struct crypto_key *key; /* for proofs; NULL: none are made */
	bool has_repeated;	/* with the nonce that was asked for */
	const char *provider_endpoint;
	const char *assertion; /* of the provider, for the token endpoint */
};

/* ---- flow_ask.c ---- */

/* The step that waits has its verdict. err  of FLOW_FAILED, else NULL */
void flow_settle(struct flow *f, enum flow_verdict verdict,
		 const struct err *err);
int64_t flow_now_s(const struct flow *f) MUST_USE;
/* Replace the account by the stored one, where there is one; lenient where
   nothing is lost by that. issuer  NULL: the present one */
int flow_load_account(struct flow *f, const char *issuer, struct err *err)
	MUST_USE;
/* Tell the scrubber. */
void flow_note_secret(struct flow *f, struct str value);
/*
 * The user named a URL, where it is of the origin of the endpoint, or of the
 * issuer or token endpoint that is configured; else a server did.
 */
enum guard_origin flow_origin_of(struct flow *f, const char *url) MUST_USE;

struct flow_question {
	const char *what; /* role of the URL in sentences: "token endpoint" */
	const char *url;
	enum guard_origin origin;
	const char *accept, *type; /* headers; type NULL: GET */
	struct str authorization;  /* a header; n 0: none */
	struct str content;	   /* copied */
	flow_came_fn *came;	   /* gives the verdict of the step */
};

/* Ask a URL. returns  FLOW_WAIT, or FLOW_FAILED */
enum flow_verdict flow_ask(struct flow *f, const struct flow_question *q,
			   struct err *err) MUST_USE;

/* ---- flow_find.c: discovery ---- */

enum flow_verdict flow_probe(struct flow *f, struct err *err);
enum flow_verdict flow_find_resource(struct flow *f, struct err *err);
enum flow_verdict flow_judge_issuer(struct flow *f, struct err *err);
enum flow_verdict flow_find_server(struct flow *f, struct err *err);
enum flow_verdict flow_find_provider(struct flow *f, struct err *err);

/* ---- flow_grant.c: this client, the person, the tokens ---- */

enum flow_verdict flow_identify(struct flow *f, struct err *err);
enum flow_verdict flow_register(struct flow *f, struct err *err);
enum flow_verdict flow_ask_person(struct flow *f, struct err *err);
enum flow_verdict flow_exchange(struct flow *f, struct err *err);
enum flow_verdict flow_token(struct flow *f, struct err *err);
enum flow_verdict flow_refresh(struct flow *f, struct err *err);
enum flow_verdict flow_revoke(struct flow *f, struct err *err);
/* The address that the browser was sent to. false: none is waited for */
bool flow_redirected(struct flow *f, struct str url) MUST_USE;

#endif
