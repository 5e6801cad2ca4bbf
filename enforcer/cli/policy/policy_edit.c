/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs policy edit: the owner's file in an editor, installed only if it loads, as visudo(8) does.
 *
 * The editor is the owner's program: it reads the owner's start-up files. So it runs as the owner
 * with nothing of the caller's rights, and where that is another account than the caller's, with an
 * environment and a terminal of its own; what it leaves behind ends with it. It works on a copy
 * beside the file, in the owner's directory, which is opened again without following a link; what
 * is installed is the text that was read from it and loaded.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/place/owner_file.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/base/ask.h"
#include "enforcer/cli/policy/editor.h"
#include "enforcer/cli/policy/policy_effect.h"
#include "enforcer/cli/policy/policy_now.h"
#include "enforcer/cli/policy/policy_verbs.h"
#include "enforcer/policy/check.h"
#include "enforcer/policy/read.h"
#include "enforcer/session/owner/as_owner.h"

struct args {
	bool now;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	(void)arg;
	if (key != POLICY_OPT_NOW)
		return ARGP_ERR_UNKNOWN;
	a->now = true;
	return 0;
}

static const struct argp_option options[] = {
	POLICY_OPTION_NOW,
	{0},
};
static const struct argp argp = {options, parse, NULL,
	"Opens your file for this project, or a new one that extends medium, in VISUAL, EDITOR or "
	"vi. When you save, wardfs checks "
	"the file before it installs it. If the file has an error, wardfs prints the line, and "
	"you edit again or quit. It never installs a file with an error.\vExit status: 0 "
	"installed, or unchanged; 1 installed, but --now could not change a session; 2 not "
	"installed.",
	NULL, NULL, NULL};

struct editing {
	const struct ward_policy_place *place;
	char *path;	       /* of the copy, owned */
	struct ward_buf was;   /* what the file says; empty: there is none */
	struct ward_buf start; /* what the editor got */
	struct ward_buf text;
	struct policy_effect effect;
};

static void editing_clear(struct editing *e)
{
	free(e->path);
	ward_buf_clear(&e->was);
	ward_buf_clear(&e->start);
	ward_buf_clear(&e->text);
	policy_effect_clear(&e->effect);
}

/* The copy, in a directory that is made where it is missing. As the owner. */
static int make_copy(struct editing *e, struct ward_err *err)
{
	int made = ward_owner_file_dirs(e->path, err);
	if (made < 0)
		return made;
	ward_cleanup_fd int fd =
		open(e->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : ward_fd_write_all(fd, e->text.data, e->text.len);
	return r < 0 ? ward_err_sys(err, r, "%s", e->path) : 0;
}

/* Editors write a new file beside and rename it: the copy is opened again. As the owner. */
static int read_copy(struct editing *e, struct ward_err *err)
{
	struct stat st;
	ward_cleanup_fd int fd =
		open(e->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int r = fd < 0 || fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	ward_buf_clear(&e->text);
	if (r == 0)
		r = ward_fd_read_all(fd, WARD_POLICY_TEXT_MAX, &e->text);
	return r < 0 ? ward_err_sys(err, r, "%s", e->path) : 0;
}

static int drop_copy(struct editing *e, struct ward_err *err)
{
	(void)err;
	return unlink(e->path) < 0 ? -errno : 0;
}

static int as_owner(
	struct editing *e, int (*step)(struct editing *, struct ward_err *), struct ward_err *err)
{
	struct ward_as_owner owner;
	int r = ward_as_owner_begin(&e->place->id, &owner, err);
	if (r < 0)
		return r;
	r = step(e, err);
	ward_as_owner_end(&owner);
	return r;
}

/* ward_owner_change.judge */
static int judge(void *user, const struct ward_policy_place *after, struct ward_err *err)
{
	struct editing *e = user;
	policy_effect_clear(&e->effect);
	e->effect = POLICY_EFFECT_INIT;
	return policy_effect_find(e->place, after->policy, &e->effect, err);
}

static void say_finding(void *user, const struct ward_finding *f)
{
	const char *file = user;
	if (!f->note && strncmp(f->file, file, strlen(file)) == 0)
		ward_sayf(WARD_PLACE_FMT ": %s: %s", WARD_PLACE(file, f->line), f->what, f->why);
}

static int install(struct editing *e, struct ward_err *err)
{
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place after = {
		.project = {.fd = -1}};
	const struct ward_owner_change c = {
		.text = &e->text, .was = &e->was, .replace = true, .judge = judge, .user = e};
	int r = ward_owner_file_change(e->place, &c, &after, err);
	if (r < 0)
		return r;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	ward_outf("installed: %s\n", ward_shell_quoted(&word, e->place->owner_file));
	policy_effect_print(&e->effect, NULL);
	r = ward_policy_check(after.policy, say_finding, e->place->owner_file);
	return r < 0 ? ward_err_sys(err, r, "checking") : 0;
}

static bool unchanged(const struct editing *e)
{
	return e->text.len == e->start.len &&
	       (!e->text.len || memcmp(e->text.data, e->start.data, e->text.len) == 0);
}

/* Until it loads, or who edits gives up. 1: nothing was changed. */
static int edit(struct editing *e, struct ward_err *err)
{
	for (;;) {
		int r = editor_run(&e->place->id, e->path, e->place->project.path, err);
		if (r == 0)
			r = as_owner(e, read_copy, err);
		if (r < 0)
			return r;
		if (unchanged(e))
			return 1;
		r = install(e, err);
		if (r == 0 || r == -ESTALE)
			return r;
		ward_say(err->text);
		if (ask_word("e: edit again, q: quit without installing it [e]", "eq", 'e', 'q') ==
			'q')
			return ward_err_set(
				err, -ECANCELED, "%s is unchanged", e->place->owner_file);
		*err = WARD_ERR_INIT;
	}
}

static int begin(struct editing *e, struct ward_err *err)
{
	const struct ward_policy_place *place = e->place;
	if (ward_policy_place_need(place, err) < 0)
		return -ENOENT;
	int r = ward_owner_file_get(place->owner_file, &place->id, &e->was, err);
	if (r < 0)
		return r;
	/* A new one begins as `policy add` begins it, and is no file before it is saved changed. */
	if (r == 0)
		ward_buf_puts(&e->text, WARD_OWNER_FILE_NEW);
	else
		ward_buf_add(&e->text, e->was.data, e->was.len);
	ward_buf_add(&e->start, e->text.data, e->text.len);
	if (ward_buf_error(&e->text) < 0 || ward_buf_error(&e->start) < 0 ||
		asprintf(&e->path, "%s.edit.%ld", place->owner_file, (long)getpid()) < 0) {
		e->path = NULL;
		return ward_err_sys(err, -ENOMEM, "%s", place->owner_file);
	}
	return as_owner(e, make_copy, err);
}

int ward_policy_cmd_edit(int argc, char **argv)
{
	struct args a = {0};
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place place;
	ward_cleanup(editing_clear) struct editing e = {
		.place = &place, .effect = POLICY_EFFECT_INIT};
	/* What held before, for comparison; a file that does not load is edited nevertheless. */
	struct ward_err broken = WARD_ERR_INIT;
	int r = ward_policy_place_look(NULL, WARD_PROJECT_OWNERS, &place, &broken);
	if (r < 0) {
		ward_say(broken.text);
		ward_policy_place_clear(&place);
		r = ward_policy_place_look("medium", WARD_PROJECT_OWNERS, &place, &err);
	}
	ward_project_say(&place.project);
	if (r == 0)
		r = begin(&e, &err);
	if (r == 0) {
		r = edit(&e, &err);
		struct ward_err ignored = WARD_ERR_INIT;
		(void)as_owner(&e, drop_copy, &ignored);
	}
	if (r == 1)
		ward_outf("%s: %s\n",
			e.was.len ? "unchanged" : "not saved, so there is still no file",
			ward_shell_quoted(&word, place.owner_file));
	if (r == 0 && a.now)
		r = policy_now(&place);
	else if (r == 1)
		r = 0;
	if (r < 0)
		ward_say(err.text);
	return ward_finish_output(r < 0 ? 2 : r);
}
