/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the policy about the symbolic links of a tree one by one. */
#include "enforcer/session/tree/links_above.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/mounted.h"

struct look {
	const struct ward_policy *p;
	const struct ward_state *root;
	const struct ward_links_bounds *most;
	ward_link_fn fn;
	void *user;
	unsigned names;
	struct ward_buf path; /* of the directory at hand, ends in '/' */
};

/* A link at state s. */
static int look_link(struct look *l, const char *name, const struct ward_state *s)
{
	const struct ward_request req = {.action = WARD_ACTION_CREATE,
		.flags = WARD_REQUEST_SYMLINK,
		.fact = WARD_FACT_ABSENT,
		.state = s,
		.root = l->root};
	const struct ward_decision d = ward_policy_decide(l->p, &req, NULL);
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	if (!d.link || !d.rule)
		return 0;
	ward_buf_printf(&path, "%s%s", ward_buf_str(&l->path), name);
	const int r = ward_buf_error(&path);
	return r < 0 ? r : l->fn(l->user, path.data, d.rule);
}

static int look_in(
	struct look *l, int at, const char *name, const struct ward_state *s, unsigned depth);

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
	struct look *l, int dir, const struct dirent *e, const struct ward_state *s, unsigned depth)
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

static int look_in(
	struct look *l, int at, const char *name, const struct ward_state *s, unsigned depth)
{
	const size_t len = l->path.len;
	const struct dirent *e;
	int r = 0;
	if (depth == l->most->levels || l->names == l->most->names)
		return 0;
	ward_cleanup_fd int fd = ward_mounted_open(NULL, at, name);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d)
		return 0;
	(void)ward_steal_fd(&fd);
	if (depth > 0)
		ward_buf_printf(&l->path, "%s/", name);
	while (r == 0 && l->names < l->most->names && (e = readdir(d))) {
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

int ward_links_above(const struct ward_policy *p, int dir, const char *at,
	const struct ward_links_bounds *most, ward_link_fn fn, void *user, bool *ret_all)
{
	struct look l = {.p = p, .most = most, .fn = fn, .user = user, .path = WARD_BUF_INIT};
	ward_buf_printf(&l.path, "%s/", at);
	int r = ward_policy_walk(p, at, strlen(at), &l.root);
	if (r == 0)
		r = look_in(&l, dir, "", l.root, 0);
	if (r == 0)
		*ret_all = l.names < most->names;
	ward_policy_state_put(p, l.root);
	ward_buf_clear(&l.path);
	return r;
}
