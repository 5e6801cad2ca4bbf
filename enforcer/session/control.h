/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket of a running session: `wardfs ps` and `wardfs kill` talk to its supervisor.
 *
 * RUNTIME/wardfs/SESSION/control, SOCK_SEQPACKET; one JSON object a request, one an answer:
 *
 *   {"verb":"status"}  → {"session":…,"pid":…,…}
 *   {"verb":"kill"}    → {"ok":true}, and the session ends
 *
 * Peers are the owner, whoever started the session, and root, never a process from inside a
 * sandbox: it has no path to the socket, and its pid namespace is not ours (checked at each
 * connection).
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "audit/format.h"
#include "enforcer/base/err.h"

#define WARD_CONTROL_MAX 65536

/*
 * Where the sockets of the caller live: $XDG_RUNTIME_DIR/wardfs, else /run/wardfs as root, else
 * `run` in the state directory: never in a place where somebody else could have been first.
 */
int ward_control_runtime(char **ret_path, struct ward_err *err) ward_must_check;

/* Makes the session's directory and listens. *ret_dir is an fd of the directory (both the
 * caller's). */
int ward_control_listen(const char *runtime, const char *session, int *ret_dir, int *ret_listen,
	struct ward_err *err) ward_must_check;
/* Removes the socket and directory again. */
void ward_control_remove(const char *runtime, const char *session);

/* Accepts one connection and checks the peer. owner: besides root and ourselves. -EPERM: refused.
 */
int ward_control_accept(int listen_fd, uid_t owner, int *ret_fd) ward_must_check;

/*
 * Client: sends request, waits for the answer (NUL-terminated, *ret the caller's). -ENOENT: no such
 * session; -ECONNREFUSED: its supervisor is gone.
 */
int ward_control_ask(const char *runtime, const char *session, const char *request, char **ret,
	struct ward_err *err) ward_must_check;

/*
 * For answers: text, escaped (base/escape.h), and a command line the same, whose arguments beyond
 * what an answer has room for are left out (the last member is then "…"). NULL without memory.
 */
json_t *ward_control_text(const char *text);
json_t *ward_control_argv(char *const *argv);

/* Names with '/' or a leading dot, empty or too long ones are no session names. */
bool ward_session_name_ok(const char *name);
#define WARD_SESSION_NAME_RULE                                                                        \
	"a name has letters, digits, '.', '_' and '-' only, 80 at most, and begins with a letter, a " \
	"digit or '_'"
