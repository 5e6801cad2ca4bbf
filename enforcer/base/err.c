/* SPDX-License-Identifier: Apache-2.0 */
/* Fills in the text of an error, and adds where it happened. */
#include "enforcer/base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int(ward_err_set)(struct ward_err *err, int code, const char *fmt, ...)
{
	if (code >= 0)
		code = -EINVAL;
	if (!err)
		return code;
	err->code = code;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return code;
}

int(ward_err_sys)(struct ward_err *err, int code, const char *fmt, ...)
{
	if (code >= 0)
		code = -EINVAL;
	if (!err)
		return code;
	err->code = code;
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	if (n < 0)
		n = 0;
	if ((size_t)n < sizeof(err->text)) {
		char sys[128];
		/* GNU strerror_r: may return a static string instead of filling the buffer. */
		const char *text = strerror_r(-code, sys, sizeof(sys));
		snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %s", text);
	}
	return code;
}

int(ward_err_wrap)(struct ward_err *err, const char *fmt, ...)
{
	if (!err)
		return -EINVAL;
	char old[WARD_ERR_TEXT_MAX];
	memcpy(old, err->text, sizeof(old));
	old[sizeof(old) - 1] = '\0';
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	if (n < 0)
		n = 0;
	if ((size_t)n < sizeof(err->text))
		snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %s", old);
	return err->code < 0 ? err->code : -EINVAL;
}
