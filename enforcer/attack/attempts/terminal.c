/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller's terminal: the observer starts each sandbox with one, as a shell does, and looks at
 * it from the other end. A second one stands for a terminal of the same user's other session.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "enforcer/attack/attempts/attempts.h"

/* A background process may read and set the terminal without being stopped. */
static int terminal(void)
{
	(void)signal(SIGTTOU, SIG_IGN);
	(void)signal(SIGTTIN, SIG_IGN);
	return open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
}

/* "x" and the end of a line, so that a program that reads lines gets it. */
static int inject_by(unsigned long request)
{
	char text[] = "x\n";
	const int fd = terminal();
	if (fd < 0)
		return -1;
	for (char *at = text; *at; at++)
		if (ioctl(fd, request, at) < 0)
			return -1;
	return 0;
}

static int inject(const struct ward_facts *f, char *proof)
{
	return inject_by(TIOCSTI);
}

/* The kernel takes 32 bits of the request; a filter may have compared 64. */
static int inject_high(const struct ward_facts *f, char *proof)
{
	return inject_by(0x100000000UL | TIOCSTI);
}

static int write_to(int fd)
{
	if (fd < 0)
		return -1;
	return write(fd, "\033[31mx\n", 7) == 7 ? 0 : -1;
}

static int write_terminal(const struct ward_facts *f, char *proof)
{
	return write_to(terminal());
}

static int read_terminal(const struct ward_facts *f, char *proof)
{
	const int fd = terminal();
	return fd < 0 ? -1 : ward_proof_of_fd(fd, proof);
}

static int resize(const struct ward_facts *f, char *proof)
{
	const struct winsize size = {.ws_row = 7, .ws_col = 7};
	const int fd = terminal();
	return fd < 0 ? -1 : ioctl(fd, TIOCSWINSZ, &size);
}

static int set_modes(const struct ward_facts *f, char *proof)
{
	struct termios modes;
	const int fd = terminal();
	if (fd < 0 || tcgetattr(fd, &modes) < 0)
		return -1;
	modes.c_lflag ^= ECHO;
	return tcsetattr(fd, TCSANOW, &modes);
}

static int discipline(const struct ward_facts *f, char *proof)
{
	const int null = 27; /* N_NULL: nothing is typed or read any more */
	const int fd = terminal();
	return fd < 0 ? -1 : ioctl(fd, TIOCSETD, &null);
}

static int take_alone(const struct ward_facts *f, char *proof)
{
	const int fd = terminal();
	return fd < 0 ? -1 : ioctl(fd, TIOCEXCL);
}

static int discard(const struct ward_facts *f, char *proof)
{
	const int fd = terminal();
	return fd < 0 ? -1 : tcflush(fd, TCIFLUSH);
}

static int other(const struct ward_facts *f)
{
	return f->terminal ? open(f->terminal, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
			   : ward_attempt_lacks();
}

static int read_other(const struct ward_facts *f, char *proof)
{
	const int fd = other(f);
	return fd < 0 ? -1 : ward_proof_of_fd(fd, proof);
}

static int write_other(const struct ward_facts *f, char *proof)
{
	return write_to(other(f));
}

#define OWN "a session of its own (setsid), or seccomp"
#define OTHERS "a view of its own (mount namespace)"
static const struct ward_attempt rows[] = {
	WARD_ATTEMPT(PROMISE, TERMINAL, "terminal-inject",
		"Types a line into the caller's terminal (TIOCSTI).", OWN, "CVE-2017-5226", inject),
	WARD_ATTEMPT(PROMISE, TERMINAL, "terminal-inject-high",
		"Types a line by a request number with high bits set.", OWN, "CVE-2019-10063",
		inject_high),
	WARD_ATTEMPT(PROMISE, SECRET, "terminal-read",
		"Reads what is typed at the caller's terminal.", OWN, "T1056", read_terminal),
	WARD_ATTEMPT(HARDENING, TERMINAL, "terminal-write",
		"Writes escape sequences to the caller's terminal.", OWN, "CWE-150",
		write_terminal),
	WARD_ATTEMPT(HARDENING, TERMINAL, "terminal-discard",
		"Discards what is typed at the caller's terminal.", OWN, "T1499", discard),
	WARD_ATTEMPT(HARDENING, TERMINAL, "terminal-size",
		"Sets the size of the caller's terminal.", OWN, "CWE-668", resize),
	WARD_ATTEMPT(HARDENING, TERMINAL, "terminal-modes", "Turns the echo of the terminal on.",
		OWN, "CWE-668", set_modes),
	WARD_ATTEMPT(HARDENING, TERMINAL, "terminal-discipline",
		"Sets another line discipline, which is other code of the kernel.", OWN,
		"CVE-2017-2636", discipline),
	WARD_ATTEMPT(HARDENING, TERMINAL, "terminal-alone",
		"Keeps other programs from opening the terminal (TIOCEXCL).", OWN, "T1499",
		take_alone),
	WARD_ATTEMPT(PROMISE, SECRET, "terminal-other-read",
		"Reads what is typed at a terminal of another session.", OTHERS, "T1056",
		read_other),
	WARD_ATTEMPT(PROMISE, TERMINAL, "terminal-other-write",
		"Writes escape sequences to a terminal of another session.", OTHERS, "CWE-150",
		write_other),
};
WARD_ATTEMPT_TABLE(terminal, WARD_ATTACK_TERMINAL, "steer the caller's terminal", rows);
