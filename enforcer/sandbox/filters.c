/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the compiled filters of system calls, and explains what one says to a call. */
#include "enforcer/sandbox/filters.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "conf/embedded.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/filter_table.h"

/* As conf/seccomp allows: filter.c refuses what is longer, deeper or of more conditions. */
#define LINE_MAX_BYTES 512
#define DEPTH_MAX 4

const char *ward_seccomp_name(enum ward_seccomp s)
{
	switch (s) {
	case WARD_SECCOMP_NO_EXEC:
		break;
	case WARD_SECCOMP_STRICT:
		return "strict";
	case WARD_SECCOMP_DEFAULT:
		return "default";
	}
	return "no-exec";
}

static const struct ward_embedded *find(const struct ward_embedded *table, const char *name)
{
	for (const struct ward_embedded *e = table; e->name; e++)
		if (strcmp(e->name, name) == 0)
			return e;
	return NULL;
}

static struct ward_seccomp_filter compiled(const char *name)
{
	const struct ward_embedded *e = find(ward_filter_table, name);
	/* The table is made from the same lists: a gap would be a mistake in building it. */
	if (!e || e->len == 0)
		abort();
	return (struct ward_seccomp_filter){e->data, e->len};
}

struct ward_seccomp_filter ward_seccomp_command(enum ward_seccomp s)
{
	return compiled(ward_seccomp_name(s));
}

struct ward_seccomp_filter ward_seccomp_init(void)
{
	return compiled("init");
}

struct ward_seccomp_filter ward_seccomp_replay(void)
{
	return compiled("replay");
}

struct ward_seccomp_filter ward_seccomp_execs(void)
{
	static const struct sock_filter execs[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)};
	return (struct ward_seccomp_filter){execs, sizeof(execs)};
}

/* --- explaining --- */

static const char *answer(const char *action)
{
	if (strcmp(action, "allow") == 0)
		return "allowed";
	if (strcmp(action, "deny") == 0)
		return "EPERM";
	if (strncmp(action, "deny:", 5) == 0)
		return action + 5;
	if (strcmp(action, "skip") == 0)
		return "answers 0, without being made";
	if (strcmp(action, "kill") == 0)
		return "the process is killed";
	return "allowed once, to start the command; then ENOSYS";
}

/* "a1&0xf==3" as "argument 2 & 0xf is 3": people count from one. */
static void put_condition(struct ward_buf *b, const char *s, bool first)
{
	const char *value = strstr(s, "==") ? strstr(s, "==") : strstr(s, "!=");
	if (!value || s[0] != 'a')
		return;
	const char *mask = memchr(s, '&', (size_t)(value - s));
	ward_buf_printf(b, "%s argument %d", first ? "if" : " and", s[1] - '0' + 1);
	if (mask)
		ward_buf_printf(b, " & %.*s", (int)(value - mask - 1), mask + 1);
	ward_buf_printf(b, " %s %s", value[0] == '=' ? "is" : "is not", value + 2);
}

/* One line of a list, if it is about this name. Returns whether it was. */
static bool put_line(struct ward_buf *b, char *line, const char *name, const char *place)
{
	char *save = NULL;
	char *reason = strchr(line, '#');
	if (reason)
		*reason++ = '\0';
	char *own = strtok_r(line, " \t", &save);
	char *action = strtok_r(NULL, " \t", &save);
	if (!own || !action)
		return false;
	size_t n = strcspn(own, "=");
	if (n != strlen(name) || strncmp(own, name, n) != 0)
		return false;
	ward_buf_printf(b, "%s\t", answer(action));
	bool first = true;
	for (char *s = strtok_r(NULL, " \t", &save); s; s = strtok_r(NULL, " \t", &save)) {
		put_condition(b, s, first);
		first = false;
	}
	ward_buf_printf(b, "\t%s\t%s\n", reason ? reason + strspn(reason, " ") : "", place);
	return true;
}

static int explain(const char *list, const char *name, unsigned depth, struct ward_buf *b)
{
	const struct ward_embedded *e = find(ward_embedded_seccomp, list);
	const char *inner = NULL;
	char inner_name[32] = "";
	bool found = false;
	unsigned number = 0;
	for (const char *p = e ? e->data : ""; *p;) {
		char line[LINE_MAX_BYTES], place[64];
		size_t n = strcspn(p, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)n, p);
		snprintf(place, sizeof(place), "%s.list:%u", list, ++number);
		if (sscanf(line, "include %31s", inner_name) == 1)
			inner = inner_name;
		else
			found |= put_line(b, line, name, place);
		p += n + (p[n] == '\n');
	}
	if (!found && inner && depth < DEPTH_MAX)
		return explain(inner, name, depth + 1, b);
	return found;
}

int ward_seccomp_explain(enum ward_seccomp s, const char *name, struct ward_buf *ret_lines)
{
	int r = explain(ward_seccomp_name(s), name, 0, ret_lines);
	return ward_buf_error(ret_lines) ? ward_buf_error(ret_lines) : r;
}
