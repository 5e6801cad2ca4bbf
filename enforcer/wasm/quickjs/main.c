/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-quickjs: runs a script under QuickJS, which runs as WebAssembly: a bug in the engine
 * reaches its own memory and the functions of functions.h, no more. Mode wasm starts it inside the
 * walls of a session. It holds nothing that those walls do not give it.
 *
 *     wardfs-quickjs [--tree DIR]… [--memory BYTES] [--eval CODE | FILE | -] [ARGUMENT…]
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/wasm/host/options.h"
#include "enforcer/wasm/host/trap.h"
#include "enforcer/wasm/host/wasi.h"
#include "enforcer/wasm/quickjs/engine.h"
#include "enforcer/wasm/quickjs/functions.h"
#include "enforcer/wasm/quickjs/prelude.h"
#include <quickjs_module.h>

/* Of node: an exception that nobody caught; a module that waits for what never comes. */
#define EXIT_UNCAUGHT 1
#define EXIT_NEVER 13
/* As after abort(3): the engine stopped for good. */
#define EXIT_TRAP 134

/* The module's own stack has 1 MiB; half of it is left to native frames, and then recursion ends
 * in a RangeError. */
#define STACK_BYTES ((u32)512 << 10)
#define SOURCE_MAX ((size_t)256 << 20)

struct options {
	const char *code; /* --eval; NULL: a file */
	const char *file;
	uint64_t memory; /* bytes; 0: as far as addresses go */
};

static int complain(const char *what, int r)
{
	ward_tellf("wardfs-quickjs: %s: %s\n", what, strerror(-r));
	return EXIT_UNCAUGHT;
}

/* --- options --- */

static int take_options(char **argv, struct ward_js *js, struct options *o)
{
	struct ward_wasm_options common = {.memory = 0};
	int r = ward_wasm_options(&argv, &common);
	js->files = common.files;
	o->memory = common.memory;
	bool eval = argv[0] && strcmp(argv[0], "--eval") == 0;
	argv += eval;
	if (r < 0 || !argv[0])
		return r < 0 ? r : -EINVAL;
	if (eval)
		o->code = argv[0];
	else
		o->file = argv[0];
	js->argv = argv + 1;
	return 0;
}

/* --- the loop --- */

/* Says what was thrown, as node does, and ends. */
_Noreturn static void fail_with(struct ward_js *js, u32 reason)
{
	u32 v = ward_js_prelude(js, "report", &reason, 1);
	if (!v || Z_quickjsZ_qjs_is_exception(js->vm, v))
		ward_tellf("wardfs-quickjs: uncaught exception, and no memory to describe it\n");
	_exit(EXIT_UNCAUGHT);
}

_Noreturn static void fail_pending(struct ward_js *js)
{
	fail_with(js, Z_quickjsZ_qjs_get_exception(js->vm));
}

static u32 check(struct ward_js *js, u32 v)
{
	if (!v || Z_quickjsZ_qjs_is_exception(js->vm, v))
		fail_pending(js);
	return v;
}

static void run_jobs(struct ward_js *js)
{
	while (Z_quickjsZ_qjs_is_job_pending(js->vm))
		if ((s32)Z_quickjsZ_qjs_execute_pending_job(js->vm) < 0)
			fail_pending(js);
	if (js->n_rejected)
		fail_with(js, js->rejected[0].reason);
}

static void sleep_ms(double ms)
{
	struct timespec t = {(time_t)(ms / 1000), 0};
	t.tv_nsec = (long)((ms - (double)t.tv_sec * 1000) * 1e6);
	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

static double number_of(struct ward_js *js, u32 v)
{
	double d = Z_quickjsZ_qjs_get_float64(js->vm, v);
	Z_quickjsZ_qjs_free_value(js->vm, v);
	return d;
}

/* Until no timer and no promise is left. */
static int run_loop(struct ward_js *js, u32 module)
{
	for (;;) {
		run_jobs(js);
		double wait = number_of(js, check(js, ward_js_prelude(js, "turn", NULL, 0)));
		if (wait > 0)
			sleep_ms(wait < 86400000 ? wait : 86400000);
		if (wait < 0 && !Z_quickjsZ_qjs_is_job_pending(js->vm) && !js->n_rejected)
			break;
	}
	/* 0: JS_PROMISE_PENDING */
	bool never = module && Z_quickjsZ_qjs_is_promise(js->vm, module) &&
		     Z_quickjsZ_qjs_promise_state(js->vm, module) == 0;
	double status = number_of(js, check(js, ward_js_prelude(js, "status", NULL, 0)));
	return never && status == 0 ? EXIT_NEVER : (int)status & 255;
}

/* --- from the source text to the loop --- */

static int read_source(struct ward_js *js, const struct options *o, struct ward_buf *ret)
{
	ward_cleanup_free char *rel = NULL;
	int dir = -1;
	if (o->code) {
		ward_buf_puts(ret, o->code);
		return ward_buf_error(ret);
	}
	if (strcmp(o->file, "-") == 0)
		return ward_fd_read_all(0, SOURCE_MAX, ret);
	int r = ward_preopens_find(&js->files, o->file, &dir, &rel);
	if (r < 0)
		return r;
	ward_cleanup_fd int fd = ward_preopens_open(dir, rel, O_RDONLY | O_NONBLOCK, 0);
	return fd < 0 ? fd : ward_fd_read_all(fd, SOURCE_MAX, ret);
}

static wasm_rt_memory_t *memory_of(void *instance)
{
	return Z_quickjsZ_memory(instance);
}

static void start_engine(struct ward_js *js, uint64_t memory)
{
	static Z_quickjs_instance_t vm;
	static struct Z_env_instance_t env;
	/* Its clock, random numbers, and its own messages to 1 and 2; no directory. */
	static struct ward_wasi wasi;
	static char *const nothing[] = {NULL};
	static const struct ward_preopens none = {.n = 0};
	env.js = js;
	wasi.memory = memory_of;
	wasi.instance = &vm;
	wasi.argv = wasi.envp = nothing;
	ward_wasi_start(&wasi, &none);
	js->vm = &vm;
	Z_quickjs_init_module();
	Z_quickjs_instantiate(&vm, &env, &wasi);
	wasm_rt_memory_t *m = Z_quickjsZ_memory(&vm);
	m->max_pages = ward_wasm_pages(memory);
	Z_quickjsZ__initialize(&vm);
	(void)Z_quickjsZ_qjs_init(&vm);
	/* What is beyond it could not be had anyway: so that a script gets an exception. */
	Z_quickjsZ_qjs_set_memory_limit(&vm, (m->max_pages - 16) << 16);
	Z_quickjsZ_qjs_set_max_stack_size(&vm, STACK_BYTES);
	Z_quickjsZ_qjs_set_module_loader(&vm, 1);
	Z_quickjsZ_qjs_set_promise_rejection_handler(&vm, 1);
}

static void load_prelude(struct ward_js *js)
{
	const struct ward_embedded *p = ward_embedded_prelude;
	u32 make = check(js, ward_js_eval(js, p->data, p->len, "wardfs:prelude", WARD_JS_SCRIPT));
	p++;
	u32 find = check(js, ward_js_eval(js, p->data, p->len, "wardfs:exports", WARD_JS_SCRIPT));
	const u32 args[] = {check(js, ward_js_functions(js)), find};
	u32 self = Z_quickjsZ_qjs_get_undefined(js->vm);
	u32 list = Z_quickjsZ_malloc(js->vm, sizeof(args));
	void *to = ward_js_at(js, list, sizeof(args));
	if (to)
		memcpy(to, args, sizeof(args));
	js->prelude = check(js, Z_quickjsZ_qjs_call(js->vm, make, self, 2, list));
	Z_quickjsZ_free(js->vm, list);
}

/* Script or module, as its name or else its text says. */
static int run_script(struct ward_js *js, const struct options *o)
{
	ward_cleanup(ward_buf_clear) struct ward_buf source = WARD_BUF_INIT;
	const char *name = o->code ? "[eval]" : strcmp(o->file, "-") == 0 ? "[stdin]" : o->file;
	int r = read_source(js, o, &source);
	if (r < 0)
		return complain(name, r);
	u32 args[] = {ward_js_new_text(js, ward_buf_str(&source), source.len),
		ward_js_new_text(js, name, strlen(name))};
	u32 full = check(js, ward_js_prelude(js, "resolve", args + 1, 1));
	ward_cleanup_free char *at = ward_js_text(js, full, NULL);
	if (!at)
		fail_pending(js);
	u32 again[] = {check(js, args[0]), full};
	u32 kind = check(js, ward_js_prelude(js, "kind", again, 2));
	u32 v;
	if (number_of(js, kind) == WARD_JS_MODULE) {
		size_t len = 0;
		u32 whole = check(js, ward_js_prelude(js, "module", again, 2));
		ward_cleanup_free char *text = ward_js_text(js, whole, &len);
		if (!text)
			fail_pending(js);
		v = ward_js_eval(js, text, len, at, WARD_JS_MODULE);
	} else {
		v = ward_js_prelude(js, "script", again, 2);
	}
	return run_loop(js, check(js, v));
}

int main(int argc, char **argv, char **envp)
{
	static struct ward_js js;
	static char cwd[PATH_MAX];
	struct options o = {NULL, NULL, 0};
	(void)argc;
	js.envp = envp;
	int r = take_options(argv, &js, &o);
	if (r < 0)
		return complain("options", r);
	if (getcwd(cwd, sizeof(cwd)) && cwd[0] == '/')
		js.files.cwd = cwd;
	wasm_rt_init();
	wasm_rt_trap_t trap = WARD_WASM_TRY();
	if (trap != WASM_RT_TRAP_NONE) {
		ward_tellf("wardfs-quickjs: the engine stopped: %s\n", wasm_rt_strerror(trap));
		return EXIT_TRAP;
	}
	start_engine(&js, o.memory);
	load_prelude(&js);
	return run_script(&js, &o);
}
