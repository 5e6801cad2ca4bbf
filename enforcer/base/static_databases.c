/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a program that links libc statically looks for users, groups and hosts. /etc/nsswitch.conf
 * may name libraries of the host's libc, which no other libc can load. So such a program reads the
 * files (and for hosts also asks the servers of resolv.conf), whatever that file says.
 */
#include <nss.h>
#include <stdlib.h>

__attribute__((constructor)) static void look_into_files(void)
{
	static const char *const databases[] = {"passwd", "group", "services"};
	for (size_t i = 0; i < sizeof(databases) / sizeof(*databases); i++)
		if (__nss_configure_lookup(databases[i], "files") < 0)
			abort();
	if (__nss_configure_lookup("hosts", "files dns") < 0)
		abort();
}
