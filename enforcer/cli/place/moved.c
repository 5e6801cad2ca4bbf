/* SPDX-License-Identifier: Apache-2.0 */
/* Offers a moved project what was kept for its old path. */
#include "enforcer/cli/place/moved.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/cli/base/ask.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/policy/load.h"
#include "enforcer/session/home/home_bound.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/chosen.h"

/* More than one is a choice for the owner to make by hand. */
#define OFFERED_MAX 3

static int hex(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The path that ward_project_file_name() made this name of; the caller's. NULL: none. */
static char *path_of(const char *name)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf again = WARD_BUF_INIT;
	const size_t n = strlen(name), end = strlen(".policy");
	if (n <= end || strcmp(name + n - end, ".policy") != 0)
		return NULL;
	ward_buf_putc(&b, '/');
	for (size_t i = 0; i < n - end; i++) {
		const bool coded = name[i] == '\\' && i + 3 < n && name[i + 1] == 'x' &&
				   hex(name[i + 2]) >= 0 && hex(name[i + 3]) >= 0;
		if (coded)
			ward_buf_putc(&b, (char)(hex(name[i + 2]) << 4 | hex(name[i + 3])));
		else
			ward_buf_putc(&b, name[i] == '-' ? '/' : name[i]);
		i += coded ? 3 : 0;
	}
	/* Nothing else is a name of ours, as that of a path too long for one. */
	if (ward_buf_error(&b) < 0 || memchr(b.data, '\0', b.len) ||
		ward_project_file_name(ward_buf_str(&b), &again) < 0 ||
		strcmp(ward_buf_str(&again), name) != 0)
		return NULL;
	return ward_buf_steal(&b);
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool is_gone(const char *path)
{
	struct stat st;
	return lstat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* As a shell takes it from a message; false: with what a message cannot show as it is. */
static bool quotable(const char *path)
{
	for (const char *c = path; *c; c++)
		if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f || *c == '\'' ||
			*c == '\\')
			return false;
	return true;
}

/* Does the home that is kept for that path belong to the directory that is the project now? */
static bool was_here(const struct ward_run_plan *p, const char *path)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	char text[WARD_HOME_BOUND_MAX];
	ward_chosen_home_dir(&b, p->state, p->id.owner_uid, path);
	ward_cleanup_fd int dir =
		ward_buf_error(&b) < 0
			? -1
			: open(ward_buf_str(&b), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return dir >= 0 && ward_home_bound_text(p->project.fd, text) == 0 &&
	       ward_home_bound_is(dir, text);
}

/* Paths of projects that are gone, with this last name or of this very directory, the caller's.
 * With the owner's rights. */
static size_t find_gone(const struct ward_run_plan *p, char *ret[OFFERED_MAX])
{
	ward_cleanup(ward_buf_clear) struct ward_buf dir = WARD_BUF_INIT;
	size_t n = 0;
	ward_buf_printf(&dir, "%s/projects", p->config);
	ward_cleanup_dir DIR *d = opendir(ward_buf_str(&dir));
	for (const struct dirent *e = NULL; d && n < OFFERED_MAX && (e = readdir(d));) {
		ward_cleanup_free char *path = path_of(e->d_name);
		if (path && strcmp(path, p->project.path) != 0 && is_gone(path) &&
			(strcmp(last_name(path), last_name(p->project.path)) == 0 ||
				was_here(p, path)))
			ret[n++] = ward_steal_ptr(&path);
	}
	return n;
}

/* A name in a shell: what is coded in it stands in quotes. */
static void put_file(struct ward_buf *b, const char *config, const char *path)
{
	ward_buf_printf(b, "'%s/projects/", config);
	if (ward_project_file_name(path, b) < 0)
		ward_buf_puts(b, "?");
	ward_buf_puts(b, "'");
}

/*
 * In the owner's directories with the owner's rights, also where root calls: where the owner has
 * put a link, root would write wherever that leads.
 */
static void put_as_owner(struct ward_buf *b, const struct ward_identity *id)
{
	if (id->owner_uid != geteuid())
		ward_buf_printf(b, "sudo -u '#%u' ", (unsigned)id->owner_uid);
}

static void offer(const struct ward_run_plan *p, const char *old)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf from = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf to = WARD_BUF_INIT;
	put_as_owner(&b, &p->id);
	ward_buf_puts(&b, "mv ");
	put_file(&b, p->config, old);
	ward_buf_putc(&b, ' ');
	put_file(&b, p->config, p->project.path);
	ward_chosen_home_dir(&from, p->state, p->id.owner_uid, old);
	ward_chosen_home_dir(&to, p->state, p->id.owner_uid, p->project.path);
	if (!is_gone(ward_buf_str(&from)) && is_gone(ward_buf_str(&to)))
		ward_buf_printf(&b, " && mv '%s' '%s' && rm '%s/project'", ward_buf_str(&from),
			ward_buf_str(&to), ward_buf_str(&to));
	if (ward_buf_error(&b) == 0)
		ward_sayf(
			"you have no policy for this project, but you have one for %s, which no longer exists. If you moved that project here, take its policy over: %s",
			old, ward_buf_str(&b));
}

/* What `wardfs init --share` does: a link beside the other one's file. config: the
 * owner's directory of wardfs. */
static int share(
	const char *config, const char *main_checkout, const char *project, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf dir = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf from = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf to = WARD_BUF_INIT;
	ward_buf_printf(&dir, "%s/projects", config);
	ward_buf_printf(&to, "%s/", ward_buf_str(&dir));
	int r = ward_project_file_name(main_checkout, &to);
	if (r == 0)
		r = ward_project_file_name(project, &from);
	if (r < 0 || ward_buf_error(&dir) < 0)
		return ward_err_sys(err, r < 0 ? r : -ENOMEM, "owner's policy file");
	ward_cleanup_fd int fd =
		open(ward_buf_str(&dir), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || symlinkat(ward_buf_str(&to), fd, ward_buf_str(&from)) < 0)
		return ward_err_sys(err, -errno, "%s/%s", ward_buf_str(&dir), ward_buf_str(&from));
	return 0;
}

bool ward_policy_share_asked(const char *main_checkout)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf question = WARD_BUF_INIT;
	ward_shell_word(&b, main_checkout);
	ward_buf_printf(&question,
		"This directory says that it is a work tree of %s, for which you have a policy. "
		"Any directory can say so. Did you make it, and shall that policy hold here, too? "
		"[y/N]",
		ward_buf_str(&b));
	return ask_word(ward_buf_str(&question), "yn", 'n', 'n') == 'y';
}

int ward_policy_share(const struct ward_identity *id, const char *config, const char *main_checkout,
	const char *project, struct ward_err *err)
{
	struct ward_as_owner as;
	int r = ward_as_owner_begin(id, &as, err);
	if (r < 0)
		return r;
	r = share(config, main_checkout, project, err);
	ward_as_owner_end(&as);
	return r;
}

int ward_moved_ask(const struct ward_run_plan *p, struct ward_err *err)
{
	struct ward_as_owner as;
	struct stat st;
	if (!p->main_checkout || !p->config || !p->owner_policy || !ask_possible())
		return 0;
	int r = ward_as_owner_begin(&p->id, &as, err);
	if (r < 0)
		return r;
	const bool none = stat(p->owner_policy, &st) < 0 && errno == ENOENT;
	ward_as_owner_end(&as);
	if (!none || !ward_policy_share_asked(p->main_checkout))
		return 0;
	r = ward_policy_share(&p->id, p->config, p->main_checkout, p->project.path, err);
	return r < 0 ? r : 1;
}

static void offer_to_share(const struct ward_run_plan *p)
{
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	ward_shell_word(&word, p->project.path);
	ward_sayf(
		"this directory says that it is a work tree of %s, for which you have a policy. Any directory can say so, so the policy does not apply here yet, and git fails inside. If you made the work tree, share the policy: cd %s && wardfs init --share",
		p->main_checkout, ward_buf_str(&word));
}

void ward_moved_say(const struct ward_run_plan *p)
{
	char *old[OFFERED_MAX] = {NULL};
	size_t n = 0;
	struct ward_err ignored = WARD_ERR_INIT;
	struct ward_as_owner as;
	struct stat st;
	if (!p->config || !p->owner_policy || p->shared || !p->state || !quotable(p->config) ||
		!quotable(p->state) || !quotable(p->project.path) ||
		ward_as_owner_begin(&p->id, &as, &ignored) < 0)
		return;
	const bool none = stat(p->owner_policy, &st) < 0 && errno == ENOENT;
	if (none && !p->main_checkout)
		n = find_gone(p, old);
	ward_as_owner_end(&as);
	if (none && p->main_checkout && quotable(p->main_checkout))
		offer_to_share(p);
	for (size_t i = 0; i < n; i++) {
		if (quotable(old[i]))
			offer(p, old[i]);
		free(old[i]);
	}
}
