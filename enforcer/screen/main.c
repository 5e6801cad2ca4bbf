/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-screen: knows what the terminal of a session shows, for `wardfs attach`. The supervisor
 * has the terminal, and tells what the program writes there (WARD_MSG_SCREEN_… in ipc/helper.h).
 *
 * What is written is the agent's, and libvterm parses it: so it is done here, in a cage with one
 * descriptor and bounded memory. The session goes on when this process dies.
 */
#include <errno.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/ipc/cage.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/screen/long_strings.h"
#include "enforcer/screen/picture.h"

/* Two screens of the largest window twice (while it changes), the lines, two drawings. */
#define MEMORY_MAX ((rlim_t)192 << 20)

/* CPU time for one message, which takes milliseconds: longer, and the parser does not come back. */
#define TURN_S 5

struct screen {
	struct ward_pieces tokens;
	struct ward_long string; /* that is under way */
	struct ward_picture *picture;
	struct ward_buf shown; /* of what was written, not sent yet */
	bool watched;
};

static int send_bytes(
	uint32_t type, const uint32_t *words, size_t n_words, const void *data, size_t n)
{
	struct ward_msg m;
	ward_msg_init(&m, type);
	for (size_t i = 0; i < n_words; i++)
		ward_msg_put_u32(&m, words[i]);
	ward_msg_put_bytes(&m, data, n);
	int r = ward_msg_send(WARD_FD_CONTROL, &m, NULL, 0);
	ward_msg_clear(&m);
	return r;
}

static void send_or_end(
	uint32_t type, const uint32_t *words, size_t n_words, const void *data, size_t n)
{
	/* The supervisor is gone. */
	if (send_bytes(type, words, n_words, data, n) < 0)
		_exit(0);
}

static void send_shown(struct screen *s)
{
	const uint32_t flags = 0;
	for (size_t i = 0; i < s->shown.len; i += WARD_SCREEN_PIECE) {
		const size_t left = s->shown.len - i;
		send_or_end(WARD_MSG_SCREEN_SHOWN, &flags, 1, s->shown.data + i,
			left < WARD_SCREEN_PIECE ? left : WARD_SCREEN_PIECE);
	}
	ward_buf_clear(&s->shown);
}

static void ask(struct screen *s, const char *data, size_t n, const struct ward_buf *answer)
{
	struct ward_msg m;
	send_shown(s);
	ward_msg_init(&m, WARD_MSG_SCREEN_ASKED);
	ward_msg_put_bytes(&m, data, n);
	ward_msg_put_bytes(&m, answer->data, answer->len);
	int r = ward_msg_send(WARD_FD_CONTROL, &m, NULL, 0);
	ward_msg_clear(&m);
	if (r < 0)
		_exit(0);
}

/* A part of a long string. A client that joins within it does not get the rest. */
static void show_within(struct screen *s, enum ward_piece kind, const char *data, size_t n)
{
	const uint32_t flags = WARD_SCREEN_WITHIN;
	const enum ward_long_part part = ward_long_next(&s->string, kind, data, n);
	if (!s->watched || part == WARD_LONG_HIDE)
		return;
	send_shown(s);
	if (part == WARD_LONG_CUT)
		send_or_end(WARD_MSG_SCREEN_SHOWN, &flags, 1, "\033\\", 2);
	else
		send_or_end(WARD_MSG_SCREEN_SHOWN, &flags, 1, data, n);
}

static void on_token(void *user, enum ward_piece kind, const char *data, size_t n)
{
	struct screen *s = user;
	ward_cleanup(ward_buf_clear) struct ward_buf answer = {.max = WARD_PIECE_MAX};
	const bool within = kind == WARD_PIECE_LONG || kind == WARD_PIECE_LONG_END;
	const bool asks = kind == WARD_PIECE_SEQUENCE && ward_piece_asks(data, n);
	ward_picture_write(s->picture, kind, data, n, &answer);
	if (asks) {
		ask(s, data, n, &answer);
	} else if (within) {
		show_within(s, kind, data, n);
	} else if (s->watched) {
		ward_buf_add(&s->shown, data, n);
	}
}

static void send_picture(const struct screen *s, uint32_t who, const struct ward_buf *b)
{
	const uint32_t end =
		WARD_SCREEN_LAST | (ward_long_shown(&s->string) ? WARD_SCREEN_WITHIN : 0);
	size_t i = 0;
	do {
		const size_t left = b->len - i;
		const size_t n = left < WARD_SCREEN_PIECE ? left : WARD_SCREEN_PIECE;
		const uint32_t words[] = {who, i + n == b->len ? end : 0};
		send_or_end(WARD_MSG_SCREEN_PICTURE, words, 2, b->data + i, n);
		i += n;
	} while (i < b->len);
}

static void draw(struct screen *s, uint32_t who, bool first)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_picture_draw(s->picture, first, &b);
	s->watched = true;
	send_picture(s, who, &b);
}

static void undo(const struct screen *s)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_picture_undo(s->picture, &b);
	send_picture(s, 0, &b);
}

/* The first message is the window; what it is of comes later. */
static int resize(struct screen *s, uint32_t rows, uint32_t columns)
{
	struct ward_err err = WARD_ERR_INIT;
	if (s->picture)
		ward_picture_resize(s->picture, rows, columns);
	return s->picture ? 0 : ward_picture_new(rows, columns, &s->picture, &err);
}

static int take(struct screen *s, struct ward_msg_reader *m)
{
	uint32_t a = 0, b = 0;
	const char *data = NULL;
	size_t n = 0;
	if (m->type == WARD_MSG_SCREEN_SIZE || m->type == WARD_MSG_SCREEN_DRAW) {
		a = ward_msg_get_u32(m);
		b = ward_msg_get_u32(m);
	} else if (m->type == WARD_MSG_SCREEN_WROTE) {
		data = ward_msg_get_bytes(m, &n);
	}
	if (ward_msg_done(m) < 0 || (m->type != WARD_MSG_SCREEN_SIZE && !s->picture))
		return -EBADMSG;
	switch (m->type) {
	case WARD_MSG_SCREEN_SIZE:
		return resize(s, a, b);
	case WARD_MSG_SCREEN_WROTE:
		ward_pieces_read(&s->tokens, data, n, on_token, s);
		send_shown(s);
		return 0;
	case WARD_MSG_SCREEN_DRAW:
		draw(s, a, b);
		return 0;
	case WARD_MSG_SCREEN_QUIET:
		s->watched = false;
		return 0;
	case WARD_MSG_SCREEN_UNDO:
		undo(s);
		return 0;
	default:
		return -EBADMSG;
	}
}

static int confine(struct ward_err *err)
{
	static const int ignored[] = {SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP};
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		if (signal(ignored[i], SIG_IGN) == SIG_ERR)
			return ward_err_sys(err, -errno, "signals");
#if !WARD_SANITIZED
	/* The sanitizers map more than there is. */
	const struct rlimit memory = {.rlim_cur = MEMORY_MAX, .rlim_max = MEMORY_MAX};
	if (setrlimit(RLIMIT_DATA, &memory) < 0)
		return ward_err_sys(err, -errno, "memory");
#endif
	const struct rlimit none = {0};
	if (setrlimit(RLIMIT_CORE, &none) < 0)
		return ward_err_sys(err, -errno, "core");
	static const int own[] = {SCMP_SYS(setitimer)};
	return ward_cage(own, 1, err);
}

/* SIGVTALRM ends the process; seconds 0: none. */
static void set_clock(time_t seconds)
{
	const struct itimerval t = {.it_value = {.tv_sec = seconds}};
	(void)setitimer(ITIMER_VIRTUAL, &t, NULL);
}

int main(void)
{
	struct ward_err err = WARD_ERR_INIT;
	struct screen *s = calloc(1, sizeof(*s));
	uint8_t *buf = malloc(WARD_MSG_MAX);
	if (!s || !buf || confine(&err) < 0) {
		ward_tellf("wardfs-screen: %s\n", err.code ? err.text : "out of memory");
		return 1;
	}
	for (;;) {
		struct ward_msg_reader m;
		ssize_t n = ward_msg_recv(WARD_FD_CONTROL, buf, WARD_MSG_MAX, NULL, NULL);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			break;
		ward_msg_reader_init(&m, buf, (size_t)n);
		set_clock(TURN_S);
		if (take(s, &m) < 0)
			_exit(1);
		set_clock(0);
	}
	ward_picture_free(s->picture);
	ward_buf_clear(&s->shown);
	free(buf);
	free(s);
	return 0;
}
