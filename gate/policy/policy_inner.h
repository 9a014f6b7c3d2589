/*
 * What the files behind policy.h share: policy.c joins them, policy_names.c
 * has the vocabulary, policy_net.c the rows of `net`.
 *
 * Pure.
 */
#ifndef GATE_POLICY_POLICY_INNER_H
#define GATE_POLICY_POLICY_INNER_H

#include "core/base/attr.h"
#include "gate/policy/policy.h"

/*
 * Read one key into the policy.
 * errors  ERR_POLICY with the nearest name
 */
int policy_read_profile(const char *name, struct policy *p, struct err *err)
	MUST_USE; /* NULL = default */
int policy_read_require(const struct strlist *require, struct policy *p,
			struct err *err) MUST_USE;
int policy_read_net(const struct strlist *net, struct arena *arena,
		    struct policy *p, struct err *err) MUST_USE;

/* How much of a grant the leash leaves. */
enum meet { MEET_NOTHING, MEET_PART, MEET_ALL };

/* Write down what the leash took away; the sentence lives in the arena. */
void policy_note_cap(struct policy *p, struct arena *arena, const char *key,
		     const char *what, enum meet met, const char *axis);
/* Leave of `net` what the leash allows. */
void policy_meet_net(const struct gate_leash *leash, struct arena *arena,
		     struct policy *p);
/* What follows for UDP, when the network is decided. */
void policy_set_udp(struct policy *p);

#endif
