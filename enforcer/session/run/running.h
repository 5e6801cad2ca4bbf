/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the supervisor holds while a command runs, and what all its files do with it. This is the
 * lowest of their tiers (README.md): running, then run_project and run_control, then run_loop, then
 * run.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "enforcer/base/pollset.h"
#include "enforcer/modes/modes.h"
#include "enforcer/session/ask/asks.h"
#include "enforcer/session/ask/asleep.h"
#include "enforcer/session/ask/hook.h"
#include "enforcer/session/ask/notice.h"
#include "enforcer/session/control/control_verbs.h"
#include "enforcer/session/exec/attach.h"
#include "enforcer/session/exec/execs.h"
#include "enforcer/session/exec/panel.h"
#include "enforcer/session/guard/anchor.h"
#include "enforcer/session/guard/ask_fs.h"
#include "enforcer/session/guard/guard.h"
#include "enforcer/session/grants/granting.h"
#include "enforcer/session/limits/limits.h"
#include "enforcer/session/owner/exit_status.h"
#include "enforcer/session/plan/network.h"
#include "enforcer/session/records/wallclock.h"
#include "enforcer/session/reload/reload.h"
#include "enforcer/session/run/commands.h"
#include "enforcer/session/run/exec_watch.h"
#include "enforcer/session/run/permission.h"
#include "enforcer/session/run/listened.h"
#include "enforcer/session/run/probes.h"
#include "enforcer/session/terminal/relay.h"
#include "enforcer/session/tree/executed.h"
#include "enforcer/session/tree/git_heads.h"
#include "enforcer/session/warm/taken.h"

/* wardfs-audit, wardfs-fs and wardfs-net. */
#define WARD_RUNNING_HELPERS 3

struct ward_running {
	struct ward_run_plan *plan;
	const struct ward_run_options *options;
	struct ward_err *err;	 /* the caller's; the reason for a status of wardfs' own */
	struct ward_pollset set; /* run_loop.h */
	ward_pollset_id reloads, net_says;
	struct ward_guard guard;
	struct ward_probes probes;
	struct ward_execs execs;
	struct ward_attach attach;
	struct ward_screen screen;
	struct ward_network network;
	struct ward_confined *confined; /* the command in its mode */
	struct ward_sandbox *sandbox;	/* the walls of that */
	struct ward_exec_watch *exec_watch;
	struct ward_permission *permission; /* NULL: the mode's runtime asks for none */
	struct ward_commands *commands;	    /* NULL: none is bounded */
	struct ward_anchors *anchors;
	struct ward_relay *relay;
	int alive[2]; /* our own lifeline: pid 1 has the other end */
	int signals;
	struct ward_wallclock wallclock;
	int clock; /* grace: SIGKILL when it rings */
	struct ward_limits *limits;
	struct ward_limit_hit hit; /* the limit that ended the run */
	int offline;		   /* counters of a network namespace without a way out; else -1 */
	struct ward_listened listened;
	int control;
	int control_dir;
	struct ward_control_desk desk;
	struct ward_ask_fs ask_fs;
	struct ward_asks asks;
	struct ward_hook *hook;	    /* NULL: no program gets questions */
	struct ward_asleep *asleep; /* NULL: no request has waited yet */
	unsigned asks_rank;
	struct ward_notice notice;
	bool rung; /* the terminal says that a question waits */
	struct ward_panel panel;
	unsigned panel_rank;
	const struct ward_policy *panel_policy; /* that the terminal's key was reserved for */
	struct ward_reload reload;
	struct ward_buf glass;		/* lines about break glass that are still to be said */
	struct ward_granting *granting; /* NULL: nothing is served yet */
	uint64_t started_ns;	     /* CLOCK_REALTIME; of a prepared session: since it was taken */
	struct ward_run_options now; /* of a prepared session, once it was taken: the options */
	struct ward_warm_taken taken;
	ward_pollset_id takers;
	struct ward_executed_before *before[8]; /* WARD_POLICY_TREES_MAX; NULL: not looked at */
	struct ward_git_heads git[8];		/* the branches then, of the same trees */
	bool started;				/* the command, perhaps */
	bool ending;				/* SIGTERM was sent; the clock means SIGKILL */
	bool over;
	bool stopped;	  /* the command is, and we are not: something needed us */
	pid_t waker;	  /* who went on with us for that */
	bool net_late;	  /* wardfs-net went on after everything inside was dead */
	bool fs_late;	  /* wardfs-fs went on after the last process inside had ended */
	int status;	  /* exit status for our caller */
	int child_status; /* the command's, -1 if it has none */
	int child_signal;
	const char *cause;	 /* why it ended, if not by itself */
	uint64_t interrupted_ns; /* when SIGINT was sent to us last; 0: never */
	char **envp;
	uint64_t refused;
	bool let_go;   /* --keep: the first command is over, and its caller has its status */
	bool detached; /* --keep: its caller left before */
	const char *continued[WARD_RUNNING_HELPERS]; /* by ward_running_continue(); NULL: was not */
};

/*
 * Helpers that somebody stopped go on, for the end: what they have in hand belongs to the trail,
 * and processes inside wait for wardfs-fs.
 */
void ward_running_continue(struct ward_running *r);

/* Asks the command to end; the clock ends it if it does not. cause is kept by reference. */
void ward_running_end(struct ward_running *r, int status, const char *cause);
/* Nothing is waited for any more: the round ends, and ward_run() takes the session down. */
void ward_running_over(struct ward_running *r);
/* Ends it so at once, unless it is over. The error has cause as its text for WARD_EXIT_SETUP. */
void ward_running_kill(struct ward_running *r, int status, const char *cause);
/* The policy that is in force now. */
const struct ward_policy *ward_running_policy(const struct ward_running *r);
/* What of the caller's 0, 1, 2 goes through pipes: a set of ward_given_apart. */
unsigned ward_running_apart(const struct ward_run_plan *p);
/* The command's user, as the host knows it. */
uid_t ward_running_uid(const struct ward_run_plan *p);
/* Makes r->relay of our 0, 1, 2. */
int ward_running_relay(struct ward_running *r, struct ward_err *err) ward_must_check;
