/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-auditd: has the trails of all users of a host written under a uid of its own ([audit]
 * writer = system), so that they bind the owner too. Started by systemd with one listening socket
 * (sd_listen_fds(3); conf/systemd), never as root.
 *
 *   main      accepts, asks the kernel who it is (SO_PEERCRED), forks:
 *   keeper.c  one process a connection: opens the files of that user's trail, starts
 *   wardfs-audit, the writer, as it is everywhere
 *
 * SIGTERM ends main alone: sessions go on to their end.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "enforcer/auditd/keeper.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/base/quantity.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/ipc/system.h"

/* sd_listen_fds(3): SD_LISTEN_FDS_START */
#define LISTEN_FD 3
/* Connections at a time, and of one user, unless --sessions says otherwise. */
#define TOTAL_MAX 1024
#define USER_MAX 64
#define USAGE 2
/* Processes that tell somebody that there are too many sessions, and what is said of it. */
#define REFUSING_MAX 64
#define REFUSED_SAY_S 1
/* Until a process is tried for once more that could not be had. */
#define AGAIN_MS 200

static const char help[] =
	"Usage: wardfs-auditd [--keep DAYS] [--sessions N]\n"
	"\n"
	"  Writes the trails of all users whose policy says [audit] writer = system. Started by\n"
	"  wardfs-audit.socket, under a user of its own.\n"
	"\n"
	"  --keep DAYS   keeps trails for at least so long, whatever their policy says (default: 200)\n"
	"  --sessions N  of one user at a time (default: 64, at most 1024)\n";

static const char too_many[] = "too many sessions at a time";

struct peer {
	pid_t pid;
	uid_t uid;
};

struct auditd {
	const char *top;
	uint64_t keep_min;
	uint64_t user_max;
	int signals;
	struct peer v[TOTAL_MAX];
	size_t n;
	size_t n_refusing;
	time_t refused_s; /* when it was said last that somebody has too many */
	int held;	  /* a connection that no process could be made for yet; -1 */
	bool over;
};

static int complain(const char *what)
{
	ward_tellf("wardfs-auditd: %s\n", what);
	return USAGE;
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

static int prepare(struct auditd *a)
{
	const struct rlimit none = {0, 0};
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	umask(077);
	if (geteuid() == 0)
		return complain("not as root: start wardfs-audit.socket");
	if (!has_socket())
		return complain("no listening socket was handed over: start wardfs-audit.socket");
	/* Others of this uid are writers, and nothing of what they may have become looks in here.
	 */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		setrlimit(RLIMIT_CORE, &none) < 0 || ward_chain_setup() < 0 ||
		signal(SIGPIPE, SIG_IGN) == SIG_ERR || sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return complain(strerror(errno));
	a->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return a->signals < 0 ? complain(strerror(errno)) : 0;
}

static uint64_t count(const struct auditd *a, uid_t uid)
{
	uint64_t n = 0;
	for (size_t i = 0; i < a->n; i++)
		n += a->v[i].uid == uid;
	return n;
}

/* It gets a word where it listens; nobody waits for it. */
static void refuse(int conn)
{
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_FAILED);
	ward_msg_put_str(&m, too_many);
	if (ward_buf_error(&m.buf) == 0)
		(void)!send(conn, m.buf.data, m.buf.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	ward_msg_clear(&m);
}

/* Whoever asks for too much often would fill the journal, and others' lines would be left out. */
static void say_refused(struct auditd *a, uid_t uid)
{
	struct timespec now;
	if (clock_gettime(CLOCK_MONOTONIC, &now) < 0 || now.tv_sec - a->refused_s < REFUSED_SAY_S)
		return;
	a->refused_s = now.tv_sec;
	ward_tellf("wardfs-auditd: user %u: %s\n", (unsigned)uid, too_many);
}

static void child(const struct auditd *a, int conn, uid_t uid)
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
	struct ward_keeper k = {.conn = conn, .uid = uid, .top = a->top, .keep_min = a->keep_min};
	_exit(ward_keeper_serve(&k));
}

/*
 * A process has the connection, and the last descriptor of it: closing that closes what is in
 * flight, which can take as long as somebody likes (SO_LINGER), but not where a process ends. So
 * it does nothing before `turn` tells by its end that main has closed its own. A negative errno:
 * there is none.
 */
static int hand_over(struct auditd *a, int conn, uid_t uid, bool keep)
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
			child(a, conn, uid);
		refuse(conn);
		_exit(0);
	}
	if (pid < 0)
		return -errno;
	close(conn);
	if (keep)
		a->v[a->n++] = (struct peer){.pid = pid, .uid = uid};
	else
		a->n_refusing++;
	return 0;
}

/* conn is taken. */
static void serve(struct auditd *a, int conn)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	/* Of a socket that is connected it does not fail. */
	bool known = getsockopt(conn, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0;
	bool keep = known && a->n < TOTAL_MAX && count(a, peer.uid) < a->user_max;
	if (!keep && known)
		say_refused(a, peer.uid);
	a->held = -1;
	if (!keep && ward_msg_takes_fds(conn) == 0) {
		refuse(conn);
		close(conn);
		return;
	}
	int r = hand_over(a, conn, known ? peer.uid : (uid_t)-1, keep);
	if (r < 0) {
		ward_tellf("wardfs-auditd: fork: %s\n", strerror(-r));
		a->held = conn;
	}
}

static void take_one(struct auditd *a)
{
	int conn = accept4(LISTEN_FD, NULL, NULL, SOCK_CLOEXEC);
	if (conn >= 0)
		serve(a, conn);
}

static void ended(struct auditd *a, pid_t pid)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].pid == pid) {
			a->v[i] = a->v[--a->n];
			return;
		}
	a->n_refusing -= a->n_refusing > 0;
}

static void take_signals(struct auditd *a)
{
	struct signalfd_siginfo si;
	while (read(a->signals, &si, sizeof(si)) == (ssize_t)sizeof(si))
		a->over |= si.ssi_signo != SIGCHLD;
	for (pid_t pid = 0; (pid = waitpid(-1, NULL, WNOHANG)) > 0;)
		ended(a, pid);
}

/* Names the word that is wrong: what getopt_long(3) prints itself is escaped by nobody. */
static int wrong(const char *what, const char *word)
{
	ward_tellf("wardfs-auditd: %s: %s; see wardfs-auditd --help\n", word, what);
	return USAGE;
}

/* 0: goes on; else 1 + the exit status. */
static int take_options(struct auditd *a, int argc, char **argv)
{
	static const struct option options[] = {
		{"keep", 1, NULL, 'k'}, {"sessions", 1, NULL, 's'}, {"help", 0, NULL, 'h'}, {0}};
	opterr = 0;
	for (int o = 0; (o = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
		if (o == 'h') {
			ward_outf(help);
			return 1;
		}
		/* optind has gone past it, but within a word of several letters. */
		if (o == ':' || o == '?')
			return 1 + wrong(o == ':' ? "a value is missing" : "no such option",
					   argv[optind > 1 ? optind - 1 : 1]);
		if (o == 'k' && ward_quantity_whole(optarg, 1, 36500, &a->keep_min, NULL) < 0)
			return 1 + wrong("--keep takes days, from 1 to 36500", optarg);
		if (o == 's' && ward_quantity_whole(optarg, 1, TOTAL_MAX, &a->user_max, NULL) < 0)
			return 1 + wrong("--sessions takes a number from 1 to 1024", optarg);
	}
	return optind < argc ? 1 + wrong("no argument is taken", argv[optind]) : 0;
}

int main(int argc, char **argv)
{
	static struct auditd a = {.keep_min = 200, .user_max = USER_MAX, .held = -1};
	int said = take_options(&a, argc, argv);
	if (said)
		return said - 1;
	a.keep_min *= (uint64_t)24 * 60 * 60;
	const char *top = getenv("STATE_DIRECTORY"); /* systemd.exec(5) */
	a.top = top && top[0] == '/' ? top : WARD_SYSTEM_STATE;
	int r = prepare(&a);
	while (r == 0 && !a.over) {
		bool full = a.held >= 0 || a.n_refusing >= REFUSING_MAX;
		struct pollfd p[] = {{.fd = full ? -1 : LISTEN_FD, .events = POLLIN},
			{.fd = a.signals, .events = POLLIN}};
		if (poll(p, 2, a.held >= 0 ? AGAIN_MS : -1) < 0 && errno != EINTR)
			return 1;
		if (p[1].revents)
			take_signals(&a);
		if (a.held >= 0)
			serve(&a, a.held);
		else if (p[0].revents)
			take_one(&a);
	}
	return r;
}
