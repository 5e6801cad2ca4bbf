/* SPDX-License-Identifier: Apache-2.0 */
/* User namespaces that no process is in: for the ids of a volume, and to own a network namespace.
 */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/*
 * uids, gids: the lines of user_namespaces(7), "INSIDE OUTSIDE SIZE". The caller is root of the
 * host. *ret_user, close-on-exec, is the caller's; so is *ret_net, a new network namespace that it
 * owns, unless ret_net is NULL.
 */
int ward_oci_userns_make(const struct ward_buf *uids, const struct ward_buf *gids, int *ret_user,
	int *ret_net, struct ward_err *err) ward_must_check;
