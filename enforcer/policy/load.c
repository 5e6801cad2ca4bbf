/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and reads the sources of a session's policy. */
#include "enforcer/policy/load.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/embedded.h"
#include "enforcer/base/budget.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/host_size.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/policy/git_guards.h"
#include "enforcer/policy/internal.h"
#include "enforcer/policy/known.h"
#include "enforcer/policy/read.h"
#include "enforcer/policy/value.h"

#define FLOOR "/etc/wardfs/floor.policy"
#define PROJECT ".wardfs.policy"
#define PROPOSAL ".wardfs.propose"
#define DEFAULT_PROFILE "medium"

const char *ward_profile_text(const char *name, size_t *ret_len)
{
	for (size_t i = 0; ward_embedded_profiles[i].name; i++) {
		if (strcmp(ward_embedded_profiles[i].name, name) == 0) {
			*ret_len = ward_embedded_profiles[i].len;
			return ward_embedded_profiles[i].data;
		}
	}
	return NULL;
}

const char *ward_profile_name(size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!ward_embedded_profiles[k].name)
			return NULL;
	return ward_embedded_profiles[i].name;
}

/*
 * Reads a whole file into text, with err for what cannot be opened. One byte over the limit is
 * enough to be refused by the reader.
 */
static int slurp(
	const char *path, enum ward_fd_named what, struct ward_buf *text, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	int r = ward_fd_open_named(path, what, &fd, err);
	if (r < 0)
		return r;
	r = ward_fd_read_all(fd, WARD_POLICY_TEXT_MAX + 1, text);
	return r < 0 ? ward_err_sys(err, r == -EFBIG ? -EINVAL : r, "%s", path) : 0;
}

/* An optional file. 1: read it, 0: it does not exist. */
static int slurp_if_there(const char *path, struct ward_buf *text, struct ward_err *err)
{
	struct ward_err e = WARD_ERR_INIT;
	int r = slurp(path, WARD_NAMED_FILE, text, &e);
	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	if (r < 0 && err)
		*err = e;
	return r < 0 ? r : 1;
}

/* The project file: only a regular file, which is no link. Waits for nobody. */
static int slurp_project(const struct ward_load *l, struct ward_buf *text)
{
	ward_cleanup_fd int fd = ward_fd_open_beneath(l->tree_fd, PROJECT);
	int r = fd < 0 ? fd : ward_fd_read_all(fd, WARD_POLICY_PROJECT_MAX, text);
	return r < 0 ? r : ward_budget_take(l->budget, text->len);
}

/* Does the directory's name have "..", "." or an empty name in it, behind its first name? */
static bool has_detour(const char *path)
{
	return strncmp(path, "../", 3) == 0 || strstr(path, "/../") || strstr(path, "/./") ||
	       strstr(path, "//");
}

/*
 * The absolute form of path. Where it has a detour, the directory is named as the kernel names it;
 * the last name stays, so that what a policy extends is still looked up beside that name.
 */
static int absolute(const char *path, struct ward_buf *b)
{
	const char *slash = strrchr(path, '/');
	while (strncmp(path, "./", 2) == 0)
		path += 2;
	if (has_detour(path)) {
		ward_cleanup_free char *dir = strndup(path, (size_t)(slash - path) + 1);
		ward_cleanup_free char *named = NULL;
		ward_cleanup_fd int fd = dir ? open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
		const int r = fd < 0 ? -errno : ward_fd_path(fd, &named);
		if (r < 0 || !named)
			return r < 0 ? r : -ENOENT;
		ward_buf_printf(b, "%s%s", strcmp(named, "/") == 0 ? "" : named, slash);
		return ward_buf_error(b);
	}
	if (path[0] != '/') {
		ward_cleanup_free char *cwd = getcwd(NULL, 0);
		if (!cwd)
			return -errno;
		ward_buf_puts(b, cwd);
		if (strcmp(cwd, "/") != 0)
			ward_buf_putc(b, '/');
	}
	ward_buf_puts(b, path);
	return ward_buf_error(b);
}

static int no_profile(const char *name, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf all = WARD_BUF_INIT;
	const char *near = NULL;
	for (size_t i = 0; ward_profile_name(i); i++) {
		ward_buf_printf(&all, "%s%s", i ? ", " : "", ward_profile_name(i));
		if (!near && ward_value_distance(name, ward_profile_name(i), 2) <= 2)
			near = ward_profile_name(i);
	}
	return ward_err_set(err, -ENOENT, "%s: neither a file nor a shipped profile (%s)%s%s%s",
		name, ward_buf_str(&all), near ? ": did you mean " : "", near ? near : "",
		near ? "?" : "");
}

int ward_policy_find(const char *name, struct ward_buf *ret_text, struct ward_buf *ret_file,
	struct ward_err *err)
{
	size_t len = 0;
	const char *profile = ward_profile_text(name, &len);
	if (profile) {
		ward_buf_add(ret_text, profile, len);
		ward_buf_puts(ret_file, name);
		int r = ward_buf_error(ret_text);
		if (r == 0)
			r = ward_buf_error(ret_file);
		return r < 0 ? ward_err_sys(err, r, "%s", name) : 0;
	}
	int r = slurp(name, WARD_NAMED_PIPE, ret_text, err);
	if (r == -ENOENT && !strchr(name, '/'))
		return no_profile(name, err);
	if (r < 0)
		return r;
	r = absolute(name, ret_file);
	return r < 0 ? ward_err_sys(err, r, "%s", name) : 0;
}

/* --- extends --- */

struct peek {
	const struct ward_section *section; /* NULL: no such section */
	struct ward_buf name;
};

static int peek_section(
	void *user, const char *kind, const char *arg, unsigned line, struct ward_err *err)
{
	struct peek *p = user;
	(void)arg;
	(void)line;
	(void)err;
	p->section = NULL;
	/* what is wrong with it is said when it is compiled */
	int r = ward_section_find(kind, &p->section, NULL);
	return r == -EINVAL ? 0 : r;
}

static int peek_pair(
	void *user, const char *key, const char *value, unsigned line, struct ward_err *err)
{
	struct peek *p = user;
	const struct ward_key *k = NULL;
	(void)line;
	(void)err;
	if (p->section && ward_key_find(p->section, key, &k, NULL) == 0 &&
		k->type == WARD_KEY_TYPE_EXTENDS && !p->name.len)
		ward_buf_puts(&p->name, value);
	return 0;
}

/* Loads what base extends, if it does, into the two buffers. stand_in: of struct ward_load. */
static int load_extended(const char *base_file, const struct ward_buf *base, const char *stand_in,
	struct ward_buf *ret_text, struct ward_buf *ret_file, struct ward_err *err)
{
	static const struct ward_read_ops ops = {peek_section, peek_pair};
	struct peek p = {0};
	int read = ward_policy_read(base_file, ward_buf_str(base), base->len, &ops, &p, NULL);
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	const char *name = ward_buf_str(&p.name);
	if (stand_in && strcmp(name, DEFAULT_PROFILE) == 0)
		name = stand_in;
	size_t len = 0;
	const char *slash = base_file[0] == '/' ? strrchr(base_file, '/') : NULL;
	if (*name && *name != '/' && slash && !ward_profile_text(name, &len))
		ward_buf_add(&path, base_file, (size_t)(slash - base_file) + 1);
	ward_buf_puts(&path, name);
	int r = ward_buf_error(&p.name) < 0 ? -ENOMEM : ward_buf_error(&path);
	/* what else is wrong with the text is said when it is compiled */
	if (read == -ENOMEM)
		r = ward_err_sys(err, read, "%s", base_file);
	if (r == 0 && *name) {
		r = ward_policy_find(ward_buf_str(&path), ret_text, ret_file, err);
		if (r < 0)
			ward_err_wrap(err, "%s: extends = %s", base_file, name);
	}
	ward_buf_clear(&p.name);
	return r;
}

/* --- the sources together --- */

struct texts {
	struct ward_buf text[WARD_SOURCE_COUNT_];
	struct ward_buf file[WARD_SOURCE_COUNT_];
	bool there[WARD_SOURCE_COUNT_];
};

static void texts_clear(struct texts *t)
{
	for (size_t i = 0; i < WARD_SOURCE_COUNT_; i++) {
		ward_buf_clear(&t->text[i]);
		ward_buf_clear(&t->file[i]);
	}
}

/* The owner's file for this project, if there is one. 1: got it, 0: none. */
static int load_owner(const struct ward_load *l, struct texts *t, struct ward_err *err)
{
	struct ward_buf *file = &t->file[WARD_SOURCE_BASE];
	if (!l->config_home || !l->tree_path)
		return 0;
	ward_buf_printf(file, "%s/wardfs/projects/", l->config_home);
	int r = ward_project_file_name(l->tree_path, file);
	if (r == 0)
		r = ward_buf_error(file);
	if (r < 0)
		return ward_err_sys(err, r, "%s", l->tree_path);
	r = slurp_if_there(ward_buf_str(file), &t->text[WARD_SOURCE_BASE], err);
	if (r < 0)
		return r;
	if (r > 0) {
		r = ward_budget_take(l->budget, t->text[WARD_SOURCE_BASE].len);
		if (r == 0)
			return 1;
		if (!ward_budget_refuse(r, ward_buf_str(file), WARD_POLICY_TEXT_MAX, err))
			r = ward_err_sys(err, r, "%s", ward_buf_str(file));
		return r;
	}
	ward_buf_clear(file);
	return 0;
}

static int given_base(const struct ward_load *l, struct texts *t)
{
	static const enum ward_source_kind kinds[] = {WARD_SOURCE_BASE, WARD_SOURCE_PROFILE};
	const struct ward_base *b = l->base;
	for (size_t i = 0; i < 2; i++) {
		ward_buf_add(&t->text[kinds[i]], b->text[i].data, b->text[i].len);
		ward_buf_add(&t->file[kinds[i]], b->file[i].data, b->file[i].len);
		t->there[kinds[i]] = b->file[i].len > 0;
	}
	return 0;
}

static int load_base(const struct ward_load *l, struct texts *t, struct ward_err *err)
{
	struct ward_buf *text = &t->text[WARD_SOURCE_BASE], *file = &t->file[WARD_SOURCE_BASE];
	if (l->base)
		return given_base(l, t);
	int r = l->policy ? 0 : load_owner(l, t, err);
	if (r == 0)
		r = ward_policy_find(l->policy	   ? l->policy
				     : l->stand_in ? l->stand_in
						   : DEFAULT_PROFILE,
			text, file, err);
	if (r < 0)
		return r;
	t->there[WARD_SOURCE_BASE] = true;
	r = load_extended(ward_buf_str(file), text, l->policy ? NULL : l->stand_in,
		&t->text[WARD_SOURCE_PROFILE], &t->file[WARD_SOURCE_PROFILE], err);
	t->there[WARD_SOURCE_PROFILE] = r == 0 && t->file[WARD_SOURCE_PROFILE].len;
	return r;
}

/* Floor and project file as another policy has them. */
static int load_like(const struct ward_policy *like, struct texts *t)
{
	static const enum ward_source_kind kinds[] = {WARD_SOURCE_FLOOR, WARD_SOURCE_PROJECT};
	for (size_t i = 0; i < 2; i++) {
		struct ward_source_text s;
		t->there[kinds[i]] = ward_policy_source(like, kinds[i], &s);
		if (!t->there[kinds[i]])
			continue;
		ward_buf_add(&t->text[kinds[i]], s.text, s.len);
		ward_buf_puts(&t->file[kinds[i]], s.file);
	}
	return 0;
}

/* The sources that only take away: absent is fine, unreadable is not. */
static int load_others(const struct ward_load *l, struct texts *t, struct ward_err *err)
{
	if (l->run_text) {
		ward_buf_puts(&t->text[WARD_SOURCE_RUN], l->run_text);
		ward_buf_puts(
			&t->file[WARD_SOURCE_RUN], l->run_name ? l->run_name : "command line");
		t->there[WARD_SOURCE_RUN] = true;
	}
	if (l->like)
		return load_like(l->like, t);
	const char *floor = l->floor ? l->floor : FLOOR;
	int r = slurp_if_there(floor, &t->text[WARD_SOURCE_FLOOR], err);
	if (r < 0)
		return r;
	t->there[WARD_SOURCE_FLOOR] = r > 0;
	ward_buf_puts(&t->file[WARD_SOURCE_FLOOR], floor);
	struct ward_buf *project = &t->file[WARD_SOURCE_PROJECT];
	if (l->tree_path)
		ward_buf_printf(project, "%s/", strcmp(l->tree_path, "/") ? l->tree_path : "");
	ward_buf_puts(project, PROJECT);
	if (l->tree_fd >= 0) {
		r = slurp_project(l, &t->text[WARD_SOURCE_PROJECT]);
		if (r < 0 && r != -ENOENT &&
			ward_budget_refuse(r, ward_buf_str(project), WARD_POLICY_PROJECT_MAX, err))
			return r;
		if (r < 0 && r != -ENOENT)
			return ward_err_sys(err, r, "%s", ward_buf_str(project));
		t->there[WARD_SOURCE_PROJECT] = r == 0;
	}
	return 0;
}

/* What percentages are of. */
static int load_host(const struct ward_load *l, struct texts *t, struct ward_err *err)
{
	struct ward_buf *text = &t->text[WARD_SOURCE_HOST];
	struct ward_source_text s;
	if (l->host_of && ward_policy_source(l->host_of, WARD_SOURCE_HOST, &s)) {
		ward_buf_add(text, s.text, s.len);
	} else {
		const struct ward_host_size size = ward_host_size();
		if (ward_host_text(&size, text) < 0)
			return ward_err_set(err, -ENOMEM, "out of memory");
	}
	ward_buf_puts(&t->file[WARD_SOURCE_HOST], "host");
	t->there[WARD_SOURCE_HOST] = true;
	return 0;
}

#define WHOLE (WARD_POLICY_PATHS | WARD_POLICY_DIGEST)

static int compile_texts(
	const struct texts *t, unsigned parts, struct ward_policy **ret, struct ward_err *err)
{
	struct ward_source_text s[WARD_SOURCE_COUNT_];
	size_t n = 0;
	for (enum ward_source_kind k = WARD_SOURCE_PROFILE; k < WARD_SOURCE_COUNT_; k++) {
		if (!t->there[k])
			continue;
		if (ward_buf_error(&t->text[k]) < 0 || ward_buf_error(&t->file[k]) < 0)
			return ward_err_set(err, -ENOMEM, "out of memory");
		s[n++] = (struct ward_source_text){.kind = k,
			.file = ward_buf_str(&t->file[k]),
			.text = ward_buf_str(&t->text[k]),
			.len = t->text[k].len};
	}
	return ward_policy_compile_parts(s, n, parts, ret, err);
}

/* --- guards for what the trees hold --- */

/* The text of a shipped profile that asks for guards of what is at hand; NULL: none does. */
static struct ward_buf *wants_guards(struct texts *t)
{
	static const enum ward_source_kind kinds[] = {WARD_SOURCE_BASE, WARD_SOURCE_PROFILE};
	for (size_t i = 0; i < 2; i++) {
		const struct ward_buf *file = &t->file[kinds[i]];
		size_t len = 0;
		if (file->len && ward_profile_text(ward_buf_str(file), &len) &&
			strstr(ward_buf_str(&t->text[kinds[i]]), "\n" WARD_PRESENT_MARK "\n"))
			return &t->text[kinds[i]];
	}
	return NULL;
}

#define CHANGE                                                                                     \
	(WARD_RIGHT_APPEND | WARD_RIGHT_CREATE | WARD_RIGHT_WRITE | WARD_RIGHT_REMOVE |            \
		WARD_RIGHT_ATTR)

/* Does the line give a right to change something beneath the tree, but not all of it? */
static bool gives_beneath(const struct ward_rule *r, const char *tree)
{
	if (r->guard || (r->verb != WARD_VERB_WRITE && r->verb != WARD_VERB_APPEND &&
				r->verb != WARD_VERB_ASK))
		return false;
	size_t n = strcspn(r->pattern, "*?[\\"), len = strlen(tree);
	if (r->pattern[0] != '/')
		return true;
	return strncmp(r->pattern, tree, n < len ? n : len) == 0 && (n > len || r->pattern[n]);
}

int ward_policy_may_change(const struct ward_policy *p, const char *tree, bool *ret)
{
	const struct ward_state *s = NULL;
	int r = ward_policy_walk(p, tree, strlen(tree), &s);
	if (r < 0)
		return r;
	bool may = ward_policy_rights(p, s) & CHANGE;
	ward_policy_state_put(p, s);
	for (size_t i = 0; i < p->n_rules && !may; i++)
		may = gives_beneath(&p->rules[i], tree);
	*ret = may;
	return 0;
}

/* Is it a directory that programs of the host use? Not what an agent keeps about itself, nor a kept
 * home, nor what no directory of the host is. */
static bool is_used(const struct ward_tree *t)
{
	return t->source && strcmp(t->path, WARD_HOME_PATH) != 0 &&
	       !(t->source[0] == '~' && strncmp(t->source + 1, WARD_AGENTS_PLACE "/",
						sizeof(WARD_AGENTS_PLACE)) == 0);
}

/* A tree as it is on the host. */
struct at_hand {
	const struct ward_tree *tree;
	bool project;
	bool change; /* something in it may be changed */
	int fd;	     /* -1: not there */
	char *host;  /* its path; NULL: not known */
};

struct hands {
	struct at_hand v[WARD_TREES_MAX];
	size_t n;
	struct ward_tree served[WARD_TREES_MAX]; /* in place of the policy's */
};

static void hands_clear(struct hands *h)
{
	for (size_t i = 0; i < h->n; i++) {
		if (!h->v[i].project && h->v[i].fd >= 0)
			close(h->v[i].fd);
		free(h->v[i].host);
	}
	h->n = 0;
}

static bool is_project(const struct ward_load *l, const struct ward_tree *t)
{
	return strcmp(t->source, ".") == 0 ||
	       (l->tree_path && strcmp(t->source, l->tree_path) == 0);
}

/* The code that serves the tree reports what is wrong with its source. */
static int find_other(const struct ward_load *l, const struct ward_policy *p, struct at_hand *a,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf source = WARD_BUF_INIT;
	struct ward_err ignored = WARD_ERR_INIT;
	int r = ward_policy_may_change(p, a->tree->path, &a->change);
	if (r < 0)
		return ward_err_sys(err, r, "[tree %s]", a->tree->path);
	if (ward_tree_source_resolve(a->tree->source, l->home, l->tree_path, &source, &ignored) < 0)
		return 0;
	a->fd = open(ward_buf_str(&source), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (a->fd < 0)
		return 0;
	r = ward_fd_path(a->fd, &a->host);
	return r < 0 ? ward_err_sys(err, r, "[tree %s]: %s", a->tree->path, ward_buf_str(&source))
		     : 0;
}

/* One that the caller serves beside its project. */
static int find_served(const struct ward_load_tree *t, const struct ward_policy *p, struct hands *h,
	struct ward_err *err)
{
	if (h->n == WARD_POLICY_TREES_MAX)
		return ward_err_set(err, -EINVAL, "more than %d trees", WARD_POLICY_TREES_MAX);
	struct ward_tree *tree = &h->served[h->n];
	struct at_hand *a = &h->v[h->n++];
	*tree = (struct ward_tree){
		.path = (char *)(uintptr_t)t->path, .source = (char *)(uintptr_t)t->host};
	*a = (struct at_hand){
		.tree = tree, .fd = fcntl(t->fd, F_DUPFD_CLOEXEC, 3), .host = strdup(t->host)};
	if (a->fd < 0 || !a->host)
		return ward_err_sys(err, -ENOMEM, "[tree %s]", t->path);
	int r = ward_policy_may_change(p, t->path, &a->change);
	return r < 0 ? ward_err_sys(err, r, "[tree %s]", t->path) : 0;
}

/* The trees of the host, but for what agents keep. */
static int find_hands(const struct ward_load *l, const struct ward_policy *p, struct hands *h,
	struct ward_err *err)
{
	static char project[] = ".";
	const struct ward_settings *s = ward_policy_settings(p);
	const size_t n = l->served_at ? 1 : s->n_trees;
	int r = 0;
	/* Borrowed, and not cleared. */
	h->served[0] =
		(struct ward_tree){.path = (char *)(uintptr_t)l->served_at, .source = project};
	for (size_t i = 0; i < n && r == 0; i++) {
		const struct ward_tree *t = l->served_at ? &h->served[0] : &s->trees[i];
		if (!is_used(t))
			continue;
		struct at_hand *a = &h->v[h->n++];
		*a = (struct at_hand){.tree = t, .fd = -1, .project = is_project(l, t)};
		if (!a->project) {
			r = find_other(l, p, a, err);
			continue;
		}
		a->fd = l->tree_fd;
		a->host = l->tree_path ? strdup(l->tree_path) : NULL;
		if (l->tree_path && !a->host)
			r = ward_err_sys(err, -ENOMEM, "[tree %s]", t->path);
	}
	for (size_t i = 0; l->served_at && i < l->n_others && r == 0; i++)
		r = find_served(&l->others[i], p, h, err);
	return r;
}

/* Does the tree lie in another one? */
static bool is_part(const struct hands *h, const struct at_hand *a)
{
	for (size_t i = 0; i < h->n && a->host; i++) {
		const char *rest = h->v[i].host ? ward_known_beneath(a->host, h->v[i].host) : NULL;
		if (rest && *rest)
			return true;
	}
	return false;
}

/* What a project says to wardfs. At /workspace it is guarded in every policy (compile.c). */
static void guard_own(const struct at_hand *a, struct ward_buf *b)
{
	static const char *const names[] = {PROJECT, PROPOSAL};
	const char *root = a->tree->path;
	for (size_t i = 0; i < (a->project ? 2 : 1) && strcmp(root, "/workspace") != 0; i++) {
		ward_buf_puts(b, "[guard]\nread = ");
		ward_pattern_quote(b, root, strlen(root));
		ward_buf_printf(b, "/%s\n", names[i]);
	}
}

/* p: the sources so far; the project comes first, it has most of the budget. guards: NULL: none. */
static int guard_trees(const struct ward_load *l, const struct ward_policy *p,
	struct ward_buf *guards, struct ward_buf *always, struct ward_err *err)
{
	ward_cleanup(hands_clear) struct hands h = {.n = 0};
	int r = find_hands(l, p, &h, err);
	for (unsigned k = 0; k < 2 * h.n && r == 0; k++) {
		const struct at_hand *a = &h.v[k % h.n];
		const struct ward_guarded_tree tree = {.fd = a->fd,
			.root = a->tree->path,
			.host = a->host,
			.part = !a->project && is_part(&h, a)};
		if (a->project != (k < h.n) || (!a->project && (a->fd < 0 || !a->change)))
			continue;
		if (!tree.part)
			guard_own(a, always);
		if (guards)
			r = ward_present_guards(&tree, l->known, l->budget, guards, err);
	}
	return r;
}

static bool has_others(const struct ward_load *l, const struct ward_policy *p)
{
	const struct ward_settings *s = ward_policy_settings(p);
	for (size_t i = 0; i < s->n_trees; i++)
		if (is_used(&s->trees[i]) && !is_project(l, &s->trees[i]))
			return true;
	return false;
}

/* Adds what the trees at hand bring, to a shipped profile that asks for it and to all, and what
 * follows from the settings that the sources make. */
static int load_more(const struct ward_load *l, struct texts *t, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	struct ward_policy *p = NULL;
	int r = compile_texts(t, 0, &p, err);
	if (r == 0 && has_others(l, p)) {
		ward_policy_unref(p);
		p = NULL;
		r = compile_texts(t, WARD_POLICY_PATHS, &p, err);
	}
	if (r == 0)
		r = guard_trees(l, p, wants_guards(t), &b, err);
	if (r == 0 && l->more)
		r = l->more(l->user, p, &b, err);
	ward_policy_unref(p);
	if (r < 0 || !b.len)
		return r < 0 ? r : ward_buf_error(&b);
	if (!t->there[WARD_SOURCE_RUN]) {
		ward_buf_puts(&t->text[WARD_SOURCE_RUN], "[policy]\nversion = 1\n");
		ward_buf_puts(&t->file[WARD_SOURCE_RUN], "the session's own");
		t->there[WARD_SOURCE_RUN] = true;
	}
	/* no place that a person wrote */
	ward_buf_puts(&t->text[WARD_SOURCE_RUN], WARD_ORIGIN_BUILT_IN);
	ward_buf_add(&t->text[WARD_SOURCE_RUN], b.data, b.len);
	return ward_buf_error(&b) < 0 ? ward_err_set(err, -ENOMEM, "out of memory") : 0;
}

int ward_policy_load(const struct ward_load *given, struct ward_policy **ret, struct ward_err *err)
{
	struct texts t = {0};
	struct ward_budget budget;
	struct ward_load l = *given;
	l.budget = &budget;
	ward_budget_begin(&budget);
	int r = load_base(&l, &t, err);
	if (r >= 0)
		r = load_others(&l, &t, err);
	if (r >= 0)
		r = load_host(&l, &t, err);
	if (r >= 0)
		r = load_more(&l, &t, err);
	if (r >= 0)
		r = compile_texts(&t, WHOLE, ret, err);
	texts_clear(&t);
	return r;
}

int ward_policy_load_alone(const char *name, struct ward_policy **ret, struct ward_err *err)
{
	struct texts t = {0};
	struct ward_budget budget;
	const struct ward_load l = {.policy = name, .tree_fd = -1, .budget = &budget};
	ward_budget_begin(&budget);
	int r = load_base(&l, &t, err);
	if (r >= 0)
		r = load_host(&l, &t, err);
	if (r >= 0)
		r = load_more(&l, &t, err);
	if (r >= 0)
		r = compile_texts(&t, WHOLE, ret, err);
	texts_clear(&t);
	return r;
}

/* --- a base that travels --- */

/* "WBAS" */
#define BASE_BLOB 0x53414257U

void ward_base_clear(struct ward_base *b)
{
	for (size_t i = 0; i < 2; i++) {
		ward_buf_clear(&b->text[i]);
		ward_buf_clear(&b->file[i]);
	}
}

int ward_base_find_as(
	const char *name, const char *stand_in, struct ward_base *ret, struct ward_err *err)
{
	int r = ward_policy_find(name, &ret->text[0], &ret->file[0], err);
	if (r == 0)
		r = load_extended(ward_buf_str(&ret->file[0]), &ret->text[0], stand_in,
			&ret->text[1], &ret->file[1], err);
	return r;
}

int ward_base_find(const char *name, struct ward_base *ret, struct ward_err *err)
{
	return ward_base_find_as(name, NULL, ret, err);
}

int ward_base_encode(const struct ward_base *b, struct ward_buf *ret)
{
	struct ward_msg m;
	ward_msg_init(&m, BASE_BLOB);
	ward_msg_put_u32(&m, b->file[1].len ? 2 : 1);
	for (size_t i = 0; i < 2 && (i == 0 || b->file[1].len); i++) {
		ward_msg_put_str(&m, ward_buf_str(&b->file[i]));
		ward_msg_put_bytes(&m, ward_buf_str(&b->text[i]), b->text[i].len);
	}
	int r = ward_buf_error(&m.buf);
	if (r == 0)
		ward_buf_add(ret, m.buf.data, m.buf.len);
	ward_msg_clear(&m);
	return r < 0 ? r : ward_buf_error(ret);
}

int ward_base_decode(const void *blob, size_t len, struct ward_base *ret)
{
	struct ward_msg_reader m;
	ward_msg_reader_init(&m, blob, len);
	uint32_t n = m.type == BASE_BLOB ? ward_msg_get_u32(&m) : 0;
	if (n < 1 || n > 2)
		return -EBADMSG;
	for (uint32_t i = 0; i < n; i++) {
		ward_cleanup_free char *file = ward_msg_get_str(&m);
		size_t size = 0;
		const void *text = ward_msg_get_bytes(&m, &size);
		if (!file || !*file || m.bad || size > WARD_POLICY_TEXT_MAX + 1)
			return -EBADMSG;
		ward_buf_puts(&ret->file[i], file);
		ward_buf_add(&ret->text[i], text, size);
	}
	return ward_msg_done(&m);
}

/* --- names and paths --- */

int ward_project_file_name(const char *tree_path, struct ward_buf *b)
{
	static const char suffix[] = ".policy";
	if (tree_path[0] != '/')
		return -EINVAL;
	ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT;
	const char *s = tree_path + 1;
	if (!*s)
		ward_buf_putc(&name, '-');
	for (; *s; s++) {
		char c = *s;
		bool plain = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
			     c == ':' || c == '_' || (c == '.' && name.len);
		if (c == '/')
			ward_buf_putc(&name, '-');
		else if (plain)
			ward_buf_putc(&name, c);
		else
			ward_buf_printf(&name, "\\x%02x", (unsigned char)c);
	}
	if (name.len + strlen(suffix) > 255) {
		unsigned char hash[crypto_hash_sha256_BYTES];
		char hex[2 * sizeof(hash) + 1];
		crypto_hash_sha256(hash, (const unsigned char *)tree_path, strlen(tree_path));
		sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
		ward_buf_clear(&name);
		ward_buf_printf(&name, "long-%s", hex);
	}
	ward_buf_puts(b, ward_buf_str(&name));
	ward_buf_puts(b, suffix);
	return ward_buf_error(&name) < 0 ? -ENOMEM : ward_buf_error(b);
}

int ward_project_file_path(const char *name, struct ward_buf *b)
{
	size_t n = strlen(name), end = n > 7 ? n - 7 : 0;
	if (end == 0 || strcmp(name + end, ".policy") != 0 || strncmp(name, "long-", 5) == 0)
		return -EINVAL;
	ward_buf_putc(b, '/');
	for (size_t i = strcmp(name, "-.policy") == 0; i < end; i++) {
		unsigned c = 0;
		if (name[i] != '\\') {
			ward_buf_putc(b, name[i] == '-' ? '/' : name[i]);
			continue;
		}
		if (end - i < 4 || sscanf(name + i, "\\x%2x", &c) != 1 || c == 0)
			return -EINVAL;
		ward_buf_putc(b, (char)c);
		i += 3;
	}
	return ward_buf_error(b);
}

int ward_tree_source_resolve(const char *source, const char *home, const char *project,
	struct ward_buf *b, struct ward_err *err)
{
	const char *rest = source;
	if (source[0] == '~') {
		if (!home)
			return ward_err_set(err, -EINVAL, "%s: the owner has no home", source);
		ward_buf_puts(b, home);
		rest = source + 1; /* "" or "/…" */
	} else if (source[0] != '/') {
		if (!project)
			return ward_err_set(err, -EINVAL,
				"%s: the path is relative, and this directory belongs to no project",
				source);
		ward_buf_puts(b, project);
		rest = strcmp(source, ".") == 0 ? "" : source;
		if (strncmp(rest, "./", 2) == 0)
			rest += 2;
		if (*rest)
			ward_buf_putc(b, '/');
	}
	ward_buf_puts(b, rest);
	int r = ward_buf_error(b);
	return r < 0 ? ward_err_sys(err, r, "%s", source) : 0;
}
