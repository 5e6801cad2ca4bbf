/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/attack/trail_look.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* A trail of a run is no longer; a sandbox is started a few times at most. */
#define TRAIL_MAX ((size_t)64 << 20)
#define SESSIONS_MAX 16

struct ward_trail_look {
	json_t *paths; /* of all records */
	bool wrong, steers, intact;
};

/* What the command prints in ret. Its exit status, or -1. */
static int run(const char *const argv[], struct ward_buf *ret)
{
	ward_cleanup_fd int out = memfd_create("trail", MFD_CLOEXEC);
	int status;

	const pid_t pid = out < 0 ? -1 : fork();
	if (pid == 0) {
		const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(null, 0);
		dup2(out, 1);
		dup2(null, 2);
		execv(argv[0], (char **)(uintptr_t)argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	const int r = ward_fd_pread_all(out, TRAIL_MAX, ret);
	return r < 0 ? -1 : WEXITSTATUS(status);
}

static void take(struct ward_trail_look *t, char *line)
{
	static const char *const members[] = {"path", "path2"};
	json_t *o = json_loads(line, 0, NULL);

	t->wrong |= !json_is_object(o);
	for (size_t i = 0; i < 2; i++) {
		const char *path = json_string_value(json_object_get(o, members[i]));
		if (path)
			json_array_append_new(t->paths, json_string(path));
	}
	json_decref(o);
}

static bool read_one(struct ward_trail_look *t, const char *wardfs, const char *session)
{
	ward_cleanup(ward_buf_clear) struct ward_buf lines = WARD_BUF_INIT, text = WARD_BUF_INIT,
						     verdict = WARD_BUF_INIT;
	const char *const records[] = {wardfs, "audit", "show", "--json", session, NULL};
	const char *const people[] = {wardfs, "audit", "show", session, NULL};
	const char *const verify[] = {wardfs, "audit", "verify", session, NULL};

	if (run(records, &lines) != 0 || !lines.len)
		return false;
	t->steers |= run(people, &text) != 0 || (text.len && memchr(text.data, '\033', text.len));
	/* A session that ended in the middle has no end in its trail; that loses no record. */
	if (run(verify, &verdict) != 0) {
		ward_buf_putc(&verdict, '\0');
		t->intact &= !ward_buf_error(&verdict) && strstr(verdict.data, "incomplete");
	}
	ward_buf_putc(&lines, '\0');
	if (ward_buf_error(&lines))
		return false;
	char *rest;
	for (char *line = strtok_r(lines.data, "\n", &rest); line;
		line = strtok_r(NULL, "\n", &rest))
		take(t, line);
	return true;
}

struct ward_trail_look *ward_trail_read(const char *wardfs, const char *session)
{
	char name[64];
	struct ward_trail_look *t = calloc(1, sizeof(*t));
	bool any = false;

	if (!t)
		return NULL;
	t->paths = json_array();
	t->intact = true;
	for (int i = 1; i <= SESSIONS_MAX; i++) {
		snprintf(name, sizeof(name), i > 1 ? "%s.%d" : "%s", session, i);
		if (!read_one(t, wardfs, name))
			break;
		any = true;
	}
	if (any)
		return t;
	ward_trail_look_free(t);
	return NULL;
}

void ward_trail_look_free(struct ward_trail_look *t)
{
	if (!t)
		return;
	json_decref(t->paths);
	free(t);
}

bool ward_trail_names(const struct ward_trail_look *t, const char *end)
{
	const json_t *path;
	const size_t len = strlen(end);
	size_t i;

	json_array_foreach(t->paths, i, path)
	{
		const char *text = json_string_value(path);
		const size_t n = strlen(text);
		if (n >= len && strcmp(text + n - len, end) == 0)
			return true;
	}
	return false;
}

bool ward_trail_forged(const struct ward_trail_look *t, const char *path)
{
	const json_t *p;
	size_t i;

	json_array_foreach(t->paths, i, p) if (strcmp(json_string_value(p), path) == 0) return true;
	return t->wrong || t->steers;
}

bool ward_trail_intact(const struct ward_trail_look *t)
{
	return t->intact;
}
