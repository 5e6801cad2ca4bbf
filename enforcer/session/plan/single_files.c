/* SPDX-License-Identifier: Apache-2.0 */
/* Which files are served singly, and the backing that they are served from. */
#include "enforcer/session/plan/single_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/patient.h"
#include "enforcer/policy/explain.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/plan/shown.h"
#include "enforcer/session/tree/mounted_files.h"

static bool is_single(const char *path)
{
	struct stat st;
	return ward_patient_reach(path, NULL) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int ward_single_files_grant(const struct ward_run_plan *p, const struct ward_policy *policy,
	struct ward_buf *b, struct ward_err *err)
{
	const struct ward_strings *all = &ward_policy_settings(policy)->system_read;
	for (size_t i = 0; i < all->n; i++) {
		ward_cleanup_free char *path = NULL;
		if (ward_policy_shows_shipped(policy, i) || (all->v[i][0] == '~' && !p->id.home))
			continue;
		int r = ward_shown_path(all->v[i], p->id.home, p->project.path, &path, err);
		if (r < 0)
			return ward_err_wrap(err, "[system] read");
		if (!is_single(path))
			continue;
		ward_buf_puts(b, "[files]\nread = ");
		ward_pattern_quote(b, path, strlen(path));
		ward_buf_putc(b, '\n');
	}
	return ward_buf_error(b) < 0 ? ward_err_sys(err, -ENOMEM, "[system] read") : 0;
}

bool ward_single_file(const struct ward_run_plan *p, size_t i)
{
	return p->shown[i].named && p->shown[i].type == S_IFREG &&
	       p->mode->layers & WARD_LAYER_VIEW;
}

/* wardfs-fs tells files of one tree apart by inode number and time of birth. */
int ward_single_files_open(struct ward_run_plan *p, struct ward_err *err)
{
	ward_cleanup_free struct ward_mounted_file *v =
		calloc(p->n_reads + 1, sizeof(struct ward_mounted_file));
	size_t n = 0;
	if (!v)
		return ward_err_sys(err, -ENOMEM, "[system] read");
	for (size_t i = 0; i < p->n_reads; i++)
		if (ward_single_file(p, i))
			v[n++] = (struct ward_mounted_file){.at = p->reads[i],
				.host = p->shown[i].real,
				.dev = p->shown[i].dev,
				.ino = p->shown[i].ino};
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (v[i].ino == v[k].ino && v[i].dev != v[k].dev)
				return ward_err_set(err, -EINVAL,
					"one session cannot show both %s and %s: they have the same inode number on two file systems",
					v[k].at, v[i].at);
	return n ? ward_mounted_files(&p->id, v, n, &p->single_files, err) : 0;
}
