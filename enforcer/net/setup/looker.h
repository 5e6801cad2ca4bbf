/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process has a socket? A child of the broker's, forked before anything was read, that looks
 * at the descriptors of the session's processes (/proc/PID/fd, proc(5)): pid 1 of the sandbox and
 * what descends from it. It has joined the session's user namespace as its owner, with
 * CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH there, which is what proc(5) asks for; its seccomp filter
 * lets it read directories and links, and nothing else.
 *
 * It reads no file that needs a task's memory map: such a read waits for a task that waits for the
 * guard. The work is bounded: a session that has more open files than that hides who asks from
 * its own trail, and does not slow the broker further.
 *
 * Its question (child.h) is {u32 inode}; the answer the pid and the process' name, or ESRCH.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "enforcer/net/setup/child.h"

#define WARD_COMM_SIZE WARD_CHILD_TEXT_SIZE

/* Forks it. It answers nothing before it was told of the session. */
int ward_looker_make(int *ret_channel, struct ward_err *err) ward_must_check;
/* pid 1 of the sandbox, in the caller's pid namespace. user_fd stays the caller's. */
int ward_looker_join(int channel, int user_fd, pid_t pid1) ward_must_check;

/*
 * The process with the socket inode, and its name. -ESRCH: none was found; -EPIPE: the child is
 * dead or hangs, and is not to be asked again.
 */
int ward_looker_ask(
	int channel, uint32_t inode, pid_t *ret_pid, char ret_comm[WARD_COMM_SIZE]) ward_must_check;
