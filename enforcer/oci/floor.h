/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds for every container, whatever the engine wrote: config.json is rewritten so that it
 * gives no more than the host's file and the policy's limits let it. Nothing is ever widened.
 */
#pragma once

#include <jansson.h>

#include "enforcer/oci/host_policy.h"
#include "enforcer/policy/settings.h"

/* -EINVAL: the container asks for what cannot be taken away without breaking it silently. */
int ward_oci_floor(json_t *config, const struct ward_oci_host *h, const struct ward_settings *s,
	struct ward_err *err) ward_must_check;
/* The same of a process object, of config.json or of `exec --process`. */
int ward_oci_floor_process(json_t *process, const struct ward_oci_host *h,
	const struct ward_settings *s, struct ward_err *err) ward_must_check;

/* The resources of `update`, which raise no limit above s. */
int ward_oci_floor_update(
	json_t *resources, const struct ward_settings *s, struct ward_err *err) ward_must_check;

/* seccomp.c: the engine's list (NULL: none) without what ours does not let pass. The caller's
 * reference; NULL: no memory, or not a list. */
json_t *ward_oci_seccomp_both(const json_t *engine);

/* What the policy asks for and no engine holds: -ENOTSUP names the first that the host's file does
 * not let go. programs: the policy has a list of programs; noexec: rules that this runtime does not
 * ask about. */
int ward_oci_floor_policy(const struct ward_oci_host *h, const struct ward_settings *s,
	bool programs, bool noexec, struct ward_err *err) ward_must_check;
