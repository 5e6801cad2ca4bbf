/* SPDX-License-Identifier: Apache-2.0 */
/* Parses sizes, counts, durations and rates. */
#include "enforcer/base/quantity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/clock.h"

/* 272 years; in nanoseconds half of what fits. */
#define SECONDS_MAX (UINT64_C(1) << 33)
/* Of a rate: times 1000 it still fits. */
#define RATE_MAX (UINT64_C(1) << 52)
#define TENTHS_MAX UINT64_C(1000000)

/* Why a text is no quantity. */
#define WHY_SIZE 48

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* False, and *s is behind all digits: there are none, or too many. */
static bool digits(const char **s, uint64_t *ret)
{
	uint64_t v = 0;
	bool fits = digit(**s);
	for (; digit(**s); (*s)++)
		fits = fits && !__builtin_mul_overflow(v, 10, &v) &&
		       !__builtin_add_overflow(v, (uint64_t)(**s - '0'), &v) &&
		       v <= WARD_QUANTITY_MAX;
	if (fits)
		*ret = v;
	return fits;
}

bool ward_quantity_digits(const char **s, uint64_t *ret)
{
	return digits(s, ret);
}

static bool no_number(const char *text, char why[WHY_SIZE])
{
	snprintf(why, WHY_SIZE, digit(*text) ? "too large" : "it begins with no digit");
	return false;
}

static bool no_unit(char c, char why[WHY_SIZE])
{
	if (c > ' ' && c < 0x7f)
		snprintf(why, WHY_SIZE, "'%c' is no unit", c);
	else
		snprintf(why, WHY_SIZE, c ? "it ends in no unit" : "it has no unit");
	return false;
}

/* A number and at most one unit of units, the i-th worth base^(i+1); *s moves behind. */
static bool scaled(
	const char **s, const char *units, uint64_t base, uint64_t *ret, char why[WHY_SIZE])
{
	const char *begin = *s;
	uint64_t v = 0;
	if (!digits(s, &v))
		return no_number(begin, why);
	const char *u = **s ? strchr(units, **s) : NULL;
	for (const char *k = units; u && k <= u; k++)
		if (__builtin_mul_overflow(v, base, &v) || v > WARD_QUANTITY_MAX)
			return no_number(begin, why);
	*s += u != NULL;
	*ret = v;
	return true;
}

int ward_quantity_size(const char *text, uint64_t *ret, struct ward_err *err)
{
	const char *s = text;
	char why[WHY_SIZE];
	uint64_t v = 0;
	if (!scaled(&s, "KMGT", 1024, &v, why) || (*s && !no_unit(*s, why)))
		return ward_err_set(err, -EINVAL,
			"'%s' is not a size (%s): write 512, 64K, 10M or 4G", text, why);
	*ret = v;
	return 0;
}

int ward_quantity_count(const char *text, uint64_t *ret, struct ward_err *err)
{
	const char *s = text;
	char why[WHY_SIZE];
	uint64_t v = 0;
	if (!scaled(&s, "kM", 1000, &v, why) || (*s && !no_unit(*s, why)))
		return ward_err_set(
			err, -EINVAL, "'%s' is not a count (%s): write 200 or 200k", text, why);
	*ret = v;
	return 0;
}

/* One number with its unit; *last is the unit before, and becomes this one. */
static bool duration_part(
	const char **s, unsigned forms, size_t *last, uint64_t *total, char why[WHY_SIZE])
{
	static const struct {
		char letter;
		uint64_t s;
	} units[] = {{'w', 604800}, {'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
	const size_t n = sizeof(units) / sizeof(*units);
	const char *begin = *s;
	uint64_t v = 0;
	if (!digits(s, &v))
		return no_number(begin, why);
	/* a bare number is seconds, and stands alone */
	if (!**s && *last == 0 && forms & WARD_DURATION_BARE) {
		*total = v;
		return v <= SECONDS_MAX || no_number(begin, why);
	}
	size_t i = forms & WARD_DURATION_WEEKS ? 0 : 1;
	while (i < n && units[i].letter != **s)
		i++;
	if (i == n)
		return no_unit(**s, why);
	if (*last > i) {
		snprintf(why, WHY_SIZE, "'%c' stands behind '%c'", **s, units[*last - 1].letter);
		return false;
	}
	if (__builtin_mul_overflow(v, units[i].s, &v) || v > SECONDS_MAX ||
		*total + v > SECONDS_MAX)
		return no_number(begin, why);
	*total += v;
	*last = i + 1;
	(*s)++;
	return true;
}

int ward_quantity_duration(const char *text, unsigned forms, uint64_t *ret_ns, struct ward_err *err)
{
	const char *s = text;
	char why[WHY_SIZE];
	uint64_t total = 0;
	size_t last = 0; /* 1 + the unit before */
	bool ok = duration_part(&s, forms, &last, &total, why);
	while (ok && *s) {
		if (!(forms & WARD_DURATION_SEVERAL)) {
			snprintf(why, sizeof(why), "more than one number and unit");
			ok = false;
		} else {
			ok = duration_part(&s, forms, &last, &total, why);
		}
	}
	if (!ok)
		return ward_err_set(err, -EINVAL, "'%s' is not a time (%s): write %s30s%s", text,
			why, forms & WARD_DURATION_BARE ? "90, " : "",
			forms & WARD_DURATION_SEVERAL ? ", 10m or 1h30m"
			: forms & WARD_DURATION_WEEKS ? ", 10m, 12h, 2d or 1w"
						      : ", 10m, 12h or 2d");
	*ret_ns = total * WARD_NS_PER_SEC;
	return 0;
}

int ward_quantity_rate(
	const char *text, bool size, uint64_t *ret_n, uint32_t *ret_per_s, struct ward_err *err)
{
	const char *s = text;
	char why[WHY_SIZE] = "it ends in none of /s, /m, /h";
	uint64_t v = 0;
	bool ok = size ? scaled(&s, "KMGT", 1024, &v, why) : scaled(&s, "kM", 1000, &v, why);
	uint32_t per = !ok		      ? 0
		       : strcmp(s, "/s") == 0 ? 1
		       : strcmp(s, "/m") == 0 ? 60
		       : strcmp(s, "/h") == 0 ? 3600
					      : 0;
	if (per && v > RATE_MAX) {
		(void)no_number(text, why);
		per = 0;
	}
	if (!per)
		return ward_err_set(err, -EINVAL, "'%s' is not a rate (%s): write %s", text, why,
			size ? "10M/s or 1G/h" : "100/m or 2k/h");
	*ret_n = v;
	*ret_per_s = per;
	return 0;
}

int ward_quantity_tenths(const char *text, uint64_t *ret, struct ward_err *err)
{
	const char *s = text;
	uint64_t v = 0;
	bool ok = digits(&s, &v) && v < TENTHS_MAX;
	if (ok) {
		v *= 10;
		if (s[0] == '.' && digit(s[1])) {
			v += (uint64_t)(s[1] - '0');
			s += 2;
		}
	}
	if (!ok || *s || v == 0)
		return ward_err_set(err, -EINVAL, "'%s': write a number such as 2 or 1.5", text);
	*ret = v;
	return 0;
}

int ward_quantity_percent(const char *text, uint64_t *ret, struct ward_err *err)
{
	const char *s = text;
	uint64_t v = 0;
	bool ok = digits(&s, &v) && v <= 100;
	v *= 10;
	if (ok && s[0] == '.' && digit(s[1])) {
		v += (uint64_t)(s[1] - '0');
		s += 2;
	}
	if (!ok || strcmp(s, "%") != 0 || v == 0 || v > 1000)
		return ward_err_set(err, -EINVAL,
			"'%s' is not a share: write a percentage from 0.1%% to 100%%, such as 75%%",
			text);
	*ret = v;
	return 0;
}

int ward_quantity_whole(
	const char *text, uint64_t min, uint64_t max, uint64_t *ret, struct ward_err *err)
{
	const char *s = text;
	uint64_t v = 0;
	if (!digits(&s, &v) || *s || v < min || v > max)
		return ward_err_set(err, -EINVAL, "'%s': write a whole number from %llu to %llu",
			text, (unsigned long long)min, (unsigned long long)max);
	*ret = v;
	return 0;
}

void ward_quantity_duration_text(uint64_t ns, char ret[WARD_DURATION_TEXT_MAX])
{
	static const unsigned seconds[] = {86400, 3600, 60, 1};
	const uint64_t s = ns / WARD_NS_PER_SEC;
	size_t i = 0;
	while (seconds[i] > 1 && (s == 0 || s % seconds[i] != 0))
		i++;
	snprintf(ret, WARD_DURATION_TEXT_MAX, "%llu%c", (unsigned long long)(s / seconds[i]),
		"dhms"[i]);
}
