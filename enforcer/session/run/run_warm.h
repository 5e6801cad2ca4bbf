/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A prepared session ([session] warm): complete but for its command, it waits for one take
 * (warm/take.h), or for its end. After the take it is a session as any other one.
 */
#pragma once

#include "enforcer/session/run/running.h"
#include "enforcer/session/warm/key.h"

/* Of a session that is prepared: struct ward_run_options.prepared. */
struct ward_prepared {
	const char *context;	  /* ward_warm_context() of the process that it is prepared for */
	struct ward_warm_key key; /* of the plan, made before anything was brought up */
	int lock;		  /* of ward_warm_lock(), closed once the session is listed; -1 */
	struct ward_buf said; /* lines for whoever takes it: what a start says, ended by NUL each */
	int taker;	      /* afterwards: the connection of who took it, -1: nobody did */
};
#define WARD_PREPARED_INIT ((struct ward_prepared){.lock = -1, .said = WARD_BUF_INIT, .taker = -1})

/*
 * Lists the session and waits. True: it was taken, and the run goes on with what was handed over:
 * options, environment, directory, relay, start time; the take is in the trail, and pid 1 has the
 * command. False: r->status and r->cause say how it ended.
 */
bool ward_run_warm(struct ward_running *r, struct ward_err *err);
/* From now on the rounds hear who took it. rank: behind nothing that still belongs to it. */
int ward_run_warm_watch(struct ward_running *r, unsigned rank) ward_must_check;
/* Frees what was handed over. */
void ward_run_warm_clear(struct ward_running *r);
