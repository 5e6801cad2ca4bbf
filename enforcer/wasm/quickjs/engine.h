/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QuickJS-ng, compiled to WebAssembly and translated to C (quickjs_module.h, wasm2c's), and what
 * our side of it needs: its memory, its values, its errors. The engine reaches nothing of ours but
 * the functions of functions.h. Everything that comes out of its memory is untrusted.
 *
 * A value is a number that the module made (`qjs_…`): 0 is none. Who gets one frees it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"
#include "enforcer/wasm/host/preopens.h"

/* In the engine and its imports, whose names wasm2c gives. */
struct Z_quickjs_instance_t;

/* A promise that was rejected while nobody waited for it. */
struct ward_js_rejected {
	uint32_t promise, reason; /* values, owned */
};
#define WARD_JS_REJECTED_MAX 64

struct ward_js {
	struct Z_quickjs_instance_t *vm;
	struct ward_preopens files;
	char *const *argv; /* after the script; NULL-terminated */
	char *const *envp;
	uint32_t prelude; /* the object that prelude.js returns */
	struct ward_js_rejected rejected[WARD_JS_REJECTED_MAX];
	size_t n_rejected;
};

/* What the module gets as the instance of its imports; one context for both. */
struct Z_env_instance_t {
	struct ward_js *js;
};

/* len bytes of its memory at p; NULL: not all of them are its. Valid until it runs again. */
void *ward_js_at(const struct ward_js *js, uint32_t p, size_t len);

/*
 * A string of it as UTF-8, with a NUL behind it, the caller's; NULL: no string, or no memory. Of a
 * string with a NUL in it ret_len says so.
 */
char *ward_js_text(struct ward_js *js, uint32_t value, size_t *ret_len);
/* The bytes of an ArrayBuffer; NULL: no ArrayBuffer, or empty (*ret_len 0). As ward_js_at(). */
void *ward_js_bytes(const struct ward_js *js, uint32_t value, size_t *ret_len);

/* Values of its: 0 when it has no memory left, and then an exception is pending. */
uint32_t ward_js_new_text(struct ward_js *js, const char *s, size_t len);
uint32_t ward_js_new_bytes(struct ward_js *js, const void *data, size_t len);
/* A copy of s in its memory, NUL behind it; 0: no memory. The module or the caller frees it. */
uint32_t ward_js_copy(struct ward_js *js, const char *s, size_t len);

/* Throws an Error with this message. Returns 0, what a function of ours then returns. */
uint32_t ward_js_throw(struct ward_js *js, const char *message);

/* Reads `name` of an object. */
uint32_t ward_js_property(struct ward_js *js, uint32_t object, const char *name);
/* Calls the prelude's function of this name. The result, which may be an exception's mark. */
uint32_t ward_js_prelude(struct ward_js *js, const char *name, uint32_t *args, uint32_t n_args);

/* JS_EVAL_TYPE_MODULE of QuickJS. */
enum ward_js_kind { WARD_JS_SCRIPT = 0, WARD_JS_MODULE = 1 };
/* Evaluates source text; the result as ward_js_prelude(). Of a module it is a promise. */
uint32_t ward_js_eval(struct ward_js *js, const char *source, size_t len, const char *name,
	enum ward_js_kind kind);
