/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/session/control.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "audit/store.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"

/* A supervisor answers at once; longer means that it is stuck. */
#define ANSWER_MS 5000
/* Of WARD_CONTROL_MAX, for the command; JSON may double a byte ('\\', '"'). */
#define ARGV_MAX 16384U

bool ward_session_name_ok(const char *name)
{
	size_t n = strlen(name);
	if (n == 0 || n > WARD_SESSION_NAME_MAX || name[0] == '.' || name[0] == '-')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
			return false;
	return true;
}

json_t *ward_control_text(const char *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_escape(&b, text, strlen(text));
	return json_string(ward_buf_str(&b));
}

json_t *ward_control_argv(char *const *argv)
{
	json_t *list = json_array();
	size_t room = ARGV_MAX;
	for (; *argv; argv++) {
		json_t *s = ward_control_text(*argv);
		size_t n = s ? json_string_length(s) + 3 : 0;
		if (!s || n > room) {
			json_decref(s);
			json_array_append_new(list, json_string("…"));
			break;
		}
		room -= n;
		json_array_append_new(list, s);
	}
	return list;
}

static int runtime_in_state(char **ret_path, struct ward_err *err)
{
	ward_cleanup_free char *state = NULL;
	const char *home = getenv("HOME");
	const struct passwd *pw = NULL;
	if (!home || home[0] != '/')
		home = (pw = getpwuid(geteuid())) ? pw->pw_dir : NULL;
	int r = ward_store_default_path(geteuid(), getenv("XDG_STATE_HOME"), home, &state, err);
	if (r < 0)
		return r;
	return asprintf(ret_path, "%s/run", state) < 0
		       ? ward_err_sys(err, -ENOMEM, "runtime directory")
		       : 0;
}

int ward_control_runtime(char **ret_path, struct ward_err *err)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	int n = 0;
	if (xdg && xdg[0] == '/')
		n = asprintf(ret_path, "%s/wardfs", xdg);
	else if (geteuid() == 0)
		n = asprintf(ret_path, "/run/wardfs");
	else
		return runtime_in_state(ret_path, err);
	return n < 0 ? ward_err_sys(err, -ENOMEM, "runtime directory") : 0;
}

/* Opens a directory that only we can write to, making it where it is missing. */
static int private_dir(int at, const char *path, int *ret, struct ward_err *err)
{
	if (mkdirat(at, path, 0700) < 0 && errno != EEXIST)
		return ward_err_sys(err, -errno, "%s", path);
	ward_cleanup_fd int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return ward_err_sys(err, -errno, "%s", path);
	if (st.st_uid != geteuid() || st.st_mode & 022)
		return ward_err_set(
			err, -EPERM, "%s belongs to somebody else or others can write to it", path);
	*ret = ward_steal_fd(&fd);
	return 0;
}

/* The socket's address through a directory descriptor: sun_path has room for 108 bytes only. */
static void address(int dir, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/control", dir);
}

int ward_control_listen(const char *runtime, const char *session, int *ret_dir, int *ret_listen,
	struct ward_err *err)
{
	ward_cleanup_fd int base = -1;
	ward_cleanup_fd int dir = -1;
	int r = private_dir(AT_FDCWD, runtime, &base, err);
	if (r == 0)
		r = private_dir(base, session, &dir, err);
	if (r < 0)
		return ward_err_wrap(err, "control socket");
	ward_cleanup_fd int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un sa;
	address(dir, &sa);
	if (s < 0)
		return ward_err_sys(err, -errno, "control socket");
	unlinkat(dir, "control", 0);
	if (bind(s, (struct sockaddr *)&sa, sizeof(sa)) < 0 || listen(s, 16) < 0)
		return ward_err_sys(err, -errno, "control socket in %s/%s", runtime, session);
	*ret_dir = ward_steal_fd(&dir);
	*ret_listen = ward_steal_fd(&s);
	return 0;
}

void ward_control_remove(const char *runtime, const char *session)
{
	ward_cleanup_fd int base = open(runtime, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (base < 0)
		return;
	ward_cleanup_fd int dir =
		openat(base, session, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir >= 0)
		unlinkat(dir, "control", 0);
	unlinkat(base, session, AT_REMOVEDIR);
}

/* True if pid lives in our own pid namespace; a dead or hidden process does not. */
static bool outside(pid_t pid)
{
	char path[64];
	struct stat theirs;
	struct stat ours;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return pid > 0 && stat(path, &theirs) == 0 && stat("/proc/self/ns/pid", &ours) == 0 &&
	       theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev;
}

int ward_control_accept(int listen_fd, uid_t owner, int *ret_fd)
{
	ward_cleanup_fd int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return -errno;
	struct ucred peer;
	socklen_t len = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return -errno;
	if (peer.uid != 0 && peer.uid != geteuid() && peer.uid != owner)
		return -EPERM;
	if (!outside(peer.pid))
		return -EPERM;
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

int ward_control_ask(const char *runtime, const char *session, const char *request, char **ret,
	struct ward_err *err)
{
	if (!ward_session_name_ok(session))
		return ward_err_set(err, -EINVAL, "'%s' is no session name", session);
	ward_cleanup_fd int base = open(runtime, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	if (base >= 0 && (fstat(base, &st) < 0 || st.st_uid != geteuid() || st.st_mode & 022))
		return ward_err_set(err, -EPERM,
			"%s belongs to somebody else or others can write to it: not asked",
			runtime);
	ward_cleanup_fd int dir =
		base < 0 ? -1
			 : openat(base, session, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return ward_err_set(err, -ENOENT, "no session '%s' is running", session);
	ward_cleanup_fd int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un sa;
	address(dir, &sa);
	if (s < 0 || connect(s, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		return ward_err_sys(err, -errno, "session %s", session);
	if (send(s, request, strlen(request), MSG_NOSIGNAL) < 0)
		return ward_err_sys(err, -errno, "session %s", session);
	struct pollfd p = {.fd = s, .events = POLLIN};
	if (poll(&p, 1, ANSWER_MS) <= 0)
		return ward_err_set(err, -ETIMEDOUT, "session %s does not answer", session);
	ward_cleanup_free char *buf = malloc(WARD_CONTROL_MAX + 1);
	if (!buf)
		return ward_err_sys(err, -ENOMEM, "session %s", session);
	ssize_t n = recv(s, buf, WARD_CONTROL_MAX, 0);
	if (n <= 0)
		return ward_err_set(err, -ECONNREFUSED, "session %s refused to answer", session);
	buf[n] = '\0';
	*ret = ward_steal_ptr(&buf);
	return 0;
}
