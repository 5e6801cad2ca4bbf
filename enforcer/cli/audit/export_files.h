/* SPDX-License-Identifier: Apache-2.0 */
/* The files that sending needs: certificates, a key, headers. */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/* All authorities that Debian trusts (ca-certificates). */
#define WARD_EXPORT_CA "/etc/ssl/certs/ca-certificates.crt"

enum ward_export_file {
	WARD_EXPORT_SECRET =
		0, /* a key, or headers with a password in them: the owner's and the group's */
	WARD_EXPORT_PUBLIC, /* certificates */
};

/*
 * A regular file, for reading. An agent may have written in the directory that it stands in: no
 * symbolic link is followed but root's above (plain.h), nothing else than a file is opened, a
 * secret may not be open to everybody, and nothing may be writable by everybody. *ret_fd is the
 * caller's.
 */
int ward_export_file_open(const char *path, enum ward_export_file what, int *ret_fd,
	struct ward_err *err) ward_must_check;

/*
 * Appends the lines "Name: value" of a secret file to b, as a head of HTTP has them. -EINVAL: a
 * line is something else, or a header that the request has already.
 */
int ward_export_headers(const char *path, struct ward_buf *b, struct ward_err *err) ward_must_check;
