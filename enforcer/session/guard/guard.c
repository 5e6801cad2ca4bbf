/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and ends the guard of a session: state, rings, wardfs-audit, wardfs-fs. */
#include "enforcer/session/guard/guard.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/log/segments.h"
#include "audit/verify/prune.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/session/guard/crashed.h"
#include "enforcer/session/guard/host_service.h"
#include "enforcer/session/guard/segment_keeper.h"
#include "enforcer/session/guard/system_writer.h"

/* The file system ends by itself when its mounts are gone; this is how long it may take. */
#define FS_END_MS 5000
/* A writer with a megabyte of records to write and a slow disk. */
#define AUDIT_END_MS 60000
/* Looks at it meanwhile; one that is stopped at so many of them is stopped on purpose. */
#define AUDIT_LOOK_MS 1000
#define AUDIT_STOPPED_MAX 5
/* From a closed descriptor of the writer to the end of its process. */
#define WRITER_DEATH_MS 5000

static int spawn_writer(struct ward_guard *g, struct ward_err *err)
{
	struct ward_helper_fd fds[8 + WARD_GUARD_RINGS] = {
		{g->store.log_fd, WARD_FD_AUDIT_LOG},
		{g->store.ledger.fd, WARD_FD_AUDIT_LEDGER},
		{g->store.ledger.notes_fd, WARD_FD_AUDIT_LEDGER_CHECKPOINTS},
		{g->store.ledger.tree_fd, WARD_FD_AUDIT_LEDGER_TREE},
		{g->store.key_fd, WARD_FD_AUDIT_KEY},
		{g->wake, WARD_FD_RING_WAKE},
		{g->store.sign_fd, WARD_FD_AUDIT_SIGN},
		{g->store.checkpoints_fd, WARD_FD_AUDIT_CHECKPOINTS},
	};
	for (int i = 0; i < WARD_GUARD_RINGS; i++)
		fds[8 + i] = (struct ward_helper_fd){g->ring_fd[i], WARD_FD_AUDIT_RINGS + i};
	return ward_helper_spawn(&g->audit, fds, 8 + WARD_GUARD_RINGS, err);
}

/* From here on it writes, unless it is to wait: the session must be on disk. */
static void writer_config(
	const struct ward_guard *g, uint32_t flags, const char *cause, struct ward_msg *m)
{
	ward_msg_init(m, WARD_MSG_CONFIG);
	ward_msg_put_str(m, g->store.name);
	ward_msg_put_u32(m, WARD_GUARD_RINGS);
	ward_msg_put_u32(m, flags);
	ward_msg_put_str(m, cause);
	ward_msg_put_u32(m, g->sync);
	ward_msg_put_u64(m, g->checkpoint_records);
	ward_msg_put_u64(m, g->checkpoint_ms);
	ward_msg_put_u64(m, g->rotate);
	ward_msg_put_u64(m, g->keep_s);
}

static int configure_writer(
	struct ward_guard *g, uint32_t flags, const char *cause, struct ward_err *err)
{
	struct ward_msg m;
	writer_config(g, flags, cause, &m);
	int r = ward_helper_configure(&g->audit, &m, NULL, 0, err);
	ward_msg_clear(&m);
	return r;
}

static int start_writer(
	struct ward_guard *g, uint32_t flags, const char *cause, struct ward_err *err)
{
	int r = spawn_writer(g, err);
	return r < 0 ? r : configure_writer(g, flags, cause, err);
}

/*
 * The file system's is large enough for what a busy session does while the writer waits for the
 * disk, the others' for their few records.
 */
static const size_t ring_bytes[WARD_GUARD_RINGS] = {
	[WARD_GUARD_RING_OWN] = WARD_RING_BYTES / 4,
	[WARD_GUARD_RING_FS] = WARD_RING_BYTES,
	[WARD_GUARD_RING_NET] = WARD_RING_BYTES / 4,
};

static int open_rings(struct ward_guard *g, struct ward_err *err)
{
	int r = 0;
	for (int i = 0; r == 0 && i < WARD_GUARD_RINGS; i++)
		r = g->ring_fd[i] >= 0 ? 0 : ward_ring_create(ring_bytes[i], &g->ring_fd[i], err);
	if (r < 0)
		return r;
	if (g->wake < 0)
		g->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (g->wake < 0)
		return ward_err_sys(err, -errno, "eventfd");
	r = ward_ring_open(g->ring_fd[WARD_GUARD_RING_OWN], g->wake, &g->ring, err);
	if (r == 0)
		r = ward_ring_open(g->ring_fd[WARD_GUARD_RING_FS], g->wake, &g->fs_ring, err);
	if (r == 0)
		r = ward_ring_open(g->ring_fd[WARD_GUARD_RING_NET], g->wake, &g->net_ring, err);
	return r;
}

static int mark(struct ward_guard *g, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	int r = ward_crashed_mark((enum ward_audit_sync)g->sync, &text, err);
	if (r == 0)
		r = ward_store_mark(g->state, g->store.name, ward_buf_str(&text), &g->mark, err);
	return r;
}

static int end_crashed(
	struct ward_store *st, const char *name, const char *cause, struct ward_err *err);

void ward_guard_early(struct ward_guard_early *a)
{
	/* The file system first: it takes longer to load. */
	if (ward_helper_prepare("wardfs-fs", &a->fs, NULL) == 0)
		ward_helper_early(&a->fs);
	if (ward_helper_prepare("wardfs-audit", &a->audit, NULL) == 0)
		ward_helper_early(&a->audit);
}

void ward_guard_take_early(struct ward_guard *g, struct ward_guard_early *a)
{
	g->audit = a->audit;
	g->fs = a->fs;
	*a = WARD_GUARD_EARLY_INIT;
}

void ward_guard_early_clear(struct ward_guard_early *a)
{
	ward_helper_close(&a->fs);
	ward_helper_close(&a->audit);
}

/* Unless it was started early. */
static int prepared(const char *name, struct ward_helper *h, struct ward_err *err)
{
	return h->control >= 0 ? 0 : ward_helper_prepare(name, h, err);
}

int ward_guard_take_place(struct ward_guard *g, const char *state, const char *name,
	const void *policy, size_t len, struct ward_err *err)
{
	int r = ward_store_open(state, true, &g->state, err);
	if (r < 0)
		return r;
	ward_crashed_sweep(g->state, end_crashed);
	ward_prune_daily(g->state);
	r = ward_store_create_session(g->state, name, policy, len, &g->store, err);
	if (r == 0)
		r = mark(g, err);
	return r < 0 ? r : prepared("wardfs-audit", &g->audit, err);
}

/* What a supervisor has open, several times over. */
#define FDS 256

/* The session is on disk, and then the writer may begin with it. */
static int put_on_disk(struct ward_guard *g, struct ward_err *err)
{
	int r = ward_store_sync(g->state, &g->store, g->mark, err);
	return r < 0 ? r : configure_writer(g, 0, "", err);
}

/* While the writer is started: nothing of it is looked at here but the socket to it. */
static void *sync_thread(void *arg)
{
	struct ward_guard *g = arg;
	struct ward_msg m;
	g->synced = ward_store_sync(g->state, &g->store, g->mark, &g->sync_err);
	if (g->synced < 0)
		return NULL;
	ward_msg_init(&m, WARD_MSG_AUDIT_BEGIN);
	g->sent = ward_msg_send(g->audit.control, &m, NULL, 0);
	ward_msg_clear(&m);
	return NULL;
}

/* The disk takes its time beside all that is prepared; without a thread, ward_guard_start() waits.
 */
static void begin_sync(struct ward_guard *g)
{
	ward_fd_room(FDS);
	g->syncing = pthread_create(&g->syncer, NULL, sync_thread, g) == 0;
	g->in_thread = g->syncing;
}

int ward_guard_open(const char *state, const char *name, const struct ward_policy *policy,
	struct ward_guard *g, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	const struct ward_settings *s = ward_policy_settings(policy);
	g->sync = s->sync;
	g->checkpoint_records = s->checkpoint_records;
	g->checkpoint_ms = s->checkpoint_ms;
	g->rotate = s->rotate < WARD_SEGMENT_MIN ? WARD_SEGMENT_MIN : s->rotate;
	g->keep_s = s->keep_ns / WARD_NS_PER_SEC;
	if (g->keep_s < g->keep_min_s)
		g->keep_s = g->keep_min_s;
	int r = ward_policy_encode(policy, &blob);
	if (r < 0)
		return ward_err_sys(err, r, "policy");
	r = ward_fd_sealed("wardfs-policy", blob.data, blob.len, &g->policy_fd, err);
	if (r == 0 && s->writer == WARD_WRITER_SYSTEM)
		r = ward_system_open(g, state, name, err);
	else if (r == 0)
		r = ward_guard_take_place(g, state, name, blob.data, blob.len, err);
	if (r == 0)
		r = prepared("wardfs-fs", &g->fs, err);
	if (r == 0 && !g->system)
		begin_sync(g);
	return r;
}

int ward_guard_add_policy(
	struct ward_guard *g, unsigned n, const void *policy, size_t len, struct ward_err *err)
{
	return g->system ? ward_system_policy(g, n, policy, len, err)
			 : ward_store_add_policy(&g->store, n, policy, len, err);
}

void ward_guard_drop_policy(struct ward_guard *g, unsigned n)
{
	if (!g->system)
		ward_store_drop_policy(&g->store, n);
	else
		(void)!ward_system_policy(g, n, NULL, 0, NULL);
}

void ward_guard_share(struct ward_guard *g, int moves)
{
	struct stat st;
	g->moves = moves;
	if (fstat(moves, &st) == 0)
		snprintf(g->moves_file, sizeof(g->moves_file), "%llu:%llu",
			(unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
}

/* A lock of wardfs-fs' on it ends with wardfs-fs, as nobody else has that descriptor open. */
static void close_moves(struct ward_guard *g)
{
	if (g->moves >= 0)
		close(g->moves);
	g->moves = -1;
}

static int spawn_fs(struct ward_guard *g, const struct ward_guard_tree *trees, size_t n_trees,
	struct ward_err *err)
{
	struct ward_helper_fd fds[6 + WARD_TREES_MAX] = {
		{g->policy_fd, WARD_FD_POLICY},
		{g->ring_fd[WARD_GUARD_RING_FS], WARD_FD_RING},
		{g->wake, WARD_FD_RING_WAKE},
	};
	if (n_trees > WARD_TREES_MAX)
		return ward_err_set(err, -E2BIG, "more than %d trees", WARD_TREES_MAX);
	size_t n = 3;
	if (g->moves >= 0)
		fds[n++] = (struct ward_helper_fd){g->moves, WARD_FD_FS_MOVES};
	if (g->review >= 0)
		fds[n++] = (struct ward_helper_fd){g->review, WARD_FD_FS_REVIEW};
	/* Root needs nobody for that. */
	if (geteuid() != 0)
		g->host = ward_host_service_connect(WARD_HOST_SOCKET);
	if (g->host >= 0)
		fds[n++] = (struct ward_helper_fd){g->host, WARD_FD_FS_HOST};
	for (size_t i = 0; i < n_trees; i++)
		fds[n++] = (struct ward_helper_fd){
			trees[i].backing, WARD_FD_FS_TREES + 2 * (int)i + 1};
	int r = ward_helper_spawn(&g->fs, fds, n, err);
	g->moving = g->moves >= 0;
	close_moves(g);
	g->hosted = g->host >= 0;
	if (g->hosted)
		close(g->host);
	g->host = -1;
	return r;
}

int ward_guard_on_disk(struct ward_guard *g, struct ward_err *err)
{
	if (!g->syncing)
		return 0;
	g->syncing = false;
	pthread_join(g->syncer, NULL);
	if (g->synced < 0 && err)
		*err = g->sync_err;
	return g->synced < 0 ? g->synced : ward_helper_configured(&g->audit, g->sent, err);
}

int ward_guard_start(struct ward_guard *g, const struct ward_guard_tree *trees, size_t n_trees,
	struct ward_err *err)
{
	int r = open_rings(g, err);
	if (r == 0)
		r = g->system ? ward_system_start(g, err) : spawn_writer(g, err);
	if (r == 0 && n_trees)
		r = spawn_fs(g, trees, n_trees, err);
	if (r < 0 || g->system)
		return r;
	return g->in_thread ? configure_writer(g, WARD_AUDIT_WAIT, "", err) : put_on_disk(g, err);
}

static void put_fs_config(struct ward_msg *m, const struct ward_guard *g,
	const struct ward_identity *id, uint32_t flags, const struct ward_guard_tree *trees,
	size_t n_trees)
{
	ward_msg_init(m, WARD_MSG_CONFIG);
	ward_msg_put_str(m, g->store.name);
	ward_msg_put_u32(m, flags | (g->moving ? WARD_FS_MOVES : 0) |
				    (g->hosted ? WARD_FS_HOST : 0) |
				    (g->review >= 0 ? WARD_FS_REVIEW : 0));
	ward_msg_put_u32(m, id->owner_uid);
	ward_msg_put_u32(m, id->owner_gid);
	ward_msg_put_u32(m, (uint32_t)id->n_groups);
	for (size_t i = 0; i < id->n_groups; i++)
		ward_msg_put_u32(m, id->groups[i]);
	ward_msg_put_u32(m, id->agent_uid);
	ward_msg_put_u32(m, id->agent_gid);
	ward_msg_put_u32(m, (uint32_t)n_trees);
	for (size_t i = 0; i < n_trees; i++) {
		ward_msg_put_str(m, trees[i].path);
		ward_msg_put_u32(m, trees[i].elsewhere);
		ward_msg_put_u32(m, trees[i].kind);
	}
	ward_msg_put_u32(m, 0);
	ward_msg_put_str(m, g->via);
}

int ward_guard_serve(struct ward_guard *g, const struct ward_identity *id, uint32_t flags,
	const struct ward_guard_tree *trees, size_t n_trees, struct ward_err *err)
{
	int fuse[WARD_TREES_MAX];
	if (n_trees > WARD_TREES_MAX)
		return ward_err_set(err, -E2BIG, "more than %d trees", WARD_TREES_MAX);
	for (size_t i = 0; i < n_trees; i++)
		fuse[i] = trees[i].fuse;
	struct ward_msg m;
	put_fs_config(&m, g, id, flags, trees, n_trees);
	int r = ward_helper_configure(&g->fs, &m, fuse, n_trees, err);
	ward_msg_clear(&m);
	g->served = r == 0;
	return r;
}

int ward_guard_replay_open(struct ward_guard *g, int *ret_inside, struct ward_err *err)
{
	const int on = 1;
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return ward_err_sys(err, -errno, "socketpair");
	g->replay = ends[0];
	*ret_inside = ends[1];
	/* wardfs-fs, which may not set it, is to hear from the kernel who speaks. */
	if (setsockopt(g->replay, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return ward_err_sys(err, -errno, "SO_PASSCRED");
	return 0;
}

int ward_guard_replay(struct ward_guard *g, struct ward_err *err)
{
	struct ward_msg m;
	if (g->replay < 0)
		return 0;
	ward_msg_init(&m, WARD_MSG_FS_REPLAY);
	int r = ward_msg_send(g->fs.control, &m, &g->replay, 1);
	ward_msg_clear(&m);
	close(g->replay);
	g->replay = -1;
	/* It has ended: ward_guard_wait() reads why. */
	if (r == -EPIPE || r == -ECONNRESET)
		r = 0;
	return r < 0 ? ward_err_sys(err, r, "tell wardfs-fs who replays changes") : 0;
}

int ward_guard_freezer(struct ward_guard *g, int fds[WARD_FREEZER_FILES], struct ward_err *err)
{
	int r = 0;
	for (uint32_t i = 0; i < WARD_FREEZER_FILES; i++) {
		struct ward_msg m;
		ward_msg_init(&m, WARD_MSG_FS_FREEZER);
		ward_msg_put_u32(&m, i);
		if (r == 0)
			r = ward_msg_send(g->fs.control, &m, &fds[i], 1);
		ward_msg_clear(&m);
		ward_fd_drop(fds[i]);
		fds[i] = -1;
	}
	/* As of ward_guard_replay(). */
	if (r == -EPIPE || r == -ECONNRESET)
		r = 0;
	return r < 0 ? ward_err_sys(err, r, "tell wardfs-fs how the session is held still") : 0;
}

int ward_guard_wait(struct ward_guard *g, struct ward_err *err)
{
	int r = ward_guard_on_disk(g, err);
	if (r == 0)
		r = ward_helper_wait_ready(&g->audit, NULL, err);
	g->ready = r == 0;
	/* A session without trees has no file system. */
	if (r == 0 && g->fs.pid > 0)
		r = ward_helper_wait_ready(&g->fs, &g->transport, err);
	return r;
}

int ward_guard_put(struct ward_guard *g, const struct ward_event *ev)
{
	return g->ring ? ward_ring_put(g->ring, ev) : -EIO;
}

void ward_guard_summary_clear(struct ward_guard_summary *s)
{
	for (size_t i = 0; i < s->n_first; i++) {
		free(s->first[i].verdict);
		free(s->first[i].action);
		free(s->first[i].path);
		free(s->first[i].rule);
	}
	free(s->hidden);
	free(s->unreached);
	*s = (struct ward_guard_summary){0};
}

static int read_summary(struct ward_msg_reader *m, struct ward_guard_summary *s)
{
	s->records = ward_msg_get_u64(m);
	s->refusals = ward_msg_get_u64(m);
	s->expected = ward_msg_get_u64(m);
	s->hidden = ward_msg_get_str(m);
	s->unreached = ward_msg_get_str(m);
	uint32_t n = ward_msg_get_u32(m);
	if (n > WARD_GUARD_FIRST)
		return -EBADMSG;
	for (uint32_t i = 0; i < n && !m->bad; i++) {
		struct ward_guard_refusal *f = &s->first[s->n_first++];
		f->verdict = ward_msg_get_str(m);
		f->action = ward_msg_get_str(m);
		f->path = ward_msg_get_str(m);
		f->rule = ward_msg_get_str(m);
	}
	return ward_msg_done(m);
}

static int tell_finish(struct ward_guard *g)
{
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_AUDIT_FINISH);
	int r = ward_msg_send(g->audit.control, &m, NULL, 0);
	ward_msg_clear(&m);
	return r;
}

void ward_guard_last_word(struct ward_guard *g)
{
	/* It writes what the rings hold on request; the file system's last records come first.
	 */
	if (g->fs.pid <= 0 && g->audit.pid > 0)
		g->told_to_finish = tell_finish(g) == 0;
}

/* A message of the writer. False: there is none in time; it is continued if it is stopped. */
static bool writer_speaks(const struct ward_guard *g)
{
	struct pollfd p = {.fd = g->audit.control, .events = POLLIN};
	int stopped = 0;
	for (int waited = 0; waited < AUDIT_END_MS && stopped < AUDIT_STOPPED_MAX;) {
		int n = poll(&p, 1, AUDIT_LOOK_MS);
		if (n > 0)
			return true;
		if (n < 0 && errno != EINTR)
			return true; /* reading from it says why */
		if (n < 0)
			continue;
		waited += AUDIT_LOOK_MS;
		stopped += ward_helper_continue(&g->audit);
	}
	return false;
}

/* Asks the writer to finish and takes its summary. -EPIPE: it died over it; -ETIMEDOUT. */
static int finish_writer(
	struct ward_guard *g, struct ward_guard_summary *summary, struct ward_err *err)
{
	int r = g->told_to_finish ? 0 : tell_finish(g);
	g->told_to_finish = false; /* another writer is another one */
	ward_cleanup_free char *buf = malloc(WARD_MSG_MAX);
	if (!buf)
		return -ENOMEM;
	while (r == 0) {
		if (!writer_speaks(g))
			return ward_err_set(err, -ETIMEDOUT,
				"could not finish the trail: its writer does not answer");
		ssize_t len = ward_msg_recv(g->audit.control, buf, WARD_MSG_MAX, NULL, NULL);
		if (len <= 0)
			return -EPIPE;
		struct ward_msg_reader rd;
		ward_msg_reader_init(&rd, buf, (size_t)len);
		if (rd.type == WARD_MSG_AUDIT_BROKEN) {
			ward_cleanup_free char *text = ward_msg_get_str(&rd);
			return ward_err_set(
				err, -EIO, "cannot write the trail: %s", text ? text : "?");
		}
		if (rd.type == WARD_MSG_SYSTEM_DIED)
			return -EPIPE;
		if (rd.type != WARD_MSG_AUDIT_SUMMARY) {
			/*
			 * It wants no segment any more; and what it had not read when it ends would
			 * reset the connection before its summary is here.
			 */
			if (rd.type == WARD_MSG_AUDIT_BEGUN)
				(void)ward_segments_message(g, &rd);
			continue;
		}
		struct ward_guard_summary s = {0};
		r = read_summary(&rd, &s);
		if (r == 0 && summary)
			*summary = s;
		else
			ward_guard_summary_clear(&s);
		int status = ward_helper_reap(&g->audit, AUDIT_END_MS, false);
		return r == 0 && status == 0 ? 0 : -EIO;
	}
	return -EPIPE;
}

void ward_guard_writer_died(struct ward_guard *g)
{
	g->told_dead = true;
	if (g->fs_ring)
		ward_ring_fail(g->fs_ring, true);
	if (g->net_ring)
		ward_ring_fail(g->net_ring, true);
}

bool ward_guard_writer_ended(struct ward_guard *g)
{
	return g->audit.pid > 0 &&
	       ward_helper_reap(&g->audit, g->told_dead ? WRITER_DEATH_MS : 0, false) >= 0;
}

int ward_guard_recover(struct ward_guard *g, const char *cause, struct ward_err *err)
{
	g->told_dead = false;
	if (g->system)
		return ward_system_recover(g, err);
	ward_helper_reap(&g->audit, 0, true);
	ward_helper_close(&g->audit);
	/* It may have died between two segments. */
	int r = ward_store_last_segment(&g->store, err);
	if (g->next_fd >= 0)
		close(g->next_fd);
	g->next_fd = -1;
	if (r == 0)
		r = ward_helper_prepare("wardfs-audit", &g->audit, err);
	if (r == 0)
		r = start_writer(g, WARD_AUDIT_RECOVER, cause, err);
	if (r == 0)
		r = ward_helper_wait_ready(&g->audit, NULL, err);
	return r < 0 ? ward_err_wrap(err, "recovering the trail") : 0;
}

/* Only the files of the session are left: a writer ends its trail. */
static int end_crashed(
	struct ward_store *st, const char *name, const char *cause, struct ward_err *err)
{
	struct ward_guard g = WARD_GUARD_INIT;
	int r = ward_store_reopen_session(st, name, &g.store, err);
	if (r == 0)
		r = open_rings(&g, err);
	if (r == 0)
		r = ward_guard_recover(&g, cause, err);
	if (r == 0)
		r = finish_writer(&g, NULL, err);
	ward_guard_close(&g);
	return r;
}

/* Another writer ends the trail: -EIO then. */
static int finish_again(struct ward_guard *g, const char *cause, struct ward_guard_summary *summary,
	struct ward_err *err)
{
	int r = ward_guard_recover(g, cause, err);
	if (r == 0)
		r = finish_writer(g, summary, err);
	g->ended = r == 0;
	return r < 0 ? r : ward_err_set(err, -EIO, "%s; a second one wrote what was left", cause);
}

int ward_guard_finish(
	struct ward_guard *g, struct ward_guard_summary *summary, struct ward_err *err)
{
	/* No mount will end it. */
	if (g->fs.pid > 0 && !g->served)
		(void)!ward_helper_reap(&g->fs, 0, true);
	if (g->fs.pid > 0 && ward_helper_reap(&g->fs, FS_END_MS, false) == -ETIMEDOUT) {
		struct ward_msg m;
		ward_msg_init(&m, WARD_MSG_FS_STOP);
		int sent = ward_msg_send(g->fs.control, &m, NULL, 0);
		ward_msg_clear(&m);
		if (sent < 0 || ward_helper_reap(&g->fs, FS_END_MS, false) == -ETIMEDOUT)
			ward_helper_reap(&g->fs, 0, true);
	}
	if (g->audit.pid <= 0)
		return ward_err_set(err, -EIO, "the trail's writer is gone");
	int r = finish_writer(g, summary, err);
	if (r == -EPIPE)
		r = finish_again(g, "the writer died while it finished the trail", summary, err);
	else if (r == -ETIMEDOUT && ward_helper_reap(&g->audit, 0, true) >= 0 && !g->system)
		r = finish_again(g, "the writer did not answer and was ended", summary, err);
	else
		g->ended = r == 0;
	return r;
}

void ward_guard_close(struct ward_guard *g)
{
	(void)!ward_guard_on_disk(g, NULL);
	ward_helper_reap(&g->fs, 0, true);
	ward_helper_close(&g->fs);
	if (g->replay >= 0)
		close(g->replay);
	close_moves(g);
	if (g->review >= 0)
		close(g->review);
	/* Without us the writer writes what the rings hold, says so, and ends by itself. */
	if (g->audit.control >= 0)
		close(g->audit.control);
	g->audit.control = -1;
	bool ran = g->audit.pid > 0;
	int status = ward_helper_reap(&g->audit, AUDIT_END_MS, false);
	if (status == -ETIMEDOUT)
		ward_helper_reap(&g->audit, 0, true);
	/* Its way to say that the trail has its end (audit/write/main.c). */
	g->ended |= ran && status == 0;
	ward_helper_close(&g->audit);
	ward_segments_end(g);
	ward_ring_close(g->ring);
	ward_ring_close(g->fs_ring);
	ward_ring_close(g->net_ring);
	/* The writer can have come to the ledger, and no further: the next start ends it, then. */
	const bool begun = !g->ready && !g->ended && g->state && g->store.log_fd >= 0 &&
			   !g->system &&
			   ward_crashed_begun(g->state, g->store.ledger.fd, g->store.name);
	/* A mark that stays makes the next start look, no more. */
	if (g->mark >= 0 && (g->ended || (!g->ready && !begun)))
		(void)!ward_store_unmark(g->state, g->store.name);
	if (g->mark >= 0)
		close(g->mark);
	for (int i = 0; i < WARD_GUARD_RINGS; i++)
		if (g->ring_fd[i] >= 0)
			close(g->ring_fd[i]);
	free(g->transport);
	if (g->wake >= 0)
		close(g->wake);
	if (g->policy_fd >= 0)
		close(g->policy_fd);
	if (!g->ready && !begun && g->state && !g->system)
		ward_store_discard_session(g->state, &g->store);
	ward_store_session_close(&g->store);
	ward_store_close(g->state);
	*g = WARD_GUARD_INIT;
}
