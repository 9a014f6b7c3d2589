/*
 * What the files behind auth.h share: auth.c signs requests, auth_refused.c
 * reads refusals, auth_manage.c is for the commands of `matins auth`.
 */
#ifndef CORE_AUTH_AUTH_INNER_H
#define CORE_AUTH_AUTH_INNER_H

#include "core/auth/account.h"
#include "core/auth/auth.h"
#include "core/auth/crypto.h"
#include "core/auth/flow.h"
#include "core/base/arena.h"

/* Where the present token is from. */
enum auth_token {
	TOKEN_STORED,
	TOKEN_REFRESHED,
	TOKEN_GRANTED,
};

struct auth {
	struct authorizer authorizer; /* first: see authorizer.h */
	struct auth_context context;
	struct auth_options options;
	struct arena arena; /* of the endpoint */
	struct url endpoint;
	bool has_fixed; /* an Authorization was given */

	struct owner owner;
	struct account account;
	bool is_loaded;
	enum auth_token from;
	bool is_proved;	 /* an answer to it was no 401 */
	bool is_refused; /* the last answer to it was one */
	char *wanted;	 /* scopes of step-ups so far; owned */
	char *protocol;	 /* owned; NULL: not known */

	struct crypto_key *key; /* of account.dpop_key; NULL: not read yet */
	char *nonce;		/* the server's newest; owned */
	bool is_nonce_new;

	struct flow *flow; /* NULL: none is on its way */
	bool is_early;	   /* it is a refresh before the token ended */
	/* The last one failed: what waited for it is told, and no browser opens
	   for each request. */
	struct err failed;
	uint64_t failed_until_ns;

	/* of a login or logout */
	void (*done)(void *arg, const struct err *err);
	void *done_arg;
	struct loop_timer timer; /* of a logout */
	struct http_exchange *exchange;
	struct http_headers headers; /* of that; wiped */
};

struct flow_setting auth_setting(struct auth *a) MUST_USE;
/* errors  ERR_SYNTAX */
int auth_judge_options(const struct auth_options *o, struct err *err) MUST_USE;
/* The account of the store, once. */
int auth_load(struct auth *a, struct err *err) MUST_USE;
int64_t auth_now_s(const struct auth *a) MUST_USE;
void auth_start(struct auth *a, const struct flow_start *start);
/* true: *err is what the last flow ended with. */
bool auth_has_failed(struct auth *a, struct err *err) MUST_USE;

/* For struct authorizer_type; see there. */
enum authorizer_verdict auth_refused(struct authorizer *authorizer,
				     const char *method, const char *url,
				     const struct http_head *head,
				     struct str body,
				     const struct authorizer_try *tries,
				     struct err *err);

#endif
