#include "core/base/digest.h"
#include "core/run/pool.h"

void pool_key(const struct plan_step *plan, const char *const *env,
	      unsigned char ret[SHA256_BYTES])
{
	const struct gate_request *r = &plan->request;
	struct sha256 sum;

	sha256_init(&sum);
	/* one command under two names is two servers */
	digest_text(&sum, plan->step->server_name);
	digest_text(&sum, r->program);
	digest_vector(&sum, r->argv);
	digest_text(&sum, r->cwd);
	digest_number(&sum, r->cwd_required);
	digest_number(&sum, r->record);
	gate_policy_digest(r->policy, &sum);
	digest_text(&sum, plan->protocol);
	digest_vector(&sum, env);
	sha256_end(&sum, ret);
}
