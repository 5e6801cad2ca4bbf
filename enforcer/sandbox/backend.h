/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The isolation modes as data: what each guarantees by itself, and which layers wardfs-init puts on
 * for it. A run starts only where the guarantees of the mode and of the host's control groups
 * together hold everything that the policy asks for; what is missing is named.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What can be promised about a session. Each has a name that users see and may give to
 * --allow-missing. */
enum ward_guarantee {
	WARD_GUARANTEE_FILES = 0,  /* of the host only what the view shows can be reached */
	WARD_GUARANTEE_PROCESSES,  /* no process of the host can be reached */
	WARD_GUARANTEE_NETWORK,	   /* no network but what the policy allows */
	WARD_GUARANTEE_SYSCALLS,   /* only listed system calls */
	WARD_GUARANTEE_PRIVILEGES, /* no capabilities, no way to gain any, never uid 0 */
	WARD_GUARANTEE_END,	   /* nothing outlives the session */
	WARD_GUARANTEE_INTEGRITY,  /* the command cannot write or cut its trail */
	WARD_GUARANTEE_CPUS,
	WARD_GUARANTEE_MEMORY,
	WARD_GUARANTEE_NPROC,
	WARD_GUARANTEE_OPEN_FILES,
	WARD_GUARANTEE_FILE,
	WARD_GUARANTEE_CORE,
	WARD_GUARANTEE_TMP,
	WARD_GUARANTEE_CPU_TIME,
	WARD_GUARANTEE_WALL,
	WARD_GUARANTEE_IDLE,
	WARD_GUARANTEES,
};

#define WARD_GUARANTEE_BIT(g) (UINT32_C(1) << (g))

/* "files", …, "limit-memory". */
const char *ward_guarantee_name(enum ward_guarantee g);
/* The guarantee of this name, or WARD_GUARANTEES. */
enum ward_guarantee ward_guarantee_find(const char *name);

/* What wardfs-init does beyond user and mount namespaces, ids, limits and dropping privileges. */
enum ward_layer {
	WARD_LAYER_VIEW = 1U << 0, /* a root of its own; else the host's, with the trees in it */
	WARD_LAYER_PID = 1U << 1,  /* pid namespace and /proc of its own */
	WARD_LAYER_HOST = 1U << 2, /* ipc, uts and cgroup namespaces, host name, /proc masked */
	WARD_LAYER_NET = 1U << 3,  /* a network namespace */
	WARD_LAYER_KEYRING = 1U << 4,
	WARD_LAYER_LANDLOCK = 1U << 5,
	WARD_LAYER_SECCOMP = 1U << 6,
};
#define WARD_LAYERS_ALL 127U

struct ward_backend {
	const char *name;
	const char *legacy; /* older name, or NULL */
	bool available;
	uint32_t guarantees; /* set of WARD_GUARANTEE_BIT() */
	uint32_t layers;     /* set of enum ward_layer */
	const char *warning; /* what the person at the terminal must know, or NULL */
};

/* By name or legacy name; NULL: no such mode. */
const struct ward_backend *ward_backend_find(const char *name);
/* The i-th, NULL past the end. */
const struct ward_backend *ward_backend_at(size_t i);
