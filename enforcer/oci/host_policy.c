/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /etc/wardfs/oci.policy. */
#include "enforcer/oci/host_policy.h"

#include <assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/quantity.h"
#include "enforcer/oci/oci.h"
#include "enforcer/policy/read.h"
#include "enforcer/policy/value.h"

static const char *const uncovered_words[] = {"refuse", "read", "pass", NULL};
static const char *const network_words[] = {"policy", "engine", "ours", NULL};
static const char *const seccomp_words[] = {"both", "engine", NULL};
static const char *const flag_words[] = {"no", "yes", NULL};

enum kind { TEXT, LIST, PATHS, WORD, FLAG, NUMBER };

static const struct key {
	const char *section, *name;
	enum kind kind;
	size_t at;
	const char *const *words;
} keys[] = {
	{"oci", "version", NUMBER, offsetof(struct ward_oci_host, version), NULL},
	{"oci", "runtime", TEXT, offsetof(struct ward_oci_host, runtime), NULL},
	{"oci", "policy", TEXT, offsetof(struct ward_oci_host, policy), NULL},
	{"oci", "network", WORD, offsetof(struct ward_oci_host, network), network_words},
	{"oci", "allow-missing", LIST, offsetof(struct ward_oci_host, allow_missing), NULL},
	{"caller", "policy", LIST, offsetof(struct ward_oci_host, caller_policy), NULL},
	{"caller", "session", FLAG, offsetof(struct ward_oci_host, caller_session), flag_words},
	{"caller", "tree", FLAG, offsetof(struct ward_oci_host, caller_tree), flag_words},
	{"volumes", "uncovered", WORD, offsetof(struct ward_oci_host, uncovered), uncovered_words},
	{"volumes", "engine", PATHS, offsetof(struct ward_oci_host, engine), NULL},
	{"volumes", "read", PATHS, offsetof(struct ward_oci_host, read), NULL},
	{"volumes", "pass", PATHS, offsetof(struct ward_oci_host, pass), NULL},
	{"floor", "capability", LIST, offsetof(struct ward_oci_host, capability), NULL},
	{"floor", "hook", PATHS, offsetof(struct ward_oci_host, hook), NULL},
	{"floor", "host-namespace", LIST, offsetof(struct ward_oci_host, host_namespace), NULL},
	{"floor", "device", PATHS, offsetof(struct ward_oci_host, device), NULL},
	{"floor", "seccomp", WORD, offsetof(struct ward_oci_host, seccomp), seccomp_words},
	{"floor", "new-privileges", FLAG, offsetof(struct ward_oci_host, new_privileges),
		flag_words},
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static_assert(sizeof(enum ward_oci_uncovered) == sizeof(unsigned), "written as a number");

struct reading {
	struct ward_oci_host *host;
	char section[16];
	bool said[COUNT(keys)];
};

/* "NAME, NAME, …": what would have been right. */
static int unknown(const char *what, const char *word, const char *section, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf all = WARD_BUF_INIT;
	const char *last = "";
	for (size_t i = 0; i < COUNT(keys); i++) {
		const char *name = section ? keys[i].name : keys[i].section;
		if (section && strcmp(keys[i].section, section) != 0)
			continue;
		if (strcmp(name, last) != 0)
			ward_buf_printf(&all, "%s%s", *last ? ", " : "", name);
		last = name;
	}
	return ward_err_set(
		err, -EINVAL, "unknown %s '%s'; known: %s", what, word, ward_buf_str(&all));
}

static int on_section(
	void *user, const char *kind, const char *arg, unsigned line, struct ward_err *err)
{
	struct reading *r = user;
	(void)line;
	for (size_t i = 0; i < COUNT(keys); i++)
		if (strcmp(keys[i].section, kind) == 0 && !*arg) {
			strncpy(r->section, kind, sizeof(r->section) - 1);
			r->section[strlen(kind)] = '\0';
			return 0;
		}
	return unknown("section", kind, NULL, err);
}

static int put_list(struct ward_oci_list *l, const char *value, bool path, struct ward_err *err)
{
	if (path && value[0] != '/')
		return ward_err_set(err, -EINVAL, "'%s' is no absolute path", value);
	if (l->n == WARD_OCI_LIST_MAX)
		return ward_err_set(err, -EINVAL, "more than %d values", WARD_OCI_LIST_MAX);
	char *copy = strdup(value);
	if (!copy)
		return ward_err_sys(err, -ENOMEM, "%s", value);
	l->v[l->n++] = copy;
	return 0;
}

static int put_text(char **at, const char *value, struct ward_err *err)
{
	*at = strdup(value);
	return *at ? 0 : ward_err_sys(err, -ENOMEM, "%s", value);
}

static int put(const struct key *k, void *at, const char *value, struct ward_err *err)
{
	uint64_t n = 0;
	int r = 0;
	switch (k->kind) {
	case TEXT:
		return put_text(at, value, err);
	case LIST:
	case PATHS:
		return put_list(at, value, k->kind == PATHS, err);
	case NUMBER:
		return ward_quantity_whole(value, 1, 1, at, err);
	case WORD:
	case FLAG:
		r = ward_value_word(value, k->words, &n, err);
		if (r == 0 && k->kind == FLAG)
			*(bool *)at = n == 1;
		else if (r == 0)
			*(unsigned *)at = (unsigned)n;
		return r;
	}
	return -EINVAL;
}

static int on_pair(
	void *user, const char *name, const char *value, unsigned line, struct ward_err *err)
{
	struct reading *r = user;
	(void)line;
	for (size_t i = 0; i < COUNT(keys); i++) {
		const struct key *row = &keys[i];
		if (strcmp(row->section, r->section) != 0 || strcmp(row->name, name) != 0)
			continue;
		if (r->said[i] && row->kind != LIST && row->kind != PATHS)
			return ward_err_set(err, -EINVAL, "%s was already set", name);
		r->said[i] = true;
		return put(row, (char *)r->host + row->at, value, err);
	}
	return unknown("key", name, r->section, err);
}

static int check_owner(int fd, const char *file, struct ward_err *err)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return ward_err_sys(err, -errno, "%s", file);
	if (st.st_uid != 0 || st.st_mode & (S_IWGRP | S_IWOTH))
		return ward_err_set(err, -EPERM,
			"%s: others than root can change it; fix: chown root %s; chmod go-w %s",
			file, file, file);
	return 0;
}

static const char *const missing_names[] = {
	[WARD_OCI_MISSING_EXEC] = "exec",
	[WARD_OCI_MISSING_SECCOMP] = "seccomp",
	[WARD_OCI_MISSING_CPU_TIME] = "limit-cpu-time",
};
static_assert(COUNT(missing_names) == WARD_OCI_MISSING_COUNT, "each has a name");

const char *ward_oci_missing_name(enum ward_oci_missing m)
{
	return missing_names[m];
}

bool ward_oci_may_miss(const struct ward_oci_host *h, enum ward_oci_missing m)
{
	return ward_oci_lists(&h->allow_missing, missing_names[m]);
}

static int check_missing(const struct ward_oci_host *h, const char *file, struct ward_err *err)
{
	for (size_t i = 0; i < h->allow_missing.n; i++) {
		bool known = false;
		for (size_t k = 0; k < COUNT(missing_names); k++)
			known = known || strcmp(h->allow_missing.v[i], missing_names[k]) == 0;
		if (!known)
			return ward_err_set(err, -EINVAL,
				"%s: allow-missing = %s: unknown name; known: exec, seccomp, "
				"limit-cpu-time",
				file, h->allow_missing.v[i]);
	}
	return 0;
}

int ward_oci_host_read(const char *file, struct ward_oci_host *ret, struct ward_err *err)
{
	static const struct ward_read_ops ops = {.section = on_section, .pair = on_pair};
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup_fd int fd = -1;
	struct ward_oci_host h = {.version = 0};
	struct reading reading = {.host = &h};
	file = file ? file : WARD_OCI_HOST_FILE;
	int r = ward_fd_open_named(file, WARD_NAMED_FILE, &fd, err);
	if (r < 0)
		return r;
	r = check_owner(fd, file, err);
	if (r == 0 && (r = ward_fd_read_all(fd, WARD_POLICY_PROJECT_MAX, &text)) < 0)
		ward_err_sys(err, r, "%s", file);
	if (r == 0)
		r = ward_policy_read(file, ward_buf_str(&text), text.len, &ops, &reading, err);
	if (r == 0)
		r = check_missing(&h, file, err);
	if (r == 0 && h.version != 1)
		r = ward_err_set(err, -EINVAL, "%s: write 'version = 1' into [oci]", file);
	if (r < 0)
		ward_oci_host_clear(&h);
	else
		*ret = h;
	return r;
}

static void clear_list(struct ward_oci_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	l->n = 0;
}

void ward_oci_host_clear(struct ward_oci_host *h)
{
	free(h->runtime);
	free(h->policy);
	struct ward_oci_list *const lists[] = {&h->allow_missing, &h->caller_policy, &h->engine,
		&h->read, &h->pass, &h->capability, &h->hook, &h->host_namespace, &h->device};
	for (size_t i = 0; i < COUNT(lists); i++)
		clear_list(lists[i]);
	*h = (struct ward_oci_host){.version = 0};
}

bool ward_oci_covers(const struct ward_oci_list *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++)
		if (fnmatch(l->v[i], path, FNM_PATHNAME | FNM_LEADING_DIR | FNM_NOESCAPE) == 0)
			return true;
	return false;
}

bool ward_oci_lists(const struct ward_oci_list *l, const char *word)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], word) == 0)
			return true;
	return false;
}
