/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipes, through which splice(2) leads bytes from one socket to another without copying them. A few
 * for all connections: one is taken for as long as bytes are in it, mostly for one call.
 */
#pragma once

#include "enforcer/net/base/net.h"

struct ward_pipe {
	LIST_ENTRY(ward_pipe) link;
	int in, out;
	size_t held; /* bytes in it */
};

/* An empty one; NULL: none is free, nor is there a descriptor for another. */
struct ward_pipe *ward_pipe_take(struct ward_broker *net);
/* p may be NULL. What is in it still is lost. */
void ward_pipe_give(struct ward_broker *net, struct ward_pipe *p);
void ward_pipes_close(struct ward_broker *net);
