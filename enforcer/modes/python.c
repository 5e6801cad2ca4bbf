/* SPDX-License-Identifier: Apache-2.0 */
/* Puts RestrictedPython in front of a script in Python. */
#include "enforcer/modes/python.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/modes/find.h"
#include "enforcer/modes/operations.h"

#define LAUNCHER "wardfs-python-restricted.py"
#define KEY "[process] python = restricted"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* "python", "python3", "python3.11". */
static bool is_python(const char *word)
{
	const char *name = base_name(word);
	return strncmp(name, "python", 6) == 0 &&
	       strspn(name + 6, "0123456789.") == strlen(name + 6);
}

/* Where the script stands. -EINVAL: this is no script in Python. */
static int find_script(char *const *argv, size_t *ret, struct ward_err *err)
{
	const size_t at = argv[0] && is_python(argv[0]) ? 1 : 0;
	const char *s = argv[at];
	const size_t n = s ? strlen(s) : 0;
	if (!s || s[0] == '-' || n < 4 || strcmp(s + n - 3, ".py") != 0)
		return ward_err_set(err, -EINVAL,
			KEY
			": the command is SCRIPT.py or python3 SCRIPT.py, with no flag before it, "
			"and not '%s'",
			s ? s : "");
	*ret = at;
	return 0;
}

static bool asked_for(const struct ward_policy *p)
{
	return ward_policy_settings(p)->python == WARD_PYTHON_RESTRICTED;
}

static int find_interpreter(const struct ward_mode_host *h, const char *name,
	struct ward_mode_found *ret, struct ward_err *err)
{
	static const char *const in_system[] = {"usr/local/bin/python3", "usr/bin/python3", NULL};
	ward_cleanup_free char *suffix = NULL;
	struct ward_find f;
	if (asprintf(&suffix, "/%s", name) < 0) {
		suffix = NULL;
		return ward_err_sys(err, -ENOMEM, KEY);
	}
	ward_find_begin(&f, ward_find_look_program);
	if (!ward_find_in_path(&f, h->path, suffix) && !ward_find_in(&f, "", in_system))
		return ward_err_set(err, -ENOTSUP,
			KEY ": no %s was found in PATH; fix: apt install python3", name);
	if (h->project && (ward_find_lies_in(f.found.name, h->project) ||
				  ward_find_lies_in(f.found.program, h->project))) {
		(void)ward_err_set(err, -ENOTSUP,
			KEY ": %s lies in the project, where a session could replace what "
			    "it loads; fix: an environment elsewhere",
			f.found.name);
		ward_mode_found_clear(&f.found);
		return -ENOTSUP;
	}
	if (ward_mode_emptied(f.found.name)) {
		(void)ward_err_set(err, -ENOTSUP,
			KEY ": %s lies beneath %s, which is empty when a session starts; fix: an "
			    "environment elsewhere",
			f.found.name, ward_mode_emptied(f.found.name));
		ward_mode_found_clear(&f.found);
		return -ENOTSUP;
	}
	ret->program = f.found.program;
	ret->name = f.found.name;
	return 0;
}

/* A virtual environment is the directory above that of its interpreter's name. */
static int find_environment(struct ward_mode_found *ret)
{
	ward_cleanup_free char *dir = strdup(ret->name), *file = NULL;
	struct stat st;
	char *slash = NULL;
	for (int i = 0; dir && i < 2; i++)
		if ((slash = strrchr(dir, '/')) != NULL)
			*slash = '\0';
	if (!dir || asprintf(&file, "%s/pyvenv.cfg", dir) < 0) {
		file = NULL;
		return -ENOMEM;
	}
	if (*dir && stat(file, &st) == 0)
		ret->library = ward_steal_ptr(&dir);
	return 0;
}

static int find_launcher(
	const struct ward_mode_host *h, struct ward_mode_found *ret, struct ward_err *err)
{
	ward_cleanup_free char *path = NULL;
	if (asprintf(&path, "%s" LAUNCHER, h->own ? h->own : "") < 0) {
		path = NULL;
		return ward_err_sys(err, -ENOMEM, KEY);
	}
	ret->launcher = realpath(path, NULL);
	if (!ret->launcher)
		return ward_err_set(
			err, -ENOTSUP, KEY ": %s is missing; fix: install wardfs again", path);
	if (ward_mode_emptied(ret->launcher))
		return ward_err_set(err, -ENOTSUP,
			KEY
			": %s lies beneath %s, which is empty when a session starts; fix: install "
			"wardfs (meson install -C build)",
			ret->launcher, ward_mode_emptied(ret->launcher));
	return 0;
}

int ward_python_look(const struct ward_mode_host *h, struct ward_mode_found *ret,
	struct ward_buf *b, struct ward_err *err)
{
	size_t at = 0;
	if (!h->policy || !asked_for(h->policy) || !h->argv)
		return 0;
	int r = find_script(h->argv, &at, err);
	if (r == 0)
		r = find_interpreter(h, at ? base_name(h->argv[0]) : "python3", ret, err);
	if (r == 0)
		r = find_launcher(h, ret, err);
	if (r < 0)
		return r;
	ret->about = strdup("RestrictedPython");
	if (!ret->about || find_environment(ret) < 0)
		return ward_err_sys(err, -ENOMEM, KEY);
	const char *const shown[] = {ret->program, ret->launcher, ret->library};
	for (size_t i = 0; i < 3; i++) {
		if (shown[i] && strpbrk(shown[i], ";#\\*?[\n"))
			return ward_err_set(err, -EINVAL,
				KEY ": a policy cannot name %s: it has one of ; # * ? [ \\ in it",
				shown[i]);
		if (shown[i])
			ward_buf_printf(b, "[system]\nread = %s\n", shown[i]);
	}
	if (!ward_policy_has_programs(h->policy))
		ward_buf_printf(b, "[process]\nexec = %s\n", ret->program);
	if (ward_policy_settings(h->policy)->seccomp == WARD_LIST_DEFAULT)
		ward_buf_puts(b, "[process]\nseccomp = strict\n");
	r = ward_buf_error(b);
	return r < 0 ? ward_err_sys(err, r, KEY) : 0;
}

static int put_pair(
	struct ward_mode_command *c, const char *flag, const char *value, const char *from)
{
	int r = ward_mode_put_flag(c, flag, from);
	return r < 0 ? r : ward_mode_put_flag(c, value, from);
}

static int put_flags(const struct ward_mode_asked *a, struct ward_mode_command *ret)
{
	const struct ward_settings *s = ward_policy_settings(a->policy);
	char seconds[32];
	/* Without PYTHON variables, the home's packages and the script's directory. */
	int r = ward_mode_put_flag(ret, "-IB", KEY);
	if (r == 0)
		r = ward_mode_put_flag(ret, a->found->launcher, KEY);
	for (size_t i = 0; r == 0 && i < s->imports.n; i++)
		r = put_pair(ret, "--import", s->imports.v[i], "[process] import");
	if (r == 0 && s->command_ns != WARD_UNLIMITED) {
		const uint64_t n = s->command_ns / WARD_NS_PER_SEC;
		snprintf(seconds, sizeof(seconds), "%llu", (unsigned long long)(n ? n : 1));
		r = put_pair(ret, "--seconds", seconds, "[limits] command");
	}
	return r;
}

/* INTERPRETER FLAGS… SCRIPT ARGUMENTS… */
int ward_python_command(
	const struct ward_mode_asked *a, struct ward_mode_command *ret, struct ward_err *err)
{
	size_t script = 0, n = 0, at = 0;
	if (!asked_for(a->policy) || !a->found->launcher)
		return 0;
	int r = find_script(a->argv, &script, err);
	if (r < 0)
		return r;
	if (put_flags(a, ret) < 0)
		return ward_err_sys(err, -ENOMEM, KEY);
	while (a->argv[n])
		n++;
	ret->argv = calloc(1 + ret->n_flags + n - script + 1, sizeof(*ret->argv));
	if (!ret->argv)
		return ward_err_sys(err, -ENOMEM, KEY);
	/* By the name that was found: a virtual environment is known by it. */
	ret->argv[at++] = strdup(a->found->library ? a->found->name : a->found->program);
	for (size_t i = 0; i < ret->n_flags; i++)
		ret->argv[at++] = strdup(ret->flags[i].text);
	for (size_t i = script; i < n; i++)
		ret->argv[at++] = strdup(a->argv[i]);
	for (size_t i = 0; i < at; i++)
		if (!ret->argv[i])
			return ward_err_sys(err, -ENOMEM, KEY);
	return 0;
}
