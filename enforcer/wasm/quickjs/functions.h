/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of ours that a script can reach, by name, and all that it can reach of the host.
 * prelude.js calls them and makes `fs`, `console` and `process` of them; a script that gets hold of
 * one gains nothing, for each checks what it is given.
 *
 * A function that fails returns a negative errno as a number.
 */
#pragma once

#include "enforcer/wasm/quickjs/engine.h"

struct ward_js_args {
	struct ward_js *js;
	const uint32_t *v;
	uint32_t n;
};

struct ward_js_function {
	const char *name;
	uint32_t (*call)(struct ward_js_args *a);
};

/* Ended by a row without a name: of files, and everything else. */
extern const struct ward_js_function ward_js_files[];
extern const struct ward_js_function ward_js_others[];

/* Argument i. A number that is missing or is none is 0, a text NULL. */
double ward_js_arg_number(const struct ward_js_args *a, uint32_t i);
char *ward_js_arg_text(const struct ward_js_args *a, uint32_t i, size_t *ret_len);
uint32_t ward_js_return(const struct ward_js_args *a, double number);

/* An object with all of them. 0: no memory. */
uint32_t ward_js_functions(struct ward_js *js);
