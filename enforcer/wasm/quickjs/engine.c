/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/wasm/quickjs/engine.h"

#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include <quickjs_module.h>

void *ward_js_at(const struct ward_js *js, u32 p, size_t len)
{
	const wasm_rt_memory_t *m = Z_quickjsZ_memory(js->vm);
	uint64_t size = (uint64_t)m->pages << 16;
	return p && p <= size && len <= size - p ? m->data + p : NULL;
}

char *ward_js_text(struct ward_js *js, u32 value, size_t *ret_len)
{
	char *ret = NULL;
	u32 out = Z_quickjsZ_malloc(js->vm, sizeof(u32));
	if (!out || !Z_quickjsZ_qjs_is_string(js->vm, value)) {
		Z_quickjsZ_free(js->vm, out);
		return NULL;
	}
	u32 p = Z_quickjsZ_qjs_get_string_len(js->vm, value, out), len = 0;
	const void *written = ward_js_at(js, out, sizeof(len));
	if (written)
		memcpy(&len, written, sizeof(len));
	const char *s = p ? ward_js_at(js, p, len) : NULL;
	if (s && (ret = malloc((size_t)len + 1))) {
		memcpy(ret, s, len);
		ret[len] = '\0';
		if (ret_len)
			*ret_len = len;
	}
	if (p)
		Z_quickjsZ_qjs_free_cstring(js->vm, p);
	Z_quickjsZ_free(js->vm, out);
	return ret;
}

void *ward_js_bytes(const struct ward_js *js, u32 value, size_t *ret_len)
{
	*ret_len = 0;
	if (!Z_quickjsZ_qjs_is_array_buffer(js->vm, value))
		return NULL;
	u32 out = Z_quickjsZ_malloc(js->vm, sizeof(u32)), len = 0;
	if (!out)
		return NULL;
	u32 p = Z_quickjsZ_qjs_get_array_buffer(js->vm, value, out);
	const void *written = ward_js_at(js, out, sizeof(len));
	if (written)
		memcpy(&len, written, sizeof(len));
	Z_quickjsZ_free(js->vm, out);
	void *ret = p && len ? ward_js_at(js, p, len) : NULL;
	*ret_len = ret ? len : 0;
	return ret;
}

u32 ward_js_copy(struct ward_js *js, const char *s, size_t len)
{
	u32 p = len < UINT32_MAX ? Z_quickjsZ_malloc(js->vm, (u32)len + 1) : 0;
	char *to = p ? ward_js_at(js, p, len + 1) : NULL;
	if (!to)
		return 0;
	memcpy(to, s, len);
	to[len] = '\0';
	return p;
}

u32 ward_js_new_text(struct ward_js *js, const char *s, size_t len)
{
	u32 p = ward_js_copy(js, s, len);
	if (!p)
		return ward_js_throw(js, "out of memory");
	u32 v = Z_quickjsZ_qjs_new_string(js->vm, p, (u32)len);
	Z_quickjsZ_free(js->vm, p);
	return v;
}

u32 ward_js_new_bytes(struct ward_js *js, const void *data, size_t len)
{
	u32 p = ward_js_copy(js, data, len);
	if (!p)
		return ward_js_throw(js, "out of memory");
	u32 v = Z_quickjsZ_qjs_new_array_buffer(js->vm, p, (u32)len);
	Z_quickjsZ_free(js->vm, p);
	return v;
}

u32 ward_js_throw(struct ward_js *js, const char *message)
{
	u32 e = Z_quickjsZ_qjs_new_error(js->vm);
	u32 name = ward_js_copy(js, "message", 7),
	    text = ward_js_copy(js, message, strlen(message));
	u32 value = text ? Z_quickjsZ_qjs_new_string(js->vm, text, (u32)strlen(message)) : 0;
	if (e && name && value)
		(void)Z_quickjsZ_qjs_set_prop_string(js->vm, e, name, value);
	if (value)
		Z_quickjsZ_qjs_free_value(js->vm, value);
	Z_quickjsZ_free(js->vm, text);
	Z_quickjsZ_free(js->vm, name);
	if (e) {
		(void)Z_quickjsZ_qjs_throw(js->vm, e);
		Z_quickjsZ_qjs_free_value(js->vm, e);
	}
	return 0;
}

u32 ward_js_property(struct ward_js *js, u32 object, const char *name)
{
	u32 p = ward_js_copy(js, name, strlen(name));
	u32 v = p ? Z_quickjsZ_qjs_get_prop_string(js->vm, object, p) : 0;
	Z_quickjsZ_free(js->vm, p);
	return v;
}

u32 ward_js_prelude(struct ward_js *js, const char *name, u32 *args, u32 n_args)
{
	u32 f = ward_js_property(js, js->prelude, name);
	u32 v = Z_quickjsZ_malloc(js->vm, 4 * (n_args + 1)), ret = 0;
	u32 *to = v ? ward_js_at(js, v, sizeof(u32) * n_args + 4) : NULL;
	u32 self = Z_quickjsZ_qjs_get_undefined(js->vm);
	if (f && to && self) {
		for (u32 i = 0; i < n_args; i++)
			to[i] = args[i];
		ret = Z_quickjsZ_qjs_call(js->vm, f, self, n_args, v);
	}
	if (self)
		Z_quickjsZ_qjs_free_value(js->vm, self);
	if (f)
		Z_quickjsZ_qjs_free_value(js->vm, f);
	Z_quickjsZ_free(js->vm, v);
	return ret;
}

u32 ward_js_eval(struct ward_js *js, const char *source, size_t len, const char *name,
	enum ward_js_kind kind)
{
	u32 code = ward_js_copy(js, source, len), at = ward_js_copy(js, name, strlen(name)),
	    ret = 0;
	if (code && at)
		ret = Z_quickjsZ_qjs_eval(js->vm, code, (u32)len, at, kind);
	Z_quickjsZ_free(js->vm, at);
	Z_quickjsZ_free(js->vm, code);
	return ret;
}
