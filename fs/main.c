/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-fs: serves guarded trees. Started by the supervisor with the descriptors and the message
 * of enforcer/ipc/helper.h; confines itself, says that it is ready, serves until every tree is
 * unmounted or the supervisor is gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/msg.h"
#include "fs/ahead.h"
#include "fs/backing.h"
#include "fs/confine.h"
#include "fs/handle.h"
#include "fs/lock.h"
#include "fs/node.h"
#include "fs/notify.h"
#include "fs/op.h"
#include "fs/record.h"
#include "fs/session.h"
#include "fs/transport.h"
#include "fs/watch.h"

#define POLICY_MAX ((size_t)64 << 20)
#define FLAGS_ALL (WARD_FS_ROOT | WARD_FS_PASSTHROUGH | WARD_FS_ALLOW_OTHER | WARD_FS_MASK_IDS)
/* The kernel's own bound on supplementary groups (limits.h: NGROUPS_MAX). */
#define GROUPS_MAX 65536U

static int read_groups(struct ward_msg_reader *r, struct ward_fs *fs)
{
	const uint32_t n = ward_msg_get_u32(r);

	if (r->bad || n > GROUPS_MAX || n > r->left / sizeof(uint32_t))
		return -EBADMSG;
	fs->groups = calloc(n ? n : 1, sizeof(*fs->groups));
	if (!fs->groups)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		fs->groups[i] = ward_msg_get_u32(r);
	fs->n_groups = n;
	return 0;
}

static int read_trees(struct ward_msg_reader *r, struct ward_fs *fs)
{
	const uint32_t n = ward_msg_get_u32(r);

	if (r->bad || !n || n > WARD_TREES_MAX)
		return -EBADMSG;
	fs->trees = calloc(n, sizeof(*fs->trees));
	if (!fs->trees)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct ward_fs_tree *t = &fs->trees[i];

		t->fs = fs;
		t->index = i;
		t->dev_fd = WARD_FD_FS_TREES + 2 * (int)i;
		t->root_fd = t->dev_fd + 1;
		t->path = ward_msg_get_str(r);
		if (!t->path || t->path[0] != '/')
			return -EBADMSG;
		t->path_len = strlen(t->path);
		t->passthrough = fs->flags & WARD_FS_PASSTHROUGH;
		fs->n_trees = i + 1;
	}
	return 0;
}

static int read_config(struct ward_fs *fs, uint32_t *ret_wake, struct ward_err *err)
{
	ward_cleanup_free char *buf = malloc(WARD_MSG_MAX);
	struct ward_msg_reader r;
	size_t n_fds = 0;
	ssize_t n;
	int e;

	if (!buf)
		return ward_err_sys(err, -ENOMEM, "configuration");
	n = ward_msg_recv(WARD_FD_CONTROL, buf, WARD_MSG_MAX, NULL, &n_fds);
	if (n <= 0)
		return ward_err_sys(err, n < 0 ? (int)n : -EPIPE, "configuration");
	ward_msg_reader_init(&r, buf, (size_t)n);
	if (r.type != WARD_MSG_CONFIG)
		return ward_err_set(err, -EBADMSG, "configuration: unexpected message");
	fs->session = ward_msg_get_str(&r);
	fs->flags = ward_msg_get_u32(&r);
	fs->ids.owner_uid = ward_msg_get_u32(&r);
	fs->ids.owner_gid = ward_msg_get_u32(&r);
	e = read_groups(&r, fs);
	fs->ids.agent_uid = ward_msg_get_u32(&r);
	fs->ids.agent_gid = ward_msg_get_u32(&r);
	if (e == 0)
		e = read_trees(&r, fs);
	*ret_wake = ward_msg_get_u32(&r);
	if (e == 0)
		e = ward_msg_done(&r);
	if (e == 0 && (!fs->session || fs->flags & ~(uint32_t)FLAGS_ALL ||
			      *ret_wake & ~(uint32_t)WARD_WAKE_ALL))
		e = -EBADMSG;
	return e < 0 ? ward_err_sys(err, e, "configuration") : 0;
}

static int load_policy(struct ward_fs *fs, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	const struct ward_settings *s;
	int r;

	if (lseek(WARD_FD_POLICY, 0, SEEK_SET) < 0)
		return ward_err_sys(err, -errno, "policy");
	r = ward_fd_read_all(WARD_FD_POLICY, POLICY_MAX, &blob);
	if (r < 0)
		return ward_err_sys(err, r, "policy");
	r = ward_policy_decode(blob.data, blob.len, &fs->policy, err);
	if (r < 0)
		return ward_err_wrap(err, "policy");
	s = ward_policy_settings(fs->policy);
	fs->log = s->log;
	ward_ring_sync(fs->ring, s->sync == WARD_SYNC_RECORD);
	for (size_t i = 0; i < fs->n_trees; i++)
		for (size_t j = 0; j < s->n_trees; j++)
			if (!strcmp(fs->trees[i].path, s->trees[j].path))
				fs->trees[i].hardlinks = s->trees[j].hardlinks;
	return 0;
}

/* What can only be opened before confinement. */
static int prepare(struct ward_fs *fs, struct ward_err *err)
{
	struct rlimit lim;
	struct stat st;
	int r;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0) {
		lim.rlim_cur = lim.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &lim) < 0)
			return ward_err_sys(err, -errno, "RLIMIT_NOFILE");
	}
	/* RLIMIT_FSIZE is the agent's; a signal for it would end us in the agent's place. */
	(void)signal(SIGXFSZ, SIG_IGN);
	fs->casefold = stat("/sys/fs/ext4/features/casefold", &st) == 0 ||
		       stat("/sys/fs/f2fs/features/casefold", &st) == 0 ||
		       stat("/sys/fs/tmpfs/features/casefold", &st) == 0 ||
		       stat("/sys/fs/bcachefs", &st) == 0;
	for (size_t i = 0; i < WARD_TREES_MAX; i++)
		fs->latency_fds[i] = -1;
	/* Absent in containers, and never for an ordinary user: the transport spins then. */
	for (size_t i = 0; i < fs->n_trees; i++)
		fs->latency_fds[i] = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
	for (size_t i = 0; i < fs->n_trees; i++) {
		r = ward_watch_open(&fs->trees[i], err);
		if (r < 0)
			return r;
	}
	r = ward_ring_open(WARD_FD_RING, WARD_FD_RING_WAKE, &fs->ring, err);
	if (r < 0)
		return ward_err_wrap(err, "ring");
	return load_policy(fs, err);
}

static void on_signal(int sig)
{
	/* Only there to interrupt fcntl(2) and flock(2) (ops_lock.c). */
}

static int confine(struct ward_fs *fs, struct ward_err *err)
{
	const struct sigaction sa = {.sa_handler = on_signal};
	int r;

	if (sigaction(WARD_LOCK_SIGNAL, &sa, NULL) < 0)
		return ward_err_sys(err, -errno, "sigaction");
	r = ward_confine_identity(fs, err);
	for (size_t i = 0; r == 0 && i < fs->n_trees; i++)
		r = ward_backing_init(&fs->trees[i], err);
	if (r == 0)
		r = ward_confine_paths(fs, err);
	if (r == 0)
		r = ward_confine_calls(err);
	return r;
}

struct server {
	struct ward_transport *transports[WARD_TREES_MAX];
	int done_fd;
};

static int start(struct ward_fs *fs, struct server *s, uint32_t wake, struct ward_err *err)
{
	int r = ward_pool_new(&fs->pool, err);

	ward_comm_init(&fs->comm);
	for (size_t i = 0; r == 0 && i < fs->n_trees; i++) {
		struct ward_fs_tree *t = &fs->trees[i];

		r = ward_nodes_new(t, &t->nodes, err);
		/* Answers made ahead are made as the owner, not as one of many callers. */
		if (r == 0 && !(fs->flags & WARD_FS_ALLOW_OTHER))
			r = ward_ahead_new(t, &t->ahead, err);
		if (r == 0)
			r = ward_session_new(t, err);
		if (r == 0)
			r = ward_notify_new(t, &t->notify, err);
		if (r == 0)
			r = ward_transport_start(t, wake, s->done_fd, &s->transports[i], err);
	}
	return r;
}

/* Until all sessions ended (0) or the supervisor is gone or says so (1). */
static int serve(const struct ward_fs *fs, const struct server *s)
{
	char buf[64]; /* what we are told here is short; the rest is cut, and bad */
	struct pollfd p[2] = {
		{.fd = WARD_FD_CONTROL, .events = POLLIN}, {.fd = s->done_fd, .events = POLLIN}};
	uint64_t ended = 0, n;

	while (ended < fs->n_trees) {
		if (poll(p, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			return 1;
		}
		if (p[1].revents && read(s->done_fd, &n, sizeof(n)) == sizeof(n))
			ended += n;
		if (p[0].revents) {
			struct ward_msg_reader r;
			size_t n_fds = 0;
			ssize_t len =
				ward_msg_recv(WARD_FD_CONTROL, buf, sizeof(buf), NULL, &n_fds);

			if (len == -EBADMSG)
				continue;
			if (len <= 0)
				return 1;
			ward_msg_reader_init(&r, buf, (size_t)len);
			if (r.type == WARD_MSG_FS_STOP && ward_msg_done(&r) == 0)
				return 1;
		}
	}
	return 0;
}

/*
 * With its last process the mount is gone, and the kernel drops what it has not said yet
 * (fuse_abort_conn()): a RELEASE that never came is recorded here. The transports have ended.
 */
static void record_left(const struct ward_fs *fs)
{
	for (size_t i = 0; i < fs->n_trees; i++) {
		struct ward_op op = {.tree = &fs->trees[i], .action = "close"};
		struct ward_handle *h;

		/* A trail that failed: the session's end says so. */
		while ((h = ward_handle_take_left(fs->trees[i].nodes)))
			if (ward_record_close(&op, h) < 0)
				return;
	}
}

static void stop(struct ward_fs *fs, struct server *s)
{
	for (size_t i = 0; i < fs->n_trees; i++)
		ward_transport_free(s->transports[i]);
	ward_pool_free(fs->pool);
	ward_comm_clear(&fs->comm);
	for (size_t i = 0; i < fs->n_trees; i++) {
		ward_notify_free(fs->trees[i].notify);
		ward_ahead_free(fs->trees[i].ahead);
		ward_session_free(&fs->trees[i]);
		ward_nodes_free(fs->trees[i].nodes);
		ward_watch_free(fs->trees[i].watch);
		free(fs->trees[i].path);
	}
	ward_ring_close(fs->ring);
	ward_policy_unref(fs->policy);
	free(fs->trees);
	free(fs->groups);
	free(fs->session);
}

static int tell(uint32_t type, const char *text)
{
	struct ward_msg m;
	int r;

	ward_msg_init(&m, type);
	if (text)
		ward_msg_put_str(&m, text);
	r = ward_msg_send(WARD_FD_CONTROL, &m, NULL, 0);
	ward_msg_clear(&m);
	return r;
}

int main(void)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_fs fs = {0};
	struct server s = {.done_fd = -1};
	uint32_t wake = 0;
	int r;

	umask(0);
	s.done_fd = eventfd(0, EFD_CLOEXEC);
	r = s.done_fd < 0 ? -errno : 0;
	if (r == 0)
		r = read_config(&fs, &wake, &err);
	if (r == 0)
		r = prepare(&fs, &err);
	if (r == 0)
		r = confine(&fs, &err);
	if (r == 0)
		r = start(&fs, &s, wake, &err);
	if (r < 0) {
		(void)tell(WARD_MSG_FAILED, err.text);
		_exit(1);
	}
	if (tell(WARD_MSG_READY, NULL) < 0 || serve(&fs, &s))
		_exit(0); /* requests may be under way on other threads */
	record_left(&fs);
	/* Threads that wait for locks of a file system that is gone hold on to everything. */
	if (atomic_load(&fs.n_waiters) == 0)
		stop(&fs, &s);
	return 0;
}
