/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/attack/facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct fact {
	const char *key;
	size_t at;
	bool number;
} facts[] = {
#define TEXT(name)                                                                                 \
	{                                                                                          \
#name, offsetof(struct ward_facts, name), false                                    \
	}
#define NUMBER(name)                                                                               \
	{                                                                                          \
#name, offsetof(struct ward_facts, name), true                                     \
	}
	TEXT(token),
	TEXT(work),
	TEXT(outside),
	TEXT(home),
	TEXT(secret),
	TEXT(hidden),
	TEXT(socket),
	TEXT(abstract),
	TEXT(queue),
	TEXT(shared),
	TEXT(address),
	TEXT(handle),
	TEXT(terminal),
	TEXT(runtime),
	NUMBER(tcp),
	NUMBER(udp),
	NUMBER(segment),
	NUMBER(victim),
	NUMBER(memory),
	NUMBER(file),
	NUMBER(own),
};
#define N_FACTS (sizeof(facts) / sizeof(*facts))

int ward_facts_write(const struct ward_facts *f, FILE *out)
{
	for (size_t i = 0; i < N_FACTS; i++) {
		const void *at = (const char *)f + facts[i].at;
		char *const *text = at;
		const uint64_t *number = at;
		if (facts[i].number && *number)
			fprintf(out, "%s=%" PRIu64 "\n", facts[i].key, *number);
		else if (!facts[i].number && *text)
			fprintf(out, "%s=%s\n", facts[i].key, *text);
	}
	return fflush(out) == 0 && !ferror(out) ? 0 : -1;
}

static bool set(struct ward_facts *f, const char *key, size_t len, const char *value)
{
	for (size_t i = 0; i < N_FACTS; i++) {
		void *at = (char *)f + facts[i].at;
		if (strlen(facts[i].key) != len || memcmp(facts[i].key, key, len) != 0)
			continue;
		if (facts[i].number) {
			char *end;
			errno = 0;
			*(uint64_t *)at = strtoull(value, &end, 0);
			return errno == 0 && end != value && !*end;
		}
		char *copy = strdup(value);
		free(*(char **)at);
		*(char **)at = copy;
		return copy != NULL;
	}
	return false;
}

int ward_facts_read(struct ward_facts *f, FILE *in)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	int number = 0, wrong = 0;

	while (!wrong && (n = getline(&line, &size, in)) >= 0) {
		number++;
		if (n && line[n - 1] == '\n')
			line[--n] = '\0';
		if (!n || *line == '#' || *line == ';')
			continue;
		char *eq = strchr(line, '=');
		if (!eq || !set(f, line, (size_t)(eq - line), eq + 1))
			wrong = number;
	}
	free(line);
	return wrong;
}

void ward_facts_clear(struct ward_facts *f)
{
	for (size_t i = 0; i < N_FACTS; i++)
		if (!facts[i].number)
			free(*(char **)((char *)f + facts[i].at));
	*f = (struct ward_facts){0};
}
