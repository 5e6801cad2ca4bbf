/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a process for people. */
#include "enforcer/session/ask/asker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/control/control.h"

/* Of a command line; what is behind it is left out. */
#define LINE_MAX_BYTES 2048

static ssize_t read_of(pid_t pid, const char *what, char *buf, size_t size)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

/* proc_pid_stat(5): the name may hold anything, so from its last parenthesis on. 0: not known. */
static pid_t parent_of(pid_t pid)
{
	char text[512];
	if (read_of(pid, "stat", text, sizeof(text)) <= 0)
		return 0;
	const char *at = strrchr(text, ')');
	return at && strlen(at) > 4 ? (pid_t)strtol(at + 4, NULL, 10) : 0;
}

bool ward_asker_name(pid_t pid, char ret[WARD_ASKER_NAME_MAX])
{
	if (read_of(pid, "comm", ret, WARD_ASKER_NAME_MAX) <= 0)
		return false;
	ret[strcspn(ret, "\n")] = '\0';
	return true;
}

static void add_ancestors(json_t *o, pid_t pid, pid_t top)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < WARD_ASKER_ANCESTORS; i++) {
		char name[WARD_ASKER_NAME_MAX], text[WARD_ASKER_NAME_MAX + 16];
		pid = parent_of(pid);
		if (pid <= 1 || pid == top || !ward_asker_name(pid, name))
			break;
		(void)snprintf(text, sizeof(text), "%s (%d)", name, (int)pid);
		json_array_append_new(list, ward_control_text(text));
	}
	json_object_set_new(o, "ancestors", list);
}

/* In the child. */
static void tell_line(pid_t pid, int to)
{
	char line[LINE_MAX_BYTES];
	const ssize_t n = read_of(pid, "cmdline", line, sizeof(line));
	_exit(n > 0 && write(to, line, (size_t)n) == n ? 0 : 1);
}

/* What the child says, in time. */
static ssize_t hear(int from, char *line, size_t size)
{
	struct pollfd p = {.fd = from, .events = POLLIN};
	return poll(&p, 1, WARD_ASKER_MS) > 0 ? read(from, line, size - 1) : -1;
}

static void add_line(json_t *o, pid_t pid)
{
	int pipes[2];
	char line[LINE_MAX_BYTES];
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return;
	const pid_t child = fork();
	if (child == 0)
		tell_line(pid, pipes[1]);
	close(pipes[1]);
	const ssize_t n = child > 0 ? hear(pipes[0], line, sizeof(line)) : -1;
	close(pipes[0]);
	if (child > 0) {
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
	}
	if (n <= 0)
		return;
	line[n] = '\0';
	json_t *list = json_array();
	for (ssize_t i = 0; i < n; i += (ssize_t)strlen(line + i) + 1)
		json_array_append_new(list, ward_control_text(line + i));
	json_object_set_new(o, "argv", list);
}

void ward_asker_add(json_t *o, pid_t pid, pid_t top, bool line)
{
	char name[WARD_ASKER_NAME_MAX], path[64], exe[1024];
	if (pid <= 0)
		return;
	json_object_set_new(o, "pid", json_integer(pid));
	if (ward_asker_name(pid, name))
		json_object_set_new(o, "program", ward_control_text(name));
	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	const ssize_t n = readlink(path, exe, sizeof(exe) - 1);
	if (n > 0) {
		exe[n] = '\0';
		json_object_set_new(o, "exe", ward_control_text(exe));
	}
	add_ancestors(o, pid, top);
	if (line)
		add_line(o, pid);
}
