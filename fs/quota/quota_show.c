/* SPDX-License-Identifier: Apache-2.0 */
/* What is left: for statfs(2), and for people. */
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "fs/quota/quota_internal.h"

/* The limit of the innermost domain that has one, and what all leave. */
static void room_of(struct ward_quota_domain *d, enum ward_quota_key key, uint64_t *ret_limit,
	uint64_t *ret_left)
{
	*ret_limit = WARD_UNLIMITED;
	(void)ward_quota_tightest(d, key, ret_left);
	for (; d && *ret_limit == WARD_UNLIMITED; d = d->above)
		*ret_limit = d->limits[key].value;
}

void ward_quota_room(
	struct ward_quotas *q, struct ward_quota_domain *d, struct ward_quota_room *ret)
{
	pthread_mutex_lock(&q->lock);
	room_of(d, WARD_QUOTA_GROWTH, &ret->bytes, &ret->bytes_free);
	room_of(d, WARD_QUOTA_FILES, &ret->files, &ret->files_free);
	pthread_mutex_unlock(&q->lock);
}

static void show_key(
	struct ward_quota_domain *d, enum ward_quota_key key, uint64_t now_ns, struct ward_buf *b)
{
	static const char *const names[WARD_QUOTA_KEYS_] = {
		"growth", "files", "file", "rate", "churn"};
	const struct ward_quota_limit *l = &d->limits[key];

	if (l->value == WARD_UNLIMITED)
		return;
	ward_buf_printf(b, ",\"%s\":{\"limit\":%llu", names[key], (unsigned long long)l->value);
	if (l->per_s)
		ward_buf_printf(b, ",\"per\":%u", l->per_s);
	if (key == WARD_QUOTA_GROWTH || key == WARD_QUOTA_FILES)
		ward_buf_printf(b, ",\"used\":%llu",
			(unsigned long long)(key == WARD_QUOTA_FILES ? d->files : d->bytes));
	else if (key == WARD_QUOTA_CHURN)
		ward_buf_printf(
			b, ",\"used\":%llu", (unsigned long long)ward_quota_churned(d, now_ns));
	ward_buf_printf(b, ",\"%s\":%llu}", key == WARD_QUOTA_RATE ? "delayed" : "refused",
		(unsigned long long)d->refused[key]);
}

/* False: no room for it. */
static bool show_domain(
	struct ward_quota_domain *d, uint64_t now_ns, size_t max, bool first, struct ward_buf *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;

	ward_buf_puts(&b, first ? "{\"path\":" : ",{\"path\":");
	ward_escape_json(&b, d->path, strlen(d->path));
	for (size_t key = 0; key < WARD_QUOTA_KEYS_; key++)
		show_key(d, (enum ward_quota_key)key, now_ns, &b);
	ward_buf_putc(&b, '}');
	/* What follows the list is short. */
	if (ward_buf_error(&b) < 0 || ret->len + b.len + 192 > max)
		return false;
	ward_buf_add(ret, b.data, b.len);
	return true;
}

int ward_quotas_show(struct ward_quotas *q, uint64_t now_ns, size_t max, struct ward_buf *ret)
{
	unsigned long long shown = 0, more = 0;

	ward_buf_puts(ret, "{\"quotas\":[");
	pthread_mutex_lock(&q->lock);
	for (struct ward_quota_domain *d = q->domains; d; d = d->next) {
		bool limited = false;

		for (size_t key = 0; key < WARD_QUOTA_KEYS_; key++)
			limited = limited || d->limits[key].value != WARD_UNLIMITED;
		if (!limited)
			continue;
		if (show_domain(d, now_ns, max, shown == 0, ret))
			shown++;
		else
			more++;
	}
	if (q->staged.value != WARD_UNLIMITED)
		ward_buf_printf(ret,
			"%s{\"path\":\"review\",\"size\":{\"limit\":%llu,\"used\":%llu,\"refused\":%llu}}",
			shown ? "," : "", (unsigned long long)q->staged.value,
			(unsigned long long)q->staged_bytes, (unsigned long long)q->staged_refused);
	pthread_mutex_unlock(&q->lock);
	ward_buf_printf(ret, "],\"more\":%llu}", more);
	return ward_buf_error(ret);
}
