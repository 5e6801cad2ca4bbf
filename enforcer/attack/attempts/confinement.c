/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is around the process, as /proc of this host shows it. Nothing is tried: with less around it
 * the next fault of a program or of the kernel leads further.
 */
#include "enforcer/attack/attempts/attempts.h"

static int stand(const struct ward_facts *f, char *proof)
{
	return 0;
}

#define STATE(sev, name_, state, what_, stops_, ref_)                                              \
	{                                                                                          \
		.name = (name_), .severity = WARD_ATTACK_##sev, .evidence = WARD_SEEN_STATE,       \
		.needs = WARD_STATE_##state, .what = (what_), .stops = (stops_),                   \
		.reference = (ref_), .act = stand                                                  \
	}
static const struct ward_attempt rows[] = {
	STATE(HARDENING, "share-user", USER, "Runs in the host's user namespace.",
		"a user namespace", "T1611, AML.T0105"),
	STATE(HARDENING, "share-mount", MOUNT, "Runs in the host's mount namespace.",
		"a mount namespace", "T1611, AML.T0105"),
	STATE(HARDENING, "share-pid", PID, "Runs in the host's pid namespace.", "a pid namespace",
		"T1057"),
	STATE(HARDENING, "share-network", NET, "Runs in the host's network namespace.",
		"a network namespace", "T1046"),
	STATE(HARDENING, "share-ipc", IPC, "Runs in the host's ipc namespace.", "an ipc namespace",
		"T1559"),
	STATE(HARDENING, "share-uts", UTS, "Runs in the host's uts namespace.", "a uts namespace",
		"T1082"),
	STATE(HARDENING, "share-cgroup", CGROUP, "Runs in the host's cgroup namespace.",
		"a cgroup namespace", "CVE-2022-0492"),
	STATE(HARDENING, "share-root", ROOT, "Has the host's root directory.",
		"a view of its own (mount namespace)", "T1611, AML.T0105"),
	STATE(HARDENING, "no-filter", UNFILTERED, "Runs without a filter of system calls.",
		"seccomp", "T1068"),
	STATE(HARDENING, "new-privileges", PRIVILEGES, "Can gain rights by a set-user-id program.",
		"no_new_privs, with dropped capabilities", "T1548.001"),
	STATE(HARDENING, "bounding-set", BOUNDING, "Keeps capabilities in its bounding set.",
		"dropped capabilities", "CWE-250"),
	STATE(HARDENING, "keeps-capabilities", CAPABILITIES, "Keeps capabilities of the caller.",
		"dropped capabilities", "CWE-250"),
	STATE(HARDENING, "superuser", SUPERUSER, "Runs as user 0 of this host.", "another user id",
		"CWE-250"),
	STATE(HARDENING, "limit-files", FILES, "May open as many files as the caller.",
		"a limit on open files", "T1499.001"),
	STATE(HARDENING, "limit-processes", PROCESSES, "May start as many processes as the caller.",
		"a limit on processes", "T1499.001"),
	STATE(REMARK, "limit-core", CORE, "May leave core files as large as the caller's.",
		"a limit on core files", "CWE-528"),
};
WARD_ATTEMPT_TABLE(
	confinement, WARD_ATTACK_CONFINEMENT, "run with less around it than a sandbox has", rows);
