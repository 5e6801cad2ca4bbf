/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the environment of the command. */
#include "enforcer/session/plan/environment.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/policy/proxy.h"

/* Where programs are when the owner's PATH says nothing. */
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
/* execve(2) takes far fewer; bounds a hostile environment. */
#define ENV_MAX 65536
/* A message names so many of the variables held back. */
#define NAMED_MAX 8

struct env {
	char **v; /* NULL-terminated */
	size_t n;
};

static size_t name_length(const char *entry)
{
	return strcspn(entry, "=");
}

static bool good_name(const char *s, size_t len)
{
	if (len == 0 || isdigit((unsigned char)s[0]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_')
			return false;
	return true;
}

/* Sets or replaces entry ("NAME=VALUE", copied). */
static int put(struct env *e, const char *entry)
{
	char *copy = strdup(entry);
	if (!copy)
		return -ENOMEM;
	size_t len = name_length(entry);
	for (size_t i = 0; i < e->n; i++) {
		if (strncmp(e->v[i], entry, len) == 0 && e->v[i][len] == '=') {
			free(e->v[i]);
			e->v[i] = copy;
			return 0;
		}
	}
	char **v = e->n < ENV_MAX ? realloc(e->v, (e->n + 2) * sizeof(*v)) : NULL;
	if (!v) {
		free(copy);
		return -ENOMEM;
	}
	v[e->n++] = copy;
	v[e->n] = NULL;
	e->v = v;
	return 0;
}

static int put_pair(struct env *e, const char *name, const char *value)
{
	char *entry = NULL;
	if (!value)
		return 0;
	if (asprintf(&entry, "%s=%s", name, value) < 0)
		return -ENOMEM;
	int r = put(e, entry);
	free(entry);
	return r;
}

enum ward_env_trust ward_environment_trust(const struct ward_identity *id, const char *policy)
{
	if (policy || id->owner_uid == getuid())
		return WARD_ENV_ALL;
	return id->sudo ? WARD_ENV_NAMES : WARD_ENV_HARMLESS;
}

/* May pattern i of [env] pass give something to the owner? */
static bool trusted(const struct ward_settings *s, size_t i, enum ward_env_trust trust)
{
	switch (trust) {
	case WARD_ENV_HARMLESS:
		break;
	case WARD_ENV_NAMES:
		return i < s->env_pass_always || !strpbrk(s->env_pass.v[i], "*?[\\");
	case WARD_ENV_ALL:
		return true;
	}
	return i < s->env_pass_always;
}

/* What every session gets, but the image says otherwise: PATH in any case. */
static bool of_image(const struct ward_env_ours *ours, const char *entry, size_t len)
{
	bool is = ours->of_image && len == 4 && strncmp(entry, "PATH", 4) == 0;
	for (char *const *v = ours->image; v && *v && !is; v++)
		is = name_length(*v) == len && strncmp(*v, entry, len) == 0;
	return is;
}

/* Is it passed on? *ret_held: it would be, by a policy that could be trusted with it. */
static bool passed(const struct ward_settings *s, const char *entry,
	const struct ward_env_ours *ours, bool *ret_held)
{
	const enum ward_env_trust trust = ours->trust;
	size_t len = name_length(entry);
	const bool image = of_image(ours, entry, len);
	char *name = strndup(entry, len);
	bool yes = false, held = false;
	for (size_t i = 0; name && good_name(name, len) && i < s->env_pass.n && !yes; i++) {
		bool fits = fnmatch(s->env_pass.v[i], name, 0) == 0 &&
			    !(image && i < s->env_pass_always);
		yes = fits && trusted(s, i, trust);
		held = held || fits;
	}
	free(name);
	*ret_held = held && !yes;
	return yes;
}

/* What --env passes or sets is the caller's own word. */
static bool is_asked(const struct ward_env_args *args, const char *entry)
{
	size_t len = name_length(entry);
	for (size_t i = 0; i < args->n; i++)
		if (name_length(args->v[i]) == len && strncmp(args->v[i], entry, len) == 0)
			return true;
	return false;
}

static int pass_on(struct env *e, const struct ward_settings *s, const struct ward_env_args *args,
	const struct ward_env_ours *ours, struct ward_buf *note)
{
	size_t n = 0;
	int r = 0;
	for (char **p = environ; r == 0 && p && *p; p++) {
		bool held = false;
		if (passed(s, *p, ours, &held))
			r = put(e, *p);
		if (!held || is_asked(args, *p) || n++ >= NAMED_MAX)
			continue;
		ward_buf_puts(note,
			n == 1 ? "not passed on from root's environment, as the policy is not "
				 "root's: "
			       : ", ");
		ward_buf_add(note, *p, name_length(*p));
	}
	if (n > NAMED_MAX)
		ward_buf_printf(note, " and %zu more", n - NAMED_MAX);
	if (n > 0)
		ward_buf_puts(note, "; --env NAME passes one");
	return r < 0 ? r : ward_buf_error(note);
}

static int add_args(struct env *e, const struct ward_env_args *args, struct ward_buf *note,
	struct ward_err *err)
{
	for (size_t i = 0; i < args->n; i++) {
		const char *a = args->v[i];
		size_t len = name_length(a);
		if (!good_name(a, len))
			return ward_err_set(
				err, -EINVAL, "--env %s: expected NAME or NAME=VALUE", a);
		if (a[len] != '=' && !getenv(a))
			ward_buf_printf(note,
				"%s--env %s: the variable is not set here, and not set inside",
				note->len ? "; " : "", a);
		int r = a[len] == '=' ? put(e, a) : put_pair(e, a, getenv(a));
		if (r < 0)
			return ward_err_sys(err, r, "environment");
	}
	return 0;
}

/* Where there is no home, a policy may say what stands for it. */
static const char *home_of(const struct ward_settings *s, const struct ward_env_ours *ours)
{
	for (size_t i = s->env_set.n; !ours->home && i-- > 0;)
		if (strncmp(s->env_set.v[i], "HOME=", 5) == 0)
			return s->env_set.v[i] + 5;
	return ours->home ? ours->home : "/";
}

const char *const *ward_environment_proxies(void)
{
	/* Lower case, as curl wants the first; and what node 24 asks for. */
	static const char *const proxies[] = {"http_proxy=http://" WARD_PROXY_INSIDE,
		"https_proxy=http://" WARD_PROXY_INSIDE, "all_proxy=socks5h://" WARD_PROXY_INSIDE,
		"no_proxy=localhost,127.0.0.1,::1", "NODE_USE_ENV_PROXY=1", NULL};
	return proxies;
}

int ward_environment_build(const struct ward_settings *s, const struct ward_env_args *args,
	const struct ward_env_ours *ours, char ***ret, struct ward_buf *note, struct ward_err *err)
{
	/*
	 * These try again whatever the error was, after pauses: npm two times in 70 s
	 * (make-fetch-happen: remote.js retries ENOTFOUND as well), pip five times in 8 s.
	 */
	static const char *const offline[] = {"npm_config_fetch_retries=0", "PIP_RETRIES=0",
		"UV_HTTP_RETRIES=0", "CARGO_NET_RETRY=0"};
	struct env e = {.v = calloc(1, sizeof(char *))};
	int r = e.v ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && ours->offline && i < sizeof(offline) / sizeof(*offline); i++)
		r = put(&e, offline[i]);
	for (const char *const *name = ours->ca; r == 0 && name && *name; name++)
		r = put_pair(&e, *name, getenv(*name));
	for (char *const *v = ours->image; r == 0 && v && *v; v++)
		r = put(&e, *v);
	if (r == 0)
		r = pass_on(&e, s, args, ours, note);
	for (size_t i = 0; r == 0 && i < s->env_set.n; i++)
		r = put(&e, s->env_set.v[i]);
	bool has_path = false;
	for (size_t i = 0; i < e.n; i++)
		has_path = has_path || strncmp(e.v[i], "PATH=", 5) == 0;
	if (r == 0 && !has_path)
		r = put(&e, "PATH=" DEFAULT_PATH);
	/* The host's values are wrong inside; --env still has the last word. */
	for (const char *const *p = ward_environment_proxies(); r == 0 && ours->proxied && *p; p++)
		r = put(&e, *p);
	if (r < 0)
		r = ward_err_sys(err, r, "environment");
	else
		r = add_args(&e, args, note, err);
	const char *const pairs[][2] = {{"HOME", home_of(s, ours)}, {"USER", ours->user},
		{"LOGNAME", ours->user}, {"PWD", ours->pwd}, {"WARDFS_SESSION", ours->session}};
	for (size_t i = 0; r == 0 && i < sizeof(pairs) / sizeof(*pairs); i++) {
		r = put_pair(&e, pairs[i][0], pairs[i][1]);
		if (r < 0)
			r = ward_err_sys(err, r, "environment");
	}
	if (r < 0) {
		ward_environment_free(e.v);
		return r;
	}
	*ret = e.v;
	return 0;
}

void ward_environment_free(char **envp)
{
	for (char **p = envp; p && *p; p++)
		free(*p);
	free(envp);
}
