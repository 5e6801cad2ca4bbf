/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the options of a command line as a policy source. */
#include "enforcer/session/plan/run_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/image_name.h"
#include "enforcer/policy/read.h"
#include "enforcer/base/patient.h"

/* A longer argument is cut in messages. */
#define ORIGIN_ARG_MAX 200

/* The real path of an existing file or directory, as the kernel names it. */
static int host_path(const char *arg, char **ret, bool *ret_dir, struct ward_err *err)
{
	ward_cleanup_fd int fd = open(arg, O_PATH | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return ward_err_sys(err, -errno, "%s", arg);
	int r = ward_fd_path(fd, ret);
	if (r < 0)
		return ward_err_sys(err, r, "%s: cannot be named", arg);
	*ret_dir = S_ISDIR(st.st_mode);
	return 0;
}

/* A path that does not exist yet: the real directory and the last name. */
static int future_path(const char *arg, char **ret, bool *ret_dir, struct ward_err *err)
{
	const char *slash = strrchr(arg, '/');
	const char *name = slash ? slash + 1 : arg;
	if (!*arg)
		return ward_err_set(err, -EINVAL, "an empty path");
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return ward_err_set(err, -ENOENT, "%s does not exist", arg);
	ward_cleanup(ward_buf_clear) struct ward_buf above = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf whole = WARD_BUF_INIT;
	ward_cleanup_free char *dir = NULL;
	bool is_dir = false;
	if (slash)
		ward_buf_add(&above, arg, slash == arg ? 1 : (size_t)(slash - arg));
	else
		ward_buf_puts(&above, ".");
	int r = ward_buf_error(&above);
	if (r < 0)
		return ward_err_sys(err, r, "%s", arg);
	r = host_path(ward_buf_str(&above), &dir, &is_dir, err);
	if (r < 0)
		return r;
	ward_buf_printf(&whole, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, name);
	char *path = ward_buf_steal(&whole);
	if (!path)
		return ward_err_sys(err, -ENOMEM, "%s", arg);
	*ret = path;
	*ret_dir = false;
	return 0;
}

static bool has_control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return true;
	return false;
}

/* Messages about the lines below name the option as it was typed: no one can open this text. */
static void put_origin(struct ward_buf *b, const char *option, const char *arg)
{
	ward_buf_printf(b, WARD_ORIGIN_MARK "--%s ", option);
	for (size_t i = 0; arg[i] && i < ORIGIN_ARG_MAX; i++)
		ward_buf_putc(b, (unsigned char)arg[i] < 0x20 || arg[i] == 0x7f ? '?' : arg[i]);
	ward_buf_puts(b, strlen(arg) > ORIGIN_ARG_MAX ? "...\n" : "\n");
}

struct texts {
	struct ward_buf trees;
	struct ward_buf files;
	struct ward_buf system;
};

/* A path in the project, relative to its root. */
static int add_inside(struct texts *t, const char *verb, const char *arg, const char *rel)
{
	put_origin(&t->files, verb, arg);
	ward_buf_printf(&t->files, "%s = /workspace%s", verb, *rel ? "/" : "");
	ward_pattern_quote(&t->files, rel, strlen(rel));
	ward_buf_putc(&t->files, '\n');
	return ward_buf_error(&t->files);
}

static int add_path(struct texts *t, const char *verb, const char *arg, const char *project,
	struct ward_err *err)
{
	ward_cleanup_free char *path = NULL;
	bool dir = false;
	struct stat st;
	int r = ward_patient_reach(arg, err);
	if (r < 0)
		return ward_err_wrap(err, "--%s", verb);
	bool there = stat(arg, &st) == 0;
	/* As it is called inside: where the host has no such path, that is what is meant. */
	const char *rel = there ? NULL : ward_path_beneath(arg, "/workspace");
	if (rel && !has_control(rel))
		return add_inside(t, verb, arg, rel);
	r = there ? host_path(arg, &path, &dir, err) : future_path(arg, &path, &dir, err);
	if (r < 0)
		return ward_err_wrap(err, "--%s", verb);
	if (has_control(path))
		return ward_err_set(err, -EINVAL,
			"--%s: the path contains control characters, which are not allowed here",
			verb);
	rel = ward_path_beneath(path, project);
	if (rel)
		return add_inside(t, verb, arg, rel);
	if (!there)
		return ward_err_set(err, -ENOENT, "--%s %s: no such file or directory", verb, path);
	if (strcmp(path, "/") == 0)
		return ward_err_set(err, -EINVAL,
			"--%s /: you cannot give the whole host; name the directories that the command needs",
			verb);
	/* A path stands as it is in [tree …] and in source =: no quoting exists there. */
	if (strpbrk(path, "];#~") || strchr(path, '\\'))
		return ward_err_set(err, -EINVAL,
			"--%s: a path outside the project cannot contain ']', ';', '#', '~' or '\\'",
			verb);
	if (dir) {
		put_origin(&t->trees, verb, arg);
		ward_buf_printf(&t->trees, "[tree %s]\nsource = %s\nat = none\n", path, path);
		put_origin(&t->files, verb, arg);
		ward_buf_printf(&t->files, "%s = ", verb);
		ward_pattern_quote(&t->files, path, strlen(path));
		ward_buf_putc(&t->files, '\n');
		return 0;
	}
	/* A socket or a pipe that is seen can be talked to, whatever the mount says. */
	if (strcmp(verb, "read") == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
		put_origin(&t->system, verb, arg);
		ward_buf_printf(&t->system, "read = %s\n", path);
		return 0;
	}
	return ward_err_set(err, -EINVAL, "--%s %s: outside the project you can only give %s", verb,
		arg, strcmp(verb, "read") == 0 ? "directories and regular files" : "directories");
}

/* The text has no directory of its own, so paths relative to the caller are absolute. */
static int add_image(struct ward_buf *b, const char *name, struct ward_err *err)
{
	ward_cleanup_free char *path = NULL;
	bool dir = false;
	int r = 0;
	if (ward_image_name_is_path(name) && name[0] != '~')
		r = host_path(name, &path, &dir, err);
	if (r == 0)
		r = ward_image_name_check(path ? path : name, err);
	if (r < 0)
		return ward_err_wrap(err, "--image");
	if (has_control(path ? path : name) || strpbrk(path ? path : name, ";#\\"))
		return ward_err_set(err, -EINVAL,
			"--image: a path cannot contain ';', '#', '\\' or control characters");
	put_origin(b, "image", name);
	ward_buf_printf(b, "[system]\nimage = %s\n[container]\nimage = %s\n", path ? path : name,
		path ? path : name);
	return ward_buf_error(b);
}

static int add_engine(struct ward_buf *b, const char *name, struct ward_err *err)
{
	if (has_control(name) || strpbrk(name, ";#\\ "))
		return ward_err_set(err, -EINVAL,
			"--engine '%s': write runc, crun, runsc, podman, docker, or the absolute "
			"path of one",
			name);
	put_origin(b, "engine", name);
	ward_buf_printf(b, "[container]\nengine = %s\n", name);
	return ward_buf_error(b);
}

static int add_ports(const char *key, const struct ward_strs *ports, const char *which,
	struct ward_buf *all, struct ward_err *err)
{
	for (size_t i = 0; i < ports->n; i++) {
		if (!*ports->v[i] || strspn(ports->v[i], "0123456789:") != strlen(ports->v[i]))
			return ward_err_set(err, -EINVAL, "--%s '%s': write PORT, or PORT:PORT %s",
				key, ports->v[i], which);
		put_origin(all, key, ports->v[i]);
		ward_buf_printf(all, "%s = %s\n", key, ports->v[i]);
	}
	return 0;
}

static int add_network(const struct ward_run_options *o, struct ward_buf *all, struct ward_err *err)
{
	/* Replaces only "none": compile keeps a proxy (settings.c). */
	if (o->learn)
		ward_buf_puts(all, WARD_ORIGIN_MARK "wardfs learn\n");
	else if (o->net.n)
		put_origin(all, "net", o->net.v[0]);
	else if (o->publish.n)
		put_origin(all, "publish", o->publish.v[0]);
	else if (o->forward.n)
		put_origin(all, "forward", o->forward.v[0]);
	if (o->net.n || o->publish.n || o->forward.n || o->learn)
		ward_buf_puts(all, "[network]\nmode = allowlist\n");
	for (size_t i = 0; i < o->net.n; i++) {
		if (!*o->net.v[i] || has_control(o->net.v[i]) || strpbrk(o->net.v[i], ";# "))
			return ward_err_set(
				err, -EINVAL, "--net '%s': write HOST or HOST:PORT", o->net.v[i]);
		put_origin(all, "net", o->net.v[i]);
		ward_buf_printf(all, "allow = %s\n", o->net.v[i]);
	}
	int r = add_ports("publish", &o->publish, "of the host and inside", all, err);
	return r < 0 ? r : add_ports("forward", &o->forward, "inside and of the host", all, err);
}

int ward_run_text(const struct ward_run_options *o, const char *project, const char *cwd,
	char **ret, struct ward_err *err)
{
	(void)cwd; /* relative arguments mean the caller's directory, where we stand */
	/* The plan reports an unknown word, with its option's name. */
	const struct ward_mode *mode = o->mode	   ? ward_mode_find(o->mode)
				       : o->engine ? ward_mode_find(WARD_ENGINE_MODE)
						   : NULL;
	/* One that picks another is weighed first (weigh.h). */
	if (mode && mode->strictness == 0)
		mode = NULL;
	/* Of the other words the policy's may be the lower one. */
	const bool low = o->trust && strcmp(o->trust, "low") == 0;
	if (o->read.n + o->write.n + o->hide.n + o->net.n + o->publish.n + o->forward.n +
				o->shown.n ==
			0 &&
		!mode && !low && !o->learn && !o->image && !o->engine) {
		*ret = NULL;
		return 0;
	}
	ward_cleanup(ward_buf_clear) struct ward_buf all = WARD_BUF_INIT;
	struct texts t = {WARD_BUF_INIT, WARD_BUF_INIT, WARD_BUF_INIT};
	int r = 0;
	for (size_t i = 0; r == 0 && i < o->read.n; i++)
		r = add_path(&t, "read", o->read.v[i], project, err);
	for (size_t i = 0; r == 0 && i < o->write.n; i++)
		r = add_path(&t, "write", o->write.v[i], project, err);
	if (o->shown.n)
		ward_buf_puts(&t.system, WARD_ORIGIN_BUILT_IN);
	for (size_t i = 0; i < o->shown.n; i++)
		ward_buf_printf(&t.system, "read = %s\n", o->shown.v[i]);
	ward_buf_puts(&all, "[policy]\nversion = 1\n");
	if (mode)
		put_origin(&all, o->mode ? "mode" : "engine", o->mode ? o->mode : o->engine);
	if (mode)
		ward_buf_printf(&all, "mode = %s\n", mode->word);
	if (low)
		put_origin(&all, "trust", o->trust);
	if (low)
		ward_buf_puts(&all, "trust = low\n");
	if (t.trees.len)
		ward_buf_printf(&all, "%s", ward_buf_str(&t.trees));
	if (t.system.len)
		ward_buf_printf(&all, "[system]\n%s", ward_buf_str(&t.system));
	if (r == 0 && o->image)
		r = add_image(&all, o->image, err);
	if (r == 0 && o->engine)
		r = add_engine(&all, o->engine, err);
	if (o->hide.n)
		ward_buf_puts(&all, "[guard]\n");
	for (size_t i = 0; r == 0 && i < o->hide.n; i++) {
		if (!*o->hide.v[i])
			r = ward_err_set(err, -EINVAL, "--hide: an empty pattern");
		if (has_control(o->hide.v[i]) || strchr(o->hide.v[i], ';'))
			r = ward_err_set(err, -EINVAL,
				"--hide: a pattern cannot contain control characters or ';'");
		/* A host path below the project is called by its sandbox path. */
		const char *rel =
			o->hide.v[i][0] == '/' ? ward_path_beneath(o->hide.v[i], project) : NULL;
		put_origin(&all, "hide", o->hide.v[i]);
		if (rel)
			ward_buf_printf(&all, "hide = /workspace%s%s\n", *rel ? "/" : "", rel);
		else
			ward_buf_printf(&all, "hide = %s\n", o->hide.v[i]);
	}
	if (t.files.len)
		ward_buf_printf(&all, "[files]\n%s", ward_buf_str(&t.files));
	if (r == 0)
		r = add_network(o, &all, err);
	ward_buf_clear(&t.trees);
	ward_buf_clear(&t.files);
	ward_buf_clear(&t.system);
	if (r < 0)
		return -EINVAL; /* of the command line, whatever the system call said */
	*ret = ward_buf_steal(&all);
	return *ret ? 0 : ward_err_sys(err, -ENOMEM, "command line");
}
