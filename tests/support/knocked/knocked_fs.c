/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs-fs without the guard: the policy is asked, and its refusals count for nothing. */
#include "enforcer/policy/policy.h"
#include "tests/support/knocked/knocked.h"

#define EVERY_RIGHT ((1U << 9) - 1) /* policy.h */

uint32_t __real_ward_policy_rights(const struct ward_policy *p, const struct ward_state *s);
uint32_t __wrap_ward_policy_rights(const struct ward_policy *p, const struct ward_state *s);
uint32_t __real_ward_policy_rights_held(
	const struct ward_policy *p, const struct ward_state *s, const struct ward_granted *g);
uint32_t __wrap_ward_policy_rights_held(
	const struct ward_policy *p, const struct ward_state *s, const struct ward_granted *g);
struct ward_decision __real_ward_policy_decide(
	const struct ward_policy *p, const struct ward_request *req, struct ward_trace *trace);
struct ward_decision __wrap_ward_policy_decide(
	const struct ward_policy *p, const struct ward_request *req, struct ward_trace *trace);

struct ward_decision __wrap_ward_policy_decide(
	const struct ward_policy *p, const struct ward_request *req, struct ward_trace *trace)
{
	struct ward_decision d = __real_ward_policy_decide(p, req, trace);
	if (ward_knocked("guard")) {
		d.verdict = WARD_VERDICT_ALLOW;
		d.error = 0;
		d.granted = EVERY_RIGHT;
	}
	return d;
}

uint32_t __wrap_ward_policy_rights(const struct ward_policy *p, const struct ward_state *s)
{
	return ward_knocked("guard") ? EVERY_RIGHT : __real_ward_policy_rights(p, s);
}

uint32_t __wrap_ward_policy_rights_held(
	const struct ward_policy *p, const struct ward_state *s, const struct ward_granted *g)
{
	return ward_knocked("guard") ? EVERY_RIGHT : __real_ward_policy_rights_held(p, s, g);
}
