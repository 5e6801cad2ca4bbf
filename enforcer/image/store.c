/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the store of images. */
#include "enforcer/image/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/image_name.h"

/* execve(2) would take more; no image has so many. */
#define STRINGS_MAX 1024
#define TEXT_MAX 65536

static void json_clear(json_t **o)
{
	json_decref(*o);
}

/* Each directory of the path that is missing. */
static int make_all(char *path)
{
	for (char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		int r = mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
		*s = '/';
		if (r < 0)
			return r;
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

int ward_image_store_make(const char *state, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	return ward_image_store_open(state, true, &fd, err);
}

int ward_image_store_open(const char *state, bool make, int *ret_fd, struct ward_err *err)
{
	ward_cleanup_free char *path = NULL;
	if (asprintf(&path, "%s/images", state) < 0) {
		path = NULL;
		return ward_err_sys(err, -ENOMEM, "images");
	}
	int r = make ? make_all(path) : 0;
	if (r < 0)
		return ward_err_sys(err, r, "%s", path);
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0 || (make && mkdirat(fd, WARD_IMAGE_REFS, 0700) < 0 && errno != EEXIST))
		return ward_err_sys(err, -errno, "%s", path);
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

int ward_image_store_lock(int store, const char *name, bool wait, int *ret_fd, struct ward_err *err)
{
	ward_cleanup_fd int fd =
		openat(store, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return ward_err_sys(err, -errno, "lock the store of images");
	while (flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB) < 0)
		if (errno != EINTR)
			return ward_err_sys(err, -errno, "lock the store of images");
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

int ward_image_store_write(int dir, const char *name, const char *text, struct ward_err *err)
{
	static const char own[] = ".writing";
	(void)unlinkat(dir, own, 0);
	ward_cleanup_fd int fd =
		openat(dir, own, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : ward_fd_write_all(fd, text, strlen(text));
	if (r == 0 && (fsync(fd) < 0 || renameat(dir, own, dir, name) < 0 || fsync(dir) < 0))
		r = -errno;
	return r < 0 ? ward_err_sys(err, r, "write %s into the store of images", name) : 0;
}

int ward_image_store_read(int dir, const char *name, json_t **ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup_fd int fd = ward_fd_open_regular(dir, name, O_RDONLY);
	int r = fd < 0 ? fd : ward_fd_read_all(fd, WARD_IMAGE_ABOUT_MAX, &b);
	if (r < 0)
		return ward_err_sys(err, r, "%s of the store of images", name);
	*ret = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, NULL);
	return *ret ? 0 : ward_err_set(err, -EBADMSG, "%s in the store of images is damaged", name);
}

void ward_image_ref_file(const char *name, char ret[65])
{
	uint8_t d[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;
	sha256_init(&ctx);
	sha256_update(&ctx, strlen(name), (const uint8_t *)name);
	sha256_digest(&ctx, sizeof(d), d);
	for (size_t i = 0; i < sizeof(d); i++)
		snprintf(ret + 2 * i, 3, "%02x", d[i]);
}

json_t *ward_image_source(int fd)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return NULL;
	if (S_ISDIR(st.st_mode) && fstatat(fd, "index.json", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return NULL;
	if (!S_ISREG(st.st_mode))
		return NULL;
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "dev", (json_int_t)st.st_dev, "ino",
		(json_int_t)st.st_ino, "size", (json_int_t)st.st_size, "mtime",
		(json_int_t)st.st_mtim.tv_sec, "mtime_ns", (json_int_t)st.st_mtim.tv_nsec, "ctime",
		(json_int_t)st.st_ctim.tv_sec, "ctime_ns", (json_int_t)st.st_ctim.tv_nsec);
}

/* --- what an image says of itself: checked again, since it was a stranger's --- */

/* Appends the texts of an array to v, which has room. */
static int take_strings(const json_t *a, char **v, size_t *n)
{
	size_t i = 0;
	const json_t *s = NULL;
	if (a && !json_is_null(a) && !json_is_array(a))
		return -EBADMSG;
	json_array_foreach(a, i, s)
	{
		const char *text = json_string_value(s);
		if (!text || json_string_length(s) != strlen(text) || strlen(text) > TEXT_MAX ||
			*n == STRINGS_MAX)
			return -EBADMSG;
		v[*n] = strdup(text);
		if (!v[(*n)++])
			return -ENOMEM;
	}
	return 0;
}

/* The name of a variable, and "=". */
static bool is_variable(const char *s)
{
	size_t n = strcspn(s, "=");
	if (s[n] != '=' || n == 0 || (s[0] >= '0' && s[0] <= '9'))
		return false;
	return strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

static int take_lists(const json_t *o, struct ward_image *x, const char **ret_field)
{
	size_t n_env = 0, n_argv = 0;
	*ret_field = "Env";
	x->env = calloc(STRINGS_MAX + 1, sizeof(*x->env));
	x->argv = calloc(STRINGS_MAX + 1, sizeof(*x->argv));
	if (!x->env || !x->argv)
		return -ENOMEM;
	int r = take_strings(json_object_get(o, "env"), x->env, &n_env);
	for (size_t i = 0; i < n_env && r == 0; i++)
		if (!is_variable(x->env[i]))
			r = -EBADMSG;
	if (r == 0) {
		*ret_field = "Entrypoint";
		r = take_strings(json_object_get(o, "entrypoint"), x->argv, &n_argv);
	}
	if (r == 0) {
		*ret_field = "Cmd";
		r = take_strings(json_object_get(o, "cmd"), x->argv, &n_argv);
	}
	return r;
}

static int take_text(const json_t *o, const char *name, char **ret)
{
	const json_t *v = json_object_get(o, name);
	const char *s = json_string_value(v);
	if (!v || json_is_null(v) || (s && !*s))
		return 0;
	if (!s || json_string_length(v) != strlen(s) || strlen(s) > 4095)
		return -EBADMSG;
	*ret = strdup(s);
	return *ret ? 0 : -ENOMEM;
}

static uint64_t number_of(const json_t *o, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(o, name));
	return n < 0 ? 0 : (uint64_t)n;
}

/* -EBADMSG: *ret_field of the image's configuration is not valid. */
static int take_about(const json_t *o, struct ward_image *x, const char **ret_field)
{
	int r = take_lists(o, x, ret_field);
	if (r == 0) {
		*ret_field = "WorkingDir";
		r = take_text(o, "cwd", &x->cwd);
	}
	/* As ward_blueprint_path_ok() wants it; "/" is one, too. */
	for (size_t n = x->cwd ? strlen(x->cwd) : 0; n > 1 && x->cwd[n - 1] == '/';)
		x->cwd[--n] = '\0';
	if (r == 0 && x->cwd && (x->cwd[0] != '/' || strstr(x->cwd, "/.") || strstr(x->cwd, "//")))
		r = -EBADMSG;
	if (r == 0) {
		*ret_field = "User";
		r = take_text(o, "user", &x->user);
	}
	x->bytes = number_of(o, "bytes");
	x->files = number_of(o, "files");
	x->stripped = number_of(o, "stripped");
	x->skipped = number_of(o, "skipped");
	return r;
}

int ward_image_about_check(const json_t *about, const char *name, struct ward_err *err)
{
	ward_cleanup(ward_image_clear) struct ward_image x = WARD_IMAGE_INIT;
	const char *field = NULL;
	int r = take_about(about, &x, &field);
	if (r != -EBADMSG)
		return r < 0 ? ward_err_sys(err, r, "image") : 0;
	return ward_err_set(err, r,
		"%s: %s in the configuration of the image is not valid; nothing was stored. Build "
		"the image with another value",
		name, field);
}

static int load(
	int store, const char *digest, const char *name, struct ward_image *x, struct ward_err *err)
{
	ward_cleanup(json_clear) json_t *o = NULL;
	ward_cleanup_fd int dir =
		openat(store, digest + 7, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return ward_err_set(err, -ENOENT, "the image %s is not in the store", digest);
	x->lock = openat(dir, WARD_IMAGE_ABOUT, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (x->lock < 0 || flock(x->lock, LOCK_SH | LOCK_NB) < 0)
		return ward_err_set(err, -EBUSY, "the image %s is being removed", digest);
	int r = ward_image_store_read(dir, WARD_IMAGE_ABOUT, &o, err);
	if (r < 0)
		return r;
	const char *field = NULL;
	r = take_about(o, x, &field);
	if (r < 0)
		return ward_err_set(err, r,
			"the description of the image %s is invalid; remove the image: wardfs image rm",
			digest);
	x->fd = openat(dir, WARD_IMAGE_ROOT, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = x->fd < 0 ? -errno : ward_fd_path(x->fd, &x->root);
	if (r < 0)
		return ward_err_sys(err, r, "the image %s", digest);
	x->digest = strdup(digest);
	x->name = name ? strdup(name) : NULL;
	return x->digest && (x->name || !name) ? 0 : ward_err_sys(err, -ENOMEM, "image");
}

int ward_image_load(int store, const char *digest, const char *name, struct ward_image *ret,
	struct ward_err *err)
{
	struct ward_image x = WARD_IMAGE_INIT;
	int r = load(store, digest, name, &x, err);
	if (r < 0)
		ward_image_clear(&x);
	else
		*ret = x;
	return r;
}

/* --- by name --- */

static int not_pulled(const char *name, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	return ward_err_set(err, -ENOENT,
		"the image %s is not in the store; fix: wardfs image pull %s", name,
		ward_shell_quoted(&word, name));
}

/* *ret: a digest, in o. */
static int digest_of(int store, const char *name, json_t **o, const char **ret)
{
	char file[65];
	ward_cleanup_fd int refs =
		openat(store, WARD_IMAGE_REFS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ward_image_ref_file(name, file);
	if (refs < 0 || ward_image_store_read(refs, file, o, NULL) < 0)
		return -ENOENT;
	const char *is = json_string_value(json_object_get(*o, "name"));
	*ret = json_string_value(json_object_get(*o, "digest"));
	return is && strcmp(is, name) == 0 && *ret && ward_image_name_is_digest(*ret) ? 0 : -ENOENT;
}

int ward_image_find(
	const char *state, const char *name, struct ward_image *ret, struct ward_err *err)
{
	ward_cleanup(json_clear) json_t *o = NULL;
	ward_cleanup_fd int store = -1;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	const char *digest = name;
	int r = ward_image_store_open(state, false, &store, err);
	if (r == -ENOENT)
		return not_pulled(name, err);
	if (r < 0)
		return r;
	if (!ward_image_name_is_digest(name) && digest_of(store, name, &o, &digest) < 0)
		return not_pulled(name, err);
	if (name[0] == '/') {
		ward_cleanup_fd int fd = open(name, O_PATH | O_CLOEXEC);
		ward_cleanup(json_clear) json_t *now = fd < 0 ? NULL : ward_image_source(fd);
		if (!now || !json_equal(now, json_object_get(o, "source")))
			return ward_err_set(err, -ESTALE,
				"%s has changed since it was unpacked; fix: wardfs image pull %s",
				name, ward_shell_quoted(&word, name));
	}
	return ward_image_load(store, digest, name, ret, err);
}

static int each_ref(int store, ward_image_fn fn, void *user, json_t *seen)
{
	const struct dirent *e = NULL;
	int refs = openat(store, WARD_IMAGE_REFS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = refs < 0 ? NULL : fdopendir(refs);
	int r = 0;
	if (!d && refs >= 0)
		close(refs);
	while (d && r == 0 && (e = readdir(d))) {
		ward_cleanup(json_clear) json_t *o = NULL;
		ward_cleanup(ward_image_clear) struct ward_image x = WARD_IMAGE_INIT;
		if (e->d_name[0] == '.' || ward_image_store_read(dirfd(d), e->d_name, &o, NULL) < 0)
			continue;
		const char *name = json_string_value(json_object_get(o, "name"));
		const char *digest = json_string_value(json_object_get(o, "digest"));
		if (!name || !digest || !ward_image_name_is_digest(digest) ||
			ward_image_load(store, digest, name, &x, NULL) < 0)
			continue;
		json_object_set_new(seen, digest + 7, json_true());
		r = fn(user, &x);
	}
	if (d)
		closedir(d);
	return r;
}

int ward_image_each(const char *state, ward_image_fn fn, void *user, struct ward_err *err)
{
	ward_cleanup(json_clear) json_t *seen = json_object();
	ward_cleanup_fd int store = -1;
	const struct dirent *e = NULL;
	int r = ward_image_store_open(state, false, &store, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = each_ref(store, fn, user, seen);
	int list = openat(store, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = list < 0 ? NULL : fdopendir(list);
	if (!d && list >= 0)
		close(list);
	while (d && r == 0 && (e = readdir(d))) {
		ward_cleanup(ward_image_clear) struct ward_image x = WARD_IMAGE_INIT;
		char digest[80];
		snprintf(digest, sizeof(digest), "sha256:%.64s", e->d_name);
		if (ward_image_name_is_digest(digest) && !json_object_get(seen, e->d_name) &&
			ward_image_load(store, digest, NULL, &x, NULL) == 0)
			r = fn(user, &x);
	}
	if (d)
		closedir(d);
	return r;
}
