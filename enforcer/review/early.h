/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings files to disk while more of them are written: a thread calls syncfs(2), so that the last
 * call, which everybody waits for, finds little left.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "enforcer/review/review.h"

struct ward_early {
	pthread_t thread;
	bool runs;
	const int *roots; /* borrowed, 16 */
	int undo;	  /* borrowed */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool more, ends; /* by lock */
	int error;	 /* of the thread, until it is joined */
};

/* Of the file systems of these directories. Without a thread, all waits for the last call. */
void ward_early_begin(struct ward_early *e, const int roots[16], int undo);
/* There is more to be brought to disk. */
void ward_early_more(struct ward_early *e);
/*
 * Waits for the thread; no more is brought to disk. Its error: the kernel says each only once, so
 * the last call may not have it.
 */
int ward_early_end(struct ward_early *e) ward_must_check;
