/* SPDX-License-Identifier: Apache-2.0 */
/* Part of an attestation: the files that a session changed, with their digests. */
#pragma once

#include <jansson.h>

#include "enforcer/base/err.h"

/* Names that are followed; and subjects that a statement lists, by number and bytes of names. */
#define WARD_PRODUCTS_MAX 100000U
#define WARD_PRODUCTS_LISTED 1024U
#define WARD_PRODUCTS_BYTES ((size_t)192 << 10)

/* Zero; ward_products_clear(). */
struct ward_products {
	json_t *files;	 /* path: SHA-256 in hexadecimal, or null where no record has it */
	json_t *gone;	 /* removed names that no record has used since: {path: true} */
	json_int_t more; /* changes of files beyond WARD_PRODUCTS_MAX */
};
void ward_products_clear(struct ward_products *p);
/* A record, in the order of the trail. -ENOMEM. */
int ward_products_take(struct ward_products *p, const json_t *record) ward_must_check;
/*
 * Appends {"name": PATH, "digest": {"sha256": HEX}} to subjects for files that are there at the
 * end, but for those in the agent's home. *ret: {"files", "listed", "without_digest", "more"}, the
 * caller's.
 */
int ward_products_list(
	const struct ward_products *p, json_t *subjects, json_t **ret) ward_must_check;
