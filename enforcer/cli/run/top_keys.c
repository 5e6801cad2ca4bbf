/* SPDX-License-Identifier: Apache-2.0 */
/* Reads single keys while wardfs top waits. */
#include "enforcer/cli/run/top_keys.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "enforcer/base/err.h"
#include "enforcer/session/control/signals.h"

/* In the background the terminal is another's. */
static bool is_ours(void)
{
	return isatty(0) && tcgetpgrp(0) == getpgrp();
}

static void set(const struct top_keys *k)
{
	struct termios t = k->saved;
	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	if (is_ours())
		(void)tcsetattr(0, TCSANOW, &t);
}

void top_keys_begin(struct top_keys *k)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct ward_err ignored = WARD_ERR_INIT;
	*k = (struct top_keys){.signals = -1};
	if (!is_ours() || tcgetattr(0, &k->saved) < 0 ||
		ward_signals_catch(
			caught, sizeof(caught) / sizeof(*caught), &k->signals, &ignored) < 0)
		return;
	k->on = true;
}

static enum top_key read_key(void)
{
	char c = 0;
	const ssize_t n = read(0, &c, 1);
	if (n <= 0 || c == 'q')
		return TOP_KEY_QUIT;
	return c == 'a' ? TOP_KEY_QUESTIONS : TOP_KEY_NONE;
}

enum top_key top_keys_wait(struct top_keys *k, int ms)
{
	struct pollfd fds[] = {{.fd = k->on && is_ours() ? 0 : -1, .events = POLLIN},
		{.fd = k->on ? k->signals : -1, .events = POLLIN}};
	struct signalfd_siginfo si;
	/* Who stopped and continued us may have changed it. */
	if (k->on)
		set(k);
	if (poll(fds, 2, ms) <= 0)
		return TOP_KEY_NONE;
	if (fds[1].revents && read(k->signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		k->ended_by = (int)si.ssi_signo;
		return TOP_KEY_QUIT;
	}
	return fds[0].revents ? read_key() : TOP_KEY_NONE;
}

void top_keys_end(struct top_keys *k)
{
	sigset_t all;
	if (!k->on)
		return;
	if (is_ours())
		(void)tcsetattr(0, TCSANOW, &k->saved);
	close(k->signals);
	if (!k->ended_by)
		return;
	(void)signal(k->ended_by, SIG_DFL);
	sigemptyset(&all);
	sigaddset(&all, k->ended_by);
	(void)sigprocmask(SIG_UNBLOCK, &all, NULL);
	(void)raise(k->ended_by);
}
