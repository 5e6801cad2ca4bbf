/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up hosts where anyone can write. */
#include "enforcer/policy/open_hosts.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "conf/embedded.h"

bool ward_open_host_name(const char *destination, char buf[256])
{
	bool bracket = *destination == '[';
	size_t n = strcspn(destination + bracket, bracket ? "]" : ":/");
	/* an IPv6 address without brackets */
	if (!bracket && strchr(destination, ':') != strrchr(destination, ':'))
		n = strcspn(destination, "/");
	if (n >= 256)
		return false;
	memcpy(buf, destination + bracket, n);
	buf[n] = 0;
	return true;
}

static const char *list_text(void)
{
	for (size_t i = 0; ward_embedded_lists[i].name; i++)
		if (strcmp(ward_embedded_lists[i].name, "open-hosts") == 0)
			return ward_embedded_lists[i].data;
	return "";
}

enum ward_open_host ward_open_host(const char *destination)
{
	char host[256];
	if (!ward_open_host_name(destination, host))
		return WARD_HOST_CLOSED;
	for (const char *line = list_text(); *line;) {
		char class[8];
		char pattern[64];
		/* sscanf() would go on to the next line */
		bool empty = *line == '\n' || *line == '#';
		if (!empty && sscanf(line, "%7s %63s", class, pattern) == 2 &&
			fnmatch(pattern, host, FNM_CASEFOLD) == 0)
			return strcmp(class, "drop") == 0 ? WARD_HOST_DROP : WARD_HOST_CODE;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return WARD_HOST_CLOSED;
}
