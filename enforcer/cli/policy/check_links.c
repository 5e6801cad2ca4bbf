/* SPDX-License-Identifier: Apache-2.0 */
/* Symbolic links in the project at hand, asked about one by one. */
#include "enforcer/cli/policy/check_links.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/mounted.h"

/* Levels of directories; each holds a descriptor. */
#define DEPTH_MAX 16

struct look {
	const struct ward_policy *p;
	const struct ward_state *root;
	ward_finding_fn fn;
	void *user;
	unsigned names;
	struct ward_buf path; /* of the directory at hand, ends in '/' */
};

static int say(struct look *l, const char *name, const struct ward_rule *rule)
{
	ward_cleanup(ward_buf_clear) struct ward_buf what = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	ward_rule_text(rule, &what);
	ward_buf_printf(&why,
		"%s%s is a symbolic link: programs of the host that follow it find what the link "
		"leads to, and the rule does not hold there",
		ward_buf_str(&l->path), name);
	int r = ward_buf_error(&what);
	if (r == 0)
		r = ward_buf_error(&why);
	if (r < 0)
		return r;
	const struct ward_finding f = {.file = rule->file,
		.line = rule->line,
		.what = ward_buf_str(&what),
		.why = ward_buf_str(&why),
		.fix = "name what the link leads to in a rule as well, or make it a directory"};
	l->fn(l->user, &f);
	return 0;
}

/* A link at state s. */
static int look_link(struct look *l, const char *name, const struct ward_state *s)
{
	const struct ward_request req = {.action = WARD_ACTION_CREATE,
		.flags = WARD_REQUEST_SYMLINK,
		.fact = WARD_FACT_ABSENT,
		.state = s,
		.root = l->root};
	struct ward_decision d = ward_policy_decide(l->p, &req, NULL);
	return d.link && d.rule ? say(l, name, d.rule) : 0;
}

static int look_in(struct look *l, int at, const char *name, const struct ward_state *s, int depth);

/* A mount point is no link, and its file system may never answer stat(2). */
static unsigned char type_of(int dir, const struct dirent *e)
{
	struct stat st;
	if (e->d_type != DT_UNKNOWN)
		return e->d_type;
	return fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? DT_UNKNOWN
								     : IFTODT(st.st_mode);
}

static int look_at(
	struct look *l, int dir, const struct dirent *e, const struct ward_state *s, int depth)
{
	const struct ward_state *child = NULL;
	const char *name = e->d_name;
	const unsigned char type = type_of(dir, e);
	if (type != DT_LNK && type != DT_DIR)
		return 0;
	int r = ward_policy_step(l->p, s, name, strlen(name), &child);
	if (r == 0)
		r = type == DT_LNK ? look_link(l, name, child)
				   : look_in(l, dir, name, child, depth + 1);
	ward_policy_state_put(l->p, child);
	return r == -EINVAL ? 0 : r;
}

static int look_in(struct look *l, int at, const char *name, const struct ward_state *s, int depth)
{
	ward_cleanup_fd int fd = -1;
	const size_t len = l->path.len;
	const struct dirent *e;
	int r = 0;
	if (depth == DEPTH_MAX || l->names == WARD_CHECK_LINKS_MAX)
		return 0;
	fd = depth > 0 ? ward_mounted_open(NULL, at, name)
		       : open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d)
		return 0;
	(void)ward_steal_fd(&fd);
	if (depth > 0)
		ward_buf_printf(&l->path, "%s/", name);
	while (r == 0 && l->names < WARD_CHECK_LINKS_MAX && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		l->names++;
		r = look_at(l, dirfd(d), e, s, depth);
	}
	(void)closedir(d);
	const int failed = ward_buf_error(&l->path);
	if (failed == 0) {
		l->path.len = len;
		l->path.data[len] = 0;
	}
	return r < 0 ? r : failed;
}

int ward_check_links(const struct ward_policy_place *place, const struct ward_policy *p,
	ward_finding_fn fn, void *user)
{
	static const char workspace[] = "/workspace";
	struct look l = {.p = p, .fn = fn, .user = user, .path = WARD_BUF_INIT};
	if (!place->in_project)
		return 0;
	ward_buf_puts(&l.path, "/workspace/");
	int r = ward_policy_walk(p, workspace, sizeof(workspace) - 1, &l.root);
	if (r == 0)
		r = look_in(&l, AT_FDCWD, place->project.path, l.root, 0);
	if (r == 0 && l.names == WARD_CHECK_LINKS_MAX) {
		const struct ward_finding f = {.note = true,
			.file = place->project.path,
			.what = "symbolic links",
			.why = "the project has many files: not all were looked at",
			.fix = ""};
		fn(user, &f);
	}
	ward_policy_state_put(p, l.root);
	ward_buf_clear(&l.path);
	return r;
}
