/* SPDX-License-Identifier: Apache-2.0 */
/* From a module to a shared object that wardfs-wasi loads, kept by the digest of the module. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <nettle/sha2.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/modes/wasm.h"
#include "enforcer/modes/wasm_module.h"
#include "enforcer/modes/wasm_store.h"
#include "enforcer/policy/explain.h"

/* Changes with what follows here, so that no object of another version is loaded. */
#define RECIPE "5"
static const char *const tools[] = {"/usr/bin/wasm2c", "/usr/bin/gcc"};
/* What they call and include besides. */
static const char *const parts[] = {"/usr/bin/as", "/usr/bin/ld", "/usr/include/wasm-rt.h"};
#define FIX "apt install wabt gcc libc6-dev"

/* Of each tool: 16 MiB of module, the largest, take half a minute and 2 GB. */
#define BUILD_MS 180000
#define NS_PER_MS UINT64_C(1000000)
#define BUILD_CPU_S 150
#define BUILD_MEMORY ((uint64_t)4 << 30)
#define BUILD_FILE ((uint64_t)512 << 20)
#define OBJECT_MAX ((off_t)128 << 20)
#define COVERS_MAX 16

/* What stands behind wasm2c's C: enforcer/wasm/program/module.h. */
static const char glue[] =
	"\n#include \"m.h\"\n"
	"struct ward_wasm_translated { size_t size; void (*start)(void *, void *);\n"
	"	wasm_rt_memory_t *(*memory)(void *); void (*run)(void *); };\n"
	"static void ward_start(void *i, void *w) { Z_m_init_module(); Z_m_instantiate(i%s); }\n"
	"static wasm_rt_memory_t *ward_memory(void *i) { return Z_mZ_memory(i); }\n"
	"static void ward_run(void *i) { Z_mZ_%s(i); }\n"
	"const struct ward_wasm_translated ward_wasm_module =\n"
	"	{ sizeof(Z_m_instance_t), ward_start, ward_memory, ward_run };\n";

/*
 * $1: the glue; $2: seconds of CPU time, at which a tool gets SIGXCPU, which has a name, before the
 * SIGKILL of the hard limit. The memory of a process does not count its stack, which an unlimited
 * one of the caller's would let grow; gcc raises its own from 8 MiB to 64. Standard input: the
 * module; standard output: the object.
 */
static char script[] =
	"ulimit -s 65536 2>&- || :; ulimit -S -s 8192 2>&- || :; ulimit -S -t \"$2\" && "
	"cd /tmp && cat >m.wasm && wasm2c --no-debug-names m.wasm -n m -o m.c >&2 && "
	"printf %s \"$1\" >>m.c && "
	"gcc -O1 -w -fPIC -shared -Dwasm_rt_allocate_memory=ward_wasm_allocate_memory "
	"-Dwasm_rt_allocate_funcref_table=ward_wasm_allocate_funcref_table "
	"-Dwasm_rt_allocate_externref_table=ward_wasm_allocate_externref_table "
	"-o m.so m.c -lm >&2 && cat m.so";

/* --- reading --- */

static void count_all(struct sha256_ctx *ctx, const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ward_wasm_store_count(ctx, paths[i]) < 0)
			sha256_update(ctx, sizeof("missing"), (const uint8_t *)"missing");
}

/*
 * The tools read a hostile module: were one of them led astray, its object could hold what their
 * sandbox shows. So an object is kept for this owner, this project and this policy alone. And for
 * these tools: an upgrade of one may be for what it made of such a module.
 */
static int digest_of(const struct ward_mode_host *h, const void *data, size_t len,
	char ret[2 * SHA256_DIGEST_SIZE + 1])
{
	const char *project = h->project ? h->project : "";
	ward_cleanup(ward_buf_clear) struct ward_buf policy = WARD_BUF_INIT;
	struct sha256_ctx ctx;
	uint8_t d[SHA256_DIGEST_SIZE];
	int r = ward_policy_meaning(h->policy, &policy);
	if (r < 0)
		return r;
	sha256_init(&ctx);
	sha256_update(&ctx, sizeof(RECIPE), (const uint8_t *)RECIPE);
	sha256_update(&ctx, sizeof(h->owner), (const uint8_t *)&h->owner);
	sha256_update(&ctx, strlen(project) + 1, (const uint8_t *)project);
	sha256_update(&ctx, policy.len, (const uint8_t *)policy.data);
	count_all(&ctx, tools, sizeof(tools) / sizeof(tools[0]));
	count_all(&ctx, parts, sizeof(parts) / sizeof(parts[0]));
	sha256_update(&ctx, len, data);
	sha256_digest(&ctx, sizeof(d), d);
	for (size_t i = 0; i < sizeof(d); i++)
		snprintf(ret + 2 * i, 3, "%02x", d[i]);
	return 0;
}

int ward_wasm_read(const char *path, const struct ward_mode_host *h, struct ward_mode_found *ret,
	bool *ret_reactor, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf bare = WARD_BUF_INIT;
	ward_cleanup_fd int fd = -1;
	struct ward_wasm_module m;
	char digest[2 * SHA256_DIGEST_SIZE + 1];
	int r = ward_fd_open_named(path, WARD_NAMED_FILE, &fd, err);
	if (r < 0) {
		(void)ward_err_wrap(err, "mode wasm");
		return -EINVAL;
	}
	r = ward_fd_path(fd, &ret->module_at);
	if (r < 0)
		return ward_err_sys(err, r, "mode wasm: %s", path);
	r = ward_fd_read_all(fd, WARD_WASM_MODULE_MAX, &b);
	if (r < 0)
		return ward_err_set(err, -EINVAL, "mode wasm: %s: %s", path,
			r == -EFBIG ? "the module has more than 16 MiB" : strerror(-r));
	r = ward_wasm_module_look(ward_buf_str(&b), b.len, &m, err);
	if (r < 0)
		return ward_err_wrap(err, "mode wasm: %s", path);
	if (digest_of(h, b.data, b.len, digest) < 0)
		return ward_err_sys(err, -ENOMEM, "mode wasm");
	if (asprintf(&ret->object, "%s/wasm/%s.so", h->state, digest) < 0) {
		ret->object = NULL;
		return ward_err_sys(err, -ENOMEM, "mode wasm");
	}
	if (ward_wasm_module_bare(b.data, b.len, &bare) < 0)
		return ward_err_sys(err, -ENOMEM, "mode wasm");
	*ret_reactor = m.reactor;
	ret->source_len = bare.len;
	ret->source = ward_buf_steal(&bare);
	return ret->source ? 0 : ward_err_sys(err, -ENOMEM, "mode wasm");
}

/* --- translating --- */

/* As the shell says it of a tool. */
#define KILLED 137

static int stop_fd(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGQUIT);
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int wait_for_end(struct ward_sandbox *sb, struct ward_err *err)
{
	uint64_t end = ward_clock_mono_ns() + BUILD_MS * NS_PER_MS;
	/* A run blocks them until its session serves them. To poll takes none. */
	ward_cleanup_fd int asked = stop_fd();
	if (asked < 0)
		return ward_err_sys(err, asked, "the sandbox of the compiler");
	for (;;) {
		struct ward_sandbox_event ev;
		int r = ward_sandbox_next(sb, &ev);
		if (r < 0)
			return ward_err_sys(err, r, "the sandbox of the compiler");
		if (ev.kind == WARD_SANDBOX_EXITED)
			return ev.value;
		if (ev.kind != WARD_SANDBOX_NOTHING && ev.kind != WARD_SANDBOX_STOPPED)
			return KILLED;
		uint64_t now = ward_clock_mono_ns();
		if (now >= end)
			return ward_err_set(err, -EINVAL,
				"translating the module reaches a limit: %d s. Use a smaller "
				"module",
				BUILD_MS / 1000);
		struct pollfd p[] = {{.fd = ward_sandbox_fd(sb), .events = POLLIN},
			{.fd = asked, .events = POLLIN}};
		if (ev.kind == WARD_SANDBOX_NOTHING)
			(void)poll(p, 2, (int)((end - now) / NS_PER_MS) + 1);
		if (p[1].revents)
			return ward_err_set(err, -EINTR, "stopped while it was translated");
	}
}

/* 0: the session has none. */
static uint64_t least(uint64_t of_session, uint64_t most)
{
	return of_session && of_session < most ? of_session : most;
}

int ward_wasm_run_tools(const struct ward_mode *m, const struct ward_sandbox_spec *as,
	const struct ward_wasm_tools *t, struct ward_err *err)
{
	static char path[] = "PATH=/usr/bin:/bin", lang[] = "LANG=C.UTF-8";
	const uint64_t cpu = least(as->cpu_seconds, BUILD_CPU_S);
	char *envp[] = {path, lang, NULL};
	const char *covers[COVERS_MAX] = {NULL};
	size_t n_covers = 0;
	for (size_t i = 0; t->covers[i] && n_covers < COVERS_MAX - 1; i++)
		covers[n_covers++] = t->covers[i];
	for (size_t i = 0; as->covers && as->covers[i] && n_covers < COVERS_MAX - 1; i++)
		covers[n_covers++] = as->covers[i];
	struct ward_sandbox_spec spec = {.layers = m->layers,
		.init_program = as->init_program,
		.root = as->root,
		.owner_uid = as->owner_uid,
		.owner_gid = as->owner_gid,
		.groups = as->groups,
		.n_groups = as->n_groups,
		.agent_uid = as->agent_uid,
		.agent_gid = as->agent_gid,
		.user_name = "translate",
		.hostname = "translate",
		.net = WARD_SANDBOX_NET_NONE,
		.covers = covers,
		.guarded = as->guarded,
		.n_guarded = as->n_guarded,
		.mounts = as->mounts,
		.join = as->join,
		.n_join = as->n_join,
		.grouped = as->grouped,
		.tmp_bytes = BUILD_FILE,
		.processes = 64,
		.open_files = 256,
		.file_size = BUILD_FILE,
		.data_bytes = least(as->data_bytes, BUILD_MEMORY),
		.cpu_seconds = cpu,
		.seccomp = WARD_SECCOMP_STRICT,
		.reads = t->reads,
		.n_reads = t->n_reads,
		.argv = t->argv,
		.envp = envp,
		.cwd = "/tmp",
		.stdio = {t->fds[0], t->fds[1], t->fds[2]}};
	struct ward_probe_result probes[WARD_PROBE_COUNT_];
	enum ward_probe_verdict verdicts[WARD_PROBE_COUNT_];
	struct ward_sandbox *sb = NULL;
	int r = ward_sandbox_create(&spec, &sb, err);
	if (r < 0)
		return r;
	r = ward_sandbox_probe(sb, probes, verdicts, err);
	if (r == 0)
		r = ward_sandbox_start(sb, err);
	if (r == 0)
		r = wait_for_end(sb, err);
	/* Nobody writes to the descriptors any more. */
	ward_sandbox_free(sb);
	return r;
}

/* Runs the script with these as 0, 1, 2. Its exit status, or a negative errno. */
static int run_script(const struct ward_mode *m, const struct ward_sandbox_spec *as,
	char *glue_text, const int fds[3], struct ward_err *err)
{
	static char shell[] = "/bin/sh", option[] = "-c", name[] = "translate";
	/* Of the host the tools need /usr alone, and of that what the distribution put there. */
	static const char *const covers[] = {"/opt", "/usr/local", "/usr/src", NULL};
	const uint64_t cpu = least(as->cpu_seconds, BUILD_CPU_S);
	char soft[24];
	snprintf(soft, sizeof(soft), "%" PRIu64, cpu > 1 ? cpu - 1 : 1);
	char *argv[] = {shell, option, script, name, glue_text, soft, NULL};
	return ward_wasm_run_tools(m, as,
		&(struct ward_wasm_tools){
			.argv = argv, .covers = covers, .fds = {fds[0], fds[1], fds[2]}},
		err);
}

/* What the shell and the tools say when they meet a limit. Sizes: the session may give less. */
static const struct {
	const char *said, *limit;
} signs[] = {
	{"CPU time limit exceeded", "the CPU time of one process (150 s, or [limits] cpu-time)"},
	{"File size limit exceeded", "the size of one file (512 MiB)"},
	{"File too large", "the size of one file (512 MiB)"},
	{"No space left on device", "the space for temporary files (512 MiB)"},
	{"bad_alloc", "memory (4 GiB of each process, or [limits] memory)"},
	{"out of memory", "memory (4 GiB of each process, or [limits] memory)"},
	{"memory exhausted", "memory (4 GiB of each process, or [limits] memory)"},
	{"Cannot allocate memory", "memory (4 GiB of each process, or [limits] memory)"},
	{"Resource temporarily unavailable", "the number of processes (64)"},
	{"Segmentation fault", "the stack (8 MiB): it nests too deeply"},
	{"Killed", "memory ([limits] memory) or CPU time (150 s)"}};

/* NULL: none of them. */
static const char *limit_met(int status, const char *said)
{
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (strstr(said, signs[i].said))
			return signs[i].limit;
	/* All of them at once. */
	return status == KILLED ? signs[sizeof(signs) / sizeof(signs[0]) - 1].limit : NULL;
}

/* Says why, from what the tools said: a limit by name, else their first line. */
static int refuse(const char *module, int status, int fd, struct ward_err *err)
{
	char said[4096];
	const ssize_t n = pread(fd, said, sizeof(said) - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	const char *limit = limit_met(status, said);
	if (limit)
		return ward_err_set(err, -EINVAL,
			"translating %s reaches a limit: %s. Use a smaller module", module, limit);
	said[strcspn(said, "\n")] = '\0';
	return ward_err_set(err, -EINVAL, "wasm2c and gcc refuse %s: %.300s", module, said);
}

static int translate(const struct ward_mode *m, const struct ward_mode_found *f,
	const struct ward_sandbox_spec *as, int out, struct ward_err *err)
{
	struct ward_wasm_module info;
	ward_cleanup_free char *text = NULL;
	ward_cleanup_fd int in = -1;
	ward_cleanup_fd int said = memfd_create("wardfs-said", MFD_CLOEXEC);
	char magic[4] = "";
	struct stat st;
	int r = ward_wasm_module_look(f->source, f->source_len, &info, err);
	if (r == 0)
		r = ward_fd_sealed("wardfs-module", f->source, f->source_len, &in, err);
	if (r < 0)
		return r;
	if (said < 0)
		return ward_err_sys(err, -errno, "mode wasm");
	if (asprintf(&text, glue, info.imports ? ", w" : "",
		    info.reactor ? "_initialize" : "_start") < 0)
		return ward_err_sys(err, -ENOMEM, "mode wasm");
	r = run_script(m, as, text, (const int[]){in, out, said}, err);
	if (r < 0)
		return r;
	if (r > 0)
		return refuse(f->module, r, said, err);
	if (fstat(out, &st) < 0 || st.st_size > OBJECT_MAX || pread(out, magic, 4, 0) != 4 ||
		memcmp(magic, "\177ELF", 4) != 0)
		return ward_err_set(err, -EINVAL, "wasm2c and gcc made no object of %s", f->module);
	return 0;
}

/* NULL: none. */
static const char *missing_tool(void)
{
	struct stat st;
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		if (stat(tools[i], &st) < 0)
			return tools[i];
	return NULL;
}

int ward_wasm_check_tools(struct ward_err *err)
{
	const char *missing = missing_tool();
	return missing ? ward_err_set(err, -ENOTSUP,
				 "mode wasm: %s is missing, which translates modules; fix: " FIX,
				 missing)
		       : 0;
}

void ward_wasm_say_tools(struct ward_buf *b)
{
	const char *missing = missing_tool();
	if (missing)
		ward_buf_printf(b, "; no programs of WASI: %s is missing; fix: " FIX, missing);
	else
		ward_buf_puts(b, "; programs of WASI are translated by wasm2c and gcc");
}

int ward_wasm_build(const struct ward_mode *m, const struct ward_mode_found *found,
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
	r = ward_wasm_check_tools(err);
	if (r < 0)
		return r;
	ward_cleanup_fd int out = memfd_create("wardfs-object", MFD_CLOEXEC);
	if (out < 0)
		return ward_err_sys(err, -errno, "mode wasm");
	r = translate(m, found, as, out, err);
	if (r == 0)
		r = ward_wasm_store_keep(store, found->object, out, (size_t)OBJECT_MAX, err);
	return r < 0 ? ward_err_wrap(err, "mode wasm") : 0;
}
