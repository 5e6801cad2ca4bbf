/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/sandbox/backend.h"

#include <string.h>

#define G(name) WARD_GUARANTEE_BIT(WARD_GUARANTEE_##name)

static const char *const names[WARD_GUARANTEES] = {[WARD_GUARANTEE_FILES] = "files",
	[WARD_GUARANTEE_PROCESSES] = "processes",
	[WARD_GUARANTEE_NETWORK] = "network",
	[WARD_GUARANTEE_SYSCALLS] = "syscalls",
	[WARD_GUARANTEE_PRIVILEGES] = "privileges",
	[WARD_GUARANTEE_END] = "end",
	[WARD_GUARANTEE_INTEGRITY] = "integrity",
	[WARD_GUARANTEE_CPUS] = "limit-cpus",
	[WARD_GUARANTEE_MEMORY] = "limit-memory",
	[WARD_GUARANTEE_NPROC] = "limit-processes",
	[WARD_GUARANTEE_OPEN_FILES] = "limit-open-files",
	[WARD_GUARANTEE_FILE] = "limit-file",
	[WARD_GUARANTEE_CORE] = "limit-core",
	[WARD_GUARANTEE_TMP] = "limit-tmp",
	[WARD_GUARANTEE_CPU_TIME] = "limit-cpu-time",
	[WARD_GUARANTEE_WALL] = "limit-wall",
	[WARD_GUARANTEE_IDLE] = "limit-idle"};

/*
 * RLIMIT_NPROC counts per user namespace (Linux 5.14), which every mode has; NOFILE, FSIZE and CORE
 * hold for each process; the clocks are the supervisor's, and a clock needs an end.
 */
#define RLIMITS (G(NPROC) | G(OPEN_FILES) | G(FILE) | G(CORE))
#define CLOCKS (G(WALL) | G(IDLE))

static const struct ward_backend backends[] = {
	{.name = "none",
		.legacy = "in-process",
		.available = true,
		.guarantees = G(NETWORK) | G(PRIVILEGES) | RLIMITS | CLOCKS,
		.layers = WARD_LAYER_NET,
		.warning =
			"mode none: NO ISOLATION. The command reaches every file and process that its "
			"user can; the policy holds for what it does through the trees alone, and the "
			"trail attests no integrity"},
	{.name = "process",
		.legacy = "child-process",
		.available = true,
		.guarantees = G(PROCESSES) | G(NETWORK) | G(PRIVILEGES) | G(END) | RLIMITS | CLOCKS,
		.layers = WARD_LAYER_PID | WARD_LAYER_NET | WARD_LAYER_KEYRING,
		.warning =
			"mode process: the command sees the host's files with its user's rights; the "
			"policy holds for what it does through the trees alone, and the trail attests "
			"no integrity"},
	{.name = "restricted",
		.available = true,
		.guarantees = G(FILES) | G(PROCESSES) | G(NETWORK) | G(SYSCALLS) | G(PRIVILEGES) |
			      G(END) | G(INTEGRITY) | G(TMP) | RLIMITS | CLOCKS,
		.layers = WARD_LAYERS_ALL},
	{.name = "docker"},
	{.name = "deno"},
	{.name = "wasm"},
	{.name = "auto"},
};

const char *ward_guarantee_name(enum ward_guarantee g)
{
	return g < WARD_GUARANTEES ? names[g] : "?";
}

enum ward_guarantee ward_guarantee_find(const char *name)
{
	for (unsigned i = 0; i < WARD_GUARANTEES; i++)
		if (strcmp(names[i], name) == 0)
			return (enum ward_guarantee)i;
	return WARD_GUARANTEES;
}

const struct ward_backend *ward_backend_at(size_t i)
{
	return i < sizeof(backends) / sizeof(backends[0]) ? &backends[i] : NULL;
}

const struct ward_backend *ward_backend_find(const char *name)
{
	for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++)
		if (strcmp(backends[i].name, name) == 0 ||
			(backends[i].legacy && strcmp(backends[i].legacy, name) == 0))
			return &backends[i];
	return NULL;
}
