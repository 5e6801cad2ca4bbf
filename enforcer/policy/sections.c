/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of a policy, and finding one by its name. */
#include <errno.h>

#include "enforcer/policy/keys.h"
#include "enforcer/policy/value.h"

const struct ward_section ward_sections[WARD_SECTION_COUNT_] = {
	[WARD_SECTION_POLICY] = {"policy", .run = true},
	[WARD_SECTION_TREE] = {"tree", .path = true, .run = true},
	[WARD_SECTION_GUARD] = {"guard", .run = true},
	[WARD_SECTION_FILES] = {"files", .run = true},
	[WARD_SECTION_LIFT] = {"lift"},
	[WARD_SECTION_QUOTA] = {"quota", .path = true, .run = true},
	[WARD_SECTION_LIMITS] = {"limits"},
	[WARD_SECTION_HOME] = {"home"},
	[WARD_SECTION_SYSTEM] = {"system", .run = true},
	[WARD_SECTION_CONTAINER] = {"container", .run = true},
	[WARD_SECTION_ENV] = {"env"},
	[WARD_SECTION_PROCESS] = {"process", .run = true},
	[WARD_SECTION_AGENT] = {"agent"},
	[WARD_SECTION_AUTO] = {"auto"},
	[WARD_SECTION_NETWORK] = {"network", .run = true},
	[WARD_SECTION_APPROVALS] = {"approvals"},
	[WARD_SECTION_REVIEW] = {"review"},
	[WARD_SECTION_SESSION] = {"session"},
	[WARD_SECTION_AUDIT] = {"audit"},
	[WARD_SECTION_EXPECT] = {"expect"},
	[WARD_SECTION_TEST] = {"test"},
};

int ward_section_find(const char *name, const struct ward_section **ret, struct ward_err *err)
{
	const char *near = NULL;
	unsigned best = WARD_NEAR;
	for (size_t i = 0; i < WARD_SECTION_COUNT_; i++) {
		unsigned d = ward_value_distance(name, ward_sections[i].name, WARD_NEAR);
		if (d == 0) {
			*ret = &ward_sections[i];
			return 0;
		}
		if (d < best) {
			best = d;
			near = ward_sections[i].name;
		}
	}
	if (near)
		return ward_err_set(
			err, -EINVAL, "no section [%.60s]: did you mean [%s]?", name, near);
	return ward_err_set(err, -EINVAL, "no section [%.60s]", name);
}
