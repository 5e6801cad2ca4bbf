/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The services that register passthrough and make control groups for ordinary users: where
 * wardfs-hostd listens, and what it takes of one user. The units in conf/systemd and
 * docs/threat-model.md say the same. The messages stand in ipc/helper.h.
 */
#pragma once

/* SOCK_SEQPACKET; made and listened on by root, in a directory that only root can change. */
#define WARD_HOST_SOCKET "/run/wardfs-host/socket"

/* The same for wardfs-hostd --groups, which makes control groups. */
#define WARD_HOST_GROUPS_SOCKET "/run/wardfs-host/groups"
/* At the top of each hierarchy: the groups of all users, each in UID/NAME. */
#define WARD_HOST_GROUPS_DIR "wardfs-host"

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

/* Messages of wardfs-hostd --groups; those of the other service are among those of ipc/helper.h,
 * whose numbers these go on. */
enum ward_host_msg {
	/*
	 * Once: control groups with these limits. u64 bytes
	 * of memory, u64 processes, u64 tenths of a CPU (each WARD_UNLIMITED: none), u32 1: a
	 * replayer is inside. Answered by HOST_GROUPED {u32 errno, u32 n; n × {u32 1: of cgroup v2,
	 * u32 parts as of enum ward_cgroup_part}} and n descriptors: their directories, O_RDONLY,
	 * each with `inside` and `guard`; and with one more, an eventfd that hears of memory, where
	 * that is of cgroup v1. The groups are removed with the connection.
	 */
	WARD_MSG_HOST_GROUP = 76,
	WARD_MSG_HOST_GROUPED = 77,
	/* Then, any number of times: move this process there. u32 0: into `inside`, 1: into
	 * `guard`, and one descriptor: its pidfd. Answered by HOST_MOVED {u32 errno}. */
	WARD_MSG_HOST_MOVE = 78,
	WARD_MSG_HOST_MOVED = 79,
};
