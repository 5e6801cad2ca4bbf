/* SPDX-License-Identifier: Apache-2.0 */
/* The list of what wardfs doctor tries, and trying all of it. */
#include "enforcer/cli/doctor/doctor_list.h"

#include <assert.h>

#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/doctor/doctor.h"

static const struct {
	const char *name;
	bool required;
	void (*check)(struct ward_check *c);
} checks[] = {
	{"host", false, ward_check_host},
	{"kernel", true, ward_check_kernel},
	{"/dev/fuse", true, ward_check_device},
	{"user namespaces", true, ward_check_userns},
	{"apparmor", false, ward_check_apparmor},
	{"subordinate ids", false, ward_check_subids},
	{"pid namespaces", true, ward_check_pidns},
	{"net namespaces", true, ward_check_netns},
	{"other namespaces", true, ward_check_otherns},
	{"fuse mount", true, ward_check_fuse_mount},
	{"proc mount", true, ward_check_proc_mount},
	{"seccomp", true, ward_check_seccomp},
	{"sandbox", true, ward_check_whole},
	{"landlock", false, ward_check_landlock},
	{"cgroups", false, ward_check_cgroup},
	{"fuse passthrough", false, ward_check_passthrough},
	{"fuse io_uring", false, ward_check_uring},
	{"watches", false, ward_check_watches},
	{"network broker", false, ward_check_network},
	{"network askers", false, ward_check_askers},
	{"audit writer", false, ward_check_audit_writer},
	{"audit disk", false, ward_check_audit_disk},
	{"audit anchor", false, ward_check_anchor},
	{"images", false, ward_check_images},
	{"prepared sessions", false, ward_check_warm},
};
#define CHECKS (sizeof(checks) / sizeof(checks[0]))

static_assert(CHECKS + WARD_CHECK_ENGINES_MAX + WARD_CHECK_MODES_MAX <= WARD_DOCTOR_MAX,
	"the caller has room for each line");

size_t ward_doctor_try(struct ward_check ret[WARD_DOCTOR_MAX], bool *ret_fit)
{
	bool fit = true;
	/* Children would print once more what is still in the buffer. */
	(void)!ward_out_flush();
	for (size_t i = 0; i < CHECKS; i++) {
		ret[i] =
			(struct ward_check){.name = checks[i].name, .required = checks[i].required};
		checks[i].check(&ret[i]);
		fit = fit && (!checks[i].required || ret[i].status == WARD_CHECK_OK);
	}
	*ret_fit = fit;
	const size_t n = CHECKS + ward_check_engines(ret + CHECKS);
	return n + ward_check_modes(ret + n);
}

/* A check of the whole says "see the lines above", so it comes last. */
void ward_doctor_say(void)
{
	(void)!ward_out_flush();
	for (size_t i = 0; i < CHECKS; i++) {
		struct ward_check c = {.name = checks[i].name};
		if (!checks[i].required || checks[i].check == ward_check_whole)
			continue;
		checks[i].check(&c);
		if (c.status == WARD_CHECK_OK)
			continue;
		ward_sayf("missing on this host: %s (%s); fix: %s", c.name, c.tried, c.fix);
		ward_say("'wardfs doctor' lists everything that a guarded run needs");
		return;
	}
}
