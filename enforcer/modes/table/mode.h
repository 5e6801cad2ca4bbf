/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is true of each isolation mode, as data: its word, how strict it is, what it guarantees,
 * which layers it puts on, which settings it can carry out. The rows stand in modes.def. How a mode
 * starts a command stands above (enforcer/modes/modes.h); this part does nothing, so that the
 * policy may know the words.
 *
 * Nobody asks which mode it is. They ask whether a row has a guarantee, a layer or a setting.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What can be promised about a session. A run starts only where the mode and the host's control
 * groups together give everything that the policy asks for; what is missing is named. Users see
 * these names, and may give some of them to --allow-missing.
 */
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

/* "files", …, "limit-memory"; "?" out of range. */
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

/* Those with which what the host changes is replayed inside (enforcer/ipc/replay.h). */
#define WARD_LAYERS_REPLAY (WARD_LAYER_VIEW | WARD_LAYER_PID | WARD_LAYER_SECCOMP)
static inline bool ward_layers_replay(uint32_t layers)
{
	return (layers & WARD_LAYERS_REPLAY) == WARD_LAYERS_REPLAY;
}

/* Settings of the policy that not every mode can carry out. */
enum ward_takes {
	WARD_TAKES_PROGRAMS = 1U << 0, /* [process] exec: a list of programs */
	WARD_TAKES_SECCOMP = 1U << 1,  /* [process] seccomp: another list than `default` */
	WARD_TAKES_BROKER = 1U << 2,   /* [network] mode = allowlist, proxy */
	WARD_TAKES_HOME = 1U << 3,     /* [home] mode = project */
	WARD_TAKES_IMAGE = 1U << 4,    /* [system] image: needs nothing of the host's programs */
	WARD_TAKES_PYTHON = 1U << 5,   /* [process] python = restricted */
	WARD_TAKES_ENGINE = 1U << 6,   /* [container]: an engine starts the command */
	WARD_TAKES_WARM = 1U << 7,     /* [session] warm: the command can come later */
};
/* But for the image, which a mode with a runtime of the host's cannot take. */
#define WARD_TAKES_ALL 15U

struct ward_mode {
	const char *word;
	const char *old; /* an older word, or NULL; the command line takes it, a policy does not */
	/* Of two modes the higher number wins where a source only takes away. 0: no wall by itself;
	 * it picks one of the others. */
	unsigned strictness;
	bool ready;	     /* false: a word that is known, and wardfs cannot run it yet */
	uint32_t guarantees; /* set of WARD_GUARANTEE_BIT(): what it gives by itself */
	uint32_t layers;     /* set of enum ward_layer */
	uint32_t takes;	     /* set of enum ward_takes */
	const char *warning; /* what the person at the terminal must know, or NULL */
};

/*
 * Every mode, the strictest first; a row without a word ends it. A program that brings its own
 * ward_modes[] and ward_mode_words[] (tests/unit/modes.c) is linked with those.
 */
extern const struct ward_mode ward_modes[];
/* Their words in the same order, ended by NULL. */
extern const char *const ward_mode_words[];

/* Where neither a policy nor the command line names one. */
#define WARD_DEFAULT_MODE "restricted"

/* Which --engine alone asks for. */
#define WARD_ENGINE_MODE "docker"

/* By word or older word. NULL: no such mode. */
const struct ward_mode *ward_mode_find(const char *word);
/* The one at this place, from 0 on; past the end the row that ends the table, which is not ready.
 */
const struct ward_mode *ward_mode_at(uint64_t i);

/*
 * The words of all modes, or of those that are ready alone, the weakest first and what picks one
 * last: "none, process or restricted". Cut to size.
 */
void ward_mode_list(bool ready_alone, const char *last_separator, char *ret, size_t size);
