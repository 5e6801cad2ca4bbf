/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-fs: serves guarded trees. Started by the supervisor with the descriptors and the message
 * of enforcer/ipc/helper.h; confines itself, says that it is ready, serves until every tree is
 * unmounted or the supervisor is gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/kernel.h"
#include "enforcer/base/sched.h"
#include "enforcer/ipc/early.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/policy/grants.h"
#include "fs/base/shared_moves.h"
#include "fs/base/fs_confine.h"
#include "fs/base/request_turn.h"
#include "fs/forget/forget_thread.h"
#include "fs/fs_grants.h"
#include "fs/fs_query.h"
#include "fs/fs_steps.h"
#include "fs/gate/steps_attribute.h"
#include "fs/handle/handle.h"
#include "fs/kernel/answer_later.h"
#include "fs/kernel/backing.h"
#include "fs/kernel/folding.h"
#include "fs/kernel/overlay_layers.h"
#include "fs/kernel/forget_queue.h"
#include "fs/kernel/host_ids.h"
#include "fs/kernel/uring.h"
#include "fs/node/node.h"
#include "fs/ops/listing_ahead.h"
#include "fs/ops/lock_count.h"
#include "fs/ops/ops_lock.h"
#include "fs/policy_swap.h"
#include "fs/request/staged_size.h"
#include "fs/review/review.h"
#include "fs/quota/quota.h"
#include "fs/replay/replay.h"
#include "fs/request/questions.h"
#include "fs/request/fs_records.h"
#include "fs/request/op.h"
#include "fs/resolve/replaced_files.h"
#include "fs/resolve/secret_facts.h"
#include "fs/resolve/trees_beneath.h"
#include "fs/serve/fuse_session.h"
#include "fs/serve/slow_pool.h"
#include "fs/serve/transport.h"
#include "fs/watch/backing_watch.h"
#include "fs/watch/node_hooks.h"

/* The shortest turn that Linux takes (sched(7)). */
#define TURN_NS 100000U
#define POLICY_MAX ((size_t)64 << 20)
#define FLAGS_ALL                                                                                  \
	(WARD_FS_ROOT | WARD_FS_PASSTHROUGH | WARD_FS_ALLOW_OTHER | WARD_FS_MASK_IDS |             \
		WARD_FS_MOVES | WARD_FS_REVIEW | WARD_FS_HOST | WARD_FS_SETUID)
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
		uint32_t kind;

		t->fs = fs;
		t->index = i;
		t->dev_fd = WARD_FD_FS_TREES + 2 * (int)i;
		t->root_fd = t->dev_fd + 1;
		t->path = ward_msg_get_str(r);
		t->elsewhere = ward_msg_get_u32(r);
		kind = ward_msg_get_u32(r);
		if (!t->path || t->path[0] != '/' || kind > WARD_FS_TREE_STAGED ||
			(kind == WARD_FS_TREE_STAGED && !(fs->flags & WARD_FS_REVIEW)))
			return -EBADMSG;
		t->files = kind == WARD_FS_TREE_FILES;
		t->stages = kind == WARD_FS_TREE_STAGED;
		t->path_len = strlen(t->path);
		pthread_mutex_init(&t->left.lock, NULL);
		pthread_mutex_init(&t->lock_waits_lock, NULL);
		LIST_INIT(&t->lock_waits);
		t->passthrough = fs->flags & (WARD_FS_PASSTHROUGH | WARD_FS_HOST);
		fs->n_trees = i + 1;
	}
	return 0;
}

/* The mounts come with the configuration, in the order of the trees, where not at exec. */
static int place_mounts(int *fds, size_t n_fds, size_t n_trees)
{
	int r = n_fds == 0 || n_fds == n_trees ? 0 : -EBADMSG;

	/* They came on the lowest free numbers, among which may be another one's place. */
	for (size_t i = 0; i < n_fds; i++) {
		const int at =
			fcntl(fds[i], F_DUPFD_CLOEXEC, WARD_FD_FS_TREES + 2 * WARD_TREES_MAX);

		if (at < 0 && r == 0)
			r = -errno;
		close(fds[i]);
		fds[i] = at;
	}
	for (size_t i = 0; i < n_fds; i++) {
		if (r == 0 && dup3(fds[i], WARD_FD_FS_TREES + 2 * (int)i, O_CLOEXEC) < 0)
			r = -errno;
		if (fds[i] >= 0)
			close(fds[i]);
	}
	return r;
}

static int read_config(struct ward_fs *fs, uint32_t *ret_wake, struct ward_err *err)
{
	ward_cleanup_free char *buf = malloc(WARD_MSG_MAX);
	struct ward_msg_reader r;
	int fds[WARD_TREES_MAX];
	size_t n_fds = WARD_TREES_MAX;
	ssize_t n;
	int e;

	if (!buf)
		return ward_err_sys(err, -ENOMEM, "configuration");
	n = ward_msg_recv(WARD_FD_CONTROL, buf, WARD_MSG_MAX, fds, &n_fds);
	/* The session was not made, so there is nobody to tell. */
	if (n == 0)
		_exit(0);
	if (n < 0)
		return ward_err_sys(err, (int)n, "configuration");
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
	if (e == 0)
		e = place_mounts(fds, n_fds, fs->n_trees);
	*ret_wake = ward_msg_get_u32(&r);
	fs->via = ward_msg_get_str(&r);
	if (e == 0)
		e = ward_msg_done(&r);
	if (e == 0 && (!fs->session || !fs->via || fs->flags & ~(uint32_t)FLAGS_ALL ||
			      *ret_wake & ~(uint32_t)WARD_WAKE_ALL))
		e = -EBADMSG;
	return e < 0 ? ward_err_sys(err, e, "configuration") : 0;
}

static int load_policy(struct ward_fs *fs, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	const struct ward_settings *s;
	int r;

	r = ward_fd_pread_all(WARD_FD_POLICY, POLICY_MAX, &blob);
	if (r < 0)
		return ward_err_sys(err, r, "policy");
	r = ward_policy_decode(blob.data, blob.len, &fs->policy, err);
	if (r < 0)
		return ward_err_wrap(err, "policy");
	s = ward_policy_settings(fs->policy);
	fs->log = s->log;
	r = ward_quotas_new(s, &fs->quotas);
	if (r < 0)
		return ward_err_sys(err, r, "quotas");
	/* Digests stand in the records of opens and closes. */
	fs->hash = s->log == WARD_LOG_DENIALS ? WARD_HASH_NONE : s->hash;
	ward_ring_sync(fs->ring, s->sync == WARD_SYNC_RECORD);
	return 0;
}

/* Room for so many from the start, 8 KiB: no request has to wait until the table has grown. */
#define FDS 1024

/*
 * Each file that a program of the session has open takes a descriptor here: as many as there may
 * be, which is what the kernel allows (root, with CAP_SYS_RESOURCE), else our own hard limit.
 */
static int raise_files(struct ward_err *err)
{
	struct rlimit lim;
	unsigned most = 0;
	FILE *f = fopen("/proc/sys/fs/nr_open", "re");

	if (f && fscanf(f, "%u", &most) != 1)
		most = 0;
	if (f)
		fclose(f);
	lim = (struct rlimit){.rlim_cur = most, .rlim_max = most};
	if (most && setrlimit(RLIMIT_NOFILE, &lim) == 0) {
		ward_fd_room(FDS);
		return 0;
	}
	if (getrlimit(RLIMIT_NOFILE, &lim) < 0)
		return 0;
	lim.rlim_cur = lim.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &lim) < 0)
		return ward_err_sys(err, -errno, "RLIMIT_NOFILE");
	ward_fd_room(FDS);
	return 0;
}

/*
 * What a quota gives back comes with RELEASE and FORGET, and a program that removes a file to make
 * room writes right after: /dev/fuse keeps that order, rings do not. And writes beneath `rate`
 * wait, as many as there are writers: each would keep a place of its CPU's queue. So would opens
 * that wait for a person.
 */
static bool needs_order(const struct ward_fs *fs)
{
	return ward_policy_settings(fs->policy)->n_quotas > 0 || ward_policy_asks(fs->policy);
}

/* Before the mounts are there, while others make them. */
static int prepare_beside(struct ward_fs *fs, struct ward_err *err)
{
	struct stat st;
	int r = raise_files(err);

	if (r < 0)
		return r;
	/* A lease that others break while we hold it (quota_name.c) is only given back. */
	(void)signal(SIGIO, SIG_IGN);
	/* wardfs-hostd may end, and is written to. */
	(void)signal(SIGPIPE, SIG_IGN);
	/* RLIMIT_FSIZE is the agent's; a signal for it would end us in the agent's place. */
	(void)signal(SIGXFSZ, SIG_IGN);
	fs->drops_pages = ward_kernel_drops_pages_here();
	fs->casefold = stat("/sys/fs/ext4/features/casefold", &st) == 0 ||
		       stat("/sys/fs/f2fs/features/casefold", &st) == 0 ||
		       stat("/sys/fs/tmpfs/features/casefold", &st) == 0 ||
		       stat("/sys/fs/bcachefs", &st) == 0;
	r = ward_ring_open(WARD_FD_RING, WARD_FD_RING_WAKE, &fs->ring, err);
	return r < 0 ? ward_err_wrap(err, "ring") : load_policy(fs, err);
}

/* Descriptors that are no handle: directories that are kept, lock owners, requests under way. */
#define OWN_FILES 16384U

/* With many users each gets a share of what there is. */
static int share_out(struct ward_fs *fs, struct ward_err *err)
{
	unsigned most[WARD_SHARE_KINDS_] = {[WARD_SHARE_LOCKERS] = WARD_LOCKERS_MAX,
		[WARD_SHARE_OWNERS] = WARD_LOCK_OWNERS_MAX,
		[WARD_SHARE_RANGES] = WARD_LOCKS_MAX,
		[WARD_SHARE_WAITERS] = WARD_WAITERS_MAX};
	struct rlimit lim;
	int r = 0;

	if (!(fs->flags & WARD_FS_ALLOW_OTHER))
		return 0;
	if (getrlimit(RLIMIT_NOFILE, &lim) < 0)
		return ward_err_sys(err, -errno, "RLIMIT_NOFILE");
	if (lim.rlim_cur > UINT_MAX)
		lim.rlim_cur = UINT_MAX;
	most[WARD_SHARE_OPEN] =
		(unsigned)(lim.rlim_cur -
			   (lim.rlim_cur / 4 < OWN_FILES ? lim.rlim_cur / 4 : OWN_FILES));
	r = ward_shares_new(most, &fs->shares);
	return r < 0 ? ward_err_sys(err, r, "shares") : 0;
}

/* What can only be opened before confinement. */
static int prepare(struct ward_fs *fs, uint32_t wake, struct ward_err *err)
{
	ward_swap_settings(fs);
	ward_swap_acl(fs);
	for (size_t i = 0; i < WARD_TREES_MAX; i++)
		fs->latency_fds[i] = fs->awake_read[i] = fs->awake_write[i] = -1;
	/* Absent in containers, and never for an ordinary user: the transport spins then, unless
	 * wardfs-hostd writes there what a pipe says. */
	for (size_t i = 0; i < fs->n_trees; i++) {
		int ends[2];

		fs->latency_fds[i] = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
		if (fs->latency_fds[i] >= 0 || !(fs->flags & WARD_FS_HOST) ||
			pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
			continue;
		fs->awake_read[i] = ends[0];
		fs->awake_write[i] = ends[1];
	}
	for (size_t i = 0; i < fs->n_trees; i++) {
		int r = ward_watch_open(&fs->trees[i], err);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < fs->n_trees && !needs_order(fs); i++)
		ward_transport_prepare(&fs->trees[i], wake);
	return share_out(fs, err);
}

static void on_signal(int sig)
{
	/* Only there to interrupt fcntl(2) and flock(2) (ops_lock.c). */
}

/* A file of the host was staged: what has it open is to read what is staged. */
static void on_staged(void *user, const struct ward_file_id *id)
{
	struct ward_fs *fs = user;

	for (size_t i = 0; i < fs->n_trees; i++)
		if (fs->trees[i].nodes)
			ward_handles_fresh(fs->trees[i].nodes, id);
}

/* As the owner, who owns the store and what is copied. */
static int stage(struct ward_fs *fs, struct ward_err *err)
{
	int r;

	if (!(fs->flags & WARD_FS_REVIEW))
		return 0;
	if (fs->flags & WARD_FS_ALLOW_OTHER)
		return ward_err_set(err, -EINVAL, "staged changes are one owner's");
	r = ward_review_new(WARD_FD_FS_REVIEW, &fs->review, err);
	if (r == 0)
		ward_staged_begin(fs);
	for (size_t i = 0; r == 0 && i < fs->n_trees; i++) {
		/* Two spellings of a name could be staged as two files. */
		if (fs->trees[i].stages && (fs->trees[i].folds || fs->trees[i].folds_each))
			return ward_err_set(err, -EOPNOTSUPP,
				"%s: changes of a file system that takes several spellings for "
				"one name cannot be staged",
				fs->trees[i].path);
		r = ward_review_add_root(
			fs->review, fs->trees[i].root_fd, fs->trees[i].stages, err);
	}
	if (r == 0)
		r = ward_review_load(fs->review, err);
	if (r == 0) {
		ward_review_on_staged(fs->review, on_staged, fs);
		ward_backing_stage(fs->review);
	}
	return r;
}

static int confine(struct ward_fs *fs, struct ward_err *err)
{
	const struct sigaction sa = {.sa_handler = on_signal};
	int r;

	if (sigaction(WARD_LOCK_SIGNAL, &sa, NULL) < 0)
		return ward_err_sys(err, -errno, "sigaction");
	r = ward_confine_identity(fs, err);
	for (size_t i = 0; r == 0 && i < fs->n_trees; i++)
		if ((r = ward_backing_init(&fs->trees[i], err)) == 0 &&
			(r = ward_overlay_layers_check(&fs->trees[i], err)) == 0)
			r = ward_folding_root(&fs->trees[i], err);
	if (r == 0)
		r = stage(fs, err);
	if (r == 0)
		r = ward_swap_folded(fs, fs->policy, &fs->folded, err);
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
	int r = ward_turn_init(fs);

	if (r < 0)
		return ward_err_sys(err, r, "policy");
	r = ward_fs_grants_new(fs, err);
	if (r == 0)
		r = ward_fs_steps_new(fs, err);
	if (r == 0)
		r = ward_pool_new(&fs->pool, err);
	if (r == 0)
		r = ward_delay_new(&fs->delay, err);
	if (r == 0)
		r = ward_delay_ready(fs->delay, fs->policy, err);
	if (r == 0 && ward_questions_new(&fs->questions) < 0)
		r = ward_err_sys(err, -ENOMEM, "questions");
	if (r == 0 && fs->flags & WARD_FS_MOVES && ward_moves_new(WARD_FD_FS_MOVES, &fs->moves) < 0)
		r = ward_err_sys(err, -ENOMEM, "moves");
	if (r == 0 && fs->flags & WARD_FS_HOST && ward_host_ids_new(WARD_FD_FS_HOST, &fs->host) < 0)
		r = ward_err_sys(err, -ENOMEM, "wardfs-hostd");
	ward_comm_init(&fs->comm);
	if (r == 0 && ward_replay_new(fs, &fs->replay) < 0)
		r = ward_err_sys(err, -ENOMEM, "replayed changes");
	for (size_t i = 0; r == 0 && i < fs->n_trees; i++) {
		struct ward_fs_tree *t = &fs->trees[i];

		r = ward_forget_queue_new(t, &t->forget, err);
		if (r == 0)
			r = ward_nodes_new(t, &ward_node_hooks, &t->nodes, err);
		if (r == 0 && ward_replaced_new(&t->replaced) < 0)
			r = ward_err_sys(err, -ENOMEM, "replaced files");
		if (r == 0 && ward_secrets_new(&t->secrets) < 0)
			r = ward_err_sys(err, -ENOMEM, "secrets");
		if (r == 0)
			r = ward_beneath_new(t, &t->beneath, err);
		/* Answers made ahead are made as the owner, not as one of many callers. */
		if (r == 0 && !(fs->flags & (WARD_FS_ALLOW_OTHER | WARD_FS_REVIEW)))
			r = ward_ahead_new(t, &t->ahead, err);
		if (r == 0)
			r = ward_session_new(t, err);
		if (r == 0)
			r = ward_forget_thread_new(t, &t->forgetter, err);
		if (r == 0)
			r = ward_transport_start(t, wake, s->done_fd, &s->transports[i], err);
		if (r == 0)
			r = ward_session_acl(t, err);
	}
	return r;
}

/* Nothing of the answer waits: the supervisor asks one question at a time. */
static int answer(const struct ward_buf *json)
{
	struct ward_msg m;
	int r;

	ward_msg_init(&m, WARD_MSG_FS_ANSWER);
	ward_msg_put_str(&m, ward_buf_str(json));
	r = ward_msg_send(WARD_FD_CONTROL, &m, NULL, 0);
	ward_msg_clear(&m);
	return r;
}

/* The longest: a grant. */
#define OBEY_MAX (WARD_GRANT_PATTERN_MAX + WARD_GRANT_REASON_MAX + 2 * WARD_GRANT_ISSUER_MAX + 256U)

/* One message of the supervisor's. 0, or 1: it is gone, or says that we are to end. */
static int obey(struct ward_fs *fs)
{
	char buf[OBEY_MAX]; /* what is longer is cut, and bad */
	struct ward_msg_reader r;
	ward_cleanup(ward_buf_clear) struct ward_buf json = WARD_BUF_INIT;
	ward_cleanup_fd int fd = -1;
	size_t n_fds = 1;
	ssize_t len = ward_msg_recv(WARD_FD_CONTROL, buf, sizeof(buf), &fd, &n_fds);
	uint32_t what;

	if (len == -EBADMSG)
		return 0;
	if (len <= 0)
		return 1;
	ward_msg_reader_init(&r, buf, (size_t)len);
	if (r.type == WARD_MSG_FS_STOP && ward_msg_done(&r) == 0)
		return 1;
	if (r.type == WARD_MSG_FS_POLICY && ward_msg_done(&r) == 0) {
		ward_query_policy(fs, fd, &json);
		return answer(&json) < 0;
	}
	if (r.type == WARD_MSG_FS_GRANT || r.type == WARD_MSG_FS_REVOKE) {
		(r.type == WARD_MSG_FS_GRANT ? ward_fs_grant : ward_fs_revoke)(fs, &r, &json);
		return answer(&json) < 0;
	}
	if (r.type == WARD_MSG_FS_STEP) {
		ward_fs_steps_message(fs, &r, &json);
		return answer(&json) < 0;
	}
	if (r.type == WARD_MSG_FS_FREEZER) {
		what = ward_msg_get_u32(&r);
		if (ward_msg_done(&r) == 0 && fd >= 0)
			ward_fs_steps_freezer(fs, what, &fd);
		return 0;
	}
	if (r.type == WARD_MSG_FS_ASK_BIND) {
		const uint32_t id = ward_msg_get_u32(&r), index = ward_msg_get_u32(&r);
		const bool any = ward_msg_get_u32(&r) != 0;
		ward_cleanup_free char *grant = ward_msg_get_str(&r);

		if (ward_msg_done(&r) == 0 && grant)
			ward_question_bind(fs, id, index, any, grant);
		return 0;
	}
	if (r.type == WARD_MSG_FS_ASK_END) {
		const uint32_t id = ward_msg_get_u32(&r), of_paths = ward_msg_get_u32(&r);
		const bool refused = ward_msg_get_u32(&r) != 0;
		const uint32_t rest = ward_msg_get_u32(&r);

		if (ward_msg_done(&r) == 0)
			ward_question_ended(fs, id, of_paths, refused, rest);
		return 0;
	}
	if (r.type == WARD_MSG_FS_SLEEP) {
		what = ward_msg_get_u32(&r);
		if (ward_msg_done(&r) == 0)
			ward_question_sleep(fs, what != 0);
		ward_buf_puts(&json, "{\"ok\":true}");
		return answer(&json) < 0;
	}
	if (r.type == WARD_MSG_FS_REPLAY && ward_msg_done(&r) == 0 && fd >= 0) {
		ward_replay_reach(fs->replay, ward_steal_fd(&fd));
		return 0;
	}
	if (r.type != WARD_MSG_FS_QUERY)
		return 0;
	what = ward_msg_get_u32(&r);
	if (ward_msg_done(&r) < 0)
		return 0;
	ward_query(fs, what, &json);
	return answer(&json) < 0;
}

/* Milliseconds until somebody has something to do here; -1: nobody has. */
static int next_tick(const struct ward_fs *fs)
{
	const int grants = ward_fs_grants_timeout(fs), steps = ward_fs_steps_timeout(fs);

	return grants < 0 || (steps >= 0 && steps < grants) ? steps : grants;
}

/* Until all sessions ended (0) or the supervisor is gone or says so (1). */
static int serve(struct ward_fs *fs, const struct server *s)
{
	struct pollfd p[3] = {{.fd = WARD_FD_CONTROL, .events = POLLIN},
		{.fd = s->done_fd, .events = POLLIN},
		{.fd = ward_fs_steps_fd(fs), .events = POLLIN}};
	uint64_t ended = 0, n;

	while (ended < fs->n_trees) {
		if (poll(p, 3, next_tick(fs)) < 0) {
			if (errno == EINTR)
				continue;
			return 1;
		}
		if (p[1].revents && read(s->done_fd, &n, sizeof(n)) == sizeof(n))
			ended += n;
		if (p[0].revents && obey(fs))
			return 1;
		if (ward_fs_grants_timeout(fs) == 0)
			ward_fs_grants_tick(fs);
		ward_fs_steps_tick(fs);
	}
	return 0;
}

/*
 * With its last process the mount is gone, and the kernel drops what it has not said yet
 * (fuse_abort_conn()): a RELEASE that never came is recorded here, and before that what others
 * changed and was not looked at yet. The transports and the pool have
 * ended: nobody releases a handle any more.
 */
static void record_left(const struct ward_fs *fs)
{
	for (size_t i = 0; i < fs->n_trees; i++) {
		ward_forget_thread_end(fs->trees[i].forgetter);
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
	ward_replay_end(fs->replay);
	for (size_t i = 0; i < fs->n_trees; i++)
		ward_transport_free(s->transports[i]);
	ward_pool_free(fs->pool);
	ward_delay_free(fs->delay);
	ward_questions_free(fs->questions);
	ward_fs_steps_free(fs->steps);
	ward_steps_queue_free(fs->steps_queue);
	ward_comm_clear(&fs->comm);
	for (size_t i = 0; i < fs->n_trees; i++) {
		fs->trees[i].ended = true;
		ward_forget_thread_free(fs->trees[i].forgetter);
		ward_ahead_free(fs->trees[i].ahead);
		ward_session_free(&fs->trees[i]);
		/* What any of those above has still to say looks whether it goes there. */
		ward_uring_free(fs->trees[i].uring);
		ward_beneath_free(&fs->trees[i]);
		ward_replaced_free(&fs->trees[i]);
		ward_nodes_free(fs->trees[i].nodes);
		ward_secrets_free(fs->trees[i].secrets);
		ward_forget_queue_free(fs->trees[i].forget);
		ward_watch_free(fs->trees[i].watch);
		free(fs->trees[i].path);
	}
	ward_replay_free(fs->replay);
	ward_quotas_free(fs->quotas);
	ward_shares_free(fs->shares);
	ward_moves_free(fs->moves);
	ward_host_ids_free(fs->host);
	pthread_rwlock_destroy(&fs->turn);
	ward_ring_close(fs->ring);
	ward_policy_unref(fs->policy);
	ward_policy_unref(fs->folded);
	ward_grants_free(fs->grants);
	free(fs->trees);
	free(fs->groups);
	free(fs->session);
	free(fs->via);
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

/* What the session has added: nothing is added any more. */
static void tell_quotas(struct ward_fs *fs)
{
	ward_cleanup(ward_buf_clear) struct ward_buf json = WARD_BUF_INIT;

	if (!ward_quotas_any(fs->quotas))
		return;
	for (size_t i = 0; i < fs->n_trees; i++)
		ward_replaced_end(&fs->trees[i]);
	ward_query(fs, WARD_FS_QUERY_QUOTA, &json);
	/* A helper that misses this message counts by itself. */
	if (ward_buf_error(&json) == 0)
		(void)tell(WARD_MSG_FS_ENDED, ward_buf_str(&json));
}

int main(int argc, char **argv)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_fs fs = {0};
	struct server s = {.done_fd = -1};
	uint32_t wake = 0;
	int r;

	r = ward_early_take(argc, argv);
	if (r < 0)
		_exit(ward_early_status(r));
	umask(0);
	/* Who asks waits for us, and a request is some microseconds of work. */
	ward_sched_turn(SCHED_OTHER, TURN_NS);
	s.done_fd = eventfd(0, EFD_CLOEXEC);
	r = s.done_fd < 0 ? -errno : 0;
	if (r == 0)
		r = prepare_beside(&fs, &err);
	if (r == 0)
		r = read_config(&fs, &wake, &err);
	if (r == 0)
		r = prepare(&fs, wake, &err);
	if (r == 0)
		r = confine(&fs, &err);
	if (r == 0)
		r = start(&fs, &s, wake, &err);
	if (r < 0) {
		(void)tell(WARD_MSG_FAILED, err.text);
		_exit(1);
	}
	/* The trees of a process come alike, but where the kernel refuses: then the first one
	 * tells. */
	if (tell(WARD_MSG_READY, ward_transport_name(s.transports[0])) < 0 || serve(&fs, &s))
		_exit(0); /* requests may be under way on other threads */
	/* A RELEASE may be with it: what makes a digest of a large file takes its time. */
	ward_pool_free(fs.pool);
	fs.pool = NULL;
	record_left(&fs);
	tell_quotas(&fs);
	/* Threads that wait for locks of a file system that is gone hold on to everything. */
	if (atomic_load(&fs.n_waiters) == 0)
		stop(&fs, &s);
	return 0;
}
