/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the pipes through which splice(2) moves bytes. */
#include "enforcer/net/conn/pipes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * What an ordinary user's pipes may hold in all before the kernel makes new ones small is 64 MiB
 * (pipe(7): pipe-user-pages-soft), and the agent's processes are the same user's.
 */
#define PIPES_MAX 16U
#define PIPE_BYTES (1 << 20)

static void pipe_free(struct ward_pipe *p)
{
	close(p->in);
	close(p->out);
	free(p);
}

struct ward_pipe *ward_pipe_take(struct ward_broker *net)
{
	struct ward_pipe *p = LIST_FIRST(&net->pipes);
	int fds[2];
	if (p) {
		LIST_REMOVE(p, link);
		return p;
	}
	p = net->n_pipes < PIPES_MAX ? malloc(sizeof(*p)) : NULL;
	if (!p || pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0) {
		free(p);
		return NULL;
	}
	*p = (struct ward_pipe){.in = fds[1], .out = fds[0]};
	/* Where it may not be larger, it is as it is. */
	(void)fcntl(p->in, F_SETPIPE_SZ, PIPE_BYTES);
	net->n_pipes++;
	return p;
}

void ward_pipe_give(struct ward_broker *net, struct ward_pipe *p)
{
	if (!p)
		return;
	if (p->held == 0) {
		LIST_INSERT_HEAD(&net->pipes, p, link);
		return;
	}
	net->n_pipes--;
	pipe_free(p);
}

void ward_pipes_close(struct ward_broker *net)
{
	while (!LIST_EMPTY(&net->pipes)) {
		struct ward_pipe *p = LIST_FIRST(&net->pipes);
		LIST_REMOVE(p, link);
		net->n_pipes--;
		pipe_free(p);
	}
}
