/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls that wardfs-net and each of its children may make, as programs for seccomp(2).
 * Made while wardfs is built (filter_main.c, where the lists stand): libseccomp would take a third
 * of a millisecond for each, at every start, and be part of the process that the agent talks to.
 */
#pragma once

struct sock_filter;

struct ward_net_filter {
	const struct sock_filter *code;
	unsigned short n;
};

/* Any other system call of the broker's is EPERM; one of a child's ends it. */
extern const struct ward_net_filter ward_filter_broker;
extern const struct ward_net_filter ward_filter_maker;
extern const struct ward_net_filter ward_filter_looker;
extern const struct ward_net_filter ward_filter_reach;
