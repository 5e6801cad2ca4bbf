/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the processors awake while a session has requests (Documentation/power/pm_qos_interface of
 * Linux). No more is given than what a program that never sleeps does to the processors by itself.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/err.h"
#include "enforcer/ipc/helper.h"

/* A pipe for each tree of a session. */
#define WARD_AWAKE_MAX WARD_TREES_MAX

struct ward_awake {
	int device; /* /dev/cpu_dma_latency; -1: the host does not let us */
	bool on;
	struct {
		int fd;
		bool wants;
	} v[WARD_AWAKE_MAX];
	size_t n;
};

/* Opens the device, as the service's own user. */
void ward_awake_open(struct ward_awake *ret);
/* fd is a pipe, and is duplicated. -EBADF: it is none; -EUSERS: there are as many as may be; or why
 * the device could not be opened. */
int ward_awake_add(struct ward_awake *a, int fd) ward_must_check;
/* Fills in what to wait for. Returns how many. */
size_t ward_awake_poll(const struct ward_awake *a, struct pollfd *ret);
/* p is what ward_awake_poll() filled in, and poll(2) since: does what the pipes say. */
void ward_awake_take(struct ward_awake *a, const struct pollfd *p);
