/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs-image: see unpack.h. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/image/unpack/unpack.h"

#define ROOT "rootfs"

static void json_clear(json_t **o)
{
	json_decref(*o);
}

static json_t *member(const json_t *o, const char *name)
{
	json_t *v = json_object_get(o, name);
	return v ? json_incref(v) : json_null();
}

/* What wardfs keeps of the configuration; what it takes of that it checks itself. */
static int tell(const struct unpack_image *m, const struct unpack_tally *t, struct ward_err *err)
{
	ward_cleanup(json_clear) json_t *whole =
		json_loadb(m->config.data, m->config.len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *c = json_object_get(whole, "config");
	ward_cleanup(json_clear) json_t *o =
		json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I}", "digest",
			m->digest, "env", member(c, "Env"), "entrypoint", member(c, "Entrypoint"),
			"cmd", member(c, "Cmd"), "cwd", member(c, "WorkingDir"), "user",
			member(c, "User"), "layers", (json_int_t)m->n_layers, "bytes",
			(json_int_t)t->bytes, "files", (json_int_t)t->files, "stripped",
			(json_int_t)t->stripped, "skipped", (json_int_t)t->skipped);
	ward_cleanup_free char *text = o ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	if (!whole || !text)
		return ward_err_set(err, -EBADMSG, "the configuration of the image is not JSON");
	int r = ward_fd_write_all(UNPACK_RESULT, text, strlen(text));
	return r < 0 ? ward_err_sys(err, r, "result") : 0;
}

/*
 * Where a session mounts files of its own there is one: then /etc can be shown as a whole, by one
 * mount. What they hold in an image, no session sees.
 */
static int make_places(int root, struct ward_err *err)
{
	static const char *const files[] = {"gitconfig", "group", "hostname", "hosts", "machine-id",
		"nsswitch.conf", "passwd", "resolv.conf"};
	struct stat st;
	if (mkdirat(root, "etc", 0755) < 0 && errno != EEXIST)
		return ward_err_sys(err, -errno, "etc");
	ward_cleanup_fd int etc =
		openat(root, "etc", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	for (size_t i = 0; etc >= 0 && i < sizeof(files) / sizeof(*files); i++) {
		if (fstatat(etc, files[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
			continue;
		int r = unpack_remove(etc, files[i], err);
		if (r < 0)
			return r;
		ward_cleanup_fd int fd = openat(
			etc, files[i], O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (fd < 0)
			return ward_err_sys(err, -errno, "etc/%s", files[i]);
	}
	if (mkdirat(root, "var", 0755) < 0 && errno != EEXIST)
		return ward_err_sys(err, -errno, "var");
	/* A link is of no use there, and stays what it is. */
	ward_cleanup_fd int var =
		openat(root, "var", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return var >= 0 && mkdirat(var, "tmp", 0755) < 0 && errno != EEXIST
		       ? ward_err_sys(err, -errno, "var/tmp")
		       : 0;
}

static int unpack(const char *platform, const char *tag, struct ward_err *err)
{
	struct unpack_source *s = NULL;
	struct unpack_image m = {.layers = NULL};
	struct unpack_tally tally = {0};
	int r = unpack_source_open(&s, err);
	if (r < 0)
		return r;
	r = unpack_manifest(s, platform, tag, &m, err);
	if (r == 0 && mkdirat(UNPACK_OUT, ROOT, 0755) < 0)
		r = ward_err_sys(err, -errno, "make a directory");
	ward_cleanup_fd int root =
		r < 0 ? -1
		      : openat(UNPACK_OUT, ROOT, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r == 0 && root < 0)
		r = ward_err_sys(err, -errno, "open a directory");
	for (size_t i = 0; r == 0 && i < m.n_layers; i++)
		r = unpack_layer(s, &m.layers[i], root, &tally, err);
	if (r == 0)
		r = make_places(root, err);
	if (r == 0)
		r = tell(&m, &tally, err);
	unpack_image_clear(&m);
	unpack_source_free(s);
	return r;
}

int main(int argc, char **argv)
{
	struct ward_err err = WARD_ERR_INIT;
	if (argc < 2 || argc > 3)
		return 2;
	umask(022);
	/* Names in the archive are bytes; libarchive converts those that are marked as UTF-8. */
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	int r = unpack_confine(&err);
	if (r == 0)
		r = unpack(argv[1], argc > 2 ? argv[2] : NULL, &err);
	if (r == 0)
		return 0;
	(void)!ward_fd_write_all(UNPACK_SAID, err.text, strlen(err.text));
	return 1;
}
