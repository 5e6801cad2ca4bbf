/* SPDX-License-Identifier: Apache-2.0 */
/* Decides connections of a trail again: by its policies and its grants for hosts. */
#pragma once

#include <jansson.h>

#include "audit/verify/access_again.h"

struct ward_connect_again;

/* NULL: out of memory. */
struct ward_connect_again *ward_connect_again_new(void);
void ward_connect_again_free(struct ward_connect_again *c);

/* A record `grant` that gives one; one for paths is passed over. -ENOMEM. */
int ward_connect_again_grant(struct ward_connect_again *c, const json_t *rec) ward_must_check;
/* A record `revoke` or `expire`: from its time on, the grant leads nowhere. */
void ward_connect_again_end(struct ward_connect_again *c, const json_t *rec);

/*
 * A record `use` of a grant for a host: *ret_why says why the grant does not lead there; NULL: it
 * does, or that is unknown. The policies are those of a.
 */
void ward_connect_again_use(struct ward_connect_again *c, struct ward_access_again *a,
	const json_t *rec, const char **ret_why);
/* A record `connect`; the same. */
void ward_connect_again_done(struct ward_connect_again *c, struct ward_access_again *a,
	const json_t *rec, const char **ret_why);
