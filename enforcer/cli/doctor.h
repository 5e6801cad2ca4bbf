/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of `wardfs doctor`: cmd_doctor.c has the table and the report, doctor_*.c some checks.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"

#define WARD_CHECK_TEXT_MAX 512

/* ABSENT: an optional thing is not there. */
enum ward_check_status { WARD_CHECK_MISSING = 0, WARD_CHECK_OK, WARD_CHECK_ABSENT };

struct ward_check {
	const char *name;
	bool required; /* mode restricted cannot run without */
	enum ward_check_status status;
	char tried[WARD_CHECK_TEXT_MAX]; /* what was done and what came of it */
	const char *fix;		 /* NULL: nothing to do; kept by reference */
};

/* Fills in a line; the fix is dropped where nothing is to be mended. */
void ward_check_say(struct ward_check *c, enum ward_check_status status, const char *fix,
	const char *fmt, ...) ward_printf(4, 5);

/*
 * For what is tried in a child, since it may spoil itself: what fn returned there (0 or a negative
 * errno), or why there is none.
 */
int ward_check_in_child(int (*fn)(void));

/* What kind of host this is: bare, a container (docker, podman, …), a devcontainer, WSL. */
void ward_check_host(struct ward_check *c);
/*
 * How changes on the host are seen (fanotify): the bounds of this user, and sessions of the
 * caller's that run and cannot watch all of their directories.
 */
void ward_check_watches(struct ward_check *c);
/* veth in a namespace of the caller's own: what the broker of the network takes. */
void ward_check_network(struct ward_check *c);
/* Whether records of the network can name the process that asked. */
void ward_check_askers(struct ward_check *c);
/* Whether wardfs-auditd ([audit] writer = system) is installed and takes connections. */
void ward_check_audit_writer(struct ward_check *c);
/* Whether checkpoints leave the caller's reach without being asked to. */
void ward_check_anchor(struct ward_check *c);
/* AppArmor's restriction of user namespaces (Ubuntu 23.10 and newer), and our profile. */
void ward_check_apparmor(struct ward_check *c);
/* subuid(5): told, since others need it; one id is mapped here, which needs none. */
void ward_check_subids(struct ward_check *c);
