/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the panel: the terminal, the sessions, and the time. */
#include "enforcer/cli/panel/panel.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/out.h"
#include "enforcer/base/pollset.h"
#include "enforcer/cli/base/ask_beside.h"
#include "enforcer/cli/base/told.h"
#include "enforcer/cli/panel/count.h"
#include "enforcer/cli/panel/keys.h"
#include "enforcer/cli/panel/asking.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/control/signals.h"
#include "enforcer/session/exec/panel.h"

/* Where nobody tells of questions, how often it looks. */
#define LOOK_MS 200
/* How long all sessions together may take to answer, and when a silent one is asked again. */
#define ANSWER_MS 1000
#define SILENT_NS (10 * WARD_NS_PER_SEC)

/*
 * The other screen, without what a program may have asked of the keyboard (kitty, win32-input-mode,
 * modifyOtherKeys), the mouse, focus and paste; no cursor, and lines that end at the edge.
 */
static const char enter[] =
	"\033[?1049h\033[=0u\033[?9001l\033[>4;0m\033[?9l\033[?1000l\033[?1002l"
	"\033[?1003l\033[?1004l\033[?1006l\033[?2004l\033[?25l\033[?7l\033[r\033[m"
	"\033[H\033[2J";
static const char leave[] = "\033[?7h\033[?25h\033[m\033[?1049l";

enum { FD_KEYS = 0, FD_SIGNALS, FD_CHANNEL, FD_COUNT, FD_TOLD, FD_NUMBER };

struct showing {
	const struct ward_panel_options *o;
	struct panel p;
	struct panel_keys keys;
	struct panel_count count;
	char *runtime;
	json_t *silent; /* sessions that did not answer, and until when they are left alone */
	int signals;
	int told; /* told.h; -1 where the terminal's session tells */
	bool over, look;
	uint64_t now_ns;
};

/* --- sessions --- */

/* What a session answers; NULL: nothing, or a refusal, whose text is *ret_error then. */
static json_t *ask(
	const struct showing *s, const char *session, const char *request, struct ward_err *err)
{
	ward_cleanup_free char *text = NULL;
	if (ward_control_ask(s->runtime, session, request, &text, err) < 0)
		return NULL;
	json_t *o = json_loads(text, 0, NULL);
	const char *error = json_string_value(json_object_get(o, "error"));
	if (o && !error)
		return o;
	ward_err_set(err, -EIO, "%s", error ? error : "the session's answer cannot be read");
	json_decref(o);
	return NULL;
}

/* Who did not answer is not asked again for a while. */
static void skip_silent(const struct showing *s, struct ward_beside *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t until =
			(uint64_t)json_integer_value(json_object_get(s->silent, v[i].session));
		v[i].silent = v[i].skip = until > s->now_ns;
	}
}

static void take_answers(struct showing *s, const struct ward_beside *v, size_t n, json_t *list)
{
	s->p.silent = 0;
	for (size_t i = 0; i < n; i++) {
		json_array_extend(list, json_object_get(v[i].answer, "questions"));
		s->p.silent += v[i].silent;
		if (v[i].silent && !v[i].skip)
			json_object_set_new(s->silent, v[i].session,
				json_integer((json_int_t)(s->now_ns + SILENT_NS)));
	}
}

static void look(struct showing *s)
{
	json_t *list = json_array();
	const unsigned silent = s->p.silent;
	size_t n = 1;
	/* Before the look: what comes after it is told. */
	ward_told_take(s->told);
	ward_told_watch(s->told, s->runtime);
	struct ward_beside *v =
		s->o->session ? ward_beside_one(s->o->session) : ward_beside_all(s->runtime, &n);
	if (!v)
		n = 0;
	skip_silent(s, v, n);
	ward_beside_ask(s->runtime, v, n, "{\"verb\":\"questions\"}", ANSWER_MS);
	take_answers(s, v, n, list);
	ward_beside_free(v, n);
	s->look = false;
	s->now_ns = ward_clock_mono_ns();
	/* Nothing is drawn anew while nothing changes. */
	const bool dirty = s->p.dirty;
	const bool same = json_array_size(list) == 0 && json_array_size(s->p.list) == 0 &&
			  silent == s->p.silent;
	panel_list(&s->p, list, s->now_ns);
	s->p.dirty = dirty || !same;
}

/*
 * `always` changes the owner's file as well: that is `wardfs approve`, which says what it did. It
 * fetches the question again, by its name, which no other question has.
 */
static void answer_always(struct showing *s)
{
	char text[1024];
	size_t n = 0;
	int ends[2];
	char name[64];
	const char *session = panel_member(&s->p, "session");
	/* With as many paths as the person saw. */
	(void)snprintf(
		name, sizeof(name), "%s.%zu", panel_member(&s->p, "question"), panel_paths(&s->p));
	char *const argv[] = {(char[]){"wardfs"}, (char[]){"approve"}, (char[]){"--session"},
		(char *)(uintptr_t)session, name, (char[]){"always"}, NULL};
	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	const pid_t pid = fork();
	if (pid == 0) {
		sigset_t none;
		sigemptyset(&none);
		if (sigprocmask(SIG_SETMASK, &none, NULL) == 0 && dup2(ends[1], 1) == 1 &&
			dup2(ends[1], 2) == 2)
			execv("/proc/self/exe", argv);
		_exit(127);
	}
	close(ends[1]);
	for (ssize_t got = 1; got > 0 && n<sizeof(text) - 1; n += got> 0 ? (size_t)got : 0)
		got = read(ends[0], text + n, sizeof(text) - 1 - n);
	close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	/* However long it took: what came of it is shown for its moment. */
	s->now_ns = ward_clock_mono_ns();
	panel_result(&s->p, n ? text : "wardfs approve could not be started", s->now_ns);
}

static void send_answer(struct showing *s)
{
	struct ward_err err = WARD_ERR_INIT;
	if (s->p.chosen == PANEL_ALWAYS) {
		answer_always(s);
	} else {
		ward_cleanup_free char *request = json_dumps(s->p.answer, JSON_COMPACT);
		json_t *done =
			request ? ask(s, panel_member(&s->p, "session"), request, &err) : NULL;
		const char *result = json_string_value(json_object_get(done, "result"));
		const char *grant = json_string_value(json_object_get(done, "grant"));
		char text[512];
		(void)snprintf(text, sizeof(text), "%s: %s%s%s", panel_member(&s->p, "question"),
			result ? result : err.text, grant ? ", grant " : "", grant ? grant : "");
		s->now_ns = ward_clock_mono_ns();
		panel_result(&s->p, text, s->now_ns);
		json_decref(done);
	}
	look(s);
}

/* --- the terminal --- */

static void put(const char *data, size_t n)
{
	ward_out_bytes(data, n);
	(void)!ward_out_flush();
}

static void take_size(struct showing *s)
{
	struct winsize ws = {0};
	if (ioctl(0, TIOCGWINSZ, &ws) < 0 || ws.ws_row == 0 || ws.ws_col == 0)
		ws = (struct winsize){.ws_row = 24, .ws_col = 80};
	panel_size(&s->p, ws.ws_row, ws.ws_col, s->now_ns);
}

static void tell(const struct showing *s, char what, const char *data, size_t n)
{
	char message[WARD_PANEL_MESSAGE_MAX] = {what};
	if (!s->o->opened || n > sizeof(message) - 1)
		return;
	if (n)
		memcpy(message + 1, data, n);
	(void)!send(WARD_PANEL_FD, message, n + 1, MSG_NOSIGNAL);
}

static void on_key(void *user, enum panel_key_kind kind, const char *data, size_t n)
{
	struct showing *s = user;
	/* What the command asked its terminal before is the command's. */
	if (kind == PANEL_KEY_REPORT)
		tell(s, WARD_PANEL_REPORT, data, n);
	else
		panel_key(&s->p, kind, data, n, s->now_ns);
}

static void read_keys(struct showing *s)
{
	char data[4096];
	const ssize_t n = read(0, data, sizeof(data));
	if (n > 0)
		panel_keys_read(&s->keys, data, (size_t)n, s->now_ns, on_key, s);
	else if (n == 0 || (errno != EINTR && errno != EAGAIN))
		s->over = true;
}

static void read_signals(struct showing *s)
{
	struct signalfd_siginfo si;
	while (read(s->signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGWINCH)
			take_size(s);
		else
			s->over = true;
	}
}

static void read_channel(struct showing *s)
{
	char message[WARD_PANEL_MESSAGE_MAX];
	const ssize_t n = recv(WARD_PANEL_FD, message, sizeof(message), MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		s->over = true;
	else if (n > 0 && message[0] == WARD_PANEL_QUESTIONS)
		s->look = true;
	else if (n > 1 && message[0] == WARD_PANEL_TYPED)
		panel_keys_read(&s->keys, message + 1, (size_t)n - 1, s->now_ns, on_key, s);
}

static void start_count(struct showing *s)
{
	ward_cleanup_free char *pattern = panel_to_count(&s->p);
	struct ward_err err = WARD_ERR_INIT;
	if (!pattern)
		return;
	json_t *status = ask(s, panel_member(&s->p, "session"), "{\"verb\":\"status\"}", &err);
	if (!status ||
		panel_count_start(&s->count, status, pattern, panel_member(&s->p, "rights")) < 0)
		panel_counted(&s->p, "cannot be counted");
	json_decref(status);
}

static void draw(struct showing *s)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (!s->p.dirty)
		return;
	panel_draw(&s->p, s->now_ns, &b);
	put(b.data, b.len);
}

static int next_time(const struct showing *s)
{
	const int keys = panel_keys_timeout(&s->keys, s->now_ns);
	const int t = ward_pollset_nearer(keys, panel_timeout(&s->p, s->now_ns));
	return s->o->opened ? t : ward_pollset_nearer(t, LOOK_MS);
}

static void turn(struct showing *s)
{
	struct pollfd fds[FD_NUMBER] = {
		[FD_KEYS] = {.fd = 0, .events = POLLIN},
		[FD_SIGNALS] = {.fd = s->signals, .events = POLLIN},
		[FD_CHANNEL] = {.fd = s->o->opened ? WARD_PANEL_FD : -1, .events = POLLIN},
		[FD_COUNT] = {.fd = s->count.fd, .events = POLLIN},
		[FD_TOLD] = {.fd = s->told, .events = POLLIN},
	};
	const int got = poll(fds, FD_NUMBER, next_time(s));
	s->now_ns = ward_clock_mono_ns();
	panel_keys_tick(&s->keys, s->now_ns, on_key, s);
	if (fds[FD_KEYS].revents)
		read_keys(s);
	if (fds[FD_SIGNALS].revents)
		read_signals(s);
	if (fds[FD_CHANNEL].revents)
		read_channel(s);
	const char *counted = fds[FD_COUNT].revents ? panel_count_read(&s->count) : NULL;
	if (counted)
		panel_counted(&s->p, counted);
	if (s->look || fds[FD_TOLD].revents || (got == 0 && !s->o->opened))
		look(s);
	if (s->p.answer)
		send_answer(s);
	panel_tick(&s->p, s->now_ns);
	start_count(s);
	/* The time that is left. */
	s->p.dirty |= got == 0 && s->p.shown;
	if (!s->over && !s->p.close)
		draw(s);
}

static int prepare(struct showing *s, struct termios *ret_saved, struct ward_err *err)
{
	static const int caught[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGWINCH};
	if (!isatty(0) || !isatty(1) || tcgetattr(0, ret_saved) < 0)
		return ward_err_set(err, -EINVAL,
			"the panel needs a terminal as its input and output; 'wardfs approve' lists without one");
	/* It is ours by its number alone; who we start gets none of it. */
	if (s->o->opened && fcntl(WARD_PANEL_FD, F_SETFD, FD_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "the terminal's session");
	int r = ward_control_runtime(&s->runtime, err);
	s->silent = json_object();
	if (!s->o->opened)
		s->told = ward_told_open();
	if (r == 0)
		r = ward_signals_catch(caught, sizeof(caught) / sizeof(*caught), &s->signals, err);
	return r;
}

int ward_panel_show(const struct ward_panel_options *o, struct ward_err *err)
{
	struct showing s = {
		.o = o, .count = PANEL_COUNT_INIT, .signals = -1, .told = -1, .look = true};
	struct termios saved;
	int r = prepare(&s, &saved, err);
	if (r == 0) {
		struct termios raw = saved;
		cfmakeraw(&raw);
		(void)tcsetattr(0, TCSANOW, &raw);
		put(enter, sizeof(enter) - 1);
		s.p.opened = o->opened;
		s.now_ns = ward_clock_mono_ns();
		take_size(&s);
		look(&s);
		s.p.dirty = true;
		draw(&s);
		while (!s.over && !s.p.close)
			turn(&s);
		panel_count_end(&s.count);
		put(leave, sizeof(leave) - 1);
		(void)tcsetattr(0, TCSANOW, &saved);
		if (s.p.escape)
			tell(&s, WARD_PANEL_REPORT, (const char[]){WARD_ESCAPE_KEY}, 1);
		if (s.p.leave)
			tell(&s, WARD_PANEL_LEAVE, NULL, 0);
	}
	panel_clear(&s.p);
	if (s.signals >= 0)
		close(s.signals);
	if (s.told >= 0)
		close(s.told);
	json_decref(s.silent);
	free(s.runtime);
	return r;
}
