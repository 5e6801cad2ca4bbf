/* SPDX-License-Identifier: Apache-2.0 */
/* Connections to a host that a person named. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/err.h"

#define WARD_DIAL_HOST_MAX 256
#define WARD_DIAL_PORT_MAX 8

/*
 * HOST:PORT of len bytes: a name or a numeric address, of IPv6 in brackets, which *ret_host does
 * not have. port: where the text has none; NULL: it has to have one. -EINVAL.
 */
int ward_dial_split(const char *text, size_t len, const char *port,
	char ret_host[WARD_DIAL_HOST_MAX], char ret_port[WARD_DIAL_PORT_MAX]) ward_must_check;

struct ward_dial_url {
	bool tls; /* https */
	char host[WARD_DIAL_HOST_MAX];
	char port[WARD_DIAL_PORT_MAX];
	const char *path; /* "" or "/…", without its last slash: path_len bytes of the text */
	size_t path_len;
};

/* "http[s]://HOST[:PORT][/PATH]", with no query, no fragment and no user. -EINVAL. */
int ward_dial_url(const char *text, struct ward_dial_url *ret) ward_must_check;

/*
 * Connects by TCP to the first address that takes it; seconds: for connecting to one, and for each
 * write(2) on it later. *ret_fd is the caller's. -EHOSTUNREACH: no such host; else what connect(2)
 * fails with. err names the host.
 */
int ward_dial(const char *host, const char *port, unsigned seconds, int *ret_fd,
	struct ward_err *err) ward_must_check;
