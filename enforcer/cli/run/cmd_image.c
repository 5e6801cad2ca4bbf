/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs image: the images that run --image shows. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/store/store.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/limit.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/verbs.h"
#include "enforcer/image/image.h"
#include "enforcer/image/save.h"
#include "enforcer/policy/image_name.h"
#include "enforcer/session/guard/helper.h"
#include "enforcer/session/owner/exit_status.h"

enum { OPT_FROM = 0x100, OPT_TAG };

struct args {
	const char *image, *from, *tag;
	bool json, one; /* one: an image has to be named */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case 'j':
		a->json = true;
		return 0;
	case OPT_FROM:
		if (!ward_image_engine(arg))
			ward_arguments_wrong(
				state, "--from %s: give docker, podman or skopeo", arg);
		a->from = arg;
		return 0;
	case OPT_TAG:
		a->tag = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (!a->one || a->image)
			return ARGP_ERR_UNKNOWN;
		a->image = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->one && !a->image)
			ward_arguments_wrong(state, "no image given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int find_state(char **ret, struct ward_err *err)
{
	int r = ward_store_default_path(
		geteuid(), secure_getenv("XDG_STATE_HOME"), secure_getenv("HOME"), ret, err);
	return r < 0 ? r : ward_store_is_ours(*ret, err);
}

static int complain(const struct ward_err *err)
{
	ward_say(err->text);
	return err->code == -EINVAL ? WARD_EXIT_USAGE : 1;
}

static json_t *describe(const struct ward_image *x)
{
	return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:I}", "name", ward_json_text(x->name),
		"digest", ward_json_text(x->digest), "path", ward_json_text(x->root), "bytes",
		(json_int_t)x->bytes, "files", (json_int_t)x->files, "stripped",
		(json_int_t)x->stripped, "skipped", (json_int_t)x->skipped);
}

/* --- list --- */

static int note(void *user, const struct ward_image *x)
{
	return json_array_append_new(user, describe(x)) < 0 ? -ENOMEM : 0;
}

static void print_one(const json_t *o)
{
	char size[32];
	const char *name = json_string_value(json_object_get(o, "name"));
	ward_outf("%-32s %.19s %8s %8lld files\n", name ? name : "(no name)",
		json_string_value(json_object_get(o, "digest")),
		ward_size_text((uint64_t)json_integer_value(json_object_get(o, "bytes")), size,
			sizeof(size)),
		(long long)json_integer_value(json_object_get(o, "files")));
}

static const struct argp_option list_options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects", 0}, {0}};
static const struct argp list_argp = {list_options, parse, "",
	"Lists the images that were pulled: name, digest, size and files.", NULL, NULL, NULL};

static int cmd_list(int argc, char **argv)
{
	struct ward_err err = WARD_ERR_INIT;
	struct args a = {.image = NULL};
	ward_cleanup_free char *state = NULL;
	if (ward_arguments_parse(&list_argp, argc, argv, 0, &a))
		return WARD_EXIT_USAGE;
	json_t *all = json_array();
	int r = find_state(&state, &err);
	if (r == 0)
		r = ward_image_each(state, note, all, &err);
	if (r < 0) {
		json_decref(all);
		return complain(&err);
	}
	size_t i = 0;
	const json_t *o = NULL;
	if (a.json)
		ward_print_json(json_incref(all));
	else
		json_array_foreach(all, i, o) print_one(o);
	if (!a.json && json_array_size(all) == 0)
		ward_say("the store has no image; 'wardfs image pull IMAGE' adds one");
	json_decref(all);
	return 0;
}

/* --- pull --- */

/* An archive or a layout of this host; *ret_name: its path without links. */
static int open_path(const char *path, int *ret_fd, char **ret_name, struct ward_err *err)
{
	struct stat st;
	struct ward_err why = WARD_ERR_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno != ENOTDIR)
		return ward_err_set(err, -EINVAL, "%s: %s", path, strerror(errno));
	if (fd >= 0 && fstatat(fd, "oci-layout", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return ward_err_set(err, -EINVAL,
			"%s is a directory without oci-layout. If it is the root of a system, it needs no pull: wardfs run --image %s",
			path, ward_shell_quoted(&word, path));
	if (fd < 0 && ward_fd_open_named(path, WARD_NAMED_FILE, &fd, &why) < 0)
		return ward_err_set(err, -EINVAL, "%s", why.text);
	int r = ward_fd_path(fd, ret_name);
	if (r < 0)
		return ward_err_sys(err, r, "%s", path);
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

static void say_pulled(const struct ward_image *x)
{
	if (x->stripped)
		ward_sayf(
			"wardfs removed setuid and setgid bits and file capabilities from %llu file%s",
			(unsigned long long)x->stripped, ward_s(x->stripped));
	if (x->skipped)
		ward_sayf("%llu %s left out", (unsigned long long)x->skipped,
			x->skipped == 1 ? "device, pipe or socket was"
					: "devices, pipes or sockets were");
}

static int save(const struct args *a, const char *state, int *ret_fd, struct ward_err *err)
{
	const struct ward_image_save s = {
		.name = a->image, .engine = a->from, .dir = state, .time_ns = WARD_UNLIMITED};
	const char *engine = NULL;
	int r = ward_image_save(&s, ret_fd, &engine, err);
	if (r == -ENOENT) {
		const struct ward_err was = *err;
		ward_err_set(err, r,
			"%s. You can also pull an archive of docker save or skopeo copy: wardfs image pull ./FILE.tar",
			was.text);
	}
	return r;
}

static int pull(const struct args *a, struct ward_image *ret, struct ward_err *err)
{
	ward_cleanup_free char *state = NULL;
	ward_cleanup_free char *program = NULL;
	ward_cleanup_free char *real = NULL;
	ward_cleanup_fd int fd = -1;
	const bool is_path = ward_image_name_is_path(a->image) && a->image[0] != '~';
	int r = ward_image_name_check(a->image, err);
	if (r == 0 && ward_image_name_is_digest(a->image))
		r = ward_err_set(err, -EINVAL, "name an image to pull, not its digest");
	if (r == 0)
		r = find_state(&state, err);
	if (r == 0)
		r = ward_helper_program("wardfs-image", &program, err);
	if (r < 0)
		return r;
	if (is_path) {
		r = open_path(a->image, &fd, &real, err);
	} else {
		r = ward_image_store_make(state, err);
		if (r < 0)
			return r;
		r = save(a, state, &fd, err);
	}
	if (r < 0)
		return r;
	const struct ward_image_pull p = {.state = state,
		.program = program,
		.name = is_path ? real : a->image,
		.tag = a->tag,
		.input = fd};
	return ward_image_pull(&p, ret, err);
}

static const struct argp_option pull_options[] = {
	{"from", OPT_FROM, "ENGINE", 0,
		"Take the image from docker or podman, or from a registry with skopeo. Default: docker, "
		"else podman",
		0},
	{"tag", OPT_TAG, "TAG", 0, "If a layout has several images, take the one with this tag", 0},
	{"json", 'j', NULL, 0, "One JSON object, as of image list", 0}, {0}};
static const struct argp pull_argp = {pull_options, parse, "IMAGE",
	"Unpacks IMAGE for run --image: an archive of docker save, podman save or skopeo (./FILE.tar), "
	"an OCI layout (./DIR), or the name of an image that docker or podman has on this host.\v"
	"Exit status: 0 the image is in the store; 1 wardfs cannot get or unpack it; 2 usage.",
	NULL, NULL, NULL};

static int cmd_pull(int argc, char **argv)
{
	struct ward_err err = WARD_ERR_INIT;
	struct args a = {.one = true};
	ward_cleanup(ward_image_clear) struct ward_image x = WARD_IMAGE_INIT;
	if (ward_arguments_parse(&pull_argp, argc, argv, 0, &a))
		return WARD_EXIT_USAGE;
	if (pull(&a, &x, &err) < 0) {
		ward_say(err.text);
		return 1;
	}
	say_pulled(&x);
	if (a.json)
		ward_print_json(describe(&x));
	else
		ward_outf("%s\n", x.digest);
	return 0;
}

/* --- rm, prune --- */

static const struct argp rm_argp = {NULL, parse, "IMAGE",
	"Removes IMAGE. Give a name from image list, the path it was pulled from, or a digest, which "
	"removes all its names.\v"
	"Exit status: 0 removed; 1 there is no such image, or a session uses it.",
	NULL, NULL, NULL};

/* An absolute path without "//", "/." and "/..", by its letters alone: no link is followed. */
static void tidy(char *path)
{
	char *to = path;
	for (const char *p = path; *p;) {
		const size_t slashes = strspn(p, "/"), n = strcspn(p + slashes, "/");
		const char *part = p + slashes;
		p = part + n;
		if (n == 2 && part[0] == '.' && part[1] == '.') {
			while (to > path && *--to != '/')
				continue;
		} else if (n > 0 && !(n == 1 && part[0] == '.')) {
			*to++ = '/';
			memmove(to, part, n);
			to += n;
		}
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
}

/*
 * The name that pull gave to what lies at this path. A session can have put a link there, which
 * leads to the archive of another image. So a link is not followed: the person names its target.
 */
static int name_of_path(const char *path, char **ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	ward_cleanup_free char *real = realpath(path, NULL);
	ward_cleanup_free char *here = path[0] == '/' ? strdup("") : getcwd(NULL, 0);
	ward_cleanup_free char *typed = NULL;
	if (!here || asprintf(&typed, "%s/%s", here, path) < 0) {
		typed = NULL;
		return ward_err_sys(err, here ? -ENOMEM : -errno, "%s", path);
	}
	tidy(typed);
	/* The archive may be gone by now. */
	if (real && strcmp(real, typed) != 0)
		return ward_err_set(err, -ELOOP,
			"%s leads to %s by a symbolic link. To remove that image: wardfs image rm %s",
			path, real, ward_shell_quoted(&word, real));
	*ret = ward_steal_ptr(&typed);
	return 0;
}

static int cmd_rm(int argc, char **argv)
{
	struct ward_err err = WARD_ERR_INIT;
	struct args a = {.one = true};
	ward_cleanup_free char *state = NULL;
	ward_cleanup_free char *name = NULL;
	if (ward_arguments_parse(&rm_argp, argc, argv, 0, &a))
		return WARD_EXIT_USAGE;
	int r = find_state(&state, &err);
	if (r == 0 && ward_image_name_is_path(a.image) && a.image[0] != '~')
		r = name_of_path(a.image, &name, &err);
	if (r == 0)
		r = ward_image_remove(state, name ? name : a.image, &err);
	return r < 0 ? complain(&err) : 0;
}

static const struct argp prune_argp = {NULL, parse, "",
	"Removes images without a name, and the remains of a killed pull.", NULL, NULL, NULL};

static int cmd_prune(int argc, char **argv)
{
	struct ward_err err = WARD_ERR_INIT;
	struct args a = {.image = NULL};
	ward_cleanup_free char *state = NULL;
	size_t n = 0;
	if (ward_arguments_parse(&prune_argp, argc, argv, 0, &a))
		return WARD_EXIT_USAGE;
	int r = find_state(&state, &err);
	if (r == 0)
		r = ward_image_prune(state, &n, &err);
	if (r < 0)
		return complain(&err);
	ward_outf("%zu removed\n", n);
	return 0;
}

int ward_cmd_image(int argc, char **argv)
{
	static const struct ward_cli_verb verbs[] = {
		{"list", cmd_list, "wardfs image list", "list the images in the store"},
		{"pull", cmd_pull, "wardfs image pull",
			"unpack an archive, a layout, or an image of an engine"},
		{"rm", cmd_rm, "wardfs image rm", "remove an image"},
		{"prune", cmd_prune, "wardfs image prune", "remove the images without a name"},
	};
	static const struct ward_cli_verbs all = {"wardfs image",
		"Manages the images for wardfs run --image.\n", verbs,
		sizeof(verbs) / sizeof(*verbs)};
	return ward_cli_call(&all, argc, argv);
}
