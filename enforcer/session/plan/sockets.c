/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the sockets that stand inside for those that [network] socket names. */
#include "enforcer/session/plan/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/owner/as_owner.h"

/* As the broker will do it at each connection (enforcer/net/entry/reach.c). */
static int look(const char *path, struct ward_err *err)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
	ward_cleanup_fd int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	struct stat st;
	if (fd < 0 && errno == ELOOP) {
		/* For the message alone. */
		ward_cleanup_free char *real = realpath(path, NULL);
		return ward_err_set(err, -EINVAL,
			"[network] socket = %s: a symbolic link is on the way, and somebody could change it; name the target itself%s%s",
			path, real ? ": socket = " : "", real ? real : "");
	}
	if (fd < 0)
		return errno == ENOENT ? 0
				       : ward_err_sys(err, -errno, "[network] socket = %s", path);
	if (fstat(fd, &st) < 0)
		return ward_err_sys(err, -errno, "[network] socket = %s", path);
	return S_ISSOCK(st.st_mode)
		       ? 0
		       : ward_err_set(err, -EINVAL, "[network] socket = %s is not a socket", path);
}

static int look_at_all(const struct ward_run_plan *p, struct ward_err *err)
{
	struct ward_as_owner as = {0};
	int r = ward_as_owner_begin(&p->id, &as, err);
	for (size_t i = 0; r == 0 && i < p->n_sockets; i++)
		r = look(p->sockets[i], err);
	ward_as_owner_end(&as);
	return r;
}

/* Through a directory descriptor: sun_path has room for 108 bytes only (unix(7)). */
int ward_socket_listen(const struct ward_run_plan *p, int dir, const char *name, int *ret_fd)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	ward_cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/%s", dir, name);
	(void)unlinkat(dir, name, 0);
	/* Nobody connects before it listens. */
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 || fchmodat(dir, name, 0600, 0) < 0)
		return -errno;
	if (p->id.root &&
		fchownat(dir, name, p->id.agent_uid, p->id.agent_gid, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (listen(fd, SOMAXCONN) < 0)
		return -errno;
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

int ward_sockets_open(const struct ward_run_plan *p, int dir, const char *session,
	struct ward_sockets *ret, struct ward_err *err)
{
	struct ward_sockets s = WARD_SOCKETS_INIT;
	char name[32];
	int r = p->n_sockets ? look_at_all(p, err) : 0;
	if (r == 0 && p->n_sockets > WARD_NET_SOCKETS_MAX)
		r = ward_err_set(err, -EINVAL, "[network] socket: the maximum is %d sockets",
			WARD_NET_SOCKETS_MAX);
	s.dir = dir;
	for (; r == 0 && s.n < p->n_sockets; s.n++) {
		snprintf(name, sizeof(name), "socket.%zu", s.n);
		s.fds[s.n] = -1;
		if (asprintf(&s.paths[s.n], "%s/%s/%s", p->runtime, session, name) < 0) {
			s.paths[s.n] = NULL;
			r = ward_err_sys(err, -ENOMEM, "[network] socket");
			break;
		}
		r = ward_socket_listen(p, dir, name, &s.fds[s.n]);
		if (r < 0)
			ward_err_sys(err, r, "[network] socket = %s: listen at %s", p->sockets[s.n],
				s.paths[s.n]);
	}
	if (r < 0)
		ward_sockets_close(&s);
	else
		*ret = s;
	return r;
}

void ward_sockets_describe(
	const struct ward_sockets *s, const struct ward_run_plan *p, struct ward_sandbox_bind *ret)
{
	for (size_t i = 0; i < s->n; i++)
		ret[i] = (struct ward_sandbox_bind){
			.host = s->paths[i], .inside = p->sockets[i], .ours = true};
}

/* Their names go: nobody else on the host can connect. */
static void unlink_all(struct ward_sockets *s)
{
	char name[32];
	for (size_t i = 0; i < s->n; i++) {
		snprintf(name, sizeof(name), "socket.%zu", i);
		if (s->paths[i])
			(void)unlinkat(s->dir, name, 0);
		free(s->paths[i]);
		s->paths[i] = NULL;
	}
}

void ward_sockets_close(struct ward_sockets *s)
{
	unlink_all(s);
	for (size_t i = 0; i < s->n; i++)
		if (s->fds[i] >= 0)
			close(s->fds[i]);
	*s = WARD_SOCKETS_INIT;
}
