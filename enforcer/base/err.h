/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: a negative errno as the return value, text in a caller-owned buffer.
 *
 * A function that can fail takes `struct ward_err *err` last. err may be NULL where the caller does
 * not want the text. Each layer on the way up may put its own words in front (ward_err_wrap()), so
 * that the person at the terminal reads the whole story: "mount /workspace: open /dev/fuse: …".
 */
#pragma once

#include <stdarg.h>

/* Long enough for two escaped paths; what does not fit is cut, never overrun. */
#define WARD_ERR_TEXT_MAX 1024

#define ward_must_check __attribute__((warn_unused_result))
#define ward_printf(fmt, first) __attribute__((format(printf, fmt, first)))

struct ward_err {
	int code; /* negative errno, 0 while nothing failed */
	char text[WARD_ERR_TEXT_MAX];
};

#define WARD_ERR_INIT ((struct ward_err){.code = 0, .text = ""})

/* Sets code and text. Returns code (a negative errno; anything >= 0 becomes -EINVAL). */
int ward_err_set(struct ward_err *err, int code, const char *fmt, ...) ward_printf(3, 4);

/* As ward_err_set() with ": " and strerror(-code) appended. Returns code. */
int ward_err_sys(struct ward_err *err, int code, const char *fmt, ...) ward_printf(3, 4);

/* Puts text and ": " in front of what stands there; code stays. Returns the code kept. */
int ward_err_wrap(struct ward_err *err, const char *fmt, ...) ward_printf(2, 3);

/*
 * What all three return is negative: said where a compiler and an analyser see it, who follow a
 * function only within its file. Takes and returns the code.
 */
static inline int ward_err_negative(int code)
{
	if (code >= 0)
		__builtin_unreachable();
	return code;
}

#define ward_err_set(...) ward_err_negative((ward_err_set)(__VA_ARGS__))
#define ward_err_sys(...) ward_err_negative((ward_err_sys)(__VA_ARGS__))
#define ward_err_wrap(...) ward_err_negative((ward_err_wrap)(__VA_ARGS__))
