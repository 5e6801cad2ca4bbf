/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers checkpoints to the anchor while a session runs. */
#include "enforcer/session/guard/anchor.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "audit/log/note.h"
#include "audit/log/tlog.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/session/guard/anchor_command.h"
#include "enforcer/session/guard/anchor_place.h"
#include "enforcer/session/owner/as_owner.h"

/* How often the file of checkpoints is looked at. */
#define LOOK_MS 500
/* A journal or syslog that does not take a message within this time has failed. */
#define SEND_MS 5000
#define JOURNAL "/run/systemd/journal/socket" /* systemd, "Native Journal Protocol" */
#define SYSLOG "/dev/log"		      /* syslog(3) */
/* RFC 3164: daemon (3) * 8 + notice (5) */
#define SYSLOG_PRIORITY 29
/* base64 of a note and its NUL */
#define NOTE64_MAX (((WARD_CHECKPOINT_MAX + 2) / 3) * 4 + 1)

struct note {
	const char *session; /* NULL: of the ledger */
	uint64_t size;
	size_t len;
	struct ward_checkpoint c;
	struct ward_tlog_note ledger;
	char text[WARD_CHECKPOINT_MAX];
};
/* "session NAME over N records", "the ledger over N entries" */
#define OF_FORM "%s%s over %" PRIu64 " %s"
#define OF_ARGS(n)                                                                                 \
	(n)->session ? "session " : "the ledger", (n)->session ? (n)->session : "", (n)->size,     \
		(n)->session ? "records" : "entries"
static_assert(WARD_TLOG_OWN_MAX <= WARD_CHECKPOINT_MAX, "one buffer for both");

struct anchor {
	const char *name; /* as the policy has it, borrowed */
	int (*deliver)(struct anchor *a, const struct note *n);
	const char *path; /* file:, exec: */
	int fd;		  /* file: */
	uint64_t offset;  /* in the file of checkpoints, of the first that it does not have */
	int error;	  /* of the last attempt */
	bool hosts; /* the floor's: with this process's rights, and from where no owner writes */
	const struct ward_identity *id;
};

struct ward_anchors {
	const struct ward_identity *id;
	int checkpoints_fd;
	int ledger_fd;
	bool unasked;  /* the journal, because it is there: the first and the last, if it takes them
			*/
	uint64_t seen; /* size of their file when it was last looked at */
	int stop;
	bool running;
	pthread_t thread;
	size_t n;
	struct anchor v[];
};

/* --- where to --- */

static int send_to(const char *path, const void *data, size_t len)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const struct timeval wait = {.tv_sec = SEND_MS / 1000};
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	/* syslog daemons listen on either type of socket. */
	static const int types[] = {SOCK_DGRAM, SOCK_STREAM};
	int r = -EPROTOTYPE;
	for (size_t i = 0; r == -EPROTOTYPE && i < sizeof(types) / sizeof(*types); i++) {
		ward_cleanup_fd int fd = socket(AF_UNIX, types[i] | SOCK_CLOEXEC, 0);
		if (fd < 0)
			return -errno;
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
		r = connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 ? -errno : 0;
		/* A stream's messages end with a NUL. */
		size_t n = len + (types[i] == SOCK_STREAM);
		if (r == 0 && send(fd, data, n, MSG_NOSIGNAL) != (ssize_t)n)
			r = errno ? -errno : -EIO;
	}
	return r;
}

static void base64(const struct note *n, char ret[NOTE64_MAX])
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t out = 0;
	for (size_t i = 0; i < n->len; i += 3) {
		size_t left = n->len - i;
		uint32_t v = (uint32_t)(unsigned char)n->text[i] << 16;
		v |= left > 1 ? (uint32_t)(unsigned char)n->text[i + 1] << 8 : 0;
		v |= left > 2 ? (uint32_t)(unsigned char)n->text[i + 2] : 0;
		ret[out++] = digit[v >> 18];
		ret[out++] = digit[v >> 12 & 63];
		ret[out++] = left > 1 ? digit[v >> 6 & 63] : '=';
		ret[out++] = left > 2 ? digit[v & 63] : '=';
	}
	ret[out] = '\0';
}

static int to_journal(struct anchor *a, const struct note *n)
{
	char text[WARD_CHECKPOINT_MAX + 512];
	int len = snprintf(text, sizeof(text),
		"MESSAGE=wardfs: checkpoint of " OF_FORM "\nPRIORITY=5\n"
		"SYSLOG_IDENTIFIER=wardfs\n%s=%s\n%s=%" PRIu64 "\nWARDFS_CHECKPOINT\n",
		OF_ARGS(n), n->session ? "WARDFS_SESSION" : "WARDFS_LEDGER",
		n->session ? n->session : n->ledger.origin,
		n->session ? "WARDFS_RECORDS" : "WARDFS_ENTRIES", n->size);
	if (len < 0 || (size_t)len + 8 + n->len + 1 > sizeof(text))
		return -E2BIG;
	/* A value with newlines: its length, 64 bits little-endian, then the bytes and a newline.
	 */
	for (unsigned i = 0; i < 8; i++)
		text[len++] = (char)((uint64_t)n->len >> (8 * i) & 255);
	memcpy(text + len, n->text, n->len);
	len += (int)n->len;
	text[len++] = '\n';
	return send_to(JOURNAL, text, (size_t)len);
}

static int to_syslog(struct anchor *a, const struct note *n)
{
	char text[NOTE64_MAX + 512];
	char when[32] = "";
	char note[NOTE64_MAX];
	time_t now = time(NULL);
	struct tm tm;
	base64(n, note);
	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%h %e %T", &tm);
	int len = snprintf(text, sizeof(text), "<%d>%s wardfs[%d]: checkpoint of " OF_FORM ": %s",
		SYSLOG_PRIORITY, when, (int)getpid(), OF_ARGS(n), note);
	if (len < 0 || (size_t)len >= sizeof(text))
		return -E2BIG;
	return send_to(SYSLOG, text, (size_t)len);
}

static int to_file(struct anchor *a, const struct note *n)
{
	int r = ward_fd_write_all(a->fd, n->text, n->len);
	return r == 0 && fdatasync(a->fd) < 0 ? -errno : r;
}

static int to_command(struct anchor *a, const struct note *n)
{
	return ward_anchor_exec(a->path, a->hosts ? NULL : a->id, n->text, n->len);
}

/* --- which --- */

static int open_as_owner(
	const struct ward_identity *id, const char *path, int flags, int *ret, struct ward_err *err)
{
	struct ward_as_owner owner;
	struct stat st;
	int r = ward_as_owner_begin(id, &owner, err);
	if (r < 0)
		return r;
	ward_cleanup_fd int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	r = fd < 0 ? -errno : 0;
	ward_as_owner_end(&owner);
	if (r == 0 && fstat(fd, &st) < 0)
		r = -errno;
	if (r == 0 && !S_ISREG(st.st_mode))
		r = -EINVAL;
	if (r < 0)
		return ward_err_sys(err, r, "anchor %s", path);
	*ret = ward_steal_fd(&fd);
	return 0;
}

static int set_up(struct ward_anchors *x, struct anchor *a, struct ward_err *err)
{
	a->fd = -1;
	a->id = x->id;
	if (strcmp(a->name, "journald") == 0) {
		a->deliver = to_journal;
		return 0;
	}
	if (strcmp(a->name, "syslog") == 0) {
		a->deliver = to_syslog;
		return 0;
	}
	if (strncmp(a->name, "file:", 5) == 0) {
		a->deliver = to_file;
		a->path = a->name + 5;
		if (a->hosts)
			return ward_anchor_place_file(a->path, x->id->owner_uid, &a->fd, err);
		return open_as_owner(x->id, a->path, O_WRONLY | O_APPEND | O_CREAT, &a->fd, err);
	}
	if (strncmp(a->name, "exec:", 5) != 0)
		return ward_err_set(err, -EINVAL, "anchor %s: unknown", a->name);
	a->deliver = to_command;
	a->path = a->name + 5;
	if (a->hosts)
		return ward_anchor_place_program(a->path, err);
	int r = open_as_owner(x->id, a->path, O_RDONLY, &a->fd, err);
	if (r < 0)
		return r;
	/* Kept for nothing but that it was there: the command is found by its path each time. */
	close(a->fd);
	a->fd = -1;
	return 0;
}

/* --- when --- */

/* The whole checkpoint at offset. 1 there is one, 0 there is none. */
static int read_note(const struct ward_anchors *x, uint64_t offset, struct note *ret)
{
	ssize_t have = 0;
	do {
		have = pread(x->checkpoints_fd, ret->text, sizeof(ret->text), (off_t)offset);
	} while (have < 0 && errno == EINTR);
	if (have < 0)
		return -errno;
	if (have == 0 || ward_checkpoint_parse(ret->text, (size_t)have, &ret->c) < 0)
		return 0;
	ret->session = ret->c.session;
	ret->size = ret->c.size;
	ret->len = ret->c.len;
	return 1;
}

/* The ledger's last one. 1 there is one, 0 there is none. */
static int read_ledger_note(const struct ward_anchors *x, struct note *ret)
{
	char text[WARD_TLOG_TAIL];
	struct stat st;
	size_t at = 0;
	if (x->ledger_fd < 0)
		return 0;
	if (fstat(x->ledger_fd, &st) < 0)
		return -errno;
	off_t from = st.st_size > (off_t)sizeof(text) ? st.st_size - (off_t)sizeof(text) : 0;
	ssize_t have = pread(x->ledger_fd, text, sizeof(text), from);
	if (have < 0)
		return -errno;
	if (!ward_tlog_last(text, (size_t)have, NULL, &at, &ret->ledger) ||
		ret->ledger.len > sizeof(ret->text))
		return 0;
	memcpy(ret->text, text + at, ret->ledger.len);
	ret->session = NULL;
	ret->size = ret->ledger.size;
	ret->len = ret->ledger.len;
	return 1;
}

/* With one of them all sessions of this host are fixed that the ledger knows. */
static void deliver_ledger(struct ward_anchors *x)
{
	struct note n;
	int r = read_ledger_note(x, &n);
	for (size_t i = 0; r != 0 && i < x->n; i++)
		if (x->v[i].error == 0)
			x->v[i].error = r < 0 ? r : x->v[i].deliver(&x->v[i], &n);
}

/* Each gets all of them, in their order; who fails gets the same one again, later. */
static void deliver(struct ward_anchors *x)
{
	for (size_t i = 0; i < x->n; i++) {
		struct anchor *a = &x->v[i];
		struct note n;
		a->error = 0;
		while (a->error == 0) {
			int r = read_note(x, a->offset, &n);
			if (r <= 0) {
				a->error = r;
				break;
			}
			a->error = a->deliver(a, &n);
			if (a->error == 0)
				a->offset += n.len;
		}
	}
}

/* True if there is more than the last time. */
static bool grown(struct ward_anchors *x)
{
	struct stat st;
	if (fstat(x->checkpoints_fd, &st) < 0 || (uint64_t)st.st_size == x->seen)
		return false;
	x->seen = (uint64_t)st.st_size;
	return true;
}

static void *run(void *arg)
{
	struct ward_anchors *x = arg;
	struct pollfd p = {.fd = x->stop, .events = POLLIN};
	while (poll(&p, 1, LOOK_MS) == 0 || (p.revents == 0 && errno == EINTR)) {
		/* What failed is tried again with the next one: not twice a second. */
		if (grown(x))
			deliver(x);
	}
	return NULL;
}

static void drop(struct ward_anchors *x)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].fd >= 0)
			close(x->v[i].fd);
	if (x->stop >= 0)
		close(x->stop);
	free(x);
}

static int first_error(const struct ward_anchors *x, struct ward_err *err)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].error < 0)
			return ward_err_sys(err, x->v[i].error, "anchor %s", x->v[i].name);
	return 0;
}

static int start_thread(struct ward_anchors *x, struct ward_err *err)
{
	sigset_t all;
	sigset_t old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = -pthread_create(&x->thread, NULL, run, x);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	x->running = r == 0;
	return r < 0 ? ward_err_sys(err, r, "anchors") : 0;
}

const char *ward_anchors_unasked(const struct ward_strings *what)
{
	struct stat st;
	if (what->n > 0 || stat(JOURNAL, &st) < 0 || !S_ISSOCK(st.st_mode))
		return NULL;
	return "journald";
}

/* Unasked: there is one, or none. Passes over all but the last checkpoint. */
static void deliver_last(struct ward_anchors *x)
{
	struct anchor *a = &x->v[0];
	struct note n, last;
	bool any = false;
	while (read_note(x, a->offset, &n) == 1) {
		last = n;
		any = true;
		a->offset += n.len;
	}
	a->error = any ? a->deliver(a, &last) : 0;
	deliver_ledger(x);
}

/* *ret stays NULL where the journal does not take the first one. */
static int start_unasked(const char *name, const struct ward_identity *id, int checkpoints_fd,
	int ledger_fd, struct ward_anchors **ret, struct ward_err *err)
{
	struct ward_anchors *x = calloc(1, sizeof(*x) + sizeof(x->v[0]));
	if (!x)
		return ward_err_sys(err, -ENOMEM, "anchors");
	x->id = id;
	x->checkpoints_fd = checkpoints_fd;
	x->ledger_fd = ledger_fd;
	x->unasked = true;
	x->stop = -1;
	x->n = 1;
	x->v[0].name = name;
	int r = set_up(x, &x->v[0], err);
	if (r == 0)
		deliver_last(x);
	if (r < 0 || x->v[0].error < 0)
		drop(x);
	else
		*ret = x;
	return r;
}

int ward_anchors_start(const struct ward_settings *s, const struct ward_identity *id,
	int checkpoints_fd, int ledger_fd, struct ward_anchors **ret, struct ward_err *err)
{
	const struct ward_strings *what = &s->anchors;
	const char *unasked = ward_anchors_unasked(what);
	*ret = NULL;
	if (unasked)
		return start_unasked(unasked, id, checkpoints_fd, ledger_fd, ret, err);
	if (what->n == 0 || (what->n == 1 && strcmp(what->v[0], "none") == 0))
		return 0;
	struct ward_anchors *x = calloc(1, sizeof(*x) + what->n * sizeof(x->v[0]));
	if (!x)
		return ward_err_sys(err, -ENOMEM, "anchors");
	x->id = id;
	x->checkpoints_fd = checkpoints_fd;
	x->ledger_fd = ledger_fd;
	x->stop = eventfd(0, EFD_CLOEXEC);
	int r = x->stop < 0 ? ward_err_sys(err, -errno, "anchors") : 0;
	for (; r == 0 && x->n < what->n; x->n++) {
		x->v[x->n].name = what->v[x->n];
		x->v[x->n].hosts = x->n < s->anchors_floor;
		r = set_up(x, &x->v[x->n], err);
	}
	if (r == 0 && !grown(x))
		r = ward_err_set(err, -ENODATA, "anchors: there is no checkpoint");
	if (r == 0) {
		deliver(x);
		deliver_ledger(x);
		r = first_error(x, err);
	}
	if (r == 0)
		r = start_thread(x, err);
	if (r < 0) {
		drop(x);
		return r;
	}
	*ret = x;
	return 0;
}

int ward_anchors_finish(struct ward_anchors *x, struct ward_err *err)
{
	const uint64_t one = 1;
	if (!x)
		return 0;
	if (x->unasked) {
		deliver_last(x);
		drop(x);
		return 0;
	}
	/* An eventfd takes a one; each delivery has a bound of its own. */
	(void)!write(x->stop, &one, sizeof(one));
	if (x->running)
		pthread_join(x->thread, NULL);
	deliver(x);
	deliver_ledger(x);
	int r = first_error(x, err);
	drop(x);
	return r;
}

char *ward_anchors_note(struct ward_anchors *x, const char *session)
{
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (ward_anchors_finish(x, &err) == 0)
		return NULL;
	ward_buf_printf(&b,
		"%s: it does not have the last checkpoint of %s; the checkpoints are in the trail's "
		"directory: wardfs audit verify %s",
		err.text, session, session);
	return ward_buf_steal(&b);
}
