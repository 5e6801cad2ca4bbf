/* SPDX-License-Identifier: Apache-2.0 */
/* Who answers a question: as the kernel tells of the process, which has no say in it. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#define WARD_ANSWERER_TEXT_MAX 64

struct ward_answerer {
	pid_t pid;
	uid_t uid;
	uid_t login;	     /* (uid_t)-1: not known (proc_pid_loginuid: /proc/PID/loginuid) */
	uint64_t started_ns; /* from boot to its start, as records of programs have it; 0: not known
			      */
	char terminal[WARD_ANSWERER_TEXT_MAX]; /* "pts/3"; "": none */
};

void ward_answerer_find(pid_t pid, uid_t uid, struct ward_answerer *ret);
