/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket of a running session: `wardfs ps` and `wardfs kill` talk to its supervisor.
 *
 * RUNTIME/wardfs/SESSION/control, SOCK_SEQPACKET; one JSON object a request, one an answer (the
 * table of requests: control_verbs.c):
 *
 *   {"verb":"status"}  → {"session":…,"pid":…,…}
 *   {"verb":"kill"}    → {"ok":true}, and the session ends
 *   {"verb":"join","argv":[…],"user":TEXT?} → {"ok":BOOL,"errno":N}: `wardfs-oci` alone; the
 *       engine will start one more process in the container
 *   {"verb":"umount","lazy":BOOL} → {"ok":BOOL,"errno":N}: `wardfs mount` alone
 *   {"verb":"exec",…}  → session/exec/execs.h: the connection stays open while the command runs
 *   {"verb":"attach",…} → session/exec/attach.h, the same
 *   {"verb":"reload"}, and a descriptor: see reload.h
 *   {"verb":"steps"}, {"verb":"mark","text":NAME}, {"verb":"back","text":STEP}
 *                      → what wardfs-fs answers: fs/fs_steps.c
 *   {"verb":"take",…}, {"verb":"unfit"} → session/warm/take.h: of a session that was prepared, and
 *                        takes nothing else but `status` and `kill` until then
 *   {"verb":"io"}, …   → what wardfs-fs answers: see ask_fs.h
 *
 * A request that the session does not take is answered {"ok":false,"status":exit status,"error":
 * TEXT}.
 *
 * Peers are the owner, the user who started the session, and root, never a process from inside a
 * sandbox: it has no path to the socket, and its pid namespace is not ours (checked at each
 * connection, of the very process that connected where the kernel can name it: SO_PEERPIDFD).
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "audit/format.h"
#include "enforcer/base/err.h"
#include "enforcer/session/owner/session_place.h"

#define WARD_CONTROL_MAX 65536

/*
 * Removes what sessions that were killed have left there, makes this session's directory and
 * listens. *ret_dir is an fd of the directory (both the caller's); while it is open, the directory
 * is locked, and nobody takes it for a leftover. -EBUSY: somebody else's lock.
 */
int ward_control_listen(const char *runtime, const char *session, int *ret_dir, int *ret_listen,
	struct ward_err *err) ward_must_check;
/* Removes the sockets and directory again. dir: *ret_dir of ward_control_listen(). */
void ward_control_remove(const char *runtime, const char *session, int dir);
/* Removes the directories of sessions that have ended without doing so: those that nobody locks. */
void ward_control_sweep(const char *runtime);

/*
 * Accepts one connection and checks the peer. owner: besides root and ourselves. -EPERM: refused,
 * as is whatever the session itself started, but for `ours`, a child of this process that has not
 * been waited for, and what that started; 0: there is none.
 */
int ward_control_accept(int listen_fd, uid_t owner, pid_t ours, int *ret_fd) ward_must_check;

/*
 * One request of an accepted connection, and up to *n_fds descriptors with it. *ret_text is
 * NUL-terminated and, as the descriptors, the caller's. 0 bytes: -EPIPE.
 */
int ward_control_hear(int fd, char **ret_text, int *fds, size_t *n_fds) ward_must_check;

/*
 * For a client that stays connected: the next answer, and the descriptor with it (-1: none), which
 * are the caller's. -EAGAIN: not yet; any other negative errno: there will be no further one.
 */
int ward_control_answer(int fd, json_t **ret, int *ret_fd) ward_must_check;
/* The exit status that {"exited":N} or {"signaled":N} means (128+N); -1: it is neither. */
int ward_control_exit_status(const json_t *answer);

/* Client: a connection to the session's supervisor. Errors as ward_control_ask(). */
int ward_control_connect(const char *runtime, const char *session, int *ret_fd,
	struct ward_err *err) ward_must_check;
/*
 * The same without waiting, and the connection does not wait either. -EAGAIN: the supervisor takes
 * no further client just now.
 */
int ward_control_try(const char *runtime, const char *session, int *ret_fd,
	struct ward_err *err) ward_must_check;
/* Sends text with n descriptors (which stay the caller's). */
int ward_control_send(int fd, const char *text, const int *fds, size_t n) ward_must_check;

/*
 * Client: waits until the session's supervisor has let go of its directory, which it does last, or
 * for ms milliseconds. True: it is gone, or never was.
 */
bool ward_control_wait_gone(const char *runtime, const char *session, int ms) ward_must_check;

/*
 * Client: sends request, waits for the answer (NUL-terminated, *ret the caller's). -ENOENT: no such
 * session; -ECONNREFUSED: its supervisor is gone; -EACCES: it hung up, because it refuses this
 * process or ends meanwhile.
 */
int ward_control_ask(const char *runtime, const char *session, const char *request, char **ret,
	struct ward_err *err) ward_must_check;
/* The same with a descriptor (stays the caller's; -1: none), and another patience. */
int ward_control_ask_with(const char *runtime, const char *session, const char *request, int fd,
	int ms, char **ret, struct ward_err *err) ward_must_check;

/*
 * For answers: text, escaped (base/escape.h), and a command line the same, whose arguments beyond
 * what an answer has room for are left out (the last member is then "…"). NULL without memory.
 */
json_t *ward_control_text(const char *text);
json_t *ward_control_argv(char *const *argv);
