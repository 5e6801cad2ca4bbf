/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a helper process: fork, exec, fixed descriptors, configuration, "ready" (ipc/helper.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "enforcer/base/err.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/msg.h"

struct ward_helper {
	const char *name; /* "wardfs-fs"; static */
	pid_t pid;	  /* 0: not running */
	int pidfd;
	int control;  /* our end of WARD_FD_CONTROL */
	int lifeline; /* read end: end of file when the helper is dead; for pid 1 of the sandbox */
	int child_control; /* the helper's ends, until it has them */
	int child_lifeline;
	pid_t waiting; /* started early: its process until ward_helper_spawn(), then pid; 0: not so
			*/
	int early;     /* with waiting: where its descriptors go */
	bool foreign;  /* wardfs-auditd's child: we can wait for its end, not for its status */
};

#define WARD_HELPER_INIT                                                                           \
	((struct ward_helper){.name = "",                                                          \
		.pid = 0,                                                                          \
		.pidfd = -1,                                                                       \
		.control = -1,                                                                     \
		.lifeline = -1,                                                                    \
		.child_control = -1,                                                               \
		.child_lifeline = -1,                                                              \
		.early = -1})

/* A descriptor for the child and its number there. from == -1: that number is closed. */
struct ward_helper_fd {
	int from;
	int to;
};

/* A helper is expected to be ready within this time; slower means that it hangs. */
#define WARD_HELPER_READY_MS 20000

/*
 * Absolute path of one of our programs: in the installation's libexec directory; where we run from
 * another PREFIX/bin, in PREFIX/libexec/wardfs; else, in a build tree, beside the running program.
 * Of "" the directory itself, with a slash. *ret is the caller's (free()).
 */
int ward_helper_program(const char *name, char **ret, struct ward_err *err) ward_must_check;

/*
 * Absolute path of a file that comes with our programs, such as the AppArmor profile. A moved
 * PREFIX/bin has it in PREFIX/share/wardfs. A build tree has none: there it is the path that the
 * file gets when wardfs is installed. *ret is the caller's (free()).
 */
int ward_helper_data(const char *name, char **ret, struct ward_err *err) ward_must_check;

/* Makes the socket and the lifeline, so that others can get their numbers before the helper starts.
 */
int ward_helper_prepare(
	const char *name, struct ward_helper *ret, struct ward_err *err) ward_must_check;

/*
 * Has the prepared helper executed and loaded, before it is known what it will get, while we find
 * out. It does nothing until ward_helper_spawn(); ward_helper_close() before that ends it. Where it
 * cannot be started, ward_helper_spawn() does that, and says why.
 */
void ward_helper_early(struct ward_helper *h);

/*
 * Starts the prepared helper with fds (beside CONTROL and LIFELINE). Its configuration may follow
 * later by ward_helper_configure(), with n_fds (<= WARD_MSG_FDS_MAX) more: it waits for that.
 */
int ward_helper_spawn(struct ward_helper *h, const struct ward_helper_fd *fds, size_t n_fds,
	struct ward_err *err) ward_must_check;
int ward_helper_configure(struct ward_helper *h, const struct ward_msg *config, const int *fds,
	size_t n_fds, struct ward_err *err) ward_must_check;
/* What r, the answer of ward_msg_send() of a configuration, means for the helper: 0, or why not. */
int ward_helper_configured(struct ward_helper *h, int r, struct ward_err *err) ward_must_check;

/* Both. Does not wait for "ready". */
int ward_helper_start(struct ward_helper *h, const struct ward_helper_fd *fds, size_t n_fds,
	const struct ward_msg *config, struct ward_err *err) ward_must_check;

/*
 * Waits for WARD_MSG_READY; a helper that failed says why in err. ret_text NULL: it has nothing to
 * say with it; else that is the caller's to free.
 */
int ward_helper_wait_ready(
	struct ward_helper *h, char **ret_text, struct ward_err *err) ward_must_check;

/*
 * Continues one that somebody stopped (SIGSTOP, or a tracer). True: it was stopped. Of a foreign
 * one that is all that can be done where its user is another one.
 */
bool ward_helper_continue(const struct ward_helper *h);

/*
 * Waits up to ms for the process to end and reaps it; meanwhile it is continued if it is stopped.
 * Returns its wait status, or -ETIMEDOUT. With kill set the process gets SIGKILL first; one that
 * not even that ends is left behind. Of a foreign one the status is always 0, and kill only stops
 * the waiting.
 */
int ward_helper_reap(struct ward_helper *h, int ms, bool kill_it);
/*
 * Of one that was not reaped: is it at its end, or was it killed and has not noticed yet? A machine
 * with much to do takes seconds to end a process.
 */
bool ward_helper_dying(const struct ward_helper *h);
/* Closes descriptors; the process must have been reaped, unless it only waits
 * (ward_helper_early()). */
void ward_helper_close(struct ward_helper *h);
