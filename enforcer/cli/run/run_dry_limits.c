/* SPDX-License-Identifier: Apache-2.0 */
/* Writes limits as a policy would. */
#include "enforcer/cli/run/run_dry_limits.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/quantity.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/policy/policy.h"
#include "enforcer/policy/settings.h"

enum unit { COUNT, SIZE, TIME, TENTHS, FLAG };

#define MEMBER(m) offsetof(struct ward_settings, m)
static const struct row {
	const char *key;
	size_t member;
	enum unit unit;
	bool of_commands; /* held for each command, not by the sandbox */
} rows[] = {
	{"cpus", MEMBER(cpus), TENTHS, false},
	{"memory", MEMBER(memory), SIZE, false},
	{"processes", MEMBER(processes), COUNT, false},
	{"open-files", MEMBER(open_files), COUNT, false},
	{"file", MEMBER(file_size), SIZE, false},
	{"core", MEMBER(core), FLAG, false},
	{"tmp", MEMBER(tmp_bytes), SIZE, false},
	{"cpu-time", MEMBER(cpu_time_ns), TIME, false},
	{"wall", MEMBER(wall_ns), TIME, false},
	{"idle", MEMBER(idle_ns), TIME, false},
	{"command", MEMBER(command_ns), TIME, true},
	{"per-command", MEMBER(per_command_ns), TIME, true},
};

/* In the largest unit that leaves a whole number. */
static void put_size(struct ward_buf *b, uint64_t n)
{
	static const uint64_t sizes[] = {
		UINT64_C(1) << 30, UINT64_C(1) << 20, UINT64_C(1) << 10, 1};
	static const char letters[] = "GMK ";
	size_t i = 0;
	while (letters[i + 1] && (n == 0 || n % sizes[i] != 0))
		i++;
	ward_buf_printf(b, "%" PRIu64, n / sizes[i]);
	if (letters[i] != ' ')
		ward_buf_putc(b, letters[i]);
}

static void put_number(struct ward_buf *b, enum unit unit, uint64_t n, bool share)
{
	char time[WARD_DURATION_TEXT_MAX];
	switch (unit) {
	case SIZE:
		if (share) /* as `policy show` has it */
			ward_buf_printf(b, "%" PRIu64 "M", n >> 20);
		else
			put_size(b, n);
		return;
	case TIME:
		ward_quantity_duration_text(n, time);
		ward_buf_puts(b, time);
		return;
	case TENTHS:
		ward_buf_printf(b, "%" PRIu64, n / 10);
		if (n % 10)
			ward_buf_printf(b, ".%" PRIu64, n % 10);
		return;
	case FLAG:
		ward_buf_puts(b, n ? "yes" : "no");
		return;
	case COUNT:
		break;
	}
	ward_buf_printf(b, "%" PRIu64, n);
}

static void add(const struct ward_run_plan *p, const struct row *row, json_t *limits)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	struct ward_said said;
	json_t *o = json_object_get(limits, row->key);
	const bool known = ward_policy_said(p->policy, row->member, &said);
	if (!o && row->of_commands && known && said.number != WARD_UNLIMITED) {
		json_object_set_new(limits, row->key,
			json_pack("{s:I, s:s}", "value", (json_int_t)said.number, "by", "clock"));
		o = json_object_get(limits, row->key);
		if (said.shipped)
			json_object_set_new(o, "default", json_true());
	}
	if (!o)
		return;
	if (known)
		ward_buf_printf(&text, "%s%s", said.value, said.share ? ", here " : "");
	if (!known || said.share)
		put_number(&text, row->unit,
			(uint64_t)json_integer_value(json_object_get(o, "value")), said.share);
	json_object_set_new(o, "text", json_string(ward_buf_str(&text)));
}

void ward_run_dry_limits(const struct ward_run_plan *p, json_t *o)
{
	json_t *limits = json_object_get(o, "limits");
	for (size_t i = 0; limits && i < sizeof(rows) / sizeof(*rows); i++)
		add(p, &rows[i], limits);
}

/* As it is written; what wardfs itself wrote in bytes (the home's rest) in MiB. */
static json_t *quota_text(const struct ward_quota_limit *l, unsigned key)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const size_t len = strlen(l->text);
	const bool bytes =
		key == WARD_QUOTA_GROWTH && len && isdigit((unsigned char)l->text[len - 1]);
	if (!bytes || l->value < (UINT64_C(1) << 20))
		return ward_json_text(l->text);
	ward_buf_puts(&b, "growth = ");
	put_number(&b, SIZE, l->value, true);
	return ward_json_text(ward_buf_str(&b));
}

/* [{path, limits: [{text, from}…]}…]: those of each path that say something. */
static json_t *quotas(const struct ward_settings *s)
{
	json_t *all = json_array();
	for (size_t i = 0; i < s->n_quotas; i++) {
		json_t *limits = json_array();
		for (size_t k = 0; k < WARD_QUOTA_KEYS_; k++) {
			const struct ward_quota_limit *l = &s->quotas[i].limits[k];
			if (l->value != WARD_UNLIMITED && l->text)
				json_array_append_new(
					limits, json_pack("{s:o, s:o}", "text", quota_text(l, k),
							"from", ward_json_text(l->place)));
		}
		json_array_append_new(
			all, json_pack("{s:o, s:o}", "path", ward_json_text(s->quotas[i].path),
				     "limits", limits));
	}
	return all;
}

void ward_run_dry_quotas(const struct ward_run_plan *p, json_t *o)
{
	json_object_set_new(o, "quotas", quotas(p->settings));
}
