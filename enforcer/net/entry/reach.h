/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [network] socket: the process that connects to unix sockets of the host. The broker, once
 * confined, opens no path; seccomp could not tell one socket's path from another's. So a child of
 * it, forked before anything was read, has the list of paths and can connect to these alone: it is
 * asked by number.
 *
 * A path is walked at each connection without following symbolic links, and what is found must be a
 * socket: who can write to a directory on the way (the agent, if it lies in a tree) can put a
 * socket of its own there, and lead nowhere else.
 *
 * Its question (child.h) is {u32 number}; with the answer comes the connected socket.
 */
#pragma once

#include <stddef.h>

#include "enforcer/base/err.h"

/* paths are borrowed: the child has its copy. *ret_channel: the caller's; -1 if n is 0. */
int ward_reach_make(
	char *const *paths, size_t n, int *ret_channel, struct ward_err *err) ward_must_check;

/* A connected stream, non-blocking and close-on-exec. As connect(2); -EPIPE: the child is dead. */
int ward_reach_connect(int channel, size_t number, int *ret_fd) ward_must_check;
