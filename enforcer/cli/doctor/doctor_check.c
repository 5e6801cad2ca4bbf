/* SPDX-License-Identifier: Apache-2.0 */
/* A line of the report: filled in, and tried in a child where it could spoil this process. */
#include "enforcer/cli/doctor/doctor_check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void ward_check_say(
	struct ward_check *c, enum ward_check_status status, const char *fix, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(c->tried, sizeof(c->tried), fmt, ap);
	va_end(ap);
	c->status = status;
	c->fix = status == WARD_CHECK_OK ? NULL : fix;
}

int ward_check_in_child(int (*fn)(void))
{
	int status = 0;
	pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		/* A supervisor is not dumpable, and the files in /proc of such a process are
		 * root's: its id maps could not be written, whatever the host allows. */
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
		_exit(-fn());
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}
