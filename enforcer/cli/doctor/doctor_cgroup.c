/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs doctor: a control group for limits, made as a run makes one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/cli/doctor/doctor.h"
#include "enforcer/ipc/host.h"
#include "enforcer/sandbox/cgroup.h"
#include "enforcer/session/guard/host_service.h"
#include "enforcer/session/limits/delegate.h"

/* A group is made, as a session's, and removed. */
void ward_check_cgroup(struct ward_check *c)
{
	static const struct {
		const char *limit;
		enum ward_cgroup_part part;
	} parts[] = {{"memory", WARD_CGROUP_MEMORY}, {"processes", WARD_CGROUP_PIDS},
		{"cpus", WARD_CGROUP_CPU}, {"cpu-time", WARD_CGROUP_CPUACCT}};
	struct ward_err err = WARD_ERR_INIT;
	struct ward_cgroup *cg = NULL;
	char name[64], text[WARD_CHECK_TEXT_MAX] = "";
	const char *why = NULL;
	snprintf(name, sizeof(name), "doctor-%d", (int)getpid());
	const int service = geteuid() != 0 && ward_cgroup_lacks_delegation()
				    ? ward_host_service_connect(WARD_HOST_GROUPS_SOCKET)
				    : -1;
	/* Limits that limit nothing, so that each part is wanted; or little, which the service
	 * takes. */
	struct ward_cgroup_spec spec = {.name = name,
		.root = geteuid() == 0,
		.memory = UINT64_C(1) << (service < 0 ? 50 : 26),
		.processes = 10,
		.cpus = 100,
		.service = service < 0 ? -1 : service};
	int r = ward_cgroup_make(&spec, &cg, &err);
	if (r == 0 && (r = ward_cgroup_settle(cg)) < 0)
		ward_err_sys(&err, r, "limit memory");
	if (r < 0)
		why = err.text;
	for (size_t i = 0; cg && i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t len = strlen(text);
		const char *version = ward_cgroup_version(cg, parts[i].part);
		snprintf(text + len, sizeof(text) - len, "%s%s: %s", i ? ", " : "", parts[i].limit,
			version ? version : "none");
		if (!version && !why)
			why = ward_cgroup_why(cg, parts[i].part);
	}
	if (!why)
		ward_check_say(c, WARD_CHECK_OK, NULL, "a group made%s; %s",
			ward_cgroup_by_service(cg) ? " by wardfs-hostd" : "", text);
	else if (geteuid() != 0 && ward_delegate_possible())
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"the user manager of systemd makes a group when a limit needs one");
	else if (geteuid() == 0)
		ward_check_say(c, WARD_CHECK_UNUSABLE,
			"in a container: mount /sys/fs/cgroup writable, with no process in its top "
			"group; else boot with the controller (cgroup_enable=memory)",
			"%s (%s)", text, why);
	else
		ward_check_say(c, WARD_CHECK_UNUSABLE,
			"with cgroup v2 and systemd: loginctl enable-linger, then log in again. Otherwise as root: systemctl enable --now wardfs-host-groups.socket; or make a group, chown it and its cgroup.procs and cgroup.subtree_control to you, and start wardfs in it. Without a group wardfs refuses [limits] memory, idle, cpus and cpu-time of your policy, and cannot enforce those of the profile",
			"%s (%s)", text, why);
	ward_cgroup_free(cg);
}
