/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into wardfs: runs the command AT_RUN once, before the first call of renameat2, linkat
 * or unlinkat (AT_CALL) of a name AT_NAME. So a test can change the project between a look and a
 * change.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void look(const char *call, const char *name)
{
	static int done, met;
	const char *want = getenv("AT_CALL"), *at = getenv("AT_NAME"), *run = getenv("AT_RUN");
	const char *times = getenv("AT_TIME");
	if (done || !want || !at || !run || strcmp(want, call) != 0 || strcmp(at, name) != 0)
		return;
	if (times && ++met < atoi(times))
		return;
	done = 1;
	unsetenv("LD_PRELOAD");
	if (system(run) != 0)
		abort();
}

long syscall(long number, ...)
{
	static long (*next)(long, long, long, long, long, long, long);
	va_list args;
	long a[6];
	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_renameat2)
		look("renameat2", (const char *)a[1]);
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int linkat(int dir, const char *from, int dir2, const char *to, int flags)
{
	static int (*next)(int, const char *, int, const char *, int);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "linkat");
	look("linkat", from);
	return next(dir, from, dir2, to, flags);
}

int unlinkat(int dir, const char *name, int flags)
{
	static int (*next)(int, const char *, int);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "unlinkat");
	look("unlinkat", name);
	return next(dir, name, flags);
}
