/* SPDX-License-Identifier: Apache-2.0 */
/* Accepts, takes from the kernel who it is, counts, and forks. */
#include "enforcer/ipc/service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/msg.h"

/* sd_listen_fds(3): SD_LISTEN_FDS_START */
#define LISTEN_FD 3
/* Processes that tell somebody that there are too many connections, and what is said of it. */
#define REFUSING_MAX 64
#define REFUSED_SAY_S 1
/* Until a process is tried for once more that could not be had. */
#define AGAIN_MS 200

struct peer {
	pid_t pid;
	uid_t uid;
};

struct listening {
	const struct ward_service *l;
	int signals;
	struct peer *v; /* of l->total_max */
	size_t n;
	size_t n_refusing;
	time_t refused_s; /* when it was said last that somebody has too many */
	int held;	  /* a connection that no process could be made for yet; -1 */
	bool over;
};

static int complain(const struct ward_service *l, int r, const char *what)
{
	ward_tellf("%s: %s\n", l->program, what);
	return r;
}

/* One socket, listening, of the right kind, and for us. */
static bool has_socket(void)
{
	const char *n = getenv("LISTEN_FDS");
	const char *pid = getenv("LISTEN_PID");
	int value = 0;
	socklen_t len = sizeof(value);
	if (!n || strcmp(n, "1") != 0 || !pid || strtol(pid, NULL, 10) != (long)getpid())
		return false;
	static const struct {
		int option;
		int value;
	} want[] = {{SO_DOMAIN, AF_UNIX}, {SO_TYPE, SOCK_SEQPACKET}, {SO_ACCEPTCONN, 1}};
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		if (getsockopt(LISTEN_FD, SOL_SOCKET, want[i].option, &value, &len) < 0 ||
			value != want[i].value)
			return false;
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDNAMES");
	/* Descriptors cannot be sent before somebody wants them; not on Linux before 6.16. */
	(void)ward_msg_take_fds(LISTEN_FD, false);
	return fcntl(LISTEN_FD, F_SETFD, FD_CLOEXEC) == 0 &&
	       fcntl(LISTEN_FD, F_SETFL, O_NONBLOCK) == 0;
}

int ward_service_prepare(const struct ward_service *l, int *ret_signals)
{
	const struct rlimit none = {0, 0};
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	umask(077);
	if (geteuid() == 0 || !has_socket()) {
		ward_tellf("%s: %s: start %s\n", l->program,
			geteuid() == 0 ? "not as root" : "no listening socket was handed over",
			l->socket);
		return -EPERM;
	}
	/* Others of this uid serve users, and nothing of what they may have become looks in here.
	 */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		setrlimit(RLIMIT_CORE, &none) < 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
		sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return complain(l, -errno, strerror(errno));
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return complain(l, -errno, strerror(errno));
	*ret_signals = fd;
	return 0;
}

static uint64_t count(const struct listening *a, uid_t uid)
{
	uint64_t n = 0;
	for (size_t i = 0; i < a->n; i++)
		n += a->v[i].uid == uid;
	return n;
}

/* It gets a word where it listens; nobody waits for it. */
static void refuse(const struct listening *a, int conn)
{
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_FAILED);
	ward_msg_put_str(&m, a->l->too_many);
	if (ward_buf_error(&m.buf) == 0)
		(void)!send(conn, m.buf.data, m.buf.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	ward_msg_clear(&m);
}

/* Whoever asks for too much often would fill the journal, and others' lines would be left out. */
static void say_refused(struct listening *a, uid_t uid)
{
	struct timespec now;
	if (clock_gettime(CLOCK_MONOTONIC, &now) < 0 || now.tv_sec - a->refused_s < REFUSED_SAY_S)
		return;
	a->refused_s = now.tv_sec;
	ward_tellf("%s: user %u: %s\n", a->l->program, (unsigned)uid, a->l->too_many);
}

static void child(const struct listening *a, int conn, const struct ucred *peer)
{
	sigset_t none;
	sigemptyset(&none);
	close(LISTEN_FD);
	close(a->signals);
	/* Not with main: the session has an end to come to. */
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	sigprocmask(SIG_SETMASK, &none, NULL);
	(void)ward_msg_take_fds(conn, true);
	_exit(a->l->serve(a->l->user, conn, peer));
}

/*
 * A process has the connection, and the last descriptor of it: closing that closes what is in
 * flight, which can take as long as somebody likes (SO_LINGER), but not where a process ends. So
 * it does nothing before `turn` tells by its end that main has closed its own. A negative errno:
 * there is none.
 */
static int hand_over(struct listening *a, int conn, const struct ucred *peer, bool keep)
{
	ward_cleanup_fd int turn = -1;
	ward_cleanup_fd int ours = -1;
	int ends[2];
	char byte;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	turn = ends[0];
	ours = ends[1];
	pid_t pid = fork();
	if (pid == 0) {
		close(ours);
		(void)!read(turn, &byte, 1);
		close(turn);
		if (keep)
			child(a, conn, peer);
		refuse(a, conn);
		_exit(0);
	}
	if (pid < 0)
		return -errno;
	close(conn);
	if (keep)
		a->v[a->n++] = (struct peer){.pid = pid, .uid = peer->uid};
	else
		a->n_refusing++;
	return 0;
}

/* conn is taken. */
static void serve(struct listening *a, int conn)
{
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t len = sizeof(peer);
	/* Of a socket that is connected it does not fail. */
	bool known = getsockopt(conn, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0;
	bool keep = known && a->n < a->l->total_max && count(a, peer.uid) < a->l->user_max;
	if (!keep && known)
		say_refused(a, peer.uid);
	a->held = -1;
	if (!keep && ward_msg_takes_fds(conn) == 0) {
		refuse(a, conn);
		close(conn);
		return;
	}
	int r = hand_over(a, conn, &peer, keep);
	if (r < 0) {
		ward_tellf("%s: fork: %s\n", a->l->program, strerror(-r));
		a->held = conn;
	}
}

static void take_one(struct listening *a)
{
	int conn = accept4(LISTEN_FD, NULL, NULL, SOCK_CLOEXEC);
	if (conn >= 0)
		serve(a, conn);
}

static void ended(struct listening *a, pid_t pid)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].pid == pid) {
			a->v[i] = a->v[--a->n];
			return;
		}
	a->n_refusing -= a->n_refusing > 0;
}

static void take_signals(struct listening *a)
{
	struct signalfd_siginfo si;
	while (read(a->signals, &si, sizeof(si)) == (ssize_t)sizeof(si))
		a->over |= si.ssi_signo != SIGCHLD;
	for (pid_t pid = 0; (pid = waitpid(-1, NULL, WNOHANG)) > 0;)
		ended(a, pid);
}

int ward_service_run(const struct ward_service *l, int signals)
{
	struct listening a = {.l = l, .signals = signals, .held = -1};
	int r = 0;

	a.v = calloc(l->total_max, sizeof(*a.v));
	if (!a.v)
		return -ENOMEM;
	while (r == 0 && !a.over) {
		bool full = a.held >= 0 || a.n_refusing >= REFUSING_MAX;
		struct pollfd p[] = {{.fd = full ? -1 : LISTEN_FD, .events = POLLIN},
			{.fd = signals, .events = POLLIN}};
		if (poll(p, 2, a.held >= 0 ? AGAIN_MS : -1) < 0) {
			r = errno == EINTR ? 0 : -errno;
			continue;
		}
		if (p[1].revents)
			take_signals(&a);
		if (a.held >= 0)
			serve(&a, a.held);
		else if (p[0].revents)
			take_one(&a);
	}
	free(a.v);
	return r;
}
