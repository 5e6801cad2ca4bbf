/* SPDX-License-Identifier: Apache-2.0 */
/* What session.start says of who started a session and for what, and of the host's clock. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A label, "KEY=VALUE": as many, and so long at most. */
#define WARD_LABELS_MAX 32U
#define WARD_LABEL_KEY_MAX 32U
#define WARD_LABEL_VALUE_MAX 256U
/* The key is 1 to WARD_LABEL_KEY_MAX characters of a-z 0-9 . _ -, the first a letter. */
bool ward_label_valid(const char *label);

/*
 * The labels of a session as one object: those given (n of them, valid; of one key the last
 * counts), and what the environment of a known agent (the name of its profile, NULL: none) says:
 * `agent`, and `model` where a variable of that agent names it. Given ones win. NULL without
 * memory.
 */
json_t *ward_labels_json(const char *const *labels, size_t n, const char *agent);

/*
 * Adds `login_uid` and `audit_session` to o: what the kernel keeps since the login, whatever sudo
 * or su changed since (proc(5), /proc/self/loginuid and sessionid). Left out where it has none.
 */
void ward_login_json(json_t *o);

/*
 * {"source": the clocksource, "synchronised": bool, "max_error_us": N, "est_error_us": N}: what
 * adjtimex(2) and /sys/devices/system/clocksource say now. null where the kernel does not tell.
 */
json_t *ward_clock_json(void);
