/*
 * The revocation of the tokens of an account, at the issuer that gave them.
 *
 * source  RFC 7009
 */
#ifndef CORE_AUTH_REVOKE_H
#define CORE_AUTH_REVOKE_H

#include "core/auth/flow.h"
#include "core/base/attr.h"
#include "core/base/err.h"

struct revoke;

/*
 * setting, account  borrowed until done
 * done     once, from the loop; err NULL: revoked. It may free the revocation
 * errors   the endpoint must not be asked, or the client cannot authenticate
 */
int revoke_start(const struct flow_setting *setting,
		 const struct account *account,
		 void (*done)(void *arg, const struct err *err), void *arg,
		 struct revoke **ret, struct err *err) MUST_USE;
/* Ends it, too; takes NULL. */
void revoke_free(struct revoke *r);

#endif
