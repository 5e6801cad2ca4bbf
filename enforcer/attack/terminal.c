/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/attack/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/attack/tree.h"

int ward_terminal_open(struct ward_terminal *ret)
{
	char path[64];
	const int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	const int slave =
		master < 0 || unlockpt(master) < 0 || ptsname_r(master, path, sizeof(path)) != 0
			? -1
			: open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (slave < 0) {
		if (master >= 0)
			close(master);
		return -1;
	}
	*ret = (struct ward_terminal){master, slave};
	return 0;
}

void ward_terminal_close(struct ward_terminal *t)
{
	if (t->slave >= 0)
		close(t->slave);
	if (t->master >= 0)
		close(t->master);
	*t = (struct ward_terminal)WARD_TERMINAL_NONE;
}

const char *ward_terminal_path(const struct ward_terminal *t, char ret[32])
{
	if (t->master < 0 || ptsname_r(t->master, ret, 32) != 0)
		*ret = '\0';
	return ret;
}

void ward_terminal_prepare(const struct ward_terminal *t, const char *typed)
{
	const struct winsize size = {.ws_row = 24, .ws_col = 80};
	const int lines = 0; /* N_TTY */
	struct termios modes;
	char rest[512];

	if (t->master < 0)
		return;
	(void)ioctl(t->slave, TIOCNXCL);
	(void)ioctl(t->slave, TIOCSETD, &lines);
	(void)ioctl(t->slave, TIOCSWINSZ, &size);
	if (tcgetattr(t->slave, &modes) == 0) {
		modes.c_lflag = ICANON;
		(void)tcsetattr(t->slave, TCSANOW, &modes);
	}
	(void)tcflush(t->slave, TCIOFLUSH);
	while (read(t->master, rest, sizeof(rest)) > 0)
		;
	if (write(t->master, typed, strlen(typed)) > 0)
		(void)!write(t->master, "\n", 1);
	/* The kernel hands it over by a thread of its own. */
	for (int i = 0, n = 0; i < 400 && ioctl(t->slave, FIONREAD, &n) == 0 && !n; i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

uint64_t ward_terminal_scene(const struct ward_terminal *t)
{
	struct winsize size = {0};
	struct termios modes = {0};
	int values[4] = {0};
	uint64_t h = WARD_MIX_BEGIN;

	if (t->master < 0)
		return h;
	(void)ioctl(t->slave, FIONREAD, &values[0]);
	(void)ioctl(t->master, FIONREAD, &values[1]);
	(void)ioctl(t->slave, TIOCGETD, &values[2]);
	(void)ioctl(t->slave, TIOCGEXCL, &values[3]);
	(void)ioctl(t->slave, TIOCGWINSZ, &size);
	(void)tcgetattr(t->slave, &modes);
	h = ward_mix(h, values, sizeof(values));
	h = ward_mix(h, &size, sizeof(size));
	return ward_mix(h, &modes.c_lflag, sizeof(modes.c_lflag));
}
