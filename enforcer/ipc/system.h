/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer of the whole host ([audit] writer = system): where wardfs-auditd listens and where it
 * keeps trails. The units in conf/systemd and docs/threat-model.md say the same. The messages stand
 * in ipc/helper.h.
 */
#pragma once

/* SOCK_SEQPACKET; made and listened on by root, in a directory that only root can change. */
#define WARD_SYSTEM_SOCKET "/run/wardfs-audit/socket"
/* WARD_SYSTEM_STATE/UID: the state directory (audit/format.h) of the trails of that user. */
#define WARD_SYSTEM_STATE "/var/lib/wardfs-audit"

/* Rings of a session: the supervisor's, wardfs-fs's, wardfs-net's. */
#define WARD_SYSTEM_RINGS 3
/* These, an eventfd and a lifeline. */
#define WARD_SYSTEM_START_FDS (WARD_SYSTEM_RINGS + 2)
/* Longest text of a policy that is taken, as encoded. */
#define WARD_SYSTEM_POLICY_MAX ((size_t)4 << 20)
