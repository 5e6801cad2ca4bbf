/* SPDX-License-Identifier: Apache-2.0 */
/* Turns signals into events of a poll loop. */
#include "enforcer/session/control/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

int ward_signals_catch(const int *signals, size_t n, int *ret_fd, struct ward_err *err)
{
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < n; i++)
		sigaddset(&set, signals[i]);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return ward_err_sys(err, -errno, "signals");
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return ward_err_sys(err, -errno, "signals");
	*ret_fd = fd;
	return 0;
}
