/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the supervisor holds while a command runs: run.c brings it up, waits and takes it down;
 * run_control.c answers at the control socket.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/anchors.h"
#include "enforcer/session/ask_fs.h"
#include "enforcer/session/attach.h"
#include "enforcer/session/exec_watch.h"
#include "enforcer/session/executed.h"
#include "enforcer/session/execs.h"
#include "enforcer/session/guard.h"
#include "enforcer/session/limits.h"
#include "enforcer/session/network.h"
#include "enforcer/session/probes.h"
#include "enforcer/session/relay.h"
#include "enforcer/session/reload.h"
#include "enforcer/session/run.h"
#include "enforcer/session/wallclock.h"

struct ward_running {
	struct ward_run_plan *plan;
	const struct ward_run_options *options;
	struct ward_guard guard;
	struct ward_probes probes;
	struct ward_execs execs;
	struct ward_attach attach;
	struct ward_network network;
	struct ward_sandbox *sandbox;
	struct ward_exec_watch *exec_watch;
	struct ward_anchors *anchors;
	struct ward_relay *relay;
	int alive[2]; /* our own lifeline: pid 1 has the other end */
	int signals;
	struct ward_wallclock wallclock;
	int clock; /* grace: SIGKILL when it rings */
	struct ward_limits *limits;
	struct ward_limit_hit hit; /* the limit that ended the run */
	int offline;		   /* counters of a network namespace without a way out; else -1 */
	int control;
	int control_dir;
	struct ward_ask_fs ask_fs;
	struct ward_reload reload;
	uint64_t started_ns;
	struct ward_executed_before *before;
	bool started; /* the command, perhaps */
	bool ending;  /* SIGTERM was sent; the clock means SIGKILL */
	bool over;
	bool stopped;	  /* the command is, and we are not: something needed us */
	pid_t waker;	  /* who went on with us for that */
	bool fs_late;	  /* wardfs-fs went on after the last process inside had ended */
	int status;	  /* exit status for our caller */
	int child_status; /* the command's, -1 if it has none */
	int child_signal;
	const char *cause; /* why it ended, if not by itself */
	char **envp;
	uint64_t refused;
	bool let_go;   /* --keep: the first command is over, and its caller has its status */
	bool detached; /* --keep: its caller left before */
};

/* Asks the command to end; the clock ends it if it does not. cause is kept by reference. */
void ward_running_end(struct ward_running *r, int status, const char *cause);
/* The policy that is in force now. */
const struct ward_policy *ward_running_policy(const struct ward_running *r);
/* Takes the project down as it is before the command starts, for ward_running_find(). */
void ward_running_look(struct ward_running *r);
/* What the session leaves in the project that this host may execute, or that is no file. found is
 * initialised; ward_executed_clear() frees it. */
void ward_running_find(const struct ward_running *r, struct ward_executed *found);
/* A client waits at the control socket: takes it, reads its request, answers. */
void ward_running_control(struct ward_running *r);
