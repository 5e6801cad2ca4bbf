/* SPDX-License-Identifier: Apache-2.0 */
/* Groups that wardfs-hostd makes, limits and removes (enforcer/hostd/group_worker.h): this process
 * reads what they say. */
#include "enforcer/sandbox/cgroup_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/msg.h"

bool ward_cgroup_by_service(const struct ward_cgroup *cg)
{
	return cg && cg->service.conn >= 0;
}

/* Takes the descriptor: -1 is left in place of it. */
static int take_group(struct ward_group *g, uint32_t v2, uint32_t parts, int *fd)
{
	ward_cleanup_free char *path = NULL;
	*g = WARD_GROUP_INIT;
	g->v2 = v2;
	g->parts = parts;
	g->dir = ward_steal_fd(fd);
	g->inside = ward_cgroup_open(g->dir, WARD_CGROUP_INSIDE);
	g->guard = ward_cgroup_open(g->dir, WARD_CGROUP_GUARD);
	if (g->inside < 0 || g->guard < 0)
		return g->inside < 0 ? g->inside : g->guard;
	g->procs = openat(g->inside, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	if (g->procs < 0)
		return -errno;
	int r = ward_fd_path(g->dir, &path);
	if (r == 0)
		snprintf(g->path, sizeof(g->path), "%s", path);
	return r;
}

static void drop_groups(struct ward_cgroup *cg)
{
	for (size_t i = 0; i < cg->n_groups; i++)
		ward_group_remove(&cg->groups[i]);
	cg->n_groups = 0;
	for (size_t i = 0; i < WARD_CGROUP_PARTS; i++)
		cg->part[i].group = -1;
}

/* Reads n pairs and takes n descriptors. */
static int take_groups(struct ward_cgroup *cg, struct ward_msg_reader *m, uint32_t n, int *fds)
{
	int r = 0;
	drop_groups(cg);
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		const uint32_t v2 = ward_msg_get_u32(m), parts = ward_msg_get_u32(m);
		r = take_group(&cg->groups[cg->n_groups++], v2, parts, &fds[i]);
		for (unsigned k = 0; r == 0 && k < WARD_CGROUP_PARTS; k++)
			if (parts & 1U << k) {
				cg->part[k].group = (int)cg->n_groups - 1;
				cg->part[k].why[0] = '\0';
			}
	}
	if (r == 0)
		r = ward_msg_done(m);
	if (r < 0)
		drop_groups(cg);
	return r;
}

/* The answer: 0, or the errno that it says. */
static int receive(struct ward_cgroup *cg, int conn)
{
	char buf[256];
	int fds[WARD_CGROUP_PARTS + 1];
	size_t n_fds = WARD_CGROUP_PARTS + 1;
	struct ward_msg_reader m;
	const ssize_t len = ward_msg_recv(conn, buf, sizeof(buf), fds, &n_fds);
	int r = 0;
	if (len <= 0)
		return -EPIPE;
	ward_msg_reader_init(&m, buf, (size_t)len);
	const uint32_t error = ward_msg_get_u32(&m), n = ward_msg_get_u32(&m);
	if (m.type != WARD_MSG_HOST_GROUPED)
		r = m.type == WARD_MSG_FAILED ? -EUSERS : -EBADMSG;
	else if (m.bad || n > n_fds || n_fds > n + 1 || n > WARD_CGROUP_PARTS || error > INT16_MAX)
		r = -EBADMSG;
	else if (error)
		r = -(int)error;
	else
		r = take_groups(cg, &m, n, fds);
	if (r == 0 && n_fds > n)
		cg->memory_event = ward_steal_fd(&fds[n]);
	for (size_t i = 0; i < n_fds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return r;
}

int ward_cgroup_ask(struct ward_cgroup *cg, const struct ward_cgroup_spec *spec, int conn)
{
	ward_cleanup_fd int own = conn;
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_HOST_GROUP);
	ward_msg_put_u64(&m, spec->memory);
	ward_msg_put_u64(&m, spec->processes);
	ward_msg_put_u64(&m, spec->cpus);
	ward_msg_put_u32(&m, spec->replayed);
	int r = ward_msg_send(own, &m, NULL, 0);
	ward_msg_clear(&m);
	/* It says so before it reads, where the user has too many. */
	if (r == 0 || r == -EPIPE)
		r = receive(cg, own);
	if (r < 0)
		return r;
	cg->service.conn = ward_steal_fd(&own);
	return -pthread_mutex_init(&cg->service.lock, NULL);
}

/* Sends, and waits for the answer. */
static int move(int conn, int pidfd, bool helper)
{
	char buf[64];
	size_t n_fds = 0;
	struct ward_msg_reader reader;
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_HOST_MOVE);
	ward_msg_put_u32(&m, helper);
	int r = ward_msg_send(conn, &m, &pidfd, 1);
	ward_msg_clear(&m);
	if (r < 0)
		return r;
	const ssize_t len = ward_msg_recv(conn, buf, sizeof(buf), NULL, &n_fds);
	if (len <= 0)
		return -EPIPE;
	ward_msg_reader_init(&reader, buf, (size_t)len);
	const uint32_t error = ward_msg_get_u32(&reader);
	if (reader.type != WARD_MSG_HOST_MOVED || ward_msg_done(&reader) < 0 || error > INT16_MAX)
		return -EBADMSG;
	return -(int)error;
}

int ward_cgroup_service_move(struct ward_cgroup_service *service, pid_t pid, bool helper)
{
	ward_cleanup_fd int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return -errno;
	pthread_mutex_lock(&service->lock);
	int r = move(service->conn, pidfd, helper);
	pthread_mutex_unlock(&service->lock);
	return r;
}

void ward_cgroup_give_back(struct ward_cgroup *cg)
{
	char byte;
	/* End of file: they are gone. SO_RCVTIMEO bounds it. */
	if (shutdown(cg->service.conn, SHUT_WR) == 0)
		(void)!recv(cg->service.conn, &byte, 1, 0);
	close(cg->service.conn);
	cg->service.conn = -1;
	pthread_mutex_destroy(&cg->service.lock);
}
