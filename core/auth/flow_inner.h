/*
 * What the files behind flow.h share: flow.c has the states and the requests,
 * flow_find.c discovery, flow_identity.c who this client is, flow_person.c the
 * browser, flow_token.c the token endpoint, flow_client.c how a client with a
 * key authenticates there.
 *
 * A step ends in a request, in the next step, or in flow_end(); after the
 * latter the flow is still there until the loop turns.
 */
#ifndef CORE_AUTH_FLOW_INNER_H
#define CORE_AUTH_FLOW_INNER_H

#include "core/auth/challenge.h"
#include "core/auth/crypto.h"
#include "core/auth/flow.h"
#include "core/auth/grant.h"
#include "core/auth/guard.h"
#include "core/auth/metadata.h"
#include "core/auth/redirect.h"
#include "core/base/arena.h"

#define FLOW_STATES(X)                                                       \
	X(FLOW_BEGIN, "begin")                                               \
	X(FLOW_LOCK, "lock")	     /* another process has it */            \
	X(FLOW_PROBE, "probe")	     /* the server's challenge */            \
	X(FLOW_RESOURCE, "resource") /* metadata of the resource */          \
	X(FLOW_SERVER, "server")     /* of the authorization server */       \
	X(FLOW_REGISTER, "register")                                         \
	X(FLOW_PERSON, "person")     /* the browser */                       \
	X(FLOW_PROVIDER, "provider") /* metadata of the identity provider */ \
	X(FLOW_EXCHANGE, "exchange") /* its token endpoint */                \
	X(FLOW_TOKEN, "token")                                               \
	X(FLOW_OVER, "over")

enum flow_state {
#define FLOW_STATE(name, word) name,
	FLOW_STATES(FLOW_STATE)
#undef FLOW_STATE
};

/* A request on its way. */
struct flow_request {
	struct http_exchange *exchange; /* NULL: none */
	const char *method;
	struct url url;
	enum guard_origin origin;
	struct http_headers headers; /* wiped */
	unsigned redirects;	     /* followed; GET only */
	void (*came)(struct flow *f, const struct http_fetched *answer);
};

struct flow {
	struct flow_setting setting;
	struct guard guard;
	struct flow_start start; /* in the arena */
	struct account *account; /* borrowed */
	void (*done)(void *arg, const struct err *err);
	void (*waits)(void *arg); /* for a person; or NULL */
	void *arg;
	struct arena arena; /* wiped */
	enum flow_state state;
	struct err result; /* of FLOW_OVER */
	bool is_failed, is_granted;

	struct loop_timer timer; /* begin, lock, person, end */
	uint64_t lock_until_ns;
	struct store_lock lock;
	bool has_lock;
	struct flow_request request;

	/* discovery */
	struct challenge challenge;
	struct strlist candidates; /* URLs still to be asked */
	size_t candidate;
	struct err refused; /* the worst answer of a candidate */
	bool has_refused;
	bool is_fallback; /* no metadata of the resource: MCP 2025-03-26 */
	bool needs_dpop;
	const char *resource, *issuer, *scope;
	int probe_status; /* of what was asked before a login; 0: nothing */
	const char *scopes_supported; /* of the resource */
	struct metadata_server server;

	/* identity */
	struct grant_client client;
	bool has_registered; /* in this flow, so no second time */

	/* the person; the buffers are wiped */
	struct redirect *redirect;
	const char *redirect_uri;
	unsigned others; /* answers that came and were not to our request */
	struct buf verifier, secret, code;

	/* tokens */
	struct crypto_key *key; /* for proofs; NULL: none are made */
	bool has_repeated;	/* with the nonce that was asked for */
	const char *provider_endpoint;
	const char *assertion; /* of the provider, for the token endpoint */
};

/* ---- flow.c ---- */

void flow_to(struct flow *f, enum flow_state state);
/* err NULL: it worked. Only the first call counts. */
void flow_end(struct flow *f, const struct err *err);
int64_t flow_now_s(const struct flow *f) MUST_USE;
/* For the scrubber. */
void flow_secret(struct flow *f, struct str value);
void flow_say(struct flow *f, const char *line);
/* account_load(), or the other one where nothing is lost by that. */
int flow_account(struct flow *f, const char *issuer, struct account *ret,
		 struct err *err) MUST_USE;
/*
 * Ask a URL; what goes wrong before ends the flow. `content` is copied.
 * what	  for sentences; came gets status 0 never: that ends the flow, too
 */
void flow_ask(struct flow *f, const char *what, const char *method,
	      const char *url, enum guard_origin origin, struct str content,
	      void (*came)(struct flow *f, const struct http_fetched *answer));
/*
 * Who named a URL: the user, where it is of the origin of the endpoint or of
 * the issuer that is configured.
 */
enum guard_origin flow_origin(struct flow *f, const char *url) MUST_USE;
/* A header of the next flow_ask(). */
void flow_header(struct flow *f, const char *name, struct str value);

/* ---- flow_find.c ---- */

void flow_probe(struct flow *f);
void flow_find_resource(struct flow *f);
void flow_find_server(struct flow *f);
/* Of the identity provider, whose issuer is configured. */
void flow_find_provider(struct flow *f);

/* ---- flow_identity.c ---- */

void flow_identify(struct flow *f);
/* The account is of this client and issuer from here on. */
void flow_note_client(struct flow *f);
/* As the client of the stored account; for a refresh. false: it ended. */
bool flow_identify_stored(struct flow *f) MUST_USE;

/* ---- flow_person.c ---- */

/* Open the listener on the address of a registration, or on a new one;
   NULL: what is configured, or any. -1 with err */
int flow_listen(struct flow *f, const char *uri, struct err *err) MUST_USE;
void flow_ask_person(struct flow *f);

/* ---- flow_token.c ---- */

void flow_token(struct flow *f);
void flow_refresh(struct flow *f);

/* ---- flow_client.c ---- */

/*
 * The statement that authenticates a client with a key, in `arena`.
 * method  what the client uses; the others need none
 */
int flow_assertion(const struct auth_options *options, enum grant_method method,
		   const char *client_id, const char *issuer,
		   const char *token_endpoint, const struct strlist *supported,
		   int64_t now_s, struct arena *arena, const char **ret,
		   struct err *err) MUST_USE;

#endif
