/* SPDX-License-Identifier: Apache-2.0 */
/* What `wardfs doctor` can try: each function fills in one line, in the file of its subject. */
#pragma once

#include <stddef.h>

#include "enforcer/cli/doctor/doctor_check.h"

/* The kernel: its version, /dev/fuse and its mode, Landlock, FUSE passthrough and io_uring. */
void ward_check_kernel(struct ward_check *c);
void ward_check_device(struct ward_check *c);
void ward_check_landlock(struct ward_check *c);
void ward_check_passthrough(struct ward_check *c);
void ward_check_uring(struct ward_check *c);
/* Namespaces, and what is mounted or installed inside of them. */
void ward_check_userns(struct ward_check *c);
void ward_check_pidns(struct ward_check *c);
void ward_check_netns(struct ward_check *c);
void ward_check_otherns(struct ward_check *c);
void ward_check_fuse_mount(struct ward_check *c);
void ward_check_proc_mount(struct ward_check *c);
void ward_check_seccomp(struct ward_check *c);
/* A group for limits, made as a session's and removed. */
void ward_check_cgroup(struct ward_check *c);
/* All of it together: the default mode, with one tree, running `true`. */
void ward_check_whole(struct ward_check *c);
/* A line for each mode: tried as a whole, or why it cannot run here. Returns their number. */
size_t ward_check_modes(struct ward_check ret[WARD_CHECK_MODES_MAX]);

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
void ward_check_audit_disk(struct ward_check *c);
void ward_check_anchor(struct ward_check *c);
/* Images of run --image: how many there are, and where more can be taken from. */
void ward_check_images(struct ward_check *c);
void ward_check_warm(struct ward_check *c);
/* A line for each container engine: where it is, its version, its use. Returns their number. */
size_t ward_check_engines(struct ward_check ret[WARD_CHECK_ENGINES_MAX]);
/* AppArmor's restriction of user namespaces (Ubuntu 23.10 and newer), and our profile. */
void ward_check_apparmor(struct ward_check *c);
/* subuid(5): told, since others need it; one id is mapped here, which needs none. */
void ward_check_subids(struct ward_check *c);
