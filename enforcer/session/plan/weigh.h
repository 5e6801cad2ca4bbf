/* SPDX-License-Identifier: Apache-2.0 */
/* Weighs a plan for `mode = auto` (enforcer/risk/risk.h), and reports it. */
#pragma once

#include "enforcer/risk/risk.h"
#include "enforcer/session/plan/plan.h"

struct ward_weighed {
	struct ward_risk_facts facts;
	struct ward_risk_report report;
	struct ward_risk_choice choice;
	const char *overrode; /* the mode that the command line named instead; NULL: none */
};
void ward_weighed_free(struct ward_weighed *w);

/*
 * The mode for a policy whose sources do not set one: the mode that auto picked, or the default
 * until then. NULL: the policy has a mode.
 */
const struct ward_mode *ward_weigh_mode(const struct ward_run_options *o,
	const struct ward_run_plan *p, const struct ward_policy *policy);

/*
 * Weighs p, whose policy is loaded, where the policy or --mode asks for it, or o->weigh. Sets
 * p->weighed, and p->picked where the answer counts. -ENOTSUP: no mode suffices; err names those
 * that would and why they do not. -ENOMEM, or what looking fails with.
 */
int ward_weigh(const struct ward_run_options *o, struct ward_run_plan *p,
	struct ward_err *err) ward_must_check;

/* "auto: 57 points → restricted: …", or what the command line overrode. NULL: no memory. */
char *ward_weighed_line(const struct ward_weighed *w);
