/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the certificates that the caller's environment names. */
#include "enforcer/session/plan/ca_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/explain.h"
#include "enforcer/sandbox/blueprint.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/plan/ca_text.h"

/* All authorities of Mozilla's are 0.3 MiB. */
#define FILE_MAX ((size_t)4 << 20)

/*
 * Node.js, OpenSSL (and what is built on it, Go, uv), requests, curl, git, pip, cargo, the SDKs of
 * AWS, Deno. SSL_CERT_DIR and GIT_SSL_CAPATH are directories.
 */
static const char *const variables[] = {"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "PIP_CERT",
	"CARGO_HTTP_CAINFO", "AWS_CA_BUNDLE", "DENO_CERT"};
/* Where every view shows what the host has. */
static const char *const seen[] = {"/usr", "/opt", "/etc/ssl", "/etc/ca-certificates", "/etc/pki"};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

_Static_assert(COUNT(variables) < COUNT(((struct ward_run_plan *)0)->ca), "room for all");

/* The file that we looked at, even if another one has its name now. NULL: it can be shown. */
static const char *wrong_content(const struct ward_shown_file *s)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	struct stat st;
	ward_cleanup_fd int fd =
		open(s->real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != s->dev || st.st_ino != s->ino)
		return "its owner cannot read it";
	if ((size_t)st.st_size > FILE_MAX || ward_fd_read_all(fd, FILE_MAX, &b) < 0 || !b.len)
		return "it is empty, or larger than a file of certificates";
	return ward_ca_text_wrong(ward_buf_str(&b), b.len);
}

/* Is everything that the value names in the view, whatever the policy says? */
static bool is_seen(const struct ward_run_plan *p, const char *value)
{
	for (size_t i = 0; i < COUNT(seen); i++)
		if (ward_path_beneath(value, seen[i]))
			return true;
	/* There the rules say whether it can be read. */
	for (size_t i = 0; i < p->n_trees; i++)
		if (ward_path_beneath(value, p->trees[i].path) ||
			(p->trees[i].at && ward_path_beneath(value, p->trees[i].at)))
			return true;
	for (size_t i = 0; i < p->n_reads; i++)
		if (ward_path_beneath(value, p->reads[i]))
			return true;
	return false;
}

static int add(struct ward_run_plan *p, const char *path, struct ward_shown_file *shown)
{
	char **reads = reallocarray(p->reads, p->n_reads + 2, sizeof(*reads));
	p->reads = reads ? reads : p->reads;
	char **at = reads ? reallocarray(p->reads_at, p->n_reads + 2, sizeof(*at)) : NULL;
	p->reads_at = at ? at : p->reads_at;
	struct ward_shown_file *all =
		at ? reallocarray(p->shown, p->n_reads + 2, sizeof(*all)) : NULL;
	p->shown = all ? all : p->shown;
	char *copy = all ? strdup(path) : NULL;
	if (!copy)
		return -ENOMEM;
	p->reads[p->n_reads] = copy;
	p->reads_at[p->n_reads] = NULL;
	p->shown[p->n_reads++] = *shown;
	*shown = WARD_SHOWN_FILE_INIT;
	return 0;
}

/* NULL: it is shown, or what the value names does not exist at all. */
static int look(struct ward_run_plan *p, const char *name, const char *path, struct ward_buf *why)
{
	ward_cleanup(ward_shown_file_clear) struct ward_shown_file s = WARD_SHOWN_FILE_INIT;
	int r = ward_shown_look(p->policy, &p->spots, path, NULL, &s);
	if (r < 0)
		return r;
	if (!s.real) {
		ward_buf_puts(why, "there is no such file, or its owner cannot reach it");
	} else if (s.closed) {
		ward_rule_place(s.closed, why);
		ward_buf_puts(why, " ");
		ward_rule_text(s.closed, why);
		ward_buf_puts(why, " closes it");
	} else if (s.links >= 0) {
		ward_buf_puts(why, "it has more than one name (hard links)");
	} else if (s.type == S_IFDIR) {
		ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
		ward_buf_printf(why,
			"a directory is not shown unasked: wardfs run --read %s --env %s -- CMD",
			ward_shell_quoted(&word, path), name);
	} else if (s.type != S_IFREG) {
		ward_buf_puts(why, "it is no regular file");
	} else {
		const char *text = wrong_content(&s);
		if (text)
			ward_buf_puts(why, text);
		else
			return add(p, path, &s);
	}
	return ward_buf_error(why);
}

/* --env and [env] set have the last word: their value is another. */
static bool is_set_elsewhere(
	const struct ward_run_options *o, const struct ward_run_plan *p, const char *name)
{
	const size_t n = strlen(name);
	for (size_t i = 0; i < o->env.n; i++)
		if (strncmp(o->env.v[i], name, n) == 0 && o->env.v[i][n] == '=')
			return true;
	for (size_t i = 0; i < p->settings->env_set.n; i++)
		if (strncmp(p->settings->env_set.v[i], name, n) == 0 &&
			p->settings->env_set.v[i][n] == '=')
			return true;
	return false;
}

static int take(const struct ward_run_options *o, struct ward_run_plan *p, const char *name,
	size_t *n, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	const char *value = getenv(name);
	int r = 0;
	if (!value || !*value || is_set_elsewhere(o, p, name))
		return 0;
	if (p->mode->layers & WARD_LAYER_VIEW && !is_seen(p, value)) {
		if (!ward_blueprint_path_ok(value))
			ward_buf_puts(&why, "it is no absolute path without \"..\"");
		else
			r = look(p, name, value, &why);
	}
	if (r < 0)
		return ward_err_sys(err, r, "%s=%s", name, value);
	if (!why.len) {
		p->ca[(*n)++] = name;
		return 0;
	}
	ward_buf_printf(&line, "%s is not passed on: %s: %s", name, value, ward_buf_str(&why));
	if (o->say && ward_buf_error(&line) == 0)
		o->say(ward_buf_str(&line));
	return ward_buf_error(&line);
}

int ward_ca_find(const struct ward_run_options *o, struct ward_run_plan *p, struct ward_err *err)
{
	struct ward_as_owner as;
	size_t n = 0;
	if (ward_environment_trust(&p->id, o->policy) == WARD_ENV_HARMLESS)
		return 0;
	int r = ward_as_owner_begin(&p->id, &as, err);
	for (size_t i = 0; i < COUNT(variables) && r == 0; i++)
		r = take(o, p, variables[i], &n, err);
	ward_as_owner_end(&as);
	return r;
}
