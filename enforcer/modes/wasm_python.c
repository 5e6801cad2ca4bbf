/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python in mode wasm: CPython in WebAssembly, which is npm's package pyodide, in Node or Deno. It
 * is no wall of its own: a script reaches Node by pyodide's module `js`. The walls of the mode hold
 * whatever Node does.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/modes/find.h"
#include "enforcer/modes/operations.h"
#include "enforcer/modes/wasm.h"
#include "enforcer/modes/wasm_store.h"

#define LAUNCHER "wardfs-python.mjs"
#define FIX "npm install -g pyodide"
/* The first that carries the version of its Python as its own. */
#define VERSION_MIN 314
/* Changes with what a snapshot depends on and no file shows. */
#define RECIPE "1"
/* Of a package.json; npm's has 3 KB. */
#define PACKAGE_MAX 65536
#define SNAPSHOT_MAX ((size_t)256 << 20)

/* Where npm puts packages: beside the directory of its programs, or beneath the home. */
static const char *const beside[] = {
	"/../lib/node_modules/pyodide", "/../pyodide", "/../share/nodejs/pyodide"};
static const char *const in_project[] = {"node_modules/pyodide", NULL};
static const char *const in_home[] = {".npm-global/lib/node_modules/pyodide",
	".local/lib/node_modules/pyodide", ".local/share/npm/lib/node_modules/pyodide", NULL};
static const char *const in_system[] = {"usr/local/lib/node_modules/pyodide",
	"usr/lib/node_modules/pyodide", "usr/share/nodejs/pyodide", NULL};
/* What a start loads. */
static const char *const parts[] = {"package.json", "pyodide.mjs", "pyodide.asm.mjs",
	"pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"};

/* --- where it is --- */

/* ward_patient_fn: the package in this directory. */
static int look_package(int at, const char *name, struct ward_patient_found *ret)
{
	char file[PATH_MAX + 32];
	struct stat st;
	(void)at;
	if (!realpath(name, ret->text))
		return -errno;
	snprintf(file, sizeof(file), "%s/pyodide.asm.wasm", ret->text);
	return stat(file, &st) == 0 && S_ISREG(st.st_mode) ? 0 : -ENOENT;
}

static bool find_package(const struct ward_mode_host *h, struct ward_find *f)
{
	ward_find_begin(f, look_package);
	if (ward_find_in(f, h->project, in_project))
		return true;
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++)
		if (ward_find_in_path(f, h->path, beside[i]))
			return true;
	return ward_find_in(f, h->home, in_home) || ward_find_in(f, "", in_system);
}

/* The version that its package.json has; owned. NULL: it cannot be read. The file may be hostile.
 */
static char *version_of(const char *dir)
{
	ward_cleanup_free char *path = NULL;
	char text[PACKAGE_MAX];
	struct stat st;
	if (asprintf(&path, "%s/package.json", dir) < 0) {
		path = NULL;
		return NULL;
	}
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	const ssize_t n = pread(fd, text, sizeof(text), 0);
	if (n <= 0 || n == (ssize_t)sizeof(text))
		return NULL;
	json_t *o = json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
	const char *v = json_string_value(json_object_get(o, "version"));
	char *ret = v && strlen(v) < 32 && strspn(v, "0123456789.abdevrc-") == strlen(v) ? strdup(v)
											 : NULL;
	json_decref(o);
	return ret;
}

/* Takes the package into ret->library and ret->about. */
static int take_package(
	const struct ward_mode_host *h, struct ward_mode_found *ret, struct ward_err *err)
{
	struct ward_find f;
	ward_cleanup_free char *version = NULL;
	if (!find_package(h, &f))
		return ward_err_set(err, -ENOTSUP,
			"mode wasm: Python needs npm's package pyodide, which was not found in the "
			"project's node_modules, beside the directories of PATH, or in "
			"~/.npm-global%s%s%s; fix: " FIX,
			f.silent[0] ? " (" : "", f.silent, f.silent[0] ? " does not answer)" : "");
	ret->library = f.found.program;
	ret->library_name = f.found.name;
	version = version_of(ret->library);
	if (!version || strtoul(version, NULL, 10) < VERSION_MIN)
		return ward_err_set(err, -ENOTSUP,
			"mode wasm: %s is pyodide %s, and Python needs %d or newer; fix: " FIX,
			ret->library, version ? version : "of no version", VERSION_MIN);
	/* A tree shows it wherever the project lies. */
	ret->in_project = h->project && ward_find_lies_in(ret->library, h->project);
	if (ret->in_project) {
		free(ret->library_name);
		ret->library_name = NULL;
	}
	if (!ret->in_project && ward_mode_emptied(ret->library))
		return ward_err_set(err, -ENOTSUP,
			"mode wasm: %s lies beneath %s, which is empty when a session starts; fix: " FIX,
			ret->library, ward_mode_emptied(ret->library));
	if (asprintf(&ret->about, "Python in WebAssembly (pyodide %s) in %s", version,
		    ward_wasm_is_deno(ret->program) ? "Deno" : "Node") < 0) {
		ret->about = NULL;
		return ward_err_sys(err, -ENOMEM, "mode wasm");
	}
	return 0;
}

/* --- the snapshot --- */

/*
 * Where the snapshot is kept, for these files as they are. A package in the project is the
 * session's to change, and runs nowhere but in the session: no snapshot is made of it.
 */
static int name_snapshot(const struct ward_mode_host *h, const char *launcher,
	struct ward_mode_found *ret, struct ward_err *err)
{
	char hex[2 * SHA256_DIGEST_SIZE + 1], path[PATH_MAX];
	uint8_t d[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;
	if (ret->in_project)
		return 0;
	sha256_init(&ctx);
	sha256_update(&ctx, sizeof(RECIPE), (const uint8_t *)"python" RECIPE);
	sha256_update(&ctx, sizeof(h->owner), (const uint8_t *)&h->owner);
	int r = ward_wasm_store_count(&ctx, launcher);
	if (r == 0)
		r = ward_wasm_store_count(&ctx, ret->program);
	for (size_t i = 0; r == 0 && i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", ret->library, parts[i]);
		r = ward_wasm_store_count(&ctx, path);
	}
	if (r < 0)
		return ward_err_set(err, -ENOTSUP, "mode wasm: %s is not whole (%s); fix: " FIX,
			ret->library, strerror(-r));
	sha256_digest(&ctx, sizeof(d), d);
	for (size_t i = 0; i < sizeof(d); i++)
		snprintf(hex + 2 * i, 3, "%02x", d[i]);
	/* The store knows files by this ending. */
	if (asprintf(&ret->object, "%s/wasm/%s.so", h->state, hex) < 0) {
		ret->object = NULL;
		return ward_err_sys(err, -ENOMEM, "mode wasm");
	}
	return 0;
}

int ward_wasm_python_look(const struct ward_mode_host *h, struct ward_mode_found *ret,
	struct ward_buf *b, struct ward_err *err)
{
	ward_cleanup_free char *launcher = NULL;
	int r = ward_wasm_find_node(h, true, LAUNCHER, ret, &launcher, err);
	if (r == 0)
		r = take_package(h, ret, err);
	if (r < 0)
		return r;
	ret->no_wall = true;
	r = name_snapshot(h, launcher, ret, err);
	/* Found again by ward_wasm_python_flags() and ..._build(). */
	ret->launcher = ward_steal_ptr(&launcher);
	if (r == 0)
		r = ward_wasm_say_program(h, ret->program, b, err);
	if (r == 0)
		r = ward_wasm_say_library(ret->launcher, b, err);
	if (r == 0 && !ret->in_project)
		r = ward_wasm_say_library(ret->library, b, err);
	return r;
}

void ward_wasm_python_say(const struct ward_mode_host *h, struct ward_buf *b)
{
	ward_cleanup(ward_mode_found_clear) struct ward_mode_found found = WARD_RUNTIME_FOUND_INIT;
	ward_cleanup_free char *launcher = NULL;
	struct ward_err err = WARD_ERR_INIT;
	int r = ward_wasm_find_node(h, true, LAUNCHER, &found, &launcher, &err);
	if (r == 0)
		r = take_package(h, &found, &err);
	if (r == 0)
		ward_buf_printf(b, "; %s", found.about);
	else
		ward_buf_printf(b, "; no Python: %s", err.text);
}

static int read_all(int fd, char *ret, size_t size)
{
	ssize_t n = pread(fd, ret, size - 1, 0);
	ret[n > 0 ? n : 0] = '\0';
	return n < 0 ? -errno : 0;
}

static int make_snapshot(const struct ward_mode *m, const struct ward_mode_found *f,
	const struct ward_sandbox_spec *as, int out, struct ward_err *err)
{
	static char make[] = "--make-snapshot", pyodide[] = "--pyodide", run[] = "run",
		    all[] = "--allow-all", config[] = "--no-config";
	static const char *const covers[] = {"/opt", "/usr/src", NULL};
	const struct ward_sandbox_bind reads[] = {
		{.host = f->program}, {.host = f->launcher}, {.host = f->library}};
	ward_cleanup_fd int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ward_cleanup_fd int said = memfd_create("wardfs-said", MFD_CLOEXEC);
	char *argv[9] = {f->program}, text[2048];
	size_t n = 1;
	struct stat st;
	if (ward_wasm_is_deno(f->program)) {
		argv[n++] = run;
		argv[n++] = all;
		argv[n++] = config;
	}
	argv[n++] = f->launcher;
	argv[n++] = pyodide;
	argv[n++] = f->library;
	argv[n] = make;
	if (in < 0 || said < 0)
		return ward_err_sys(err, -errno, "mode wasm");
	int r = ward_wasm_run_tools(m, as,
		&(struct ward_wasm_tools){.argv = argv,
			.covers = covers,
			.reads = reads,
			.n_reads = sizeof(reads) / sizeof(reads[0]),
			.fds = {in, out, said}},
		err);
	if (r < 0)
		return r;
	if (r == 0 && fstat(out, &st) == 0 && st.st_size > 0)
		return 0;
	(void)!read_all(said, text, sizeof(text));
	return ward_err_set(
		err, -ENOTSUP, "%s does not start Python (status %d): %.600s", f->program, r, text);
}

int ward_wasm_python_build(const struct ward_mode *m, const struct ward_mode_found *found,
	const struct ward_sandbox_spec *as, struct ward_err *err)
{
	if (!found->object)
		return 0;
	ward_cleanup_fd int store = ward_wasm_store_open(found->object, err);
	if (store < 0)
		return store;
	int r = ward_wasm_store_use(store, found->object);
	if (r != 0)
		return r < 0 ? ward_err_sys(err, r, "mode wasm: %s", found->object) : 0;
	ward_cleanup_fd int out = memfd_create("wardfs-snapshot", MFD_CLOEXEC);
	if (out < 0)
		return ward_err_sys(err, -errno, "mode wasm");
	r = make_snapshot(m, found, as, out, err);
	if (r == 0)
		r = ward_wasm_store_keep(store, found->object, out, SNAPSHOT_MAX, err);
	return r < 0 ? ward_err_wrap(err, "mode wasm") : 0;
}

/* --- the command line --- */

int ward_wasm_python_check(const struct ward_mode_asked *a, struct ward_err *err)
{
	const char *library = a->found->library;
	/* From outside of the trees it is shown at its own path. */
	if (!a->found->in_project)
		return 0;
	for (size_t i = 0; i < a->n_trees; i++)
		if (a->trees[i].at && ward_find_lies_in(library, a->trees[i].at))
			return 0;
	return ward_err_set(err, -EINVAL,
		"mode wasm: %s lies in the project, which is not seen at its own path; fix: " FIX
		", or [tree] at = same",
		library);
}

/*
 * Deno keeps no path or variable from Python that the session has: the walls do, as with Node. It
 * starts no program, opens no connection and loads no library for it.
 */
static int runtime_flags(const struct ward_mode_asked *a, struct ward_mode_command *ret)
{
	static const char *const flags[] = {"run", "--no-prompt", "--no-config", "--no-remote",
		"--no-npm", "--allow-read", "--allow-write", "--allow-env", "--allow-sys"};
	int r = 0;
	if (!ward_wasm_is_deno(a->found->program))
		return ward_wasm_node_flags(a, ret);
	for (size_t i = 0; r == 0 && i < sizeof(flags) / sizeof(flags[0]); i++)
		r = ward_mode_put_flag(ret, flags[i], "mode wasm");
	return r;
}

int ward_wasm_python_flags(const struct ward_mode_asked *a, struct ward_mode_command *ret)
{
	int r = runtime_flags(a, ret);
	if (r == 0)
		r = ward_mode_put_flag(ret, a->found->launcher, "mode wasm");
	if (r == 0)
		r = ward_wasm_put_pair(ret, "--pyodide", a->found->library, "npm's pyodide");
	if (r == 0 && a->found->object)
		r = ward_wasm_put_pair(ret, "--snapshot", WARD_RUNTIME_OBJECT_PATH, "made once");
	if (r == 0)
		r = ward_wasm_put_trees(a, "--tree", ret);
	return r < 0 ? r : ward_wasm_node_env(a, ret);
}
