/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of the host: what "75%", "all-1" or "2d/cpu" comes to, and whose word a setting is. */
#include "enforcer/policy/internal.h"

#include <errno.h>
#include <string.h>

#include "enforcer/base/host_size.h"
#include "enforcer/base/quantity.h"

/* The number of an entry until its size is known: thousandths, or how many CPUs to leave out. */
#define SHARE (UINT64_C(1) << 63)
#define ALL_BUT (UINT64_C(1) << 40)
/* CPUs that "all-N" may leave to others. */
#define LEFT_MAX 4096
/* Where the host is not known, a share is one of the largest size: any size is less. */
#define CPUS_UNKNOWN UINT64_C(10000000)
/* A share of memory is rounded to whole megabytes, which people can read. */
#define MEMORY_STEP (UINT64_C(1) << 20)

int ward_share_size(const char *value, uint64_t *ret, struct ward_err *err)
{
	if (!strchr(value, '%'))
		return ward_quantity_size(value, ret, err);
	int r = ward_quantity_percent(value, ret, err);
	if (r == 0)
		*ret |= SHARE;
	return r;
}

int ward_share_cpus(const char *value, uint64_t *ret, struct ward_err *err)
{
	static const char all[] = "all-";
	uint64_t left = 0;
	if (strncmp(value, all, sizeof(all) - 1) == 0) {
		if (ward_quantity_whole(value + sizeof(all) - 1, 1, LEFT_MAX, &left, NULL) < 0)
			return ward_err_set(
				err, -EINVAL, "'%s': write all-1, up to all-%d", value, LEFT_MAX);
		*ret = SHARE | ALL_BUT | left;
		return 0;
	}
	if (!strchr(value, '%'))
		return ward_quantity_tenths(value, ret, err);
	int r = ward_quantity_percent(value, ret, err);
	if (r == 0)
		*ret |= SHARE;
	return r;
}

int ward_share_cpu_time(const char *value, uint64_t *ret, struct ward_err *err)
{
	static const char each[] = "/cpu";
	const unsigned forms = WARD_DURATION_BARE | WARD_DURATION_SEVERAL;
	char time[64];
	const size_t len = strlen(value), n = len - (sizeof(each) - 1);
	if (len < sizeof(each) || strcmp(value + n, each) != 0)
		return ward_quantity_duration(value, forms, ret, err);
	if (n >= sizeof(time))
		return ward_err_set(err, -EINVAL, "'%s': write a time as in 2d/cpu", value);
	memcpy(time, value, n);
	time[n] = '\0';
	int r = ward_quantity_duration(time, forms, ret, err);
	if (r == 0)
		*ret |= SHARE;
	return r;
}

/* Not more CPUs than the host has, and at least two if the host has two. */
static uint64_t all_but(uint64_t cpus, uint64_t left)
{
	const uint64_t least = cpus < 20 ? cpus : 20;
	return cpus > least + 10 * left ? cpus - 10 * left : least;
}

static uint64_t share_of_memory(uint64_t memory, uint64_t thousandths)
{
	uint64_t v = memory / 1000 * thousandths + memory % 1000 * thousandths / 1000;
	v -= v % MEMORY_STEP;
	return v ? v : MEMORY_STEP;
}

static uint64_t come_to(const struct ward_policy *p, const struct ward_entry *e)
{
	const uint64_t number = e->number & ~SHARE;
	uint64_t v = 0;
	if (e->key->type == WARD_KEY_TYPE_CPU_TIME)
		return __builtin_mul_overflow(number, p->host.cpus, &v) ||
				       v / 10 > WARD_QUANTITY_MAX
			       ? WARD_QUANTITY_MAX
			       : v / 10;
	if (e->key->type != WARD_KEY_TYPE_CPUS)
		return share_of_memory(p->host.memory, number);
	if (number & ALL_BUT)
		return all_but(p->host.cpus, number & ~ALL_BUT);
	v = p->host.cpus * number / 1000;
	return v ? v : 1;
}

/* --- the facts as a source --- */

int ward_host_text(const struct ward_host_size *s, struct ward_buf *b)
{
	ward_buf_printf(b, "memory %llu\ncpus %llu\n", (unsigned long long)s->memory,
		(unsigned long long)s->cpus);
	return ward_buf_error(b);
}

static bool take(const char **s, const char *word, uint64_t max, uint64_t *ret)
{
	const size_t n = strlen(word);
	if (strncmp(*s, word, n) != 0)
		return false;
	*s += n;
	return ward_quantity_digits(s, ret) && *ret > 0 && *ret <= max && *(*s)++ == '\n';
}

static int parse(const char *text, size_t len, struct ward_host_size *ret, struct ward_err *err)
{
	const char *s = text;
	struct ward_host_size h;
	if (strlen(text) != len || !take(&s, "memory ", WARD_QUANTITY_MAX, &h.memory) ||
		!take(&s, "cpus ", CPUS_UNKNOWN, &h.cpus) || *s)
		return ward_err_set(err, -EINVAL, "cannot read the size of the host");
	*ret = h;
	return 0;
}

/* --- what they come to --- */

int ward_shares_settle(struct ward_policy *p, struct ward_err *err)
{
	int r = 0;
	p->host = (struct ward_host_size){WARD_QUANTITY_MAX, CPUS_UNKNOWN};
	for (size_t i = 0; r == 0 && i < p->n_sources; i++) {
		const struct ward_source *s = &p->sources[i];
		if (s->kind != WARD_SOURCE_HOST)
			continue;
		p->host_known = true;
		r = parse(s->text, s->len, &p->host, err);
	}
	for (size_t i = 0; r == 0 && i < p->n_entries; i++) {
		struct ward_entry *e = &p->entries[i];
		const enum ward_key_type type = e->key->type;
		e->share = (type == WARD_KEY_TYPE_SIZE_SHARE || type == WARD_KEY_TYPE_CPUS ||
				   type == WARD_KEY_TYPE_CPU_TIME ||
				   type == WARD_KEY_TYPE_TREE_SOURCE) &&
			   e->number & SHARE && e->number != WARD_UNLIMITED;
		if (e->share)
			e->number = come_to(p, e);
	}
	return r;
}

void ward_shares_trim(struct ward_policy *p)
{
	const struct ward_entry *e = WARD_ENTRY(p, cpus);
	if (e && e->share && p->host_known && e->number >= p->host.cpus)
		p->settings.cpus = WARD_UNLIMITED;
}

/* --- whose word it is --- */

bool ward_policy_said(const struct ward_policy *p, size_t offset, struct ward_said *ret)
{
	const struct ward_entry *e = ward_entry_filling(p, offset);
	*ret = (struct ward_said){.number = WARD_UNLIMITED};
	if (!e)
		return false;
	*ret = (struct ward_said){.value = e->value,
		.file = e->file,
		.line = e->line,
		.number = e->number,
		.share = e->share,
		.shipped = true};
	for (size_t i = 0; i < p->n_entries; i++)
		if (p->entries[i].key == e->key && !p->entries[i].shipped)
			ret->shipped = false;
	return true;
}
