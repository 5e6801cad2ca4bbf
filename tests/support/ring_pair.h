/* SPDX-License-Identifier: Apache-2.0 */
/* For unit tests: a ring with both of its sides in this process. Failures abort the test. */
#pragma once

#include <check.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "audit/ring.h"

struct pair {
	int fd;
	int wake;
	struct ward_ring *producer;
	struct ward_ring *reader;
};

static inline struct pair pair_new(size_t bytes)
{
	struct pair p = {.fd = -1};
	ck_assert_int_eq(ward_ring_create(bytes, &p.fd, NULL), 0);
	p.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ck_assert_int_ge(p.wake, 0);
	ck_assert_int_eq(ward_ring_open(p.fd, p.wake, &p.producer, NULL), 0);
	ck_assert_int_eq(ward_ring_open(p.fd, p.wake, &p.reader, NULL), 0);
	return p;
}

static inline void pair_free(struct pair *p)
{
	ward_ring_close(p->producer);
	ward_ring_close(p->reader);
	close(p->fd);
	close(p->wake);
}
