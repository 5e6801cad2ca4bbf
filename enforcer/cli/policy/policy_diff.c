/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy diff: what one policy gives and another does not. */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/progress.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/policy/policy_difference.h"
#include "enforcer/cli/policy/policy_options.h"
#include "enforcer/cli/policy/policy_verbs.h"
#include "enforcer/policy/diff.h"
#include "enforcer/policy/explain.h"

/* An open directory a level: below the usual limit of descriptors, deeper than trees of people. */
#define DEPTH_MAX 256U

struct args {
	struct policy_options o;
	const char *tree;
	const char *words[2]; /* A B */
	unsigned n;
};

struct report {
	bool json;
	json_t *list;
	size_t n;
	struct ward_progress progress;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case 't':
		a->tree = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (a->n == 2)
			ward_arguments_wrong(state, "two policies at a time");
		a->words[a->n++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->n < 2)
			ward_arguments_wrong(state, "two policies are needed");
		return 0;
	default:
		return policy_option_take(key, arg, &a->o);
	}
}

static const struct argp_option options[] = {
	{"tree", 't', "DIR", 0,
		"Compare every path of DIR, as if it were served at /workspace, and the settings",
		0},
	{"json", 'j', NULL, 0, "One JSON array of differences", 0},
	{0},
};
static const struct argp argp = {options, parse, "A B",
	"Prints which paths lose (-) or gain (+) which rights, and which settings differ, if B "
	"replaces A as the base policy. A and B are each a FILE or a PROFILE; the other sources "
	"of the policy stay. Without --tree, one path stands for all paths that the same rules "
	"decide.\vExit status: 0 no difference; 1 differences; 2 usage or policy.",
	NULL, NULL, NULL};

static json_t *place(const struct ward_rule *r)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_rule_place(r, &b);
	return ward_json_text(ward_buf_str(&b));
}

static void put_json(struct report *rp, const struct ward_difference *d)
{
	json_t *o = json_object();
	if (d->key) {
		json_object_set_new(o, "key", ward_json_text(d->key));
		json_object_set_new(o, "a", ward_json_text(d->value_a));
		json_object_set_new(o, "b", ward_json_text(d->value_b));
	} else {
		json_object_set_new(o, "path", ward_json_text(d->path));
		json_object_set_new(o, "lost", ward_json_rights(d->lost));
		json_object_set_new(o, "gained", ward_json_rights(d->gained));
		json_object_set_new(o, "rule_a", place(d->a));
		json_object_set_new(o, "rule_b", place(d->b));
	}
	json_array_append_new(rp->list, o);
}

static void put(void *user, const struct ward_difference *d)
{
	struct report *rp = user;
	rp->n++;
	if (rp->json) {
		put_json(rp, d);
		return;
	}
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_difference_show(d, true, &b);
	ward_progress_end(&rp->progress); /* its place is this line's */
	ward_outf("%s\n", ward_buf_str(&b));
}

static void tell(void *user, uint64_t steps)
{
	struct report *rp = user;
	ward_progress_tell(&rp->progress, steps);
}

/* --- a tree --- */

struct walk {
	const struct ward_policy *a, *b;
	struct report *report;
	struct ward_buf path;
	size_t seen;   /* names */
	size_t closed; /* directories that could not be read */
};

/* The difference reported for the directory above. Entries beneath report only further ones. */
struct above {
	uint32_t lost, gained;
	unsigned depth;
};

static int entries(struct walk *w, int fd, const struct ward_state *a, const struct ward_state *b,
	struct above above);

static int entry(struct walk *w, int dir, const char *name, const struct ward_state *pa,
	const struct ward_state *pb, struct above above)
{
	const struct ward_state *a = NULL, *b = NULL;
	struct stat st;
	size_t len = w->path.len;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	tell(w->report, ++w->seen);
	ward_buf_printf(&w->path, "/%s", name);
	int r = ward_buf_error(&w->path);
	if (r == 0)
		r = ward_policy_step(w->a, pa, name, strlen(name), &a);
	if (r == 0)
		r = ward_policy_step(w->b, pb, name, strlen(name), &b);
	struct ward_difference d = {.path = ward_buf_str(&w->path)};
	if (r == 0)
		ward_policy_differ(w->a, a, w->b, b, S_ISDIR(st.st_mode), &d);
	if (r == 0 && (d.lost || d.gained) && (d.lost != above.lost || d.gained != above.gained))
		put(w->report, &d);
	if (r == 0 && S_ISDIR(st.st_mode)) {
		int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno == EACCES)
			w->closed++;
		else if (fd < 0 && errno != ENOENT)
			r = -errno;
		if (fd >= 0)
			r = entries(w, fd, a, b, (struct above){d.lost, d.gained, above.depth + 1});
	}
	ward_policy_state_put(w->a, a);
	ward_policy_state_put(w->b, b);
	w->path.len = len;
	w->path.data[len] = 0;
	return r;
}

/* Takes fd. */
static int entries(struct walk *w, int fd, const struct ward_state *a, const struct ward_state *b,
	struct above above)
{
	ward_cleanup_dir DIR *d = fdopendir(fd);
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	if (above.depth > DEPTH_MAX)
		return -E2BIG;
	struct dirent *e;
	int r = 0;
	while (r == 0 && (errno = 0, e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = entry(w, dirfd(d), e->d_name, a, b, above);
	return r == 0 && errno ? -errno : r;
}

static int compare_tree(const char *tree, const struct ward_policy *a, const struct ward_policy *b,
	struct report *rp, struct ward_err *err)
{
	static const char top[] = "/workspace";
	struct walk w = {.a = a, .b = b, .report = rp};
	const struct ward_state *sa = NULL, *sb = NULL;
	int fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return ward_err_sys(err, -errno, "%s", tree);
	ward_buf_puts(&w.path, top);
	int r = ward_policy_walk(a, top, strlen(top), &sa);
	if (r == 0)
		r = ward_policy_walk(b, top, strlen(top), &sb);
	struct ward_difference d = {.path = top};
	if (r == 0 && ward_policy_differ(a, sa, b, sb, true, &d))
		put(rp, &d);
	if (r == 0)
		r = entries(&w, ward_steal_fd(&fd), sa, sb, (struct above){d.lost, d.gained, 0});
	if (fd >= 0)
		close(fd);
	ward_policy_state_put(a, sa);
	ward_policy_state_put(b, sb);
	if (r < 0)
		r = ward_err_sys(err, r, "%s", ward_buf_str(&w.path));
	else if (w.closed)
		r = ward_err_set(err, -EACCES,
			"%zu %s of %s cannot be read: the content was not compared", w.closed,
			w.closed == 1 ? "directory" : "directories", tree);
	ward_buf_clear(&w.path);
	return r;
}

static int compare(const struct args *args, struct report *rp, struct ward_err *err)
{
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place a = {.project = {.fd = -1}};
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place b = {.project = {.fd = -1}};
	enum ward_diff_reach reach = WARD_DIFF_CUT;
	int r = ward_policy_place_find(args->words[0], &a, err);
	if (r == 0)
		r = ward_policy_place_look(args->words[1], WARD_PROJECT_OWNERS, &b, err);
	if (r < 0)
		return r;
	ward_progress_begin(&rp->progress, "comparing", args->tree ? "names" : "steps");
	if (args->tree) {
		r = compare_tree(args->tree, a.policy, b.policy, rp, err);
		ward_progress_end(&rp->progress);
		if (r < 0)
			return r;
		r = ward_policy_diff_settings(a.policy, b.policy, put, rp);
		return r < 0 ? ward_err_sys(err, r, "comparing") : 0;
	}
	r = ward_policy_diff(a.policy, b.policy, put, tell, rp, &reach);
	ward_progress_end(&rp->progress);
	if (r < 0)
		return ward_err_sys(err, r, "comparing");
	switch (reach) {
	case WARD_DIFF_CUT:
		return ward_err_set(
			err, -E2BIG, "too many rules to compare all classes of paths: use --tree");
	case WARD_DIFF_RIGHTS:
		ward_say("the policies have many rules, so one line above can stand for several "
			 "groups of paths with the same change; no change is left out");
		break;
	case WARD_DIFF_WHOLE:
		break;
	}
	return 0;
}

int ward_policy_cmd_diff(int argc, char **argv)
{
	struct args a = {0};
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	struct report rp = {.json = a.o.json, .list = json_array()};
	struct ward_err err = WARD_ERR_INIT;
	int r = compare(&a, &rp, &err);
	if (a.o.json && r == 0)
		ward_print_json(json_incref(rp.list));
	json_decref(rp.list);
	if (r < 0) {
		ward_say(err.text);
		return 2;
	}
	return rp.n ? 1 : 0;
}
