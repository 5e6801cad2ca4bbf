/* SPDX-License-Identifier: Apache-2.0 */
/* All attempts. A new one is a row in its group's file; a new group is a row here. */
#include <stdio.h>
#include <string.h>

#include "enforcer/attack/attack.h"
#include "enforcer/attack/attempts/attempts.h"

const struct ward_attack_table *const ward_attack_tables[WARD_ATTACK_GROUPS] = {
	[WARD_ATTACK_OUTSIDE] = &ward_attempts_outside,
	[WARD_ATTACK_NETWORK] = &ward_attempts_network,
	[WARD_ATTACK_PROCESSES] = &ward_attempts_processes,
	[WARD_ATTACK_PERSIST] = &ward_attempts_persist,
	[WARD_ATTACK_KERNEL] = &ward_attempts_kernel,
	[WARD_ATTACK_CALLS] = &ward_attempts_calls,
	[WARD_ATTACK_SURFACE] = &ward_attempts_surface,
	[WARD_ATTACK_CONFINEMENT] = &ward_attempts_confinement,
	[WARD_ATTACK_EXHAUST] = &ward_attempts_exhaust,
	[WARD_ATTACK_DESCRIPTORS] = &ward_attempts_descriptors,
	[WARD_ATTACK_TERMINAL] = &ward_attempts_terminal,
	[WARD_ATTACK_TRAIL] = &ward_attempts_trail,
	[WARD_ATTACK_APPROVALS] = &ward_attempts_approvals,
	[WARD_ATTACK_SCRIPT] = &ward_attempts_script,
};

const struct ward_attempt *ward_attack_find(const char *name, enum ward_attack_group *ret_group)
{
	for (int g = 0; g < WARD_ATTACK_GROUPS; g++)
		for (size_t i = 0; i < ward_attack_tables[g]->n; i++)
			if (strcmp(ward_attack_tables[g]->v[i].name, name) == 0) {
				if (ret_group)
					*ret_group = (enum ward_attack_group)g;
				return &ward_attack_tables[g]->v[i];
			}
	return NULL;
}

const char *ward_attack_severity_name(enum ward_attack_severity s)
{
	static const char *const names[] = {
		[WARD_ATTACK_PROMISE] = "promise",
		[WARD_ATTACK_HARDENING] = "hardening",
		[WARD_ATTACK_REMARK] = "remark",
	};
	return names[s];
}

const char *ward_attack_target(const struct ward_facts *f, const char *name, char *ret, size_t size)
{
	snprintf(ret, size, "%s/%s", f->outside, name);
	return ret;
}
