/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/review/shares.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

struct share {
	void (*fn)(void *arg, unsigned share);
	void *arg;
	unsigned k;
	pthread_t thread;
	bool runs;
};

unsigned ward_shares_count(size_t n, size_t each, unsigned waiting)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const size_t most = cpus > (long)waiting ? (size_t)cpus : waiting;
	size_t shares = n / each + 1;
	shares = shares > most ? most : shares;
	return shares > WARD_SHARES_MAX ? WARD_SHARES_MAX : (unsigned)shares;
}

size_t ward_shares_at(size_t n, unsigned shares, unsigned k)
{
	return n * k / shares;
}

static void *run(void *arg)
{
	const struct share *s = arg;
	s->fn(s->arg, s->k);
	return NULL;
}

void ward_shares_run(unsigned shares, void (*fn)(void *arg, unsigned share), void *arg)
{
	struct share v[WARD_SHARES_MAX];
	for (unsigned k = 0; k < shares; k++) {
		v[k] = (struct share){.fn = fn, .arg = arg, .k = k};
		/* The last one is this thread's. */
		v[k].runs = k + 1 < shares && pthread_create(&v[k].thread, NULL, run, &v[k]) == 0;
		if (!v[k].runs)
			run(&v[k]);
	}
	for (unsigned k = 0; k < shares; k++)
		if (v[k].runs)
			pthread_join(v[k].thread, NULL);
}
