/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/wasm/quickjs/functions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include <quickjs_module.h>

#define NS_PER_MS 1e6
#define RANDOM_MAX 65536

double ward_js_arg_number(const struct ward_js_args *a, u32 i)
{
	double d = i < a->n && Z_quickjsZ_qjs_is_number(a->js->vm, a->v[i])
			   ? Z_quickjsZ_qjs_get_float64(a->js->vm, a->v[i])
			   : 0;
	return isfinite(d) && fabs(d) < 0x1p53 ? d : 0;
}

char *ward_js_arg_text(const struct ward_js_args *a, u32 i, size_t *ret_len)
{
	return i < a->n ? ward_js_text(a->js, a->v[i], ret_len) : NULL;
}

u32 ward_js_return(const struct ward_js_args *a, double number)
{
	return Z_quickjsZ_qjs_new_number(a->js->vm, number);
}

/* now(monotonic): milliseconds. */
static u32 now(struct ward_js_args *a)
{
	struct timespec t;
	(void)clock_gettime(ward_js_arg_number(a, 0) ? CLOCK_MONOTONIC : CLOCK_REALTIME, &t);
	return ward_js_return(a, (double)t.tv_sec * 1000 + (double)t.tv_nsec / NS_PER_MS);
}

static u32 leave(struct ward_js_args *a)
{
	_exit((int)ward_js_arg_number(a, 0) & 255);
}

static u32 random_bytes(struct ward_js_args *a)
{
	static unsigned char bytes[RANDOM_MAX];
	double n = ward_js_arg_number(a, 0);
	if (!(n >= 0 && n <= RANDOM_MAX))
		return ward_js_return(a, -EINVAL);
	/* Interrupted only where more than 256 bytes are asked for (getrandom(2)). */
	for (size_t have = 0; have < (size_t)n;) {
		ssize_t r = getrandom(bytes + have, (size_t)n - have, 0);
		if (r < 0 && errno != EINTR)
			return ward_js_return(a, -errno);
		have += r > 0 ? (size_t)r : 0;
	}
	return ward_js_new_bytes(a->js, bytes, (size_t)n);
}

/* argument(i), variable(i): a text, or a number past the last one. */
static u32 entry(struct ward_js_args *a, char *const *v)
{
	double i = ward_js_arg_number(a, 0), n = 0;
	for (; v && v[(size_t)n] && n < i; n++)
		;
	const char *s = v && n == i ? v[(size_t)n] : NULL;
	return s ? ward_js_new_text(a->js, s, strlen(s)) : ward_js_return(a, -ENOENT);
}

static u32 argument(struct ward_js_args *a)
{
	return entry(a, a->js->argv);
}

static u32 variable(struct ward_js_args *a)
{
	return entry(a, a->js->envp);
}

static u32 working_directory(struct ward_js_args *a)
{
	const char *s = a->js->files.cwd ? a->js->files.cwd : "/";
	return ward_js_new_text(a->js, s, strlen(s));
}

/* evaluate(source, name): as a script. */
static u32 evaluate(struct ward_js_args *a)
{
	size_t len = 0;
	ward_cleanup_free char *source = ward_js_arg_text(a, 0, &len);
	ward_cleanup_free char *name = ward_js_arg_text(a, 1, NULL);
	if (!source || !name)
		return ward_js_throw(a->js, "no source text");
	u32 v = ward_js_eval(a->js, source, len, name, WARD_JS_SCRIPT);
	if (!v || !Z_quickjsZ_qjs_is_exception(a->js->vm, v))
		return v;
	/* What was thrown goes on to the caller. */
	Z_quickjsZ_qjs_free_value(a->js->vm, v);
	u32 e = Z_quickjsZ_qjs_get_exception(a->js->vm);
	(void)Z_quickjsZ_qjs_throw(a->js->vm, e);
	Z_quickjsZ_qjs_free_value(a->js->vm, e);
	return 0;
}

/* bytes(text), text(buffer, offset, length): UTF-8. */
static u32 to_bytes(struct ward_js_args *a)
{
	size_t len = 0;
	ward_cleanup_free char *s = ward_js_arg_text(a, 0, &len);
	return s ? ward_js_new_bytes(a->js, s, len) : ward_js_return(a, -EINVAL);
}

static u32 to_text(struct ward_js_args *a)
{
	size_t size = 0;
	const char *s = a->n ? ward_js_bytes(a->js, a->v[0], &size) : NULL;
	double offset = ward_js_arg_number(a, 1), len = ward_js_arg_number(a, 2);
	if (!(offset >= 0 && len >= 0 && offset + len <= (double)size))
		return ward_js_return(a, -EINVAL);
	/* The module may move its memory while it makes room. */
	ward_cleanup_free char *copy = malloc((size_t)len + 1);
	if (!copy)
		return ward_js_throw(a->js, "out of memory");
	if (len > 0)
		memcpy(copy, s + (size_t)offset, (size_t)len);
	return ward_js_new_text(a->js, copy, (size_t)len);
}

const struct ward_js_function ward_js_others[] = {{"now", now}, {"exit", leave},
	{"random", random_bytes}, {"argument", argument}, {"variable", variable},
	{"directory", working_directory}, {"evaluate", evaluate}, {"bytes", to_bytes},
	{"text", to_text}, {NULL, NULL}};

static const struct ward_js_function *find(const char *name, size_t len)
{
	const struct ward_js_function *tables[] = {ward_js_files, ward_js_others};
	for (size_t t = 0; t < 2; t++)
		for (const struct ward_js_function *f = tables[t]; f->name; f++)
			if (strlen(f->name) == len && memcmp(f->name, name, len) == 0)
				return f;
	return NULL;
}

/* More arguments than a function of ours takes. */
#define ARGS_MAX 8

u32 Z_envZ_host_call(struct Z_env_instance_t *env, u32 name, u32 len, u32 self, u32 argc, u32 argv)
{
	struct ward_js *js = env->js;
	u32 v[ARGS_MAX] = {0};
	const char *s = ward_js_at(js, name, len);
	const struct ward_js_function *f = s ? find(s, len) : NULL;
	(void)self;
	if (argc > ARGS_MAX)
		argc = ARGS_MAX;
	const void *from = argc ? ward_js_at(js, argv, argc * sizeof(u32)) : v;
	if (!f || !from)
		return ward_js_throw(js, "no such function of the host");
	memmove(v, from, argc * sizeof(u32));
	struct ward_js_args a = {js, v, argc};
	return f->call(&a);
}

static bool add_all(struct ward_js *js, u32 object, const struct ward_js_function *f)
{
	for (; f->name; f++) {
		u32 name = ward_js_copy(js, f->name, strlen(f->name));
		u32 v = name ? Z_quickjsZ_qjs_new_host_function(
				       js->vm, name, (u32)strlen(f->name), 0)
			     : 0;
		if (v) {
			(void)Z_quickjsZ_qjs_set_prop_string(js->vm, object, name, v);
			Z_quickjsZ_qjs_free_value(js->vm, v);
		}
		Z_quickjsZ_free(js->vm, name);
		if (!v)
			return false;
	}
	return true;
}

u32 ward_js_functions(struct ward_js *js)
{
	u32 object = Z_quickjsZ_qjs_new_object(js->vm);
	return object && add_all(js, object, ward_js_files) && add_all(js, object, ward_js_others)
		       ? object
		       : 0;
}
