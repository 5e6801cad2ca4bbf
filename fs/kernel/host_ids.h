/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backing ids for a session of an ordinary user: wardfs-hostd registers them (ipc/host.h). Any
 * thread may ask; one request is under way at a time. A service that does not answer, or is gone,
 * is not asked again: what was registered stays, the rest goes through the page cache.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

struct ward_host_ids;

/* sock: connected, with a time limit (SO_RCVTIMEO, SO_SNDTIMEO); taken. -ENOMEM. */
int ward_host_ids_new(int sock, struct ward_host_ids **ret) ward_must_check;
void ward_host_ids_free(struct ward_host_ids *h);

/*
 * An id for the file of fd, on the connection of dev_fd. dir -1: fd is O_RDWR, and the kernel may
 * write. Else fd is O_RDONLY, and lies beneath the directory dir; the kernel only reads. -EPIPE:
 * the service is gone; -EAGAIN: it has not taken us up yet; else why it refused.
 */
int ward_host_ids_open(
	struct ward_host_ids *h, int dev_fd, int fd, int dir, int32_t *ret) ward_must_check;

/*
 * The service does what is written to the other end of this pipe, as if it were written to
 * /dev/cpu_dma_latency. -EAGAIN and -EPIPE as above; else it cannot.
 */
int ward_host_ids_awake(struct ward_host_ids *h, int fd) ward_must_check;

/* They are no more. A failure leaves the kernel with them until the connection ends. */
void ward_host_ids_close(struct ward_host_ids *h, int dev_fd, const uint32_t *ids, size_t n);
