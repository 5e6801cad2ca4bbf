/* SPDX-License-Identifier: Apache-2.0 */
/* One connection to wardfs-auditd: writes the trail of one session for its supervisor. */
#include "enforcer/auditd/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/log/segments.h"
#include "audit/write/ledger.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/ipc/system.h"
#include "enforcer/session/guard/guard.h"
#include "enforcer/session/guard/segment_keeper.h"

/* A supervisor says what it wants at once, and starts soon after. */
#define FIRST_MS 10000
#define START_MS 60000
/* A writer that closed its socket ends within this time, or is ended. */
#define DEATH_MS 5000
/* To write what rings hold to a slow disk, and the end. */
#define END_MS 20000
/* No policy can say more, and the ledger's readers have room for it. */
#define KEEP_MAX_S (UINT64_MAX / WARD_NS_PER_SEC)
/* Where the packer cannot be waited for by its descriptor. */
#define PACK_LOOK_MS 1000

struct keeping {
	const struct ward_keeper *k;
	struct ward_guard g;
	char *path; /* of the state directory */
	uint8_t *buf;
	bool dead; /* the writer died, and no other one was asked for */
	bool over;
};

/* --- messages --- */

/* ret_fds: room for *n_fds, all closed by the caller. 0: the other side is gone, or too slow. */
static ssize_t hear(struct keeping *c, int ms, int *ret_fds, size_t *n_fds)
{
	struct pollfd p = {.fd = c->k->conn, .events = POLLIN};
	int n = 0;
	do {
		n = poll(&p, 1, ms);
	} while (n < 0 && errno == EINTR);
	return n <= 0 ? 0 : ward_msg_recv(c->k->conn, c->buf, WARD_MSG_MAX, ret_fds, n_fds);
}

/* If the other side is gone, or does not read, the next look at it says so. */
static void tell(struct keeping *c, struct ward_msg *m, const int *fd)
{
	if (ward_buf_error(&m->buf) < 0 || ward_msg_send(c->k->conn, m, fd, fd ? 1 : 0) < 0)
		c->over = true;
	ward_msg_clear(m);
}

static void tell_plain(struct keeping *c, uint32_t type)
{
	struct ward_msg m;
	ward_msg_init(&m, type);
	tell(c, &m, NULL);
}

static void tell_failed(struct keeping *c, const char *text)
{
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_FAILED);
	ward_msg_put_str(&m, text);
	tell(c, &m, NULL);
	c->over = true;
}

/* --- what comes from the other side --- */

static bool is_fifo(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* Nothing but an eventfd has this name (fs/eventfd.c): a path begins with a slash. */
static bool is_eventfd(int fd)
{
	char link[32];
	char name[64];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, name, sizeof(name) - 1);
	if (n < 0)
		return false;
	name[n] = '\0';
	return strcmp(name, "anon_inode:[eventfd]") == 0;
}

/* A sealed memfd's: it is read without waiting for anybody, and says the same each time. */
static int read_sealed(int fd, struct ward_buf *ret, struct ward_err *err)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	int have = fcntl(fd, F_GET_SEALS);
	if (have < 0 || (have & seals) != seals)
		return ward_err_set(err, -EINVAL, "policy: not a sealed memory file");
	int r = ward_fd_pread_all(fd, WARD_SYSTEM_POLICY_MAX, ret);
	return r < 0 ? ward_err_sys(err, r, "policy") : 0;
}

/* --- a trail --- */

static int take_open(
	struct keeping *c, struct ward_msg_reader *m, int policy_fd, struct ward_err *err)
{
	struct ward_guard *g = &c->g;
	ward_cleanup(ward_buf_clear) struct ward_buf policy = WARD_BUF_INIT;
	ward_cleanup_free char *name = ward_msg_get_str(m);
	g->sync = ward_msg_get_u32(m);
	g->checkpoint_records = ward_msg_get_u64(m);
	g->checkpoint_ms = ward_msg_get_u64(m);
	uint64_t rotate = ward_msg_get_u64(m);
	uint64_t keep = ward_msg_get_u64(m);
	if (ward_msg_done(m) < 0 || !name || g->sync > WARD_SYNC_CLOSE || policy_fd < 0)
		return ward_err_set(err, -EBADMSG, "not understood");
	g->rotate = rotate < WARD_SEGMENT_MIN ? WARD_SEGMENT_MIN : rotate;
	keep = keep < c->k->keep_min ? c->k->keep_min : keep;
	g->keep_s = keep > KEEP_MAX_S ? KEEP_MAX_S : keep;
	int r = read_sealed(policy_fd, &policy, err);
	return r < 0 ? r
		     : ward_guard_take_place(
			       g, c->path, name[0] ? name : NULL, policy.data, policy.len, err);
}

/* The trails of root are root's alone as it is. */
static int let_read(struct keeping *c, struct ward_err *err)
{
	struct ward_store *st = NULL;
	int r = ward_store_open(c->path, true, &st, err);
	if (r == 0 && c->k->uid != 0)
		r = ward_store_let_read(st, c->k->uid, err);
	ward_store_close(st);
	/* They bind nevertheless; it is the journal that says why only root can read them. */
	if (r == -EOPNOTSUPP) {
		ward_tellf("wardfs-auditd: %s\n", err->text);
		*err = WARD_ERR_INIT;
		return 0;
	}
	return r;
}

static int tell_opened(struct keeping *c, struct ward_err *err)
{
	struct ward_msg m;
	char link[32];
	/* Not our own, which can write. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", c->g.store.checkpoints_fd);
	ward_cleanup_fd int fd = open(link, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ward_err_sys(err, -errno, "checkpoints");
	ward_msg_init(&m, WARD_MSG_SYSTEM_OPENED);
	ward_msg_put_str(&m, c->g.store.name);
	tell(c, &m, &fd);
	return 0;
}

static int tell_started(struct keeping *c)
{
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_SYSTEM_STARTED);
	ward_msg_put_u32(&m, (uint32_t)c->g.audit.pid);
	tell(c, &m, &c->g.audit.pidfd);
	return 0;
}

/* The descriptors are the guard's from here on. */
static int take_start(struct keeping *c, struct ward_msg_reader *m, const int fds[], size_t n_fds,
	struct ward_err *err)
{
	struct ward_guard *g = &c->g;
	if (m->type != WARD_MSG_SYSTEM_START || ward_msg_done(m) < 0 ||
		n_fds != WARD_SYSTEM_START_FDS || !is_eventfd(fds[WARD_SYSTEM_RINGS]) ||
		!is_fifo(fds[WARD_SYSTEM_RINGS + 1])) {
		for (size_t i = 0; i < n_fds; i++)
			close(fds[i]);
		return ward_err_set(err, -EBADMSG, "not understood");
	}
	for (int i = 0; i < WARD_SYSTEM_RINGS; i++)
		g->ring_fd[i] = fds[i];
	g->wake = fds[WARD_SYSTEM_RINGS];
	/* The writer's lifeline is the supervisor's pipe: its sandbox ends when the writer does. */
	close(g->audit.lifeline);
	close(g->audit.child_lifeline);
	g->audit.lifeline = -1;
	g->audit.child_lifeline = fds[WARD_SYSTEM_RINGS + 1];
	return ward_guard_start(g, NULL, 0, err);
}

static int start(struct keeping *c, struct ward_err *err)
{
	int fds[WARD_SYSTEM_START_FDS];
	size_t n_fds = WARD_SYSTEM_START_FDS;
	struct ward_msg_reader m;
	ssize_t n = hear(c, START_MS, fds, &n_fds);
	if (n <= 0)
		return ward_err_set(err, -EPIPE, "gone before it started");
	ward_msg_reader_init(&m, c->buf, (size_t)n);
	int r = take_start(c, &m, fds, n_fds, err);
	if (r == 0)
		r = tell_started(c);
	if (r == 0)
		r = ward_helper_wait_ready(&c->g.audit, NULL, err);
	if (r < 0)
		return r;
	c->g.ready = true;
	tell_plain(c, WARD_MSG_READY);
	return 0;
}

/* --- while it is written --- */

static void writer_died(struct keeping *c)
{
	struct ward_guard *g = &c->g;
	ward_guard_writer_died(g);
	if (ward_helper_reap(&g->audit, DEATH_MS, false) == -ETIMEDOUT)
		ward_helper_reap(&g->audit, 0, true);
	ward_helper_close(&g->audit);
	c->dead = true;
	tell_plain(c, WARD_MSG_SYSTEM_DIED);
}

static void from_writer(struct keeping *c)
{
	struct ward_msg_reader m;
	ssize_t n = ward_msg_recv(c->g.audit.control, c->buf, WARD_MSG_MAX, NULL, NULL);
	if (n <= 0) {
		writer_died(c);
		return;
	}
	ward_msg_reader_init(&m, c->buf, (size_t)n);
	if (ward_segments_message(&c->g, &m))
		return;
	if (m.type != WARD_MSG_AUDIT_BROKEN && m.type != WARD_MSG_AUDIT_BURST)
		return;
	/* As it is. Who does not read shall not keep us from the writer. */
	if (send(c->k->conn, c->buf, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EAGAIN)
		c->over = true;
}

static void tell_summary(struct keeping *c, const struct ward_guard_summary *s)
{
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_AUDIT_SUMMARY);
	ward_msg_put_u64(&m, s->records);
	ward_msg_put_u64(&m, s->refusals);
	ward_msg_put_u64(&m, s->expected);
	ward_msg_put_str(&m, s->hidden ? s->hidden : "");
	ward_msg_put_str(&m, s->unreached ? s->unreached : "");
	ward_msg_put_u32(&m, (uint32_t)s->n_first);
	for (size_t i = 0; i < s->n_first; i++) {
		ward_msg_put_str(&m, s->first[i].verdict);
		ward_msg_put_str(&m, s->first[i].action);
		ward_msg_put_str(&m, s->first[i].path);
		ward_msg_put_str(&m, s->first[i].rule);
	}
	tell(c, &m, NULL);
}

static int finish(struct keeping *c, struct ward_err *err)
{
	ward_cleanup(ward_guard_summary_clear) struct ward_guard_summary s = {0};
	c->over = true;
	int r = ward_guard_finish(&c->g, &s, err);
	if (r == 0)
		tell_summary(c, &s);
	return r;
}

/* The writer died: what the rings hold goes into the trail nevertheless. */
static int recover(struct keeping *c, struct ward_err *err)
{
	int r = ward_guard_recover(&c->g, "wardfs-audit died", err);
	c->dead = r < 0;
	return r;
}

static int take_policy(struct keeping *c, struct ward_msg_reader *m, int fd, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	uint32_t n = ward_msg_get_u32(m);
	if (ward_msg_done(m) < 0 || n == 0)
		return ward_err_set(err, -EBADMSG, "not understood");
	if (fd < 0) {
		ward_store_drop_policy(&c->g.store, n);
		return 0;
	}
	int r = read_sealed(fd, &text, err);
	return r < 0 ? r : ward_store_add_policy(&c->g.store, n, text.data, text.len, err);
}

static int from_supervisor(struct keeping *c, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	size_t n_fds = 1;
	struct ward_msg_reader m = {0};
	ssize_t n = ward_msg_recv(c->k->conn, c->buf, WARD_MSG_MAX, &fd, &n_fds);
	c->over = n <= 0;
	if (c->over)
		return 0;
	ward_msg_reader_init(&m, c->buf, (size_t)n);
	if (m.type == WARD_MSG_AUDIT_FINISH && ward_msg_done(&m) == 0 && !c->dead)
		return finish(c, err);
	if (m.type == WARD_MSG_SYSTEM_POLICY)
		return take_policy(c, &m, fd, err);
	if (m.type != WARD_MSG_SYSTEM_RECOVER || ward_msg_done(&m) < 0 || !c->dead)
		return ward_err_set(err, -EBADMSG, "not understood");
	int r = recover(c, err);
	if (r == 0)
		r = tell_started(c);
	if (r == 0)
		tell_plain(c, WARD_MSG_READY);
	return r;
}

/* The writer writes what the rings hold, says why, and ends by itself. */
static bool ended_by_itself(struct ward_guard *g)
{
	if (g->audit.control >= 0)
		close(g->audit.control);
	g->audit.control = -1;
	int status = g->audit.pid > 0 ? ward_helper_reap(&g->audit, END_MS, false) : -ESRCH;
	if (status == -ETIMEDOUT)
		ward_helper_reap(&g->audit, 0, true);
	return status == 0;
}

/*
 * The supervisor is gone. A writer that hangs can have been made to by it: the eventfd is shared,
 * and one of its flags says whether a read waits. So the one after it gets another.
 */
static int end_alone(struct keeping *c)
{
	struct ward_guard *g = &c->g;
	g->ended = !c->dead && ended_by_itself(g);
	if (g->ended)
		return 0;
	close(g->wake);
	g->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int r = recover(c, NULL);
	g->ended = r == 0 && ended_by_itself(g);
	return g->ended ? 0 : -EIO;
}

static int keep(struct keeping *c, struct ward_err *err)
{
	int r = 0;
	while (r == 0 && !c->over) {
		struct pollfd p[] = {{.fd = c->k->conn, .events = POLLIN},
			{.fd = c->g.audit.control, .events = POLLIN},
			{.fd = c->g.packer.pidfd, .events = POLLIN}};
		if (poll(p, 3, -1) < 0) {
			if (errno == EINTR)
				continue;
			return ward_err_sys(err, -errno, "poll");
		}
		if (p[1].revents)
			from_writer(c);
		if (p[0].revents)
			r = from_supervisor(c, err);
		ward_segments_tick(&c->g);
	}
	/* Gone, whatever it said last: nobody else will ask for the end of what is begun. */
	return c->g.ended || end_alone(c) == 0 || r < 0
		       ? r
		       : ward_err_set(err, -EIO, "a trail has no end yet");
}

/*
 * Nobody waits any more: what is plain still is compressed, by processes that have nothing but the
 * two files (session/guard/segment_keeper.h), one after the other.
 */
static void pack_all(struct keeping *c)
{
	struct ward_guard *g = &c->g;
	/* Its writer is gone: the last one is like those before. */
	g->store.segment++;
	for (ward_segments_tick(g); g->packer.pid > 0; ward_segments_tick(g)) {
		struct pollfd p = {.fd = g->packer.pidfd, .events = POLLIN};
		(void)poll(&p, 1, PACK_LOOK_MS);
	}
}

static int serve_trail(struct keeping *c, struct ward_msg_reader *m, int fd, struct ward_err *err)
{
	int r = let_read(c, err);
	if (r == 0)
		r = take_open(c, m, fd, err);
	if (r == 0)
		r = tell_opened(c, err);
	if (r == 0)
		r = start(c, err);
	if (r < 0) {
		tell_failed(c, err->text);
		return r;
	}
	r = keep(c, err);
	if (c->g.ended) {
		/* The other side shall not wait for what is left to do. */
		(void)shutdown(c->k->conn, SHUT_RDWR);
		pack_all(c);
	}
	return r;
}

/* --- who reads --- */

static bool is_verb(const char *verb)
{
	size_t n = strspn(verb, "abcdefghijklmnopqrstuvwxyz");
	return n > 0 && n <= 16 && verb[n] == '\0';
}

static int serve_read(struct keeping *c, struct ward_msg_reader *m, struct ward_err *err)
{
	uint8_t root[WARD_KEY_BYTES];
	struct ward_store *st = NULL;
	ward_cleanup_fd int dir = -1;
	ward_cleanup(ward_ledger_files_close) struct ward_ledger_files ledger =
		WARD_LEDGER_FILES_INIT;
	ward_cleanup_free char *session = ward_msg_get_str(m);
	ward_cleanup_free char *verb = ward_msg_get_str(m);
	ward_cleanup_free char *question = ward_msg_get_str(m);
	int r = ward_msg_done(m) < 0 || !session || !verb || !question || !is_verb(verb)
			? ward_err_set(err, -EBADMSG, "not understood")
			: ward_store_open(c->path, false, &st, err);
	if (r == 0 && *session)
		r = ward_store_open_session(st, session, &dir, err);
	if (r == 0)
		r = ward_store_extend_ledger(st, &ledger, err);
	if (r == 0)
		r = ward_store_read_key(st, root, err);
	if (r == 0)
		r = *session ? ward_ledger_read(&ledger, root, session, verb, c->k->uid, err)
			     : ward_ledger_question(&ledger, root, verb, question, c->k->uid, err);
	ward_chain_wipe(root, sizeof(root));
	ward_store_close(st);
	if (r < 0)
		tell_failed(c, err->text);
	else
		tell_plain(c, WARD_MSG_READY);
	return r;
}

int ward_keeper_serve(const struct ward_keeper *k)
{
	struct ward_err err = WARD_ERR_INIT;
	struct keeping c = {.k = k, .g = WARD_GUARD_INIT, .buf = malloc(WARD_MSG_MAX)};
	ward_cleanup_fd int fd = -1;
	size_t n_fds = 1;
	int r = -ENOMEM;
	if (asprintf(&c.path, "%s/%u", k->top, (unsigned)k->uid) < 0)
		c.path = NULL;
	if (c.buf && c.path) {
		struct ward_msg_reader m = {0};
		ssize_t n = hear(&c, FIRST_MS, &fd, &n_fds);
		if (n > 0)
			ward_msg_reader_init(&m, c.buf, (size_t)n);
		r = n > 0 && m.type == WARD_MSG_SYSTEM_OPEN ? serve_trail(&c, &m, fd, &err)
		    : n > 0 && m.type == WARD_MSG_SYSTEM_READ
			    ? serve_read(&c, &m, &err)
			    : ward_err_set(&err, -EBADMSG, "nothing was asked for");
	}
	if (r < 0)
		ward_tellf("wardfs-auditd: user %u: %s\n", (unsigned)k->uid, err.text);
	ward_guard_close(&c.g);
	free(c.path);
	free(c.buf);
	return r < 0;
}
