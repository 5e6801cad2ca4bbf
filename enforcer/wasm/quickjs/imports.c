/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine imports besides host_call and WASI: modules, promises, time zones. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/wasm/quickjs/engine.h"
#include <quickjs_module.h>

/* --- modules: the prelude decides what a specifier means, and reads through `fs` --- */

/* The text that a function of the prelude returns, in the module's memory; 0: it threw. */
static u32 ask(struct ward_js *js, const char *function, const u32 *paths, u32 n, u32 ret_len)
{
	u32 args[2] = {0, 0}, ret = 0;
	for (u32 i = 0; i < n; i++) {
		/* Ends in the module's memory or is not looked at. */
		const char *s = ward_js_at(js, paths[i], 1);
		size_t max = s ? ((size_t)Z_quickjsZ_memory(js->vm)->pages << 16) - paths[i] : 0;
		size_t len = s ? strnlen(s, max) : 0;
		if (!s || len == max)
			return 0;
		ward_cleanup_free char *copy = strndup(s, len);
		args[i] = copy ? ward_js_new_text(js, copy, len) : 0;
		if (!args[i])
			return 0;
	}
	u32 v = ward_js_prelude(js, function, args, n);
	size_t len = 0;
	ward_cleanup_free char *text = v ? ward_js_text(js, v, &len) : NULL;
	if (text) {
		ret = ward_js_copy(js, text, len);
		u32 *to = ret_len ? ward_js_at(js, ret_len, sizeof(u32)) : NULL;
		if (to) {
			u32 n32 = (u32)len;
			memcpy(to, &n32, sizeof(n32));
		}
	} else if (v && Z_quickjsZ_qjs_is_exception(js->vm, v)) {
		u32 e = Z_quickjsZ_qjs_get_exception(js->vm);
		(void)Z_quickjsZ_qjs_throw(js->vm, e);
		Z_quickjsZ_qjs_free_value(js->vm, e);
	}
	for (u32 i = 0; i < n; i++)
		Z_quickjsZ_qjs_free_value(js->vm, args[i]);
	if (v)
		Z_quickjsZ_qjs_free_value(js->vm, v);
	return ret;
}

u32 Z_envZ_host_module_normalize(struct Z_env_instance_t *env, u32 base, u32 name)
{
	const u32 paths[] = {base, name};
	return ask(env->js, "normalize", paths, 2, 0);
}

u32 Z_envZ_host_module_load(struct Z_env_instance_t *env, u32 name, u32 ret_len)
{
	return ask(env->js, "load", &name, 1, ret_len);
}

/* --- promises --- */

void Z_envZ_host_promise_rejection(
	struct Z_env_instance_t *env, u32 promise, u32 reason, u32 handled)
{
	struct ward_js *js = env->js;
	if (!handled && js->n_rejected < WARD_JS_REJECTED_MAX) {
		js->rejected[js->n_rejected++] = (struct ward_js_rejected){promise, reason};
		return;
	}
	u32 id = Z_quickjsZ_qjs_get_value_ptr(js->vm, promise);
	for (size_t i = 0; handled && i < js->n_rejected; i++) {
		struct ward_js_rejected *r = &js->rejected[i];
		if (Z_quickjsZ_qjs_get_value_ptr(js->vm, r->promise) != id)
			continue;
		Z_quickjsZ_qjs_free_value(js->vm, r->promise);
		Z_quickjsZ_qjs_free_value(js->vm, r->reason);
		*r = js->rejected[--js->n_rejected];
		break;
	}
	Z_quickjsZ_qjs_free_value(js->vm, promise);
	Z_quickjsZ_qjs_free_value(js->vm, reason);
}

/* --- the rest --- */

/* A script that does not end is ended from outside, by the clocks of [limits]. */
u32 Z_envZ_host_interrupt(struct Z_env_instance_t *env)
{
	(void)env;
	return 0;
}

/* Seconds east of UTC at this time. */
u32 Z_envZ_host_get_timezone_offset(struct Z_env_instance_t *env, u32 high, u32 low)
{
	struct tm tm;
	time_t t = (time_t)((uint64_t)high << 32 | low);
	(void)env;
	return localtime_r(&t, &tm) ? (u32)tm.tm_gmtoff : 0;
}
