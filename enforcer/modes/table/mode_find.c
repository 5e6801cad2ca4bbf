/* SPDX-License-Identifier: Apache-2.0 */
/* Looking things up in the table of modes. */
#include "enforcer/modes/table/mode.h"

#include <stdio.h>
#include <string.h>

static const char *const guarantees[WARD_GUARANTEES] = {[WARD_GUARANTEE_FILES] = "files",
	[WARD_GUARANTEE_PROCESSES] = "processes",
	[WARD_GUARANTEE_NETWORK] = "network",
	[WARD_GUARANTEE_SYSCALLS] = "syscalls",
	[WARD_GUARANTEE_PRIVILEGES] = "privileges",
	[WARD_GUARANTEE_END] = "end",
	[WARD_GUARANTEE_INTEGRITY] = "integrity",
	[WARD_GUARANTEE_CPUS] = "limit-cpus",
	[WARD_GUARANTEE_MEMORY] = "limit-memory",
	[WARD_GUARANTEE_NPROC] = "limit-processes",
	[WARD_GUARANTEE_OPEN_FILES] = "limit-open-files",
	[WARD_GUARANTEE_FILE] = "limit-file",
	[WARD_GUARANTEE_CORE] = "limit-core",
	[WARD_GUARANTEE_TMP] = "limit-tmp",
	[WARD_GUARANTEE_CPU_TIME] = "limit-cpu-time",
	[WARD_GUARANTEE_WALL] = "limit-wall",
	[WARD_GUARANTEE_IDLE] = "limit-idle"};

const char *ward_guarantee_name(enum ward_guarantee g)
{
	return g < WARD_GUARANTEES ? guarantees[g] : "?";
}

enum ward_guarantee ward_guarantee_find(const char *name)
{
	for (unsigned i = 0; i < WARD_GUARANTEES; i++)
		if (strcmp(guarantees[i], name) == 0)
			return (enum ward_guarantee)i;
	return WARD_GUARANTEES;
}

const struct ward_mode *ward_mode_find(const char *word)
{
	for (const struct ward_mode *m = ward_modes; m->word; m++)
		if (strcmp(m->word, word) == 0 || (m->old && strcmp(m->old, word) == 0))
			return m;
	return NULL;
}

const struct ward_mode *ward_mode_at(uint64_t i)
{
	const struct ward_mode *m = ward_modes;
	for (; m->word && i > 0; i--)
		m++;
	return m;
}

static bool listed(const struct ward_mode *m, bool ready_alone)
{
	return m->ready || !ready_alone;
}

void ward_mode_list(bool ready_alone, const char *last_separator, char *ret, size_t size)
{
	size_t all = 0, left = 0, n = 0;
	for (; ward_modes[all].word; all++)
		left += listed(&ward_modes[all], ready_alone);
	ret[0] = '\0';
	for (int picks = 0; picks < 2; picks++)
		for (size_t i = all; i-- > 0 && n < size;) {
			const struct ward_mode *m = &ward_modes[i];
			if (!listed(m, ready_alone) || (m->strictness == 0) != picks)
				continue;
			left--;
			const char *before = n == 0 ? "" : left ? ", " : last_separator;
			n += (size_t)snprintf(ret + n, size - n, "%s%s", before, m->word);
		}
}
