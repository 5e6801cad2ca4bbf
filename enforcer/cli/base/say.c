/* SPDX-License-Identifier: Apache-2.0 */
/* Prints messages and data, escaped, and finds the word that was meant. */
#include "enforcer/cli/base/say.h"

#include <inttypes.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/parse.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/policy/load.h"
#include "enforcer/policy/policy.h"
#include "enforcer/policy/value.h"

/* Spellings farther off than this are no slip of the finger; of a short word, one letter is. */
#define NEAR_MAX 2U
#define SHORT 6U

void ward_say(const char *text)
{
	ward_tellf("wardfs: %s\n", text);
}

void ward_sayf(const char *fmt, ...)
{
	ward_cleanup_free char *text = NULL;
	va_list ap;
	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		text = NULL;
	ward_say(text ? text : "out of memory");
}

void ward_say_lines(const char *before, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		if (n)
			ward_sayf("%s%.*s", before, (int)n, text);
		text += n + (text[n] == '\n');
	}
}

void ward_print_policy(const char *text, size_t len)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_shown_lines(&b, text, len);
	ward_out_lines(text, len);
	/* Then it is another pattern, and nobody is to take it for the one that is in force. */
	if (b.len != len)
		ward_say(
			"the text above shows control bytes as \\xNN. Do not copy a pattern that contains one; write '?', which stands for any byte");
}

void ward_print_shown_by(const char *place)
{
	char name[32];
	size_t len = 0;
	const size_t n = place ? strcspn(place, ":") : 0;
	const size_t digits = n && place[n] ? strspn(place + n + 1, "0123456789") : 0;
	if (digits == 0 || n >= sizeof(name) || place[n + 1 + digits])
		return;
	memcpy(name, place, n);
	name[n] = '\0';
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	if (ward_profile_text(name, &len))
		ward_outf("  (wardfs profile show %s)", ward_shell_quoted(&word, place));
}

void ward_put_json(const json_t *o, size_t flags)
{
	ward_cleanup_free char *text = ward_json_ascii(o, flags);
	if (text)
		ward_out_lines(text, strlen(text));
	else
		ward_say("out of memory");
}

void ward_print_json(json_t *o)
{
	ward_put_json(o, JSON_INDENT(2));
	ward_outf("\n");
	json_decref(o);
}

json_t *ward_json_text(const char *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (!text)
		return json_null();
	ward_escape(&b, text, strlen(text));
	return json_string(ward_buf_str(&b));
}

static json_t *shown_text(const char *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	for (const char *c = text; *c; c += c[0] == '\\' && c[1] == '\\' ? 2 : 1)
		ward_buf_putc(&b, *c);
	return json_string(ward_buf_str(&b));
}

json_t *ward_json_shown(const json_t *o)
{
	const json_t *v = NULL;
	json_t *copy = NULL, *member = NULL;
	const char *name = NULL;
	size_t i = 0;
	if (json_is_string(o))
		return shown_text(json_string_value(o));
	if (json_is_array(o)) {
		copy = json_array();
		json_array_foreach(o, i, v) json_array_append_new(copy, ward_json_shown(v));
		return copy;
	}
	if (!json_is_object(o))
		return json_deep_copy(o);
	copy = json_object();
	json_object_foreach((json_t *)(uintptr_t)o, name, member)
		json_object_set_new(copy, name, ward_json_shown(member));
	return copy;
}

json_t *ward_json_rights(uint32_t rights)
{
	json_t *list = json_array();
	for (unsigned i = 0; 1U << i <= WARD_RIGHTS_ALL; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		if (!(rights & 1U << i))
			continue;
		ward_rights_format(&b, 1U << i);
		json_array_append_new(list, json_string(ward_buf_str(&b)));
	}
	return list;
}

const char *ward_near(const char *word, const void *names, size_t n, size_t stride)
{
	const char *near = NULL;
	unsigned best = (strlen(word) < SHORT ? 1 : NEAR_MAX) + 1;
	for (size_t i = 0; i < n; i++) {
		const char *name = *(const char *const *)((const char *)names + i * stride);
		unsigned d = ward_value_distance(word, name, NEAR_MAX);
		/* of a short word, changing all of it is no slip either */
		if (d < best && d < strlen(name) && d < strlen(word)) {
			best = d;
			near = name;
		}
	}
	return near;
}

int ward_finish_output(int status)
{
	const int r = ward_out_flush();
	if (r == 0)
		return status;
	ward_sayf("standard output: %s", strerror(-r));
	return status > 1 ? status : 125;
}

const char *ward_size_text(uint64_t n, char *buf, size_t len)
{
	static const char units[] = "KMGT";
	size_t u = 0;
	uint64_t unit = 1;
	while (u < sizeof(units) - 1 && n >= unit * 1024) {
		unit *= 1024;
		u++;
	}
	if (u == 0)
		snprintf(buf, len, "%" PRIu64, n);
	else if (n % unit == 0)
		snprintf(buf, len, "%" PRIu64 "%c", n / unit, units[u - 1]);
	else
		snprintf(buf, len, "%.1f%c", (double)n / (double)unit, units[u - 1]);
	return buf;
}
