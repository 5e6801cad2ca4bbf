/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals that a line of the owner's would not lift, by the policy that the trail holds. */
#pragma once

#include "audit/query/denials.h"

/*
 * A refusal names the rule that decided. Behind it a guard, the floor or the project file may take
 * the same: a line that permits it would be without effect. Where that is so, the denial's line is
 * taken back, and the rule is named. The policy is the one that was in force last. A trail without
 * one that can be read changes nothing: then the lines stay proposals.
 */
void audit_guards_look(struct ward_log *log, struct ward_denials *d);
