/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service that registers passthrough for ordinary users: where wardfs-hostd listens, and what
 * it takes of one user. The units in conf/systemd and docs/threat-model.md say the same. The
 * messages stand in ipc/helper.h.
 */
#pragma once

/* SOCK_SEQPACKET; made and listened on by root, in a directory that only root can change. */
#define WARD_HOST_SOCKET "/run/wardfs-host/socket"

/* Backing ids of one FUSE connection at a time: each holds a file of the kernel, which no limit of
 * the user's counts. */
#define WARD_HOST_IDS_MAX 16384U
/* The same of one user, and of all together: about 0.7 KiB of the kernel's memory each. */
#define WARD_HOST_USER_IDS_MAX 65536U
#define WARD_HOST_ALL_IDS_MAX (1U << 20)
/* FUSE connections of one user that have such ids. */
#define WARD_HOST_USER_MAX 128U
/* Ids in one WARD_MSG_HOST_CLOSE. */
#define WARD_HOST_CLOSE_MAX 256U
