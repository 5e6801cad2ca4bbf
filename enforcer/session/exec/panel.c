/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and ends the process that shows questions at the user's terminal. */
#include "enforcer/session/exec/panel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* It has this long to end by itself. */
#define END_MS 500

/* In the child of a process with threads: system calls only. */
static _Noreturn void become(int channel, char *const argv[], pid_t parent)
{
	sigset_t none;
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Standard error may be somebody's file. */
	bool good = null >= 0 && dup2(null, 2) == 2;
	if (good && channel == WARD_PANEL_FD)
		good = fcntl(channel, F_SETFD, 0) == 0;
	else if (good)
		good = dup2(channel, WARD_PANEL_FD) == WARD_PANEL_FD;
	good = good && prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) == 0 && getppid() == parent &&
	       syscall(SYS_close_range, WARD_PANEL_FD + 1, ~0U, 0U) == 0;
	if (good)
		execv("/proc/self/exe", argv);
	_exit(127);
}

static void end(struct ward_panel *p)
{
	const pid_t pid = p->pid;
	p->pid = 0;
	ward_pollset_remove(p->set, p->id);
	close(p->channel);
	p->channel = -1;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	p->closed(p->user, p->leave);
}

static void on_channel(void *arg, short revents)
{
	struct ward_panel *p = arg;
	char message[WARD_PANEL_MESSAGE_MAX];
	(void)revents;
	const ssize_t n = recv(p->channel, message, sizeof(message), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		/* It has let go of us, and has nothing more to do. */
		(void)kill(p->pid, SIGKILL);
		end(p);
	} else if (message[0] == WARD_PANEL_REPORT) {
		ward_relay_type(p->relay, message + 1, (size_t)n - 1);
	} else if (message[0] == WARD_PANEL_LEAVE) {
		p->leave = true;
	}
}

static void tell(const struct ward_panel *p, char what, const char *data, size_t n)
{
	char message[WARD_PANEL_MESSAGE_MAX] = {what};
	if (n > sizeof(message) - 1)
		n = sizeof(message) - 1;
	if (n)
		memcpy(message + 1, data, n);
	/* One that does not read has one more to read already. */
	(void)!send(p->channel, message, n + 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int ward_panel_open(struct ward_panel *p, struct ward_relay *relay, struct ward_pollset *set,
	unsigned rank, const char *session, const struct ward_buf *typed)
{
	char *const argv[] = {(char[]){"wardfs"}, (char[]){"approve"}, (char[]){"--panel"},
		(char[]){"--opened"}, (char[]){"--session"}, (char *)(uintptr_t)session, NULL};
	int ends[2];
	const pid_t self = getpid();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	ward_cleanup_fd int ours = ends[0];
	ward_cleanup_fd int theirs = ends[1];
	int r = ward_pollset_add(set, rank, ours, POLLIN, on_channel, p, &p->id);
	if (r < 0)
		return r;
	const pid_t pid = fork();
	if (pid == 0)
		become(theirs, argv, self);
	if (pid < 0) {
		r = -errno;
		ward_pollset_remove(set, p->id);
		return r;
	}
	p->relay = relay;
	p->set = set;
	p->pid = pid;
	p->leave = false;
	p->channel = ward_steal_fd(&ours);
	if (typed->len)
		tell(p, WARD_PANEL_TYPED, typed->data, typed->len);
	return 0;
}

bool ward_panel_is_open(const struct ward_panel *p)
{
	return p->pid > 0;
}

void ward_panel_changed(const struct ward_panel *p)
{
	if (ward_panel_is_open(p))
		tell(p, WARD_PANEL_QUESTIONS, NULL, 0);
}

void ward_panel_close(struct ward_panel *p)
{
	if (!ward_panel_is_open(p))
		return;
	struct pollfd ended = {.fd = p->channel, .events = 0};
	(void)kill(p->pid, SIGTERM);
	if (poll(&ended, 1, END_MS) <= 0)
		(void)kill(p->pid, SIGKILL);
	end(p);
}
