/* SPDX-License-Identifier: Apache-2.0 */
/* The view of modes that show the host: its root, entry by entry, so that trees can stand in it. */
#include "enforcer/sandbox/view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

static void add_entry(struct ward_view_list *w, const char *name, uint32_t layers)
{
	char path[300], target[4096];
	struct stat st;
	snprintf(path, sizeof(path), "/%s", name);
	if (lstat(path, &st) < 0)
		return; /* gone since it was listed */
	if (S_ISLNK(st.st_mode)) {
		ssize_t n = readlink(path, target, sizeof(target) - 1);
		if (n <= 0)
			return;
		target[n] = '\0';
		ward_view_add(w, WARD_BLUEPRINT_LINK, path, target, 0, 0);
	} else if (strcmp(name, "proc") == 0 && layers & WARD_LAYER_PID) {
		ward_view_add(w, WARD_BLUEPRINT_DIR, path, NULL, 0555, 0);
	} else if (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)) {
		ward_view_add(w, WARD_BLUEPRINT_HOST, path, path, 0, WARD_BLUEPRINT_OPTIONAL);
	}
}

int ward_view_host(uint32_t layers, struct ward_view_list *view, struct ward_err *err)
{
	const struct dirent *e = NULL;
	ward_cleanup_dir DIR *d = opendir("/");
	if (!d)
		return ward_err_sys(err, -errno, "list /");
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			add_entry(view, e->d_name, layers);
	return 0;
}
