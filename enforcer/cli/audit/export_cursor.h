/* SPDX-License-Identifier: Apache-2.0 */
/* The file that says how far an export came: "SESSION SEQ", written over in one piece. */
#pragma once

#include <stdint.h>

#include "audit/format.h"
#include "enforcer/base/err.h"

struct ward_export_cursor {
	int fd; /* -1: there is none */
	char session[WARD_SESSION_NAME_MAX + 1];
};

/*
 * path: a file that is made if it is missing, NULL: no cursor. *ret_seq: the record that it names,
 * 0 if none. -EINVAL: it is the cursor of another session, or none at all; else as
 * ward_output_keep(). c is closed with ward_export_cursor_close() in any case.
 */
int ward_export_cursor_open(const char *path, const char *session, struct ward_export_cursor *c,
	uint64_t *ret_seq, struct ward_err *err) ward_must_check;
/* Records up to this one have arrived. 0 or a negative errno. */
int ward_export_cursor_write(const struct ward_export_cursor *c, uint64_t seq) ward_must_check;
/* 0, or a negative errno: what was written may be lost when the host goes down. */
int ward_export_cursor_close(struct ward_export_cursor *c) ward_must_check;
