/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a project's files say about registries and ports. */
#include "enforcer/cli/policy/init_sources.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/patient.h"
#include "enforcer/base/plural.h"
#include "enforcer/base/quantity.h"
#include "enforcer/cli/policy/ecosystems.h"
#include "enforcer/session/owner/as_owner.h"

/* A file's bytes at most: JSON takes thirty times its size in memory. */
#define FILE_MAX ((size_t)4 << 20)
/* Objects in objects. */
#define DEPTH_MAX 32U

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* Hosts that the owner knows. */
#define KNOWN_MAX 64U

/* Lists of hosts, one a line: of this host, and the owner's own. */
#define LIST_HOST "/etc/wardfs"
#define LIST_NAME "registries"

struct known {
	char host[256];
	unsigned port;
	const char *file;      /* which says so, static; NULL: */
	const char *ecosystem; /* whose usual registry it is, static */
};

struct finding {
	struct init_sources *s;
	int dir;	  /* of the file that is read */
	const char *file; /* being read */
	bool own;	  /* the owner's: its hosts are known ones */
	bool replaced;	  /* one of them stands in place of the usual registry */
	struct known known[KNOWN_MAX];
	size_t n_known;
};

void init_sources_clear(struct init_sources *s)
{
	ward_buf_clear(&s->notes);
	*s = INIT_SOURCES_INIT;
}

/* --- hosts --- */

/* NULL: neither a file of the owner's nor the table names it. */
static const struct known *known_by(const struct finding *f, const char *host, unsigned port)
{
	for (size_t i = 0; i < f->n_known; i++)
		if (f->known[i].port == port && strcmp(f->known[i].host, host) == 0)
			return &f->known[i];
	return NULL;
}

static void add_known(struct finding *f, const char *host, unsigned port, const char *ecosystem)
{
	if (f->n_known == KNOWN_MAX || known_by(f, host, port))
		return;
	struct known *k = &f->known[f->n_known++];
	snprintf(k->host, sizeof(k->host), "%s", host);
	k->port = port;
	k->file = ecosystem ? NULL : f->file;
	k->ecosystem = ecosystem;
}

static void add_host(struct finding *f, const char *host, unsigned port, bool implied)
{
	struct init_sources *s = f->s;
	for (size_t i = 0; i < s->n_hosts; i++) {
		if (strcmp(s->hosts[i].host, host) != 0 || s->hosts[i].port != port)
			continue;
		s->hosts[i].times += !implied;
		/* Usual for an ecosystem until now, and this file names it, too. */
		if (!implied && !s->hosts[i].file)
			s->hosts[i].file = f->file;
		return;
	}
	if (s->n_hosts == INIT_HOSTS_MAX) {
		s->left_out++;
		return;
	}
	struct init_host *h = &s->hosts[s->n_hosts++];
	snprintf(h->host, sizeof(h->host), "%s", host);
	h->port = port;
	const struct known *k = known_by(f, host, port);
	h->known = k != NULL;
	h->ecosystem = k ? k->ecosystem : NULL;
	h->file = f->file;
	h->times = !implied;
}

/* A name as DNS has them. What is not one of it is counted and not repeated: it may be anything. */
static bool take_name(const char *s, size_t n, char host[256])
{
	if (n == 0 || n > 253 || s[0] == '-' || s[0] == '.' || s[n - 1] == '-' || s[n - 1] == '.')
		return false;
	for (size_t i = 0; i < n; i++) {
		const unsigned char c = (unsigned char)s[i];
		if (!isalnum(c) && c != '-' && c != '.')
			return false;
		if (c == '.' && s[i + 1] == '.')
			return false;
		host[i] = (char)tolower(c);
	}
	host[n] = 0;
	return true;
}

/* The host of an URL of http or https that begins at s; what stands before "@" may be a password.
 */
static void take_url(struct finding *f, const char *s, size_t len)
{
	char host[256];
	unsigned port = 443;
	if (len > 8 && strncmp(s, "https://", 8) == 0) {
		s += 8;
		len -= 8;
	} else if (len > 7 && strncmp(s, "http://", 7) == 0) {
		s += 7;
		len -= 7;
		port = 80;
	} else {
		return;
	}
	size_t n = 0;
	while (n < len && !strchr("/?#\"' \t\r\n)>,", s[n]))
		n++;
	const char *at = memrchr(s, '@', n);
	if (at) {
		n -= (size_t)(at + 1 - s);
		s = at + 1;
	}
	const char *colon = memchr(s, ':', n);
	if (colon) {
		const char *digits = colon + 1;
		uint64_t number = 0;
		if (!ward_quantity_digits(&digits, &number) || digits != s + n || number == 0 ||
			number > 65535) {
			f->s->bad += !f->own;
			return;
		}
		port = (unsigned)number;
		n = (size_t)(colon - s);
	}
	if (!take_name(s, n, host))
		f->s->bad += !f->own;
	else if (f->own)
		add_known(f, host, port, NULL);
	else
		add_host(f, host, port, false);
}

/* Each URL in a line. */
static void take_urls(struct finding *f, const char *s, size_t len)
{
	const char *end = s + len;
	while (s < end) {
		const char *h = memmem(s, (size_t)(end - s), "http", 4);
		if (!h)
			return;
		take_url(f, h, (size_t)(end - h));
		s = h + 4;
	}
}

/* --- files --- */

/* Once for a file, which may be read for two things. */
static void note(struct finding *f, const char *file, const char *why)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	ward_buf_printf(&line, "; %s was not looked at: %s\n", file, why);
	if (!strstr(ward_buf_str(&f->s->notes), ward_buf_str(&line)))
		ward_buf_add(&f->s->notes, line.data, line.len);
}

/* 1: read; 0: not there, or not looked at, which is noted. */
static int slurp(struct finding *f, const char *file, struct ward_buf *ret)
{
	ward_cleanup_fd int fd = ward_fd_open_beneath(f->dir, file);
	int r = fd < 0 ? fd : ward_fd_read_all(fd, FILE_MAX, ret);
	f->file = file;
	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		ward_buf_clear(ret);
		if (!f->own)
			note(f, file, r == -EFBIG ? "it is larger than 4 MiB" : strerror(-r));
		return 0;
	}
	return 1;
}

typedef void line_fn(struct finding *f, const char *line, size_t len, char section[64]);

static void each_line(struct finding *f, const struct ward_buf *text, line_fn *fn)
{
	const char *s = ward_buf_str(text), *end = s + text->len;
	char section[64] = "";
	while (s < end) {
		const char *eol = memchr(s, '\n', (size_t)(end - s));
		size_t n = eol ? (size_t)(eol - s) : (size_t)(end - s);
		size_t blank = 0;
		while (blank < n && (s[blank] == ' ' || s[blank] == '\t'))
			blank++;
		if (n > blank && s[blank] == '[')
			snprintf(section, sizeof(section), "%.*s",
				(int)(n - blank < 63 ? n - blank : 63), s + blank);
		else if (n > blank && s[blank] != '#' && s[blank] != ';')
			fn(f, s + blank, n - blank, section);
		s += n + 1;
	}
}

/* Is the line's key, before '=' or ':', this one, or does it end in it? */
static bool has_key(const char *line, size_t len, const char *key)
{
	size_t n = 0, k = strlen(key);
	while (n < len && !strchr("= \t", line[n]))
		n++;
	return n >= k && memcmp(line + n - k, key, k) == 0;
}

static void npmrc_line(struct finding *f, const char *line, size_t len, char section[64])
{
	(void)section;
	if (has_key(line, len, "registry"))
		take_urls(f, line, len);
}

static void yarn_line(struct finding *f, const char *line, size_t len, char section[64])
{
	(void)section;
	if (len > 9 && (strncmp(line, "resolved ", 9) == 0 || memmem(line, len, "tarball: ", 9)))
		take_urls(f, line, len);
}

static void requirement_line(struct finding *f, const char *line, size_t len, char section[64])
{
	(void)section;
	take_urls(f, line, len);
}

/* Of pyproject.toml the tables of tools: [project.urls] and the like are for people. */
static void pyproject_line(struct finding *f, const char *line, size_t len, char section[64])
{
	static const char *const keys[] = {"url", "index-url", "extra-index-url", "default-index"};
	const char *name = section + strspn(section, "[");
	for (size_t i = 0; strncmp(name, "tool.", 5) == 0 && i < LENGTH(keys); i++)
		if (has_key(line, len, keys[i])) {
			take_urls(f, line, len);
			return;
		}
}

/* index = "sparse+https://…", registry = "…", source = "registry+https://…" */
static void cargo_line(struct finding *f, const char *line, size_t len, char section[64])
{
	/* the index of the public registry, which cargo fetches from elsewhere */
	static const char own[] = "github.com/rust-lang/";
	(void)section;
	if ((has_key(line, len, "index") || has_key(line, len, "registry") ||
		    has_key(line, len, "source") || has_key(line, len, "git")) &&
		!memmem(line, len, own, strlen(own)))
		take_urls(f, line, len);
}

/* Every "resolved" of a lock file of npm's, at whatever depth. */
static void take_resolved(struct finding *f, const json_t *o, unsigned depth)
{
	const char *key = NULL;
	json_t *v = NULL;
	if (depth == DEPTH_MAX)
		return;
	json_object_foreach((json_t *)(uintptr_t)o, key, v)
	{
		if (json_is_object(v))
			take_resolved(f, v, depth + 1);
		else if (json_is_string(v) && strcmp(key, "resolved") == 0)
			take_urls(f, json_string_value(v), json_string_length(v));
	}
}

static json_t *load_json(struct finding *f, const char *file, int *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	*ret = slurp(f, file, &text);
	json_t *o = *ret == 1 ? json_loadb(text.data, text.len, 0, NULL) : NULL;
	if (*ret == 1 && !json_is_object(o)) {
		note(f, file, "it is no JSON object");
		json_decref(o);
		o = NULL;
	}
	*ret = *ret < 0 ? *ret : 0;
	return o;
}

static int look_at_lines(struct finding *f, const char *file, line_fn *fn)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	int r = slurp(f, file, &text);
	if (r == 1)
		each_line(f, &text, fn);
	return r < 0 ? r : 0;
}

/* --- ports --- */

static void add_port(struct finding *f, unsigned port, const char *why)
{
	struct init_sources *s = f->s;
	for (size_t i = 0; i < s->n_ports; i++)
		if (s->ports[i].port == port)
			return;
	if (s->n_ports < INIT_PORTS_MAX && port >= 1024 && port <= 65535)
		s->ports[s->n_ports++] = (struct init_port){port, why};
}

/* "--port 4000", "--port=4000", "-p 4000", "PORT=4000" in a script of package.json */
static void take_script_ports(struct finding *f, const char *script)
{
	static const char *const before[] = {"--port", "-p", "PORT"};
	for (size_t i = 0; i < LENGTH(before); i++) {
		const char *s = strstr(script, before[i]);
		uint64_t n = 0;
		if (!s)
			continue;
		s += strlen(before[i]);
		if (*s != ' ' && *s != '=')
			continue;
		s += strspn(s, " =");
		if (ward_quantity_digits(&s, &n) && n <= 65535 && (!*s || *s == ' '))
			add_port(f, (unsigned)n, "a script of package.json");
	}
}

static bool is_of(const struct ecosystem_server *s, const char *ecosystem)
{
	return strcmp(s->ecosystem, ecosystem) == 0;
}

static int look_at_package(struct finding *f)
{
	static const char *const lists[] = {"dependencies", "devDependencies"};
	int r = 0;
	json_t *o = load_json(f, "package.json", &r);
	const char *name = NULL;
	json_t *v = NULL;
	size_t n = 0;
	const struct ecosystem_server *servers = ecosystem_servers(&n);
	json_object_foreach(json_object_get(o, "scripts"), name, v) if (json_is_string(v))
		take_script_ports(f, json_string_value(v));
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; is_of(&servers[i], "node") && k < LENGTH(lists); k++)
			if (json_object_get(json_object_get(o, lists[k]), servers[i].package))
				add_port(f, servers[i].port, servers[i].package);
	json_decref(o);
	return r;
}

/* A line that begins with the package's name, which may be quoted. */
static void take_server(struct finding *f, const char *ecosystem, const char *line, size_t len)
{
	size_t from = line[0] == '"' || line[0] == '\'', servers = 0;
	const struct ecosystem_server *s = ecosystem_servers(&servers);
	for (size_t i = 0; i < servers; i++) {
		size_t n = strlen(s[i].package);
		if (!is_of(&s[i], ecosystem) || len < from + n ||
			strncasecmp(line + from, s[i].package, n) != 0)
			continue;
		const char next = (char)(from + n < len ? line[from + n] : ' ');
		if (!isalnum((unsigned char)next) && next != '-' && next != '_')
			add_port(f, s[i].port, s[i].package);
	}
}

/* A requirement, also one in the lists of pyproject.toml. */
static void server_line(struct finding *f, const char *line, size_t len, char section[64])
{
	(void)section;
	take_server(f, "python", line, len);
}

/* name = "1" beneath [dependencies] of Cargo.toml. */
static void cargo_server_line(struct finding *f, const char *line, size_t len, char section[64])
{
	if (strstr(section, "dependencies"))
		take_server(f, "rust", line, len);
}

/* "require MODULE VERSION" of go.mod, or "MODULE VERSION" in its brackets. */
static void go_server_line(struct finding *f, const char *line, size_t len, char section[64])
{
	static const char require[] = "require ";
	const size_t n = strlen(require);
	(void)section;
	const bool one = len > n && strncmp(line, require, n) == 0;
	take_server(f, "go", one ? line + n : line, one ? len - n : len);
}

/* --- all of it --- */

static int look(struct finding *f)
{
	static const struct {
		const char *file;
		line_fn *fn;
	} files[] = {
		{".npmrc", npmrc_line},
		{"yarn.lock", yarn_line},
		{"pnpm-lock.yaml", yarn_line},
		{"requirements.txt", requirement_line},
		{"requirements-dev.txt", requirement_line},
		{"pyproject.toml", pyproject_line},
		{"Pipfile", requirement_line},
		{"pip.conf", requirement_line},
		{"Cargo.toml", cargo_line},
		{"Cargo.lock", cargo_line},
		{".cargo/config.toml", cargo_line},
		{".cargo/config", cargo_line},
		{"requirements.txt", server_line},
		{"pyproject.toml", server_line},
		{"Cargo.toml", cargo_server_line},
		{"go.mod", go_server_line},
	};
	static const char *const locks[] = {"package-lock.json", "npm-shrinkwrap.json"};
	int r = 0;
	for (size_t i = 0; r == 0 && i < LENGTH(locks); i++) {
		json_t *o = load_json(f, locks[i], &r);
		take_resolved(f, o, 0);
		json_decref(o);
	}
	for (size_t i = 0; r == 0 && i < LENGTH(files); i++)
		r = look_at_lines(f, files[i].file, files[i].fn);
	return r == 0 ? look_at_package(f) : r;
}

/* --- what the owner knows --- */

static void list_line(struct finding *f, const char *line, size_t len, char section[64])
{
	ward_cleanup(ward_buf_clear) struct ward_buf url = WARD_BUF_INIT;
	size_t n = 0;
	(void)section;
	while (n < len && !strchr(" \t\r;#", line[n]))
		n++;
	ward_buf_puts(&url, "https://");
	ward_buf_add(&url, line, n);
	take_url(f, ward_buf_str(&url), url.len);
}

/* Does a file in the owner's home answer? Its server may be gone. */
static bool answers(const char *home, const char *file)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	ward_buf_printf(&path, "%s/%s", home, file);
	return ward_buf_error(&path) == 0 && ward_patient_reach(ward_buf_str(&path), NULL) == 0;
}

/* A list in a directory: /etc/wardfs, and the owner's own. */
static int look_at_list(struct finding *f, const char *dir)
{
	ward_cleanup_fd int fd =
		dir && answers(dir, LIST_NAME) ? open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	f->dir = fd;
	return fd < 0 ? 0 : look_at_lines(f, LIST_NAME, list_line);
}

/* The keys that name a registry to npm, pip, cargo and go; a proxy does not. */
static void own_line(struct finding *f, const char *line, size_t len, char section[64])
{
	static const char *const keys[] = {
		"registry", "index-url", "extra-index-url", "index", "GOPROXY"};
	(void)section;
	for (size_t i = 0; i < LENGTH(keys); i++)
		if (has_key(line, len, keys[i])) {
			/* not "@scope:registry", not "extra-index-url" */
			f->replaced = f->replaced || strncmp(line, keys[i], strlen(keys[i])) == 0;
			take_urls(f, line, len);
			return;
		}
}

/* One package manager: where the owner told it to go, else where it goes by itself. */
static int look_at_ecosystem(
	struct finding *f, const struct ecosystem *e, const char *dir, int home, int project)
{
	const size_t before = f->n_known;
	const bool used = ecosystem_is(e, project);
	int r = 0;
	f->dir = home;
	f->replaced = false;
	for (size_t i = 0; r == 0 && home >= 0 && i < ECOSYSTEM_FILES_MAX && e->settings[i]; i++)
		if (answers(dir, e->settings[i]))
			r = look_at_lines(f, e->settings[i], own_line);
	for (size_t i = 0; used && !f->replaced && i < ECOSYSTEM_HOSTS_MAX && e->registries[i]; i++)
		add_known(f, e->registries[i], 443, e->name);
	for (size_t k = before; used && k < f->n_known; k++) {
		f->file = f->known[k].file;
		add_host(f, f->known[k].host, f->known[k].port, true);
	}
	return r;
}

static int look_at_own(struct finding *f, const char *home, const char *config, int project)
{
	ward_cleanup(ward_buf_clear) struct ward_buf dir = WARD_BUF_INIT;
	ward_cleanup_fd int at =
		home && answers(home, "") ? open(home, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	f->own = true;
	int r = look_at_list(f, LIST_HOST);
	if (config)
		ward_buf_printf(&dir, "%s/wardfs", config);
	if (r == 0 && config && ward_buf_error(&dir) == 0)
		r = look_at_list(f, ward_buf_str(&dir));
	size_t n = 0;
	const struct ecosystem *e = ecosystems(&n);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = look_at_ecosystem(f, &e[i], home, at, project);
	f->own = false;
	return r;
}

int init_sources_find(const struct ward_identity *id, const char *config, int project,
	struct init_sources *ret, struct ward_err *err)
{
	struct ward_as_owner owner;
	struct finding f = {.s = ret};
	int r = ward_as_owner_begin(id, &owner, err);
	if (r < 0)
		return r;
	r = look_at_own(&f, id->home, config, project);
	f.dir = project;
	if (r == 0)
		r = look(&f);
	ward_as_owner_end(&owner);
	if (r == 0)
		r = ward_buf_error(&ret->notes);
	return r < 0 ? ward_err_sys(err, r, "the project's files") : 0;
}

/* --- as text --- */

void init_host_value(const struct init_host *h, struct ward_buf *b)
{
	ward_buf_printf(b, "%s:%u", h->host, h->port);
}

static void put_hosts(const struct init_sources *s, bool known, struct ward_buf *text)
{
	for (size_t i = 0; i < s->n_hosts; i++) {
		const struct init_host *h = &s->hosts[i];
		if (h->known != known)
			continue;
		ward_buf_puts(text, "; allow = ");
		init_host_value(h, text);
		if (h->times)
			ward_buf_printf(
				text, "   ; %s, %u time%s\n", h->file, h->times, ward_s(h->times));
		else if (h->ecosystem)
			ward_buf_printf(text, "   ; usual for %s\n", h->ecosystem);
		else
			ward_buf_printf(text, "   ; your %s\n", h->file);
	}
}

void init_sources_text(const struct init_sources *s, struct ward_buf *text)
{
	size_t known = 0;
	for (size_t i = 0; i < s->n_hosts; i++)
		known += s->hosts[i].known;
	if (s->n_hosts || s->n_ports || s->notes.len || s->bad)
		ward_buf_puts(text,
			"\n; The network: what the project's own files lead to. A line behind a ';' "
			"allows nothing.\n");
	if (s->n_hosts || s->n_ports)
		ward_buf_puts(text, "; [network]\n; mode = allowlist\n");
	if (known)
		ward_buf_puts(text,
			"; registries that this kind of project uses, or that you know\n"
			"; ('wardfs init --registries' allows them):\n");
	put_hosts(s, true, text);
	if (s->n_hosts > known)
		ward_buf_puts(text,
			"; other hosts, which the authors of these files chose. Look before "
			"you allow one:\n");
	put_hosts(s, false, text);
	if (s->left_out)
		ward_buf_printf(text, "; and more names of hosts, %u time%s\n", s->left_out,
			ward_s(s->left_out));
	if (s->bad)
		ward_buf_printf(text, "; left out, because it is not a host: %u time%s\n", s->bad,
			ward_s(s->bad));
	if (s->n_ports)
		ward_buf_puts(text,
			"; usual ports of the development servers, to reach them from here:\n");
	for (size_t i = 0; i < s->n_ports; i++)
		ward_buf_printf(text, "; publish = %u   ; %s\n", s->ports[i].port, s->ports[i].why);
	ward_buf_add(text, s->notes.data, s->notes.len);
}
