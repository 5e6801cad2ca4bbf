/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses behind a name, asked for with the host's own configuration: /etc/hosts and
 * /etc/resolv.conf, read once before confinement; the questions go out by c-ares.
 */
#pragma once

#include "enforcer/net/base/net.h"

/* Addresses of one answer, and names on the way to them. An answer with more is not used. */
#define WARD_RESOLVE_MAX 64
#define WARD_RESOLVE_NAMES_MAX 16

struct ward_answer {
	/* 0 or a negative errno: -ENOENT no such name, -EIO no answer, -E2BIG more than fits */
	int error;
	union ward_sockaddr v[WARD_RESOLVE_MAX]; /* without port */
	size_t n;
	char names[WARD_RESOLVE_NAMES_MAX][WARD_NAME_SIZE]; /* CNAMEs on the way */
	size_t n_names;
};

/* Why the answer leads nowhere, for people. error: of an answer; 0: it has no address. */
const char *ward_resolve_fault(int error);

/* Called once, from the loop, unless the query was cancelled before. */
typedef void (*ward_resolve_fn)(void *user, const struct ward_answer *answer);
struct ward_resolve_query;

/* Reads the host's files; before confinement. */
int ward_resolver_open(struct ward_broker *net, struct ward_err *err) ward_must_check;
void ward_resolver_close(struct ward_broker *net);

/*
 * -EDQUOT: the upload budget has no room for the name, which costs its length where it is asked
 * outside.
 */
/* *ret is valid until fn is called or ward_resolve_cancel(); fn is never called before the return.
 */
int ward_resolve(struct ward_broker *net, const char *name, ward_resolve_fn fn, void *user,
	struct ward_resolve_query **ret) ward_must_check;
void ward_resolve_cancel(struct ward_resolve_query *q);
