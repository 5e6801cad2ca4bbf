/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what stands in for what the user gave as 0, 1, 2, and makes it. */
#include "enforcer/session/terminal/relay_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* Sockets and named pipes take more at once than a terminal; files as much as slow_file.h says. */
#define BULK ((size_t)64 << 10)

static void plan_pty(struct ward_relay *r)
{
	r->pty_wanted = r->tty[0] || r->tty[1] || r->tty[2];
	r->terminal = r->tty[1] ? 1 : r->tty[0] ? 0 : r->tty[2] ? 2 : -1;
	if (r->terminal >= 0)
		r->raw_wanted = r->tty[0] && r->tty[1];
}

/* The command may open its /dev/stdin again, where we may give the pipe away. */
static int make_pipe(const struct ward_relay *r, int ret[2], struct ward_err *err)
{
	if (pipe2(ret, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "pipe");
	if (r->spec.owner != geteuid())
		(void)!fchown(ret[0], r->spec.owner, (gid_t)-1);
	return 0;
}

/* That a write to a named pipe does not wait is a property of an open file, and the caller's is
 * shared with others. -1: it cannot be opened again. */
static int open_named_pipe(int i)
{
	char self[32];
	snprintf(self, sizeof(self), "/proc/self/fd/%d", i);
	return open(self, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

static int hold(struct ward_relay *r, int i, struct ward_relay_stream *s, struct ward_err *err)
{
	struct stat st;
	ward_cleanup_fd int own = -1;
	/* A number of our own: what was given stays open when the caller replaces 0, 1, 2. */
	r->apart[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
	if (r->apart[i] < 0 || fstat(i, &st) < 0)
		return ward_err_sys(err, -errno, "%s", ward_relay_names[i]);
	if (i > 0 && S_ISFIFO(st.st_mode) && (own = open_named_pipe(i)) >= 0) {
		close(r->apart[i]);
		r->apart[i] = ward_steal_fd(&own);
	}
	s->socket = r->given[i] == WARD_GIVEN_SOCKET;
	if (S_ISREG(st.st_mode)) {
		int e = ward_slow_file_new(r->apart[i], &s->slow);
		if (e < 0)
			return ward_err_sys(err, e, "%s", ward_relay_names[i]);
		s->data = ward_slow_file_data(s->slow);
		s->room = WARD_SLOW_FILE_ROOM;
		return 0;
	}
	s->data = malloc(BULK);
	if (!s->data) {
		s->data = s->few;
		return ward_err_sys(err, -ENOMEM, "%s", ward_relay_names[i]);
	}
	/* A device may make us wait for each byte. */
	s->room = S_ISCHR(st.st_mode) ? WARD_RELAY_CHUNK : BULK;
	return 0;
}

/*
 * Read or written against what it was opened for, it is an error inside as well (EBADF): the
 * unreadable input of nohup(1), say.
 */
static int other_way(struct ward_relay *r, int i, struct ward_err *err)
{
	r->child[i] = open("/dev/null", (i == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	return r->child[i] < 0 ? ward_err_sys(err, -errno, "/dev/null") : 0;
}

static bool opened_for(int i)
{
	int mode = fcntl(i, F_GETFL) & O_ACCMODE;
	return mode == O_RDWR || mode == (i == 0 ? O_RDONLY : O_WRONLY);
}

static int plan_input(struct ward_relay *r, struct ward_err *err)
{
	char self[32];
	int p[2];
	struct ward_relay_stream *s = &r->stream[PIPE_IN];
	if (!opened_for(0))
		return other_way(r, 0, err);
	int e = hold(r, 0, s, err);
	if (e == 0)
		e = make_pipe(r, p, err);
	if (e < 0)
		return e;
	r->child[0] = p[0];
	s->from = r->apart[0];
	s->to = p[1];
	/* An open file of its own, and so a flag of its own: we never wait there. */
	snprintf(self, sizeof(self), "/proc/self/fd/%d", p[0]);
	r->unread = open(self, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (r->unread < 0 || fcntl(p[1], F_SETFL, O_NONBLOCK) < 0)
		return ward_err_sys(err, -errno, "pipe");
	return 0;
}

/* Are 1 and 2 one open file, as after 2>&1? Two of one name differ in their flags or their place.
 */
static bool both_one(void)
{
	struct stat a, b;
	return fstat(1, &a) == 0 && fstat(2, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino && fcntl(1, F_GETFL) == fcntl(2, F_GETFL) &&
	       lseek(1, 0, SEEK_CUR) == lseek(2, 0, SEEK_CUR);
}

static int plan_output(struct ward_relay *r, int i, bool apart, struct ward_err *err)
{
	int p[2];
	struct ward_relay_stream *s = &r->stream[i == 1 ? PIPE_OUT : PIPE_ERR];
	if (apart && !opened_for(i))
		return other_way(r, i, err);
	/* One pipe for both keeps the order in which the command wrote. */
	if (i == 2 && r->stream[PIPE_OUT].from >= 0 && both_one()) {
		r->child[2] = fcntl(r->child[1], F_DUPFD_CLOEXEC, 3);
		r->notes.line_by = PIPE_OUT;
		return r->child[2] < 0 ? ward_err_sys(err, -errno, "pipe") : 0;
	}
	int e = apart ? hold(r, i, s, err) : 0;
	if (e == 0)
		e = make_pipe(r, p, err);
	if (e < 0)
		return e;
	r->child[i] = p[1];
	s->from = p[0];
	/* The command may open it again, and read before us what made it ready. */
	if (fcntl(p[0], F_SETFL, O_NONBLOCK) < 0)
		return ward_err_sys(err, -errno, "pipe");
	/* Opened again, a file would be written from its start, and a device start over. */
	s->to = apart ? r->apart[i] : ward_relay_output(r, i);
	return 0;
}

/*
 * Makes the descriptor the command's own: opens a pipe of the caller's again, or, if that is not
 * allowed, puts a pipe of wardfs between.
 */
static int own_pipe(struct ward_relay *r, int i, struct ward_err *err)
{
	if (r->child[i] >= 0 || r->given[i] != WARD_GIVEN_PLAIN)
		return 0;
	if (ward_given_own_pipe(i, &r->child[i]) == 0)
		return 0;
	r->child[i] = -1;
	return i == 0 ? plan_input(r, err) : plan_output(r, i, true, err);
}

/* What the command gets in place of terminals, where it is to have none, and of what stays apart.
 */
static int plan(struct ward_relay *r, struct ward_err *err)
{
	const bool pty = r->spec.flags & WARD_RELAY_TERMINAL;
	const bool count = r->spec.flags & WARD_RELAY_COUNT;
	int e = 0;
	if (r->tty[0] && !pty) {
		r->child[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (r->child[0] < 0)
			return ward_err_sys(err, -errno, "/dev/null");
	} else if (ward_given_is_apart(r->given[0], r->spec.apart)) {
		e = plan_input(r, err);
	}
	for (int i = 1; i < 3 && e == 0; i++) {
		bool apart = ward_given_is_apart(r->given[i], r->spec.apart);
		if (apart || (r->tty[i] ? !pty : count))
			e = plan_output(r, i, apart, err);
	}
	for (int i = 0; i < 3 && e == 0; i++)
		e = own_pipe(r, i, err);
	return e;
}

int ward_relay_open(
	const struct ward_relay_spec *spec, struct ward_relay **ret, struct ward_err *err)
{
	struct ward_relay *r = calloc(1, sizeof(*r));
	int e = r ? 0 : ward_err_sys(err, -ENOMEM, "terminal");
	if (e < 0)
		return e;
	r->spec = *spec;
	r->file_max = UINT64_MAX;
	r->pty = r->terminal = r->unread = -1;
	r->notes.line_by = PIPE_ERR;
	for (int i = 0; i < 3; i++)
		r->child[i] = r->ours[i] = r->apart[i] = -1;
	for (int i = 0; i < STREAMS; i++) {
		struct ward_relay_stream *s = &r->stream[i];
		*s = (struct ward_relay_stream){
			.from = -1, .to = -1, .relay = r, .room = WARD_RELAY_CHUNK};
		s->data = s->few;
	}
	for (int i = 0; i < 3 && e == 0; i++) {
		e = ward_given_look(i, ward_relay_names[i], &r->given[i], err);
		r->tty[i] = r->given[i] == WARD_GIVEN_TERMINAL;
	}
	if (e == 0 && spec->flags & WARD_RELAY_TERMINAL)
		plan_pty(r);
	if (e == 0)
		e = plan(r, err);
	if (e < 0) {
		ward_relay_close(r);
		return e;
	}
	if (r->tty[2] && r->pty_wanted)
		r->notes.line_by = -1;
	/* The command has it itself, and lines of ours go there. A file it never has, where there
	 * is somebody to ask. */
	if (r->given[2] == WARD_GIVEN_PLAIN && r->stream[PIPE_ERR].to < 0)
		r->stream[PIPE_ERR].to = ward_relay_output(r, 2);
	*ret = r;
	return 0;
}
