/* SPDX-License-Identifier: Apache-2.0 */
/* Limits and places of wardfs-oci, in one file. */
#pragma once

/* What a caller may choose stands here and nowhere else: root's file. */
#define WARD_OCI_HOST_FILE "/etc/wardfs/oci.policy"
/* One directory a container. Not below $XDG_RUNTIME_DIR: the engine's environment says nothing. */
#define WARD_OCI_PLACES "/run/wardfs/oci"

/* config.json of Kubernetes with 1000 mounts and all of its environment has 500 KB. */
#define WARD_OCI_CONFIG_MAX ((size_t)4 << 20)
/* Objects and arrays of a bundle, beyond what any engine writes. */
#define WARD_OCI_MOUNTS_MAX 256
/* Longest container id: engines use 64 characters; runc takes 1024. */
#define WARD_OCI_ID_MAX 128
/* What a runtime answers to `state`. */
#define WARD_OCI_STATE_MAX ((size_t)1 << 20)
/* How long a runtime may take for that, and how long it may go on with a create that has to end. */
#define WARD_OCI_RUNTIME_MS 20000

/* Exit statuses: runtimes say 1 for whatever went wrong, and engines expect no other. */
#define WARD_OCI_FAILED 1
