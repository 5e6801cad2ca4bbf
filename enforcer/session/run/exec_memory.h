/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a process that waits in a system call, read without a trace: with log = io each
 * read of a file of a tree has a record, and a page of such a file that is not in the process'
 * memory would be read in our name. So it is not fetched, and what stands there is not known.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/session/plan/plan.h"

struct ward_exec_memory {
	pid_t tid;
	const struct ward_run_plan *plan;
	int pagemap; /* /proc/TID/pagemap, or -1 */
	int mem;     /* /proc/TID/mem, or -1: opened when it is needed */
	bool left;   /* a page was not fetched */
	bool closed; /* the kernel shows us nothing of this process */
};

/* tid: a thread of it. plan: must outlive it. */
void ward_exec_memory_open(struct ward_exec_memory *m, const struct ward_run_plan *plan, pid_t tid);
void ward_exec_memory_close(struct ward_exec_memory *m);

/* Up to len bytes at addr, page by page; how many could be obtained. */
size_t ward_exec_memory_read(struct ward_exec_memory *m, uint64_t addr, void *to, size_t len);
/*
 * The string at addr with its NUL, at most `size` bytes. Returns its length with NUL; 0: it cannot
 * be read, or does not end there (what there is of it stands in `to`, *ret_have bytes).
 */
size_t ward_exec_memory_string(
	struct ward_exec_memory *m, uint64_t addr, char *to, size_t size, size_t *ret_have);
