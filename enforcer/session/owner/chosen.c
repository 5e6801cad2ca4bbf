/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for what an owner keeps for a directory. */
#include "enforcer/session/owner/chosen.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/store/store.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/patient.h"
#include "enforcer/policy/known.h"
#include "enforcer/policy/load.h"
#include "enforcer/session/owner/as_owner.h"

/* Of the project's last name, so that people find theirs. */
#define NAME_MAX_ 40
/* 128 bits: two projects never share a home. */
#define HASH_BYTES 16

void ward_chosen_name(struct ward_buf *b, const char *project)
{
	unsigned char hash[HASH_BYTES];
	char hex[2 * HASH_BYTES + 1];
	const char *slash = strrchr(project, '/');
	const char *name = slash ? slash + 1 : project;
	crypto_generichash(
		hash, sizeof(hash), (const unsigned char *)project, strlen(project), NULL, 0);
	sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
	for (size_t i = 0; name[i] && i < NAME_MAX_; i++)
		ward_buf_putc(b, isalnum((unsigned char)name[i]) || name[i] == '_' ? name[i] : '_');
	ward_buf_printf(b, "-%s", hex);
}

void ward_chosen_home_dir(struct ward_buf *b, const char *state, uid_t uid, const char *project)
{
	ward_buf_printf(b, "%s/" WARD_CHOSEN_HOMES "/%u/", state, (unsigned)uid);
	ward_chosen_name(b, project);
}

int ward_chosen_begin(struct ward_chosen *c, const char *user, uid_t uid, struct ward_err *err)
{
	struct ward_err ignored = WARD_ERR_INIT;
	int r = ward_identity_find(user, uid, 0, &c->id, &ignored);
	if (r < 0)
		return r == -ENOMEM ? ward_err_sys(err, r, "project") : 0;
	r = ward_config_home(c->id.home, c->id.owner_uid == getuid(), &c->config, err);
	/* Without a state directory no home is kept. */
	if (r == 0 && ward_store_default_path(geteuid(), getenv("XDG_STATE_HOME"), c->id.home,
			      &c->state, &ignored) < 0)
		c->state = NULL;
	return r == 0 && c->state ? ward_patient_reach(c->state, err) : r;
}

/* What cannot be looked at counts as there: loading it says what is wrong. */
int ward_chosen_policy(const struct ward_chosen *c, const char *path)
{
	ward_cleanup(ward_buf_clear) struct ward_buf file = WARD_BUF_INIT;
	struct ward_err ignored = WARD_ERR_INIT;
	struct ward_as_owner as;
	struct stat st;
	if (!c->config)
		return 0;
	ward_buf_printf(&file, "%s/wardfs/projects/", c->config);
	int r = ward_project_file_name(path, &file);
	if (r == 0)
		r = ward_as_owner_begin(&c->id, &as, &ignored);
	if (r < 0)
		return r;
	r = stat(ward_buf_str(&file), &st) == 0 || (errno != ENOENT && errno != ENOTDIR);
	ward_as_owner_end(&as);
	return r;
}

int ward_chosen_left(const struct ward_chosen *c, const char *entered, const char *real, char **ret)
{
	ward_cleanup_free char *path = strdup(entered);
	*ret = NULL;
	if (!path)
		return -ENOMEM;
	for (char *slash; *path; *slash = '\0') {
		int r = ward_known_beneath(real, path) ? 0 : ward_chosen_policy(c, path);
		if (r < 0)
			return r;
		if (r > 0) {
			*ret = ward_steal_ptr(&path);
			return 0;
		}
		slash = strrchr(path, '/');
		if (!slash)
			return 0;
	}
	return 0;
}

/* Do links lead to what stands at rel now? What cannot be looked at is no link. */
static bool is_linked(int dir, const char *rel)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	ward_cleanup_fd int fd = ward_fd_openat2(dir, rel, &how);
	return fd == -ELOOP;
}

static int find_linked(const struct ward_chosen *c, int dir, const char *path, struct ward_buf *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT;
	ward_buf_printf(&name, "%s/wardfs/projects", c->config);
	ward_cleanup_dir DIR *d = ward_buf_error(&name) < 0 ? NULL : opendir(ward_buf_str(&name));
	const struct dirent *e;
	while (d && (e = readdir(d))) {
		ward_buf_clear(ret);
		int r = ward_project_file_path(e->d_name, ret);
		const char *rel = r < 0 ? NULL : ward_known_beneath(ward_buf_str(ret), path);
		if (r == -ENOMEM)
			return r;
		if (rel && *rel && is_linked(dir, rel))
			return 1;
	}
	return ward_buf_error(&name);
}

int ward_chosen_linked(const struct ward_chosen *c, int dir, const char *path, char **ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf found = WARD_BUF_INIT;
	struct ward_err ignored = WARD_ERR_INIT;
	struct ward_as_owner as;
	*ret = NULL;
	int r = c->config ? ward_as_owner_begin(&c->id, &as, &ignored) : 0;
	if (r < 0 || !c->config)
		return r;
	r = find_linked(c, dir, path, &found);
	ward_as_owner_end(&as);
	if (r == 1)
		*ret = ward_buf_steal(&found);
	return r == 1 && !*ret ? -ENOMEM : r < 0 ? r : 0;
}

/* homes/UID/NAME-HASH of the project at this path; -1: none; -ENOMEM. */
static int open_home_dir(const struct ward_chosen *c, const char *path)
{
	ward_cleanup(ward_buf_clear) struct ward_buf dir = WARD_BUF_INIT;
	if (!c->state)
		return -1;
	ward_chosen_home_dir(&dir, c->state, c->id.owner_uid, path);
	if (ward_buf_error(&dir) < 0)
		return -ENOMEM;
	return open(ward_buf_str(&dir), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static size_t levels_of(const char *rel)
{
	size_t n = *rel ? 1 : 0;
	for (; *rel; rel++)
		n += *rel == '/';
	return n;
}

int ward_chosen_before(
	const struct ward_chosen *c, const char *home_of, const char *path, size_t *ret_levels)
{
	ward_cleanup(ward_buf_clear) struct ward_buf list = WARD_BUF_INIT;
	const char *rel = ward_known_beneath(path, home_of);
	ward_cleanup_fd int at = open_home_dir(c, home_of);
	if (at == -ENOMEM)
		return at;
	ward_cleanup_fd int fd =
		at < 0 ? -1 : ward_fd_open_regular(at, WARD_CHOSEN_BEFORE, O_RDONLY);
	/* A half of it, or none: the project around them is theirs, too. */
	if (fd < 0 || !rel || ward_fd_read_all(fd, WARD_CHOSEN_BEFORE_MAX, &list) < 0 ||
		!list.len || list.data[list.len - 1])
		return ward_buf_error(&list) == -ENOMEM ? -ENOMEM : 0;
	const char *nearest = NULL;
	for (const char *s = list.data; s < list.data + list.len; s += strlen(s) + 1) {
		const char *rest = *s ? ward_known_beneath(rel, s) : NULL;
		if (rest && (!nearest || strlen(rest) < strlen(nearest)))
			nearest = rest;
	}
	if (nearest)
		*ret_levels = levels_of(nearest);
	return nearest != NULL;
}

int ward_chosen_home(const struct ward_chosen *c, const char *path)
{
	ward_cleanup_fd int at = open_home_dir(c, path);
	struct stat st;
	if (at == -ENOMEM)
		return at;
	return at >= 0 && fstatat(at, "home", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

void ward_chosen_clear(struct ward_chosen *c)
{
	ward_identity_clear(&c->id);
	free(c->config);
	free(c->state);
	*c = (struct ward_chosen){.state = NULL};
}
