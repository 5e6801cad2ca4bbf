/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the list of entries that a command sees: our own, the host's, the trees. */
#include "enforcer/sandbox/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"

/* Symbolic links on a host with a merged /usr, directories elsewhere; absent on some. */
static const char *const system_dirs[] = {
	"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/usr"};

/* What libraries, shells, compilers and language runtimes read. Nothing that names the host's
 * users, keys, networks or services in use. */
static const char *const etc_parts[] = {"ImageMagick-6", "ImageMagick-7", "R", "alternatives",
	"ant", "bash.bashrc", "bash_completion.d", "ca-certificates", "ca-certificates.conf",
	"debian_version", "dpkg", "emacs", "fonts", "fpc-3.2.2.cfg", "fpc.cfg", "gai.conf",
	"ghostscript", "gnucobol", "gradle", "groff", "host.conf", "inputrc", "java-11-openjdk",
	"java-17-openjdk", "java-21-openjdk", "java-25-openjdk", "java-8-openjdk", "ld.so.cache",
	"ld.so.conf", "ld.so.conf.d", "libreoffice", "locale.alias", "locale.conf", "locale.gen",
	"localtime", "login.defs", "lsb-release", "lua", "magic", "magic.mime", "mailcap",
	"manpath.config", "mime.types", "nanorc", "networks", "nodejs", "ocamlfind.conf",
	"octave.conf", "openmpi", "os-release", "perl", "php", "pki", "profile", "profile.d",
	"protocols", "python3", "python3.11", "python3.12", "python3.13", "rpc", "ruby", "services",
	"sgml", "shells", "ssl", "terminfo", "texmf", "timezone", "vim", "xattr.conf", "xdg",
	"xml"};

/* Read-only and without host identity: the number of CPUs, and what allocators ask. */
static const char *const sys_parts[] = {
	"/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage"};

static const char *const devices[] = {"full", "null", "random", "tty", "urandom", "zero"};

static const char *const dev_links[][2] = {{"/dev/fd", "/proc/self/fd"},
	{"/dev/stdin", "/proc/self/fd/0"}, {"/dev/stdout", "/proc/self/fd/1"},
	{"/dev/stderr", "/proc/self/fd/2"}, {"/dev/ptmx", "pts/ptmx"}};
static const char *const host_links[][2] = {
	{"/etc/mtab", "/proc/self/mounts"}, {"/var/run", "/run"}};

/* Nothing of the session may lie on these. */
static const char *const reserved[] = {"/proc", "/sys", "/dev", "/etc"};
/* Nor may more of the host appear here: devices, and the host's processes. */
static const char *const closed_to_reads[] = {"/proc", "/dev"};

/* Made by us, with or without parts of the host's. */
static const char *const own_dirs[] = {
	"/dev", "/etc", "/proc", "/root", "/run", "/sys", "/tmp", "/var/tmp"};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

_Static_assert(COUNT(system_dirs) + COUNT(own_dirs) <= WARD_SANDBOX_OWN_MAX, "room for all");

size_t ward_sandbox_own_paths(const char *ret[WARD_SANDBOX_OWN_MAX])
{
	struct stat st;
	size_t n = 0;
	for (size_t k = 0; k < COUNT(system_dirs); k++)
		if (lstat(system_dirs[k], &st) == 0)
			ret[n++] = system_dirs[k];
	for (size_t k = 0; k < COUNT(own_dirs); k++)
		ret[n++] = own_dirs[k];
	return n;
}

static bool is_beneath(const char *path, const char *const *dirs, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		const size_t len = strlen(dirs[k]);
		if (strncmp(path, dirs[k], len) == 0 && (path[len] == '/' || !path[len]))
			return true;
	}
	return false;
}

enum ward_sandbox_own ward_sandbox_own(const char *path)
{
	return is_beneath(path, system_dirs, COUNT(system_dirs)) ? WARD_SANDBOX_OWN_HOST
	       : is_beneath(path, own_dirs, COUNT(own_dirs))	 ? WARD_SANDBOX_OWN_MADE
								 : WARD_SANDBOX_OWN_NOT;
}

/* A link of the host is a link inside as well: what it points at is in the view or not. */
static void add_link_or_bind(struct ward_view_list *w, const char *path)
{
	char target[4096];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	if (n > 0) {
		target[n] = '\0';
		ward_view_add(w, WARD_BLUEPRINT_LINK, path, target, 0, 0);
	} else {
		ward_view_add(w, WARD_BLUEPRINT_BIND, path, path, 0,
			WARD_BLUEPRINT_OPTIONAL | WARD_BLUEPRINT_SHUT);
	}
}

static void add_file(struct ward_view_list *w, const char *path, struct ward_buf *text)
{
	if (ward_buf_error(text))
		w->error = ward_buf_error(text);
	else
		ward_view_add(w, WARD_BLUEPRINT_FILE, path, ward_buf_str(text), 0644, 0);
	ward_buf_clear(text);
}

/* Files that would name the host's users, network or identity: made up for the session. */
static void add_synthetic(struct ward_view_list *w, const struct ward_sandbox_spec *spec)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const char *home = spec->home ? spec->home : "/";
	ward_buf_printf(&b,
		"root:x:0:0:root:/root:/usr/sbin/nologin\n"
		"%s:x:%u:%u::%s:/bin/bash\n",
		spec->user_name, spec->agent_uid, spec->agent_gid, home);
	if (spec->agent_uid != 65534)
		ward_buf_puts(&b, "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
	add_file(w, "/etc/passwd", &b);
	ward_buf_puts(&b, "root:x:0:\ntty:x:5:\n");
	if (spec->agent_gid != 0 && spec->agent_gid != 5)
		ward_buf_printf(&b, "%s:x:%u:\n", spec->user_name, spec->agent_gid);
	if (spec->agent_gid != 65534)
		ward_buf_puts(&b, "nogroup:x:65534:\n");
	add_file(w, "/etc/group", &b);
	ward_buf_printf(&b, "127.0.0.1\tlocalhost %s\n::1\tlocalhost ip6-localhost ip6-loopback\n",
		spec->hostname);
	if (spec->net == WARD_SANDBOX_NET_HOST) {
		ward_buf_clear(&b);
		ward_view_add(w, WARD_BLUEPRINT_BIND, "/etc/hosts", "/etc/hosts", 0,
			WARD_BLUEPRINT_OPTIONAL);
	} else {
		add_file(w, "/etc/hosts", &b);
	}
	ward_buf_printf(&b, "%s\n", spec->hostname);
	add_file(w, "/etc/hostname", &b);
	/*
	 * Without a network the kernel refuses the question to a name server at once. glibc makes
	 * EAI_AGAIN of that, and programs try again for minutes (npm: 70 s). Where "files" has the
	 * last word the answer is EAI_NONAME. The question itself stays: the counters of the
	 * namespace then say that a host was looked for (session/run/no_network.h).
	 */
	ward_buf_printf(&b,
		"passwd: files\ngroup: files\nshadow: files\nhosts: files dns%s\n"
		"networks: files\nprotocols: files\nservices: files\n",
		spec->net == WARD_SANDBOX_NET_NONE ? " files" : "");
	add_file(w, "/etc/nsswitch.conf", &b);
	ward_buf_puts(&b, spec->resolv ? spec->resolv : "");
	if (spec->net == WARD_SANDBOX_NET_HOST)
		ward_view_add(w, WARD_BLUEPRINT_BIND, "/etc/resolv.conf", "/etc/resolv.conf", 0,
			WARD_BLUEPRINT_OPTIONAL);
	else
		add_file(w, "/etc/resolv.conf", &b);
	if (spec->gitconfig) {
		ward_buf_puts(&b, spec->gitconfig);
		add_file(w, "/etc/gitconfig", &b);
	}
	/* Not the host's machine-id, which is meant to be secret (machine-id(5)). */
	uint8_t id[16];
	if (getrandom(id, sizeof(id), 0) != (ssize_t)sizeof(id))
		w->error = -EIO;
	for (size_t i = 0; i < sizeof(id); i++)
		ward_buf_printf(&b, "%02x", id[i]);
	ward_buf_putc(&b, '\n');
	add_file(w, "/etc/machine-id", &b);
}

/* Passwords of repositories; empty it would be no XML. [system] read can show it. */
static const char *const maven_secrets[] = {"settings.xml"};

static int add_maven(struct ward_view_list *w, struct ward_err *err)
{
	struct stat st;
	return lstat("/etc/maven", &st) == 0 && S_ISDIR(st.st_mode)
		       ? ward_view_all(w, "/etc/maven", maven_secrets, COUNT(maven_secrets), err)
		       : 0;
}

static void add_minimal(struct ward_view_list *w)
{
	for (size_t i = 0; i < COUNT(system_dirs); i++)
		add_link_or_bind(w, system_dirs[i]);
	for (size_t i = 0; i < COUNT(etc_parts); i++) {
		char path[256];
		snprintf(path, sizeof(path), "/etc/%s", etc_parts[i]);
		add_link_or_bind(w, path);
	}
	for (size_t i = 0; i < COUNT(host_links); i++)
		ward_view_add(w, WARD_BLUEPRINT_LINK, host_links[i][0], host_links[i][1], 0, 0);
}

/* What is ours in every view of its own. */
static void add_system(struct ward_view_list *w)
{
	for (size_t i = 0; i < COUNT(sys_parts); i++)
		ward_view_add(w, WARD_BLUEPRINT_BIND, sys_parts[i], sys_parts[i], 0,
			WARD_BLUEPRINT_OPTIONAL);
	for (size_t i = 0; i < COUNT(devices); i++) {
		char path[64];
		snprintf(path, sizeof(path), "/dev/%s", devices[i]);
		ward_view_add(w, WARD_BLUEPRINT_DEVICE, path, path, 0, 0);
	}
	ward_view_add(w, WARD_BLUEPRINT_PTS, "/dev/pts", NULL, 0, 0);
	/* pid 1 mounts the queues of its ipc namespace there. */
	ward_view_add(w, WARD_BLUEPRINT_DIR, "/dev/mqueue", NULL, 0755, 0);
	for (size_t i = 0; i < COUNT(dev_links); i++)
		ward_view_add(w, WARD_BLUEPRINT_LINK, dev_links[i][0], dev_links[i][1], 0, 0);
	ward_view_add(w, WARD_BLUEPRINT_DIR, "/proc", NULL, 0555, 0);
	/* Empty; searchable, so that a PATH of root's says "not found", not "permission denied". */
	ward_view_add(w, WARD_BLUEPRINT_DIR, "/root", NULL, 0755, 0);
	ward_view_add(w, WARD_BLUEPRINT_SHARED, "/tmp", NULL, 01777, 0);
	/* No link: a tree below it keeps the path that getcwd(3) gives on the host. */
	ward_view_add(w, WARD_BLUEPRINT_SHARED, "/var/tmp", NULL, 01777, 0);
	ward_view_add(w, WARD_BLUEPRINT_SHARED, "/run", NULL, 0755, 0);
	ward_view_add(w, WARD_BLUEPRINT_SHARED, "/dev/shm", NULL, 01777, 0);
}

static bool is_tree(const struct ward_blueprint_entry *e)
{
	return e->kind == WARD_BLUEPRINT_TREE || e->kind == WARD_BLUEPRINT_TREE_AT;
}

static int check_path(const char *path, const char *what, struct ward_err *err)
{
	if (!ward_blueprint_path_ok(path))
		return ward_err_set(err, -EINVAL,
			"%s %s: write an absolute path without \"..\" and \"//\"", what, path);
	for (size_t i = 0; i < COUNT(reserved); i++)
		if (ward_blueprint_path_below(path, reserved[i]))
			return ward_err_set(err, -EINVAL,
				"cannot show the %s %s inside: the sandbox has its own %s", what,
				path, reserved[i]);
	return 0;
}

/* What stands at a place that the caller names. made: an entry for it, without path and text. */
static int put_read(struct ward_view_list *w, struct ward_blueprint_entry made, const char *inside,
	const char *text, size_t n_system, struct ward_err *err)
{
	struct ward_blueprint_entry *e = ward_view_find(w, inside);
	if (!e) {
		ward_view_add(w, made.kind, inside, text, made.mode, made.flags);
		if (!w->error) {
			w->v[w->n - 1].dev = made.dev;
			w->v[w->n - 1].ino = made.ino;
		}
		return 0;
	}
	if (e->kind == made.kind && strcmp(e->text, text) == 0)
		return 0;
	if ((size_t)(e - w->v) >= n_system || e->kind == WARD_BLUEPRINT_SHARED)
		return ward_err_set(err, -EINVAL,
			"two different things cannot be at %s; choose another path for one of them",
			inside);
	made.path = e->path;
	made.text = strdup(text);
	if (!made.text)
		return ward_err_sys(err, -ENOMEM, "view");
	free(e->text);
	*e = made;
	return 0;
}

/* The n_system first entries are ours: what the caller names takes their place. */
static int add_read(struct ward_view_list *w, const struct ward_sandbox_spec *spec,
	const struct ward_sandbox_bind *bind, size_t n_system, struct ward_err *err)
{
	const char *inside = bind->inside ? bind->inside : bind->host;
	const uint32_t noexec = bind->noexec ? WARD_BLUEPRINT_NOEXEC : 0;
	/* Its place is made, its mount comes later (init/files.c). */
	const struct ward_blueprint_entry served = {
		.kind = WARD_BLUEPRINT_TREE_FILE, .mode = (uint32_t)spec->n_trees, .flags = noexec};
	const struct ward_blueprint_entry plain = {.kind = WARD_BLUEPRINT_BIND,
		.flags = (bind->ours ? 0 : WARD_BLUEPRINT_AS_OWNER | WARD_BLUEPRINT_SHUT) |
			 (bind->optional ? WARD_BLUEPRINT_OPTIONAL : 0) |
			 (bind->plain ? WARD_BLUEPRINT_PLAIN : 0) | noexec,
		.dev = bind->dev,
		.ino = bind->ino};
	int r = ward_blueprint_path_ok(inside) ? 0 : -EINVAL;
	for (size_t i = 0; i < COUNT(closed_to_reads) && r == 0; i++)
		if (ward_blueprint_path_below(inside, closed_to_reads[i]))
			r = -EINVAL;
	if (r < 0 || bind->host[0] != '/')
		return ward_err_set(err, -EINVAL,
			"cannot show %s of the host at %s: both paths must be absolute, without '.' and '..', and not in /proc or /dev",
			bind->host, inside);
	return put_read(w, bind->served ? served : plain, inside,
		bind->served ? bind->served : bind->host, n_system, err);
}

/* A home that is a tree needs nothing besides. */
static bool is_tree_path(const struct ward_sandbox_spec *spec, const char *path)
{
	for (size_t i = 0; i < spec->n_trees; i++)
		if (strcmp(spec->trees[i].path, path) == 0)
			return true;
	return false;
}

static int add_home(
	struct ward_view_list *w, const char *home, size_t n_system, struct ward_err *err)
{
	int r = check_path(home, "home", err);
	if (r < 0)
		return r;
	struct ward_blueprint_entry *e = ward_view_find(w, home);
	if (!e) {
		ward_view_add(w, WARD_BLUEPRINT_TMPFS, home, NULL, 0700, 0);
		return 0;
	}
	if ((size_t)(e - w->v) >= n_system ||
		(e->kind != WARD_BLUEPRINT_DIR && e->kind != WARD_BLUEPRINT_COVER))
		return ward_err_set(err, -EINVAL,
			"something else is already at the path of the home, %s", home);
	e->kind = WARD_BLUEPRINT_TMPFS;
	e->flags = 0;
	e->mode = 0700;
	return 0;
}

/*
 * Below a tree only another tree may lie: a mount point in it can be reached only through the file
 * system's daemon, which serves nobody before the session starts; pid 1 mounts such trees then.
 */
static int add_tree(struct ward_view_list *w, enum ward_blueprint_kind kind, const char *path,
	size_t index, struct ward_err *err)
{
	uint32_t flags = 0;
	int r = check_path(path, "tree", err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < w->n; i++) {
		const struct ward_blueprint_entry *e = &w->v[i];
		bool same = strcmp(e->path, path) == 0;
		bool cover = same &&
			     (e->kind == WARD_BLUEPRINT_BIND || e->kind == WARD_BLUEPRINT_TMPFS ||
				     e->kind == WARD_BLUEPRINT_COVER ||
				     e->kind == WARD_BLUEPRINT_SHARED);
		if (ward_blueprint_path_below(e->path, path) && !cover)
			return ward_err_set(err, -EINVAL,
				"cannot show the tree %s inside: it would cover %s, which the sandbox also shows",
				path, e->path);
		if (!is_tree(e) || !ward_blueprint_path_below(path, e->path))
			continue;
		/* Where a tree is seen a second time, nothing else is. */
		if (kind != WARD_BLUEPRINT_TREE || e->kind != WARD_BLUEPRINT_TREE)
			return ward_err_set(err, -EINVAL,
				"the tree %s would also be visible below the tree %s; write at = none for one of them",
				path, e->path);
		flags |= WARD_BLUEPRINT_NESTED;
	}
	ward_view_add(w, kind, path, NULL, (uint32_t)index, flags);
	return 0;
}

static int add_trees(
	struct ward_view_list *w, const struct ward_sandbox_spec *spec, struct ward_err *err)
{
	int r = 0;
	for (size_t i = 0; i < spec->n_trees && r == 0; i++)
		r = add_tree(w, WARD_BLUEPRINT_TREE, spec->trees[i].path, i, err);
	for (size_t i = 0; i < spec->n_trees && r == 0; i++) {
		const struct ward_sandbox_tree *t = &spec->trees[i];
		if (t->at && strcmp(t->at, t->path) != 0)
			r = add_tree(w, WARD_BLUEPRINT_TREE_AT, t->at, i, err);
	}
	/* A directory that every view has, of ours. */
	if (r == 0 && spec->single_files)
		ward_view_add(w, WARD_BLUEPRINT_FILES, "/root", NULL, (uint32_t)spec->n_trees, 0);
	return r;
}

/* Above it only directories that are ours to fill. */
static void add_other_path(struct ward_view_list *w, const char *link, const char *to)
{
	if (!ward_blueprint_path_ok(link))
		return;
	for (size_t i = 0; i < COUNT(reserved); i++)
		if (ward_blueprint_path_below(link, reserved[i]))
			return;
	for (size_t i = 0; i < w->n; i++) {
		const struct ward_blueprint_entry *e = &w->v[i];
		bool ours = e->kind == WARD_BLUEPRINT_SHARED || e->kind == WARD_BLUEPRINT_DIR;
		if (ward_blueprint_path_below(e->path, link) ||
			(ward_blueprint_path_below(link, e->path) && !ours))
			return;
	}
	ward_view_add(w, WARD_BLUEPRINT_LINK, link, to, 0, 0);
}

/*
 * The file system that serves a tree refuses to execute what may not be, but it does not see what
 * is mapped, and the loader runs any program that it can map (`ld.so FILE`). A mount refuses that
 * (mm/mmap.c, path_noexec()). Of whole trees alone: docs/adr/0022.
 */
static void mark_noexec(struct ward_view_list *w, const struct ward_sandbox_spec *spec)
{
	for (size_t k = 0; spec->noexec && spec->noexec[k]; k++)
		for (size_t i = 0; i < w->n; i++) {
			struct ward_blueprint_entry *e = &w->v[i];
			if (is_tree(e) &&
				(strcmp(spec->noexec[k], "/") == 0 ||
					ward_blueprint_path_below(
						spec->trees[e->mode].path, spec->noexec[k])))
				e->flags |= WARD_BLUEPRINT_NOEXEC;
		}
}

/* Trees last, and each before its second appearance; else parents before children. */
static int compare(const void *left, const void *right)
{
	const struct ward_blueprint_entry *a = left;
	const struct ward_blueprint_entry *b = right;
	int rank_a = is_tree(a) || a->kind == WARD_BLUEPRINT_FILES ? (int)a->kind : 0;
	int rank_b = is_tree(b) || b->kind == WARD_BLUEPRINT_FILES ? (int)b->kind : 0;
	return rank_a != rank_b ? rank_a - rank_b : strcmp(a->path, b->path);
}

/* A view of its own: what is ours, what of the host it shows, and what of that stays hidden. */
static int add_view(struct ward_view_list *w, const struct ward_sandbox_spec *spec,
	const struct ward_view_mounts *mounts, struct ward_err *err)
{
	int r = 0;
	add_system(w);
	add_synthetic(w, spec);
	if (spec->image)
		return 0; /* ward_view_image() comes last */
	if (spec->whole)
		r = ward_view_whole(w, err);
	else
		add_minimal(w);
	if (r == 0)
		r = add_maven(w, err);
	return r == 0 && !w->error ? ward_view_hide(spec, mounts, w, err) : r;
}

static int add_image(struct ward_view_list *w, const struct ward_sandbox_image *image,
	const struct ward_view_mounts *mounts, struct ward_err *err)
{
	int r = ward_view_image(image, w, err);
	return r == 0 && !w->error ? ward_view_hide_sockets(mounts, w, err) : r;
}

/* Where the engine mounts our pid 1, and the configuration of pid 1. */
static int add_engine_places(
	struct ward_view_list *w, const struct ward_sandbox_spec *spec, struct ward_err *err)
{
	static const char *const places[] = {
		WARD_SANDBOX_ENGINE_INIT, WARD_SANDBOX_ENGINE_TALK, WARD_SANDBOX_ENGINE_PLAN};
	for (size_t i = 0; i < (spec->engine->exec_argv ? COUNT(places) : 1); i++) {
		if (ward_view_find(w, places[i]))
			return ward_err_set(err, -EINVAL,
				"%s is there already, and mode docker has its own at that name; an image "
				"or a tree brought it: take it out there",
				places[i]);
		ward_view_add(w, i ? WARD_BLUEPRINT_DIR : WARD_BLUEPRINT_FILE, places[i],
			i ? NULL : "", i ? 0755 : 0555, 0);
	}
	/* podman and docker mount one of theirs there, unless something of the view is there. */
	if (spec->engine->how && !ward_view_find(w, WARD_SANDBOX_ENGINE_GROUPS))
		ward_view_add(w, WARD_BLUEPRINT_DIR, WARD_SANDBOX_ENGINE_GROUPS, NULL, 0555, 0);
	return 0;
}

int ward_view_build(const struct ward_sandbox_spec *spec, uint32_t layers,
	struct ward_view_list *view, struct ward_err *err)
{
	struct ward_view_list w = {0};
	ward_cleanup(ward_view_mounts_clear) struct ward_view_mounts mounts = {0};
	const char *own[WARD_SANDBOX_OWN_MAX];
	const bool own_view = layers & WARD_LAYER_VIEW;
	int r = own_view ? ward_view_mounts_read(&mounts) : 0;
	if (r < 0)
		return ward_err_sys(err, r, "read the mounts of the host");
	r = own_view ? add_view(&w, spec, &mounts, err) : ward_view_host(layers, &w, err);
	size_t n_system = w.n;
	if (r == 0 && !w.error && spec->home && !is_tree_path(spec, spec->home))
		r = add_home(&w, spec->home, n_system, err);
	for (size_t i = 0; i < spec->n_reads && r == 0 && !w.error; i++)
		r = add_read(&w, spec, &spec->reads[i], n_system, err);
	if (r == 0 && !w.error && own_view)
		r = ward_view_guarded(spec, own, ward_sandbox_own_paths(own), &w, err);
	if (r == 0 && !w.error)
		r = add_trees(&w, spec, err);
	if (r == 0 && !w.error && own_view && !spec->image)
		r = ward_view_hide_sockets(&mounts, &w, err);
	if (r == 0 && !w.error && spec->link && own_view && !spec->whole)
		add_other_path(&w, spec->link, spec->link_to);
	/* podman makes this link where an image lacks it, and nothing can be made in a view. */
	if (r == 0 && !w.error && spec->image && spec->engine && spec->engine->how)
		ward_view_add(&w, WARD_BLUEPRINT_LINK, "/etc/mtab", "/proc/mounts", 0, 0);
	if (r == 0 && !w.error && own_view && spec->image)
		r = add_image(&w, spec->image, &mounts, err);
	if (r == 0 && !w.error)
		mark_noexec(&w, spec);
	if (r == 0 && !w.error && spec->programs)
		r = ward_view_programs(spec, &w, err);
	if (r == 0 && !w.error && spec->engine)
		r = add_engine_places(&w, spec, err);
	if (r == 0 && !w.error)
		qsort(w.v, w.n, sizeof(*w.v), compare);
	if (r == 0 && spec->engine)
		ward_view_engine(spec, &w);
	if (r == 0 && w.error)
		r = ward_err_sys(err, w.error, "describe the view");
	if (r < 0) {
		ward_view_clear(&w);
		return r;
	}
	*view = w;
	return 0;
}
