/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets of the host in what a view shows: a process that sees one can connect to it, read-only
 * mount or not (unix(7)). Where mounts can be shut (init/shut.c) this covers those that the
 * command's own user owns; elsewhere all that can be found when the session starts.
 *
 * The kernel names each socket by the text of its bind(2) and by the inode of its file
 * (sock_diag(7)). Where the text does not lead to that inode, it was relative or the file was
 * renamed: then the text is tried from each directory that a process works in, and every socket
 * beside the name is covered.
 */
#include "enforcer/sandbox/view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* So many sockets of a host are looked at; a host with more is refused, not shown in part. */
#define SOCKETS_MAX 8192
/* And so many files beside them. */
#define BESIDE_MAX 65536

struct bound {
	char name[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1];
	uint32_t inode; /* its lower half is all that the kernel says */
};

struct search {
	struct ward_view_list *w;
	const struct ward_view_mounts *mounts;
	char **shown; /* by entry: what of the host it shows, without links; NULL: nothing */
	size_t n_shown;
	struct bound *v; /* the host's, each file once */
	size_t n, cap;
	size_t beside;
};

static void clear(struct search *s)
{
	for (size_t i = 0; i < s->n_shown; i++)
		free(s->shown[i]);
	free(s->shown);
	free(s->v);
}

/* --- which there are --- */

static int note(struct search *s, const struct bound *b)
{
	if (s->n == SOCKETS_MAX)
		return -E2BIG;
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 256;
		struct bound *v = reallocarray(s->v, cap, sizeof(*v));
		if (!v)
			return -ENOMEM;
		s->v = v;
		s->cap = cap;
	}
	s->v[s->n++] = *b;
	return 0;
}

/* One answer: with UNIX_DIAG_VFS a socket that has a file. */
static int take(struct search *s, const struct nlmsghdr *h)
{
	struct bound b = {.inode = 0};
	const struct unix_diag_vfs *vfs = NULL;
	if (h->nlmsg_len < NLMSG_LENGTH(sizeof(struct unix_diag_msg)))
		return -EBADMSG;
	const char *at = (const char *)NLMSG_DATA(h) + NLMSG_ALIGN(sizeof(struct unix_diag_msg));
	const char *end = (const char *)h + h->nlmsg_len;
	while (end - at >= (ptrdiff_t)sizeof(struct rtattr)) {
		const struct rtattr *a = (const struct rtattr *)(const void *)at;
		if (a->rta_len < sizeof(*a) || a->rta_len > end - at)
			return -EBADMSG;
		size_t len = a->rta_len - sizeof(*a);
		const char *value = at + sizeof(*a);
		if (a->rta_type == UNIX_DIAG_NAME && len < sizeof(b.name))
			memcpy(b.name, value, len);
		else if (a->rta_type == UNIX_DIAG_VFS && len == sizeof(*vfs))
			vfs = (const struct unix_diag_vfs *)(const void *)value;
		if (RTA_ALIGN(a->rta_len) >= (size_t)(end - at))
			break;
		at += RTA_ALIGN(a->rta_len);
	}
	if (!vfs || b.name[0] == '\0')
		return 0;
	b.inode = vfs->udiag_vfs_ino;
	return note(s, &b);
}

/* Returns 1 at the end of the answers. */
static int take_all(struct search *s, const char *data, size_t len)
{
	int r = 0;
	while (len >= sizeof(struct nlmsghdr) && r == 0) {
		const struct nlmsghdr *h = (const struct nlmsghdr *)(const void *)data;
		if (h->nlmsg_len < sizeof(*h) || h->nlmsg_len > len)
			return -EBADMSG;
		if (h->nlmsg_type == NLMSG_DONE)
			return 1;
		if (h->nlmsg_type == NLMSG_ERROR) {
			const struct nlmsgerr *e = NLMSG_DATA(h);
			return h->nlmsg_len < NLMSG_LENGTH(sizeof(*e)) || e->error >= 0 ? -EBADMSG
											: e->error;
		}
		r = take(s, h);
		size_t step = NLMSG_ALIGN(h->nlmsg_len);
		data += step < len ? step : len;
		len -= step < len ? step : len;
	}
	return r;
}

static int ask(struct search *s)
{
	struct {
		struct nlmsghdr head;
		struct unix_diag_req body;
	} q = {.head = {.nlmsg_len = sizeof(q),
		       .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.body = {.sdiag_family = AF_UNIX,
			.udiag_states = UINT32_MAX,
			.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_VFS}};
	_Alignas(struct nlmsghdr) char answer[32768];
	ward_cleanup_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd < 0)
		return -errno;
	if (send(fd, &q, sizeof(q), 0) != (ssize_t)sizeof(q))
		return -EIO;
	int r = 0;
	while (r == 0) {
		ssize_t n = recv(fd, answer, sizeof(answer), MSG_TRUNC);
		if (n < 0 && errno == EINTR)
			continue;
		r = n < 0			  ? -errno
		    : (size_t)n > sizeof(answer)  ? -EMSGSIZE
		    : n < (ssize_t)sizeof(q.head) ? -EBADMSG
						  : take_all(s, answer, (size_t)n);
	}
	return r < 0 ? r : 0;
}

/* A kernel without unix_diag, or a container that refuses it: names alone, and for each of them the
 * search that finds files that were renamed. */
static int read_names(struct search *s)
{
	char line[512];
	ward_cleanup_file FILE *f = fopen("/proc/net/unix", "re");
	int r = f ? 0 : -errno;
	while (r == 0 && fgets(line, sizeof(line), f)) {
		struct bound b = {.inode = 0};
		int at = 0;
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%*x: %*x %*x %*x %*x %*x %*u %n", &at) < 0 || at == 0)
			continue;
		if (line[at] == '\0' || line[at] == '@' || strlen(line + at) >= sizeof(b.name))
			continue;
		strcpy(b.name, line + at);
		r = note(s, &b);
	}
	return r;
}

static int compare(const void *left, const void *right)
{
	const struct bound *a = left;
	const struct bound *b = right;
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Each connection that a listener has accepted stands there with the listener's file. */
static void once_each(struct search *s)
{
	size_t n = 0;
	if (s->n == 0)
		return;
	qsort(s->v, s->n, sizeof(*s->v), compare);
	for (size_t i = 1; i < s->n; i++)
		if (compare(&s->v[n], &s->v[i]) != 0)
			s->v[++n] = s->v[i];
	s->n = n + 1;
}

/* --- where they are shown --- */

static int find_shown(struct search *s)
{
	s->n_shown = s->w->n;
	s->shown = calloc(s->n_shown + 1, sizeof(*s->shown));
	if (!s->shown)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_shown; i++) {
		const struct ward_blueprint_entry *e = &s->w->v[i];
		if (!(e->flags & WARD_BLUEPRINT_SHUT))
			continue;
		ward_cleanup_fd int fd = open(e->text, O_PATH | O_CLOEXEC);
		if (fd < 0 && ward_view_unreachable(errno))
			continue;
		int r = fd < 0 ? -errno : ward_fd_path(fd, &s->shown[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int cover_socket(void *user, const char *path, mode_t type)
{
	struct search *s = user;
	int r = 0;
	for (size_t i = 0; i < s->n_shown && r == 0 && S_ISSOCK(type); i++) {
		char *inside = NULL;
		if (!s->shown[i] || !ward_blueprint_path_below(path, s->shown[i]))
			continue;
		if (asprintf(&inside, "%s%s", s->w->v[i].path, path + strlen(s->shown[i])) < 0)
			return -ENOMEM;
		r = ward_view_cover(s->w, i, inside, type);
		free(inside);
	}
	return r;
}

static bool is_shown(const struct search *s, const char *path)
{
	for (size_t i = 0; i < s->n_shown; i++)
		if (s->shown[i] && ward_blueprint_path_below(path, s->shown[i]))
			return true;
	return false;
}

static int tell_shown(void *user, const char *path, mode_t type)
{
	(void)type;
	return is_shown(user, path);
}

/* Elsewhere than in what shows, nobody waits for a server: sockets there are not in the view. */
static bool may_ask(const struct search *s, int dir, const char *name)
{
	return is_shown(s, name) || !ward_view_may_wait(s->mounts, dir, name);
}

/*
 * Without waiting, if it can be: a socket keeps the name by which it was bound in the kernel's
 * cache as long as it lives.
 */
static int open_name(const struct search *s, int dir, const char *name)
{
	struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_CACHED};
	int fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
	if (fd < 0 && errno == EAGAIN && may_ask(s, dir, name))
		fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

/* 1: it is the socket with this inode; 0: another or none. inode 0: whichever. */
static int try(struct search *s, int dir, const char *name, uint32_t inode)
{
	struct statx st;
	ward_cleanup_fd int fd = open_name(s, dir, name);
	if (fd < 0 ||
		statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &st) < 0)
		return errno == ENOMEM || errno == ENFILE || errno == EMFILE ? -errno : 0;
	if (!S_ISSOCK(st.stx_mode))
		return 0;
	int r = ward_view_names(s->mounts, fd, false, cover_socket, s);
	return r < 0 ? r : inode && (uint32_t)st.stx_ino == inode;
}

/* All sockets in the directory of the name, if it is shown. */
static int try_beside(struct search *s, int dir, const char *name)
{
	const struct dirent *e = NULL;
	ward_cleanup_free char *part = strdup(name);
	if (!part)
		return -ENOMEM;
	if (!may_ask(s, dir, name))
		return 0;
	char *slash = strrchr(part, '/');
	if (slash)
		slash[slash == part] = '\0';
	ward_cleanup_fd int at = openat(dir, slash ? part : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = at < 0 ? 0 : ward_view_names(s->mounts, at, false, tell_shown, s);
	if (r <= 0)
		return r;
	int fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ward_cleanup_dir DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		/* Nobody lists it, so names are guessed at most. */
		return errno == EACCES || errno == ENOENT ? 0 : -errno;
	}
	for (r = 0; r >= 0 && (e = readdir(d));) {
		if (++s->beside > BESIDE_MAX)
			return -E2BIG;
		if (e->d_type == DT_SOCK || e->d_type == DT_UNKNOWN)
			r = try(s, at, e->d_name, 0);
	}
	return r < 0 ? r : 0;
}

/* A relative name: from wherever a process works now. */
static int try_directories(struct search *s, const struct bound *b)
{
	const struct dirent *e = NULL;
	int r = 0;
	ward_cleanup_dir DIR *d = opendir("/proc");
	while (r == 0 && d && (e = readdir(d))) {
		char path[300];
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/cwd", e->d_name);
		ward_cleanup_fd int at = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		r = at < 0 ? 0 : try(s, at, b->name, b->inode);
		if (r == 0 && at >= 0 && b->inode == 0)
			r = try_beside(s, at, b->name);
	}
	return r < 0 ? r : 0;
}

static int find(struct search *s, const struct bound *b)
{
	if (b->name[0] != '/')
		return try_directories(s, b);
	int r = try(s, AT_FDCWD, b->name, b->inode);
	return r == 0 ? try_beside(s, AT_FDCWD, b->name) : r < 0 ? r : 0;
}

int ward_view_hide_sockets(
	const struct ward_view_mounts *m, struct ward_view_list *w, struct ward_err *err)
{
	ward_cleanup(clear) struct search s = {.w = w, .mounts = m};
	int r = ask(&s);
	if (r < 0 && r != -ENOMEM && r != -E2BIG) {
		s.n = 0;
		r = read_names(&s);
	}
	if (r < 0)
		return ward_err_sys(err, r, "list the sockets of the host");
	once_each(&s);
	r = find_shown(&s);
	for (size_t i = 0; i < s.n && r == 0; i++)
		r = find(&s, &s.v[i]);
	return r < 0 ? ward_err_sys(err, r, "hide the sockets of the host") : 0;
}
