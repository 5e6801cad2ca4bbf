/* SPDX-License-Identifier: Apache-2.0 */
/* The types of values in a policy (docs/policy.md), from text. Nothing allocates. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/* Bytes: "512", "64K", "10M", "4G", "1T", powers of 1024. -EINVAL with the reason. */
int ward_value_size(const char *text, uint64_t *ret, struct ward_err *err) ward_must_check;
/* "200", "200k", "3M": thousands. */
int ward_value_count(const char *text, uint64_t *ret, struct ward_err *err) ward_must_check;
/* Nanoseconds: "90" (seconds), "30s", "10m", "1h30m", "2d". */
int ward_value_time(const char *text, uint64_t *ret, struct ward_err *err) ward_must_check;
/* Per second, times 1000: a size (or count) and "/s", "/m", "/h". */
int ward_value_rate(
	const char *text, bool size, uint64_t *ret, struct ward_err *err) ward_must_check;
/* The same in full: so many in so many seconds (1, 60 or 3600). False: no rate. */
bool ward_value_rate_parts(const char *text, bool size, uint64_t *ret_n, uint32_t *ret_per_s);
/* Tenths: "2", "1.5". */
int ward_value_tenths(const char *text, uint64_t *ret, struct ward_err *err) ward_must_check;
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

/* Steps from a to b by insertion, deletion, replacement, swap of neighbours; at most max. */
unsigned ward_value_distance(const char *a, const char *b, unsigned max);
