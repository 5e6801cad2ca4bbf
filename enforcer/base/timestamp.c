/* SPDX-License-Identifier: Apache-2.0 */
/* Parses points in time. */
#include "enforcer/base/timestamp.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "enforcer/base/quantity.h"

#define DAY_NS (86400 * WARD_NS_PER_SEC)
/* As far as "2026-01-02" reaches. */
#define DATE_LEN 10
/* As far as "2026-01-02T03:04:05" reaches. */
#define SECOND_LEN 19

#define FORMS                                                                                       \
	"a time is written 2026-01-02T03:04 (UTC; date alone, or up to nanoseconds), 30m (so long " \
	"ago; s, m, h, d, w), today or yesterday"

/* The members of a time: where each begins in the text, what it is, and its bounds. */
static const struct {
	size_t at;
	const char *name;
	int min, max;
} members[] = {{5, "month", 1, 12}, {8, "day", 1, 31}, {11, "hour", 0, 23}, {14, "minute", 0, 59},
	{17, "second", 0, 60}};

static int two_digits(const char *s)
{
	return (s[0] - '0') * 10 + s[1] - '0';
}

/* The first member, both of whose digits are there, that is out of its bounds; NULL: none. */
static const char *out_of_bounds(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		if (len < members[i].at + 2)
			break;
		int v = two_digits(text + members[i].at);
		if (v < members[i].min || v > members[i].max)
			return members[i].name;
	}
	return NULL;
}

/*
 * Copies as much of text as has the form of a time into ret, a space for the T as T. How much that
 * is, without the Z that may follow.
 */
static size_t take_form(const char *text, char ret[WARD_CLOCK_TEXT_MAX])
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
	return i;
}

uint64_t ward_timestamp_ns(const char *text)
{
	char form[WARD_CLOCK_TEXT_MAX];
	const size_t len = text ? take_form(text, form) : 0;
	if (len < SECOND_LEN || len == SECOND_LEN + 1 || strcmp(text + len, "Z") != 0 ||
		text[DATE_LEN] != 'T' || out_of_bounds(form, len))
		return 0;
	struct tm tm = {.tm_year = two_digits(form) * 100 + two_digits(form + 2) - 1900,
		.tm_mon = two_digits(form + 5) - 1,
		.tm_mday = two_digits(form + 8),
		.tm_hour = two_digits(form + 11),
		.tm_min = two_digits(form + 14),
		.tm_sec = two_digits(form + 17)};
	uint64_t ns = 0, all = 0, digit = WARD_NS_PER_SEC / 10;
	for (size_t i = SECOND_LEN + 1; i < len; i++, digit /= 10)
		ns += (uint64_t)(form[i] - '0') * digit;
	const time_t s = timegm(&tm);
	if (s < 0 || __builtin_mul_overflow((uint64_t)s, WARD_NS_PER_SEC, &all) ||
		__builtin_add_overflow(all, ns, &all))
		return 0;
	return all;
}

/* Its beginning, without the Z that ends it: what is compared is a beginning. */
static int take_beginning(const char *text, char ret[WARD_CLOCK_TEXT_MAX], struct ward_err *err)
{
	const size_t len = take_form(text, ret);
	const char *bad = out_of_bounds(ret, len);
	if (len < 4 || (text[len] && strcmp(text + len, "Z") != 0))
		return ward_err_set(err, -EINVAL, FORMS);
	return bad ? ward_err_set(err, -EINVAL, "there is no such %s; " FORMS, bad) : 0;
}

int ward_timestamp_beginning(
	const char *text, uint64_t now_ns, char ret[WARD_CLOCK_TEXT_MAX], struct ward_err *err)
{
	char found[WARD_CLOCK_TEXT_MAX] = "";
	uint64_t ago_ns = 0;
	const bool today = strcmp(text, "today") == 0, yesterday = strcmp(text, "yesterday") == 0;
	if (strcmp(text, "now") == 0 || today || yesterday) {
		ward_clock_format(yesterday ? now_ns - DAY_NS : now_ns, found);
		if (today || yesterday)
			found[DATE_LEN] = '\0';
	} else if (ward_quantity_duration(text, WARD_DURATION_WEEKS, &ago_ns, NULL) == 0) {
		if (ago_ns > now_ns)
			return ward_err_set(err, -EINVAL, "that is before 1970; " FORMS);
		ward_clock_format(now_ns - ago_ns, found);
	} else {
		int r = take_beginning(text, found, err);
		if (r < 0)
			return r;
	}
	memcpy(ret, found, sizeof(found));
	return 0;
}

bool ward_timestamp_within(const char *time, const char *since, const char *until)
{
	if (!since && !until)
		return true;
	return time && (!since || strcmp(time, since) >= 0) &&
	       (!until || strncmp(time, until, strlen(until)) <= 0);
}
