/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of values in a policy (wardfs-policy(5)), from text. Nothing allocates. Sizes, counts,
 * times and rates: enforcer/base/quantity.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/* Index of text in the NULL-terminated words. -EINVAL names them all. */
int ward_value_word(const char *text, const char *const *words, uint64_t *ret,
	struct ward_err *err) ward_must_check;
/* HOST[:PORT,…][/udp] or CIDR[:PORT,…]; HOST may begin with "*." */
int ward_value_host(const char *text, struct ward_err *err) ward_must_check;
/* port[:port] */
int ward_value_ports(const char *text, struct ward_err *err) ward_must_check;
/* NAME=VALUE (set) or a name that may hold '*' and '?' (pass). */
int ward_value_env(const char *text, bool set, struct ward_err *err) ward_must_check;
/* An absolute path without "." and "..", double or trailing '/'; "/" only if root_too. */
int ward_value_sandbox_path(const char *text, bool root_too, struct ward_err *err) ward_must_check;

/* Spellings farther off than this are no slip of the finger. */
#define WARD_NEAR 3U
/* Steps from a to b by insertion, deletion, replacement, swap of neighbours; at most max. */
unsigned ward_value_distance(const char *a, const char *b, unsigned max);
