/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service account of a pod. No engine tells its runtime; but the kubelet gives each pod that
 * uses the API server a token (kubernetes.io, "Managing Service Accounts"), a JWT (RFC 7519) whose
 * claims name the account. wardfs-oci reads the claims and cannot verify the signature: the label
 * says what the token says. Nothing of the token itself is kept.
 */
#pragma once

#include "enforcer/oci/container_plan.h"

/*
 * Fills in c->account, "" where no token says. Only a token counts that lies in one of the engine's
 * own volumes ([volumes] engine), that root wrote, and whose pod and namespace are those of the
 * engine's annotations. Call it once the volumes were decided about.
 */
void ward_oci_account_read(struct ward_oci_container *c, const struct ward_oci_host *h);
/* The account that the claims of a token name, if they fit the annotations (NULL: none). For tests,
 * too. False: it names none, or one of another pod; ret is untouched. */
bool ward_oci_account_of(const char *token, size_t len, const json_t *annotations,
	char ret[WARD_OCI_ACCOUNT_MAX]) ward_must_check;
