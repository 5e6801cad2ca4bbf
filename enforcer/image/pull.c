/* SPDX-License-Identifier: Apache-2.0 */
/* Adds images to the store: wardfs-image unpacks beside, and a rename makes it one. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/image/store.h"
#include "enforcer/image/tree.h"
#include "enforcer/policy/image_name.h"

/* What wardfs-image has for 20 GiB on a slow disk. */
#define UNPACK_MS UINT64_C(1800000)
#define NS_PER_MS UINT64_C(1000000)

static void json_clear(json_t **o)
{
	json_decref(*o);
}

/* As images call it. */
static const char *platform(void)
{
	static struct utsname u;
	static const char *const names[][2] = {{"x86_64", "amd64"}, {"aarch64", "arm64"},
		{"riscv64", "riscv64"}, {"ppc64le", "ppc64le"}, {"s390x", "s390x"}};
	if (uname(&u) < 0)
		return "unknown";
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(u.machine, names[i][0]) == 0)
			return names[i][1];
	return u.machine;
}

/* Between fork and exec. */
static void child(const struct ward_image_pull *p, int result, int said, int out)
{
	char *const argv[] = {(char *)(uintptr_t) "wardfs-image", (char *)(uintptr_t)platform(),
		(char *)(uintptr_t)p->tag, NULL};
	char *const envp[] = {NULL};
	const int from[] = {p->input, result, said, out}, to[] = {0, 1, 2, 3};
	/* The process that waits for it may be killed. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || chdir("/") < 0 ||
		ward_fd_inherit(from, to, 4) < 0)
		_exit(125);
	execve(p->program, argv, envp);
	_exit(127);
}

/* Reads both pipes until they end, or until the time is over. */
static int listen_to(const int fds[2], struct ward_buf into[2], const size_t most[2])
{
	const uint64_t end = ward_clock_mono_ns() + UNPACK_MS * NS_PER_MS;
	struct pollfd p[2] = {{.fd = fds[0], .events = POLLIN}, {.fd = fds[1], .events = POLLIN}};
	while (p[0].fd >= 0 || p[1].fd >= 0) {
		const uint64_t now = ward_clock_mono_ns();
		char piece[4096];
		if (now >= end)
			return -ETIMEDOUT;
		if (poll(p, 2, (int)((end - now) / NS_PER_MS) + 1) < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < 2; i++) {
			if (p[i].fd < 0 || !p[i].revents)
				continue;
			ssize_t n = read(p[i].fd, piece, sizeof(piece));
			if (n == 0 || (n < 0 && errno != EINTR))
				p[i].fd = -1;
			if (n > 0 && into[i].len + (size_t)n > most[i])
				return -EFBIG;
			if (n > 0)
				ward_buf_add(&into[i], piece, (size_t)n);
		}
	}
	return 0;
}

static int start(const struct ward_image_pull *p, int out, pid_t *ret_pid, int ret_fds[2])
{
	int result[2] = {-1, -1}, said[2] = {-1, -1};
	int r = pipe2(result, O_CLOEXEC) < 0 || pipe2(said, O_CLOEXEC) < 0 ? -errno : 0;
	pid_t pid = r == 0 ? fork() : -1;
	if (pid == 0)
		child(p, result[1], said[1], out);
	if (r == 0 && pid < 0)
		r = -errno;
	for (int i = 0; i < 2; i++) {
		int *const pair = i ? said : result;
		if (pair[1] >= 0)
			close(pair[1]);
		if (r == 0)
			ret_fds[i] = pair[0];
		else if (pair[0] >= 0)
			close(pair[0]);
	}
	*ret_pid = pid;
	return r;
}

/* Runs wardfs-image; *ret: what it says of the image. */
static int unpack(const struct ward_image_pull *p, int out, json_t **ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf result = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf said = WARD_BUF_INIT;
	struct ward_buf into[2] = {WARD_BUF_INIT, WARD_BUF_INIT};
	const size_t most[2] = {WARD_IMAGE_ABOUT_MAX, 4096};
	int fds[2] = {-1, -1}, status = 0;
	pid_t pid = -1;
	int r = start(p, out, &pid, fds);
	if (r < 0)
		return ward_err_sys(err, r, "start wardfs-image");
	r = listen_to(fds, into, most);
	result = into[0];
	said = into[1];
	close(fds[0]);
	close(fds[1]);
	if (r < 0)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (r < 0)
		return ward_err_set(err, r, "%s: %s", p->name,
			r == -ETIMEDOUT ? "unpacking takes too long"
					: "wardfs-image says more than it may");
	if (WIFSIGNALED(status))
		return ward_err_set(
			err, -EIO, "%s: signal %d ended wardfs-image", p->name, WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return ward_err_set(err, -EINVAL, "%s: %s", p->name,
			said.len ? ward_buf_str(&said) : "wardfs-image cannot be started");
	*ret = ward_buf_error(&result) < 0
		       ? NULL
		       : json_loadb(result.data, result.len, JSON_REJECT_DUPLICATES, NULL);
	return *ret ? 0 : ward_err_set(err, -EBADMSG, "%s: wardfs-image says nothing", p->name);
}

/* The unpacked files become an image, unless the store has it. */
static int commit(
	int store, const char *own, const json_t *about, const char *digest, struct ward_err *err)
{
	struct stat st;
	ward_cleanup_free char *text = json_dumps(about, JSON_COMPACT | JSON_ENSURE_ASCII);
	ward_cleanup_fd int out =
		openat(store, own, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fstatat(store, digest + 7, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (!text || out < 0)
		return ward_err_sys(err, text ? -errno : -ENOMEM, "image");
	int r = ward_image_tree_remove(out, "members");
	if (r < 0 && r != -ENOENT)
		return ward_err_sys(err, r, "image");
	r = ward_image_store_write(out, WARD_IMAGE_ABOUT, text, err);
	/* All of it is on the disk before it has its name. */
	if (r == 0 && (syncfs(out) < 0 || renameat(store, own, store, digest + 7) < 0 ||
			      fsync(store) < 0))
		r = ward_err_sys(err, -errno, "add the image to the store");
	return r;
}

static int add_ref(
	int store, const struct ward_image_pull *p, const char *digest, struct ward_err *err)
{
	char file[65];
	ward_cleanup(json_clear) json_t *source = NULL;
	ward_cleanup(json_clear) json_t *o = NULL;
	ward_cleanup_fd int refs =
		openat(store, WARD_IMAGE_REFS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (refs < 0)
		return ward_err_sys(err, -errno, "names of images");
	o = json_pack("{s:s, s:s}", "name", p->name, "digest", digest);
	if (p->name[0] == '/' && (source = ward_image_source(p->input)))
		json_object_set(o, "source", source);
	ward_cleanup_free char *text = o ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	if (!text)
		return ward_err_set(err, -EINVAL, "%s: the name is not valid text", p->name);
	ward_image_ref_file(p->name, file);
	return ward_image_store_write(refs, file, text, err);
}

static int pull(int store, const struct ward_image_pull *p, const char *own, struct ward_image *ret,
	struct ward_err *err)
{
	ward_cleanup(json_clear) json_t *about = NULL;
	if (mkdirat(store, own, 0700) < 0)
		return ward_err_sys(err, -errno, "make a directory in the store of images");
	ward_cleanup_fd int out =
		openat(store, own, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out < 0)
		return ward_err_sys(err, -errno, "the store of images");
	int r = unpack(p, out, &about, err);
	if (r < 0)
		return r;
	const char *digest = json_string_value(json_object_get(about, "digest"));
	if (!digest || !ward_image_name_is_digest(digest))
		return ward_err_set(err, -EBADMSG, "%s: wardfs-image names no digest", p->name);
	r = ward_image_about_check(about, p->name, err);
	if (r == 0)
		r = commit(store, own, about, digest, err);
	if (r == 0)
		r = ward_image_load(store, digest, p->name, ret, err);
	return r == 0 ? add_ref(store, p, digest, err) : r;
}

/* With the lock: the process that made them is dead. */
static int remove_left(int store, size_t *ret, struct ward_err *err)
{
	const struct dirent *e = NULL;
	int r = 0;
	int list = openat(store, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = list < 0 ? NULL : fdopendir(list);
	if (!d)
		return ward_err_sys(err, -errno, "the store of images");
	while (r == 0 && (e = readdir(d))) {
		if (strncmp(e->d_name, WARD_IMAGE_NEW, strlen(WARD_IMAGE_NEW)) != 0)
			continue;
		r = ward_image_tree_remove(store, e->d_name);
		*ret += r == 0;
	}
	closedir(d);
	return r < 0 ? ward_err_sys(err, r, "remove what a pull left") : 0;
}

int ward_image_pull(const struct ward_image_pull *p, struct ward_image *ret, struct ward_err *err)
{
	ward_cleanup_fd int store = -1;
	ward_cleanup_fd int lock = -1;
	char own[32];
	size_t left = 0;
	int r = ward_image_store_open(p->state, true, &store, err);
	if (r == 0)
		r = ward_image_store_lock(store, WARD_IMAGE_LOCK, true, &lock, err);
	if (r == 0)
		r = remove_left(store, &left, err);
	if (r < 0)
		return r;
	if (p->keep && (r = ward_image_find(p->state, p->name, ret, err)) != -ENOENT)
		return r;
	snprintf(own, sizeof(own), WARD_IMAGE_NEW "%ld", (long)getpid());
	r = pull(store, p, own, ret, err);
	/* A name of its own by now, or of no use. */
	int removed = ward_image_tree_remove(store, own);
	if (r == 0 && removed < 0 && removed != -ENOENT) {
		r = ward_err_sys(err, removed, "remove what was unpacked twice");
		ward_image_clear(ret);
	}
	return r;
}

/* --- removing --- */

/* Is there another name for it than this one? Removes those where all says so. */
static int other_names(int store, const char *digest, const char *but, bool all, bool *ret)
{
	const struct dirent *e = NULL;
	int refs = openat(store, WARD_IMAGE_REFS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = refs < 0 ? NULL : fdopendir(refs);
	int r = d ? 0 : -errno;
	if (!d && refs >= 0)
		close(refs);
	*ret = false;
	while (d && r == 0 && (e = readdir(d))) {
		ward_cleanup(json_clear) json_t *o = NULL;
		if (e->d_name[0] == '.' || ward_image_store_read(dirfd(d), e->d_name, &o, NULL) < 0)
			continue;
		const char *is = json_string_value(json_object_get(o, "digest"));
		if (!is || strcmp(is, digest) != 0 || (but && strcmp(e->d_name, but) == 0))
			continue;
		*ret = true;
		if (all && unlinkat(dirfd(d), e->d_name, 0) < 0)
			r = -errno;
	}
	if (d)
		closedir(d);
	return r;
}

/* By a rename first: if we are killed meanwhile, prune removes the rest. */
static int remove_image(int store, const char *digest, struct ward_err *err)
{
	char own[32];
	ward_cleanup_fd int dir =
		openat(store, digest + 7, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ward_cleanup_fd int about =
		dir < 0 ? -1 : openat(dir, WARD_IMAGE_ABOUT, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return errno == ENOENT ? 0 : ward_err_sys(err, -errno, "%s", digest);
	if (about >= 0 && flock(about, LOCK_EX | LOCK_NB) < 0)
		return ward_err_set(err, -EBUSY,
			"a session uses the image %s: end that session first ('wardfs ps' names it)",
			digest);
	snprintf(own, sizeof(own), WARD_IMAGE_NEW "rm-%ld", (long)getpid());
	int r = renameat(store, digest + 7, store, own) < 0 ? -errno
							    : ward_image_tree_remove(store, own);
	return r < 0 ? ward_err_sys(err, r, "remove %s", digest) : 0;
}

int ward_image_remove(const char *state, const char *name, struct ward_err *err)
{
	ward_cleanup(json_clear) json_t *o = NULL;
	ward_cleanup_fd int store = -1;
	ward_cleanup_fd int lock = -1;
	ward_cleanup_fd int refs = -1;
	const bool all = ward_image_name_is_digest(name);
	const char *digest = name;
	char file[65];
	bool others = false;
	int r = ward_image_store_open(state, false, &store, err);
	if (r == 0)
		r = ward_image_store_lock(store, WARD_IMAGE_LOCK, true, &lock, err);
	if (r < 0 && r != -ENOENT)
		return r;
	ward_image_ref_file(name, file);
	if (r == 0)
		refs = openat(
			store, WARD_IMAGE_REFS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r == 0 && !all && (r = ward_image_store_read(refs, file, &o, NULL)) == 0)
		digest = json_string_value(json_object_get(o, "digest"));
	if (r < 0 || !digest || !ward_image_name_is_digest(digest))
		return ward_err_set(err, -ENOENT,
			"the image %s is not in the store; 'wardfs image list' lists the images",
			name);
	r = other_names(store, digest, all ? NULL : file, false, &others);
	if (r == 0 && (all || !others) && (r = remove_image(store, digest, err)) < 0)
		return r;
	if (r == 0 && all)
		r = other_names(store, digest, NULL, true, &others);
	else if (r == 0 && unlinkat(refs, file, 0) < 0)
		r = -errno;
	return r < 0 ? ward_err_sys(err, r, "remove %s", name) : 0;
}

int ward_image_prune(const char *state, size_t *ret, struct ward_err *err)
{
	ward_cleanup_fd int store = -1;
	ward_cleanup_fd int lock = -1;
	const struct dirent *e = NULL;
	size_t n = 0;
	int r = ward_image_store_open(state, false, &store, err);
	if (r == -ENOENT) {
		*ret = 0;
		return 0;
	}
	if (r == 0)
		r = ward_image_store_lock(store, WARD_IMAGE_LOCK, true, &lock, err);
	if (r == 0)
		r = remove_left(store, &n, err);
	int list = r < 0 ? -1 : openat(store, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = list < 0 ? NULL : fdopendir(list);
	while (d && r == 0 && (e = readdir(d))) {
		char digest[80];
		bool named = false;
		snprintf(digest, sizeof(digest), "sha256:%.64s", e->d_name);
		if (!ward_image_name_is_digest(digest))
			continue;
		r = other_names(store, digest, NULL, false, &named);
		if (r < 0)
			ward_err_sys(err, r, "names of images");
		else if (!named && (r = remove_image(store, digest, err)) == 0)
			n++;
		/* One in use stays. */
		if (r == -EBUSY)
			r = 0;
	}
	if (d)
		closedir(d);
	*ret = n;
	return r;
}
