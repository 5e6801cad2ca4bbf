/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main process of a service of the host: has one listening socket from systemd
 * (sd_listen_fds(3)), asks the kernel who connects (SO_PEERCRED), and gives each connection to a
 * process of its own. It reads no message and waits for nobody. Never runs as root.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "enforcer/base/err.h"

struct ward_service {
	const char *program;  /* its name, in what it says */
	const char *socket;   /* the unit that starts it, for people */
	const char *too_many; /* what somebody is told who has too many connections */
	size_t total_max;     /* connections at a time */
	size_t user_max;      /* of one user */
	/* In the process that has the connection; it takes descriptors now. Returns its exit
	 * status. SIGTERM and SIGINT are ignored there: a session has an end to come to. */
	int (*serve)(void *user, int conn, const struct ucred *peer);
	void *user;
};

/*
 * Takes the socket, blocks the signals that ward_service_run() waits for, and makes the process
 * one that nobody of the same uid can trace or dump. Says on stderr what is wrong. *ret_signals is
 * the caller's (signalfd(2)). -EPERM: as root, or without the socket; or another negative errno.
 */
int ward_service_prepare(const struct ward_service *l, int *ret_signals) ward_must_check;

/* Until SIGTERM or SIGINT (0), which end this process alone: those that serve go on. -ENOMEM, or
 * what poll(2) fails with. */
int ward_service_run(const struct ward_service *l, int signals) ward_must_check;
