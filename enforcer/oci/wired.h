/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [oci] network = ours: the container's network leads to wardfs-net alone, by the policy's rules.
 *
 * The network namespace exists before the container. A user namespace of ours owns it, which
 * wardfs-net can join (enforcer/net/setup/wire.h), and no process of the container is in that one.
 * The runtime joins the network namespace by a path in the view.
 */
#pragma once

#include <jansson.h>

#include "enforcer/oci/host_policy.h"
#include "enforcer/policy/settings.h"

struct ward_oci_wired {
	int user, net; /* namespaces; -1: the container has no such network */
};
#define WARD_OCI_WIRED_INIT ((struct ward_oci_wired){.user = -1, .net = -1})

/* Does this container get the network of wardfs-net? */
bool ward_oci_wired(const struct ward_oci_host *h, const struct ward_settings *s);
/* -EINVAL: the policy or the container asks for what cannot be had with it. */
int ward_oci_wired_check(const json_t *config, const struct ward_oci_host *h,
	const struct ward_settings *s, struct ward_err *err) ward_must_check;
/*
 * In the mount namespace of the view, whose directory is `view`: makes the namespaces, and has
 * config name them, a resolv.conf that leads to wardfs-net, and its proxy.
 */
int ward_oci_wired_make(json_t *config, const char *view, struct ward_oci_wired *ret,
	struct ward_err *err) ward_must_check;
void ward_oci_wired_clear(struct ward_oci_wired *w);
