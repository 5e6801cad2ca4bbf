/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/cli/audit_time.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DAY_S UINT64_C(86400)
/* As far as "2026-01-02" reaches. */
#define DATE_LEN 10

static const struct {
	char letter;
	uint64_t s;
} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', DAY_S}, {'w', 7 * DAY_S}};

/* Its beginning, without the Z that ends it: what is compared is a beginning. */
static int take_beginning(const char *text, char ret[WARD_CLOCK_TEXT_MAX])
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd.ddddddddd";
	size_t i = 0;
	for (; text[i] && form[i]; i++) {
		if (form[i] == 'd' ? !isdigit((unsigned char)text[i])
				   : form[i] != text[i] && !(form[i] == 'T' && text[i] == ' '))
			break;
		ret[i] = form[i] == 'T' ? 'T' : text[i];
	}
	ret[i] = '\0';
	return i >= 4 && (!text[i] || strcmp(text + i, "Z") == 0) ? 0 : -EINVAL;
}

static int take_ago(const char *text, uint64_t now_ns, char ret[WARD_CLOCK_TEXT_MAX])
{
	uint64_t n = 0;
	size_t i = 0;
	for (; isdigit((unsigned char)text[i]); i++)
		if (__builtin_mul_overflow(n, 10, &n) ||
			__builtin_add_overflow(n, (uint64_t)(text[i] - '0'), &n))
			return -EINVAL;
	if (i == 0 || !text[i] || text[i + 1])
		return -EINVAL;
	for (size_t u = 0; u < sizeof(units) / sizeof(*units); u++) {
		if (units[u].letter != text[i])
			continue;
		if (__builtin_mul_overflow(n, units[u].s * WARD_NS_PER_SEC, &n) || n > now_ns)
			return -EINVAL;
		ward_clock_format(now_ns - n, ret);
		return 0;
	}
	return -EINVAL;
}

static void take_day(uint64_t real_ns, char ret[WARD_CLOCK_TEXT_MAX])
{
	ward_clock_format(real_ns, ret);
	ret[DATE_LEN] = '\0';
}

int audit_time_parse(const char *text, uint64_t now_ns, char ret[WARD_CLOCK_TEXT_MAX])
{
	char found[WARD_CLOCK_TEXT_MAX] = "";
	int r = 0;
	if (strcmp(text, "now") == 0)
		ward_clock_format(now_ns, found);
	else if (strcmp(text, "today") == 0)
		take_day(now_ns, found);
	else if (strcmp(text, "yesterday") == 0)
		take_day(now_ns - DAY_S * WARD_NS_PER_SEC, found);
	else if (take_ago(text, now_ns, found) < 0)
		r = take_beginning(text, found);
	if (r == 0)
		snprintf(ret, WARD_CLOCK_TEXT_MAX, "%s", found);
	return r;
}
