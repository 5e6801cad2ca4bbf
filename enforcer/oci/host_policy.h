/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /etc/wardfs/oci.policy: what the administrator of the host lets callers choose, and the floor
 * under every container. The same lines as a policy (policy/read.h); docs/oci.md lists the keys.
 * Zero refuses: what the file does not say is not allowed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

#define WARD_OCI_LIST_MAX 64

/* What a policy can ask for and wardfs-oci cannot enforce, or not under each engine. */
enum ward_oci_missing {
	WARD_OCI_MISSING_EXEC = 0, /* [process] exec */
	WARD_OCI_MISSING_SECCOMP,  /* [process] seccomp, but for `default` */
	WARD_OCI_MISSING_CPU_TIME, /* [limits] cpu-time, where no control group counts it */
	WARD_OCI_MISSING_COUNT,
};

struct ward_oci_list {
	char *v[WARD_OCI_LIST_MAX]; /* owned */
	size_t n;
};

enum ward_oci_uncovered { WARD_OCI_REFUSE = 0, WARD_OCI_READ, WARD_OCI_PASS };
enum ward_oci_network { WARD_OCI_NET_POLICY = 0, WARD_OCI_NET_ENGINE, WARD_OCI_NET_OURS };
enum ward_oci_calls { WARD_OCI_CALLS_BOTH = 0, WARD_OCI_CALLS_ENGINE };

struct ward_oci_host {
	/* [oci] */
	uint64_t version;
	char *runtime; /* NULL: runc */
	char *policy;  /* of a container that names none; NULL: that is refused */
	enum ward_oci_network network;
	struct ward_oci_list allow_missing; /* ward_oci_missing_name() */
	/* [caller] */
	struct ward_oci_list caller_policy; /* names, or patterns of absolute paths */
	bool caller_session, caller_tree;
	/* [volumes]: patterns of host paths; each stands for all beneath as well */
	enum ward_oci_uncovered uncovered;
	struct ward_oci_list engine, read, pass;
	/* [floor] */
	struct ward_oci_list capability; /* that a container may have at most */
	struct ward_oci_list hook;	 /* programs that the engine may have run as hooks */
	struct ward_oci_list host_namespace;
	struct ward_oci_list device;
	enum ward_oci_calls seccomp;
	bool new_privileges;
};

/* file NULL: WARD_OCI_HOST_FILE. -ENOENT: there is none; -EPERM: others than root can change it;
 * -EINVAL: a line is wrong. */
int ward_oci_host_read(
	const char *file, struct ward_oci_host *ret, struct ward_err *err) ward_must_check;
void ward_oci_host_clear(struct ward_oci_host *h);

/* Does a pattern of the list stand for this path, or for a directory that it is in? */
bool ward_oci_covers(const struct ward_oci_list *l, const char *path);
/* The word for it in [oci] allow-missing. */
const char *ward_oci_missing_name(enum ward_oci_missing m);
/* Does the host's file let a container go without it? */
bool ward_oci_may_miss(const struct ward_oci_host *h, enum ward_oci_missing m);
/* Is the word in the list? */
bool ward_oci_lists(const struct ward_oci_list *l, const char *word);
