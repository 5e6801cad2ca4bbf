/* SPDX-License-Identifier: Apache-2.0 */
/* Asks several sessions at once, so that one that is stopped holds up nobody. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct ward_beside {
	char *session;	/* owned */
	json_t *answer; /* owned; NULL: none, or the session ended meanwhile */
	bool silent;	/* it runs, and did not answer in time */
	bool skip;	/* the caller's: not asked, and left as it is */
	int fd;		/* its own */
};

/*
 * The sessions of the runtime directory, also of mounts, unasked. *ret_n of them; NULL: none, or no
 * memory. For ward_beside_free().
 */
struct ward_beside *ward_beside_all(const char *runtime, size_t *ret_n);
/* One of that name. NULL: no memory. */
struct ward_beside *ward_beside_one(const char *session);
void ward_beside_free(struct ward_beside *v, size_t n);

/* Sends request to all, and waits at most ms milliseconds for all of them together. */
void ward_beside_ask(
	const char *runtime, struct ward_beside *v, size_t n, const char *request, int ms);
