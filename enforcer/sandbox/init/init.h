/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-init from the inside: stage 0 makes namespaces and mounts, then clones pid 1 and exits;
 * pid 1 finishes, starts the command and watches. Single-threaded. Every function here returns 0
 * or a negative errno with text in err.
 */
#pragma once

#include <sys/types.h>

#include "enforcer/base/err.h"
#include "enforcer/sandbox/plan.h"

struct ward_init {
	struct ward_plan plan;
	mode_t umask;		  /* the caller's; the command gets it back */
	int fuse[WARD_TREES_MAX]; /* /dev/fuse of each tree, -1: none */
	int root;		  /* O_PATH of the new root */
	int tty;		  /* other side of the pty, pid 1's controlling terminal; -1 */
	int exec_pipe;	   /* read end: what the command's child could not do; -1: executed */
	pid_t command;	   /* as seen inside */
	uint32_t applied;  /* set of ward_init_applied */
	uint32_t landlock; /* ABI that the command is under, 0: none */
};

/* --- mounts.c: in stage 0 --- */
/* A private mount namespace is there; assembles the new root and mounts /dev/fuse of the trees. */
int ward_init_mounts(struct ward_init *in, struct ward_err *err) ward_must_check;

/* --- root.c: in pid 1 --- */
/* Own /proc, then the new root becomes the root and the host's is let go. */
int ward_init_pivot(struct ward_init *in, struct ward_err *err) ward_must_check;
/* Covers what /proc says about the host. */
int ward_init_mask_proc(struct ward_init *in, struct ward_err *err) ward_must_check;

/* --- ids.c --- */
/* Rootless, in stage 0: the namespaces, with the owner's single id mapped. */
int ward_init_unshare_rootless(struct ward_init *in, struct ward_err *err) ward_must_check;
/* As root, in pid 1: the owner's rights, then the namespaces that the owner owns. */
int ward_init_unshare_root(struct ward_init *in, struct ward_err *err) ward_must_check;
/* As root, once the supervisor has written the maps. */
int ward_init_become_agent(struct ward_init *in, struct ward_err *err) ward_must_check;
/* Host name, loopback, keyring, and no more user namespaces. */
int ward_init_furnish(struct ward_init *in, struct ward_err *err) ward_must_check;
/* Gives up every capability for ever; no_new_privs; non-dumpable. */
int ward_init_drop(struct ward_err *err) ward_must_check;

/* --- landlock.c: in the command's child --- */
/* ABI that this kernel offers, 0: none. */
int ward_init_landlock_abi(void);
int ward_init_landlock(const struct ward_init *in, struct ward_err *err) ward_must_check;

/* --- command.c --- */
/* Makes the pty; *ret_master is the caller's to send away. */
int ward_init_pty(struct ward_init *in, int *ret_master, struct ward_err *err) ward_must_check;
/* Forks the command; in->command and in->exec_pipe are set. */
int ward_init_command(struct ward_init *in, struct ward_err *err) ward_must_check;
/* What the command's child writes into exec_pipe when it cannot go on. */
struct ward_init_failure {
	int32_t error; /* positive errno */
	uint32_t step; /* enum ward_init_step */
	char text[WARD_ERR_TEXT_MAX];
};

/* --- watch.c --- */
/* Watches command, lifelines and control until the end. Returns the exit status of pid 1. */
int ward_init_watch(struct ward_init *in);
/* Sends a message of this type with n numbers and at most one descriptor (-1: none). */
int ward_init_tell(enum ward_init_type type, const uint32_t *v, size_t n, int fd) ward_must_check;
/* Sends FAILED. */
void ward_init_tell_failed(int code, enum ward_init_step step, const char *text);
/* Waits for a message {} of this type; -EPIPE when the supervisor is gone. */
int ward_init_hear(enum ward_init_type type) ward_must_check;
/* Puts a classic BPF program in front of the calling process. */
int ward_init_filter(const void *filter, size_t len) ward_must_check;
