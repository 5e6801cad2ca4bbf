/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the terminal of a command. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/init/init.h"

/* A terminal belongs to one session: to that of the container's pid 1 (engine.c). */
static bool container_takes(const struct ward_init *in)
{
	return (in->blueprint.flags & (WARD_BLUEPRINT_ENGINE | WARD_BLUEPRINT_FOREIGN)) ==
		       WARD_BLUEPRINT_ENGINE &&
	       in->view[1];
}

int ward_init_pty(struct ward_init *in, int *ret_master, struct ward_err *err)
{
	struct winsize size = {.ws_row = (unsigned short)in->blueprint.rows,
		.ws_col = (unsigned short)in->blueprint.cols};
	int unlock = 0;
	/* The host's own devpts mostly has a ptmx of mode 0 (mount option ptmxmode); /dev/ptmx is
	 * it. */
	char ptmx[32];
	snprintf(ptmx, sizeof(ptmx), "%s%s", in->view[1] ? in->view : "",
		in->blueprint.layers & WARD_LAYER_VIEW ? "/dev/pts/ptmx" : "/dev/ptmx");
	ward_cleanup_fd int master = open(ptmx, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0 ||
		ioctl(master, TIOCSWINSZ, &size) < 0)
		return ward_err_sys(err, -errno, "make a pty");
	ward_cleanup_fd int tty = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	/*
	 * pid 1 is the leader of the session, the command only of its own process group: a group is
	 * stopped by Ctrl-Z only if some parent of its members is in the same session but another
	 * group, else it counts as orphaned (setpgid(2)).
	 */
	if (tty < 0 || (!container_takes(in) && ioctl(tty, TIOCSCTTY, 0) < 0))
		return ward_err_sys(err, -errno, "take the pty as terminal");
	in->tty = ward_steal_fd(&tty);
	*ret_master = ward_steal_fd(&master);
	return 0;
}
