/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the policy files of a session with its records. */
#include "audit/verify/verify_policies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/query/policies.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* "policy.4294967295" and NUL. */
#define NAME_MAX_ 20

static void name_of(char ret[NAME_MAX_], unsigned n)
{
	if (n == 0)
		snprintf(ret, NAME_MAX_, "policy");
	else
		snprintf(ret, NAME_MAX_, "policy.%u", n);
}

int ward_policy_files_in(void *ctx, const char *name)
{
	const int *dir_fd = ctx;
	const int fd = ward_fd_open_regular(*dir_fd, name, O_RDONLY);
	return fd == -EINVAL || fd == -ELOOP ? -EFBIG : fd;
}

static int compare(const struct ward_policy_files *files, const char *name,
	const struct ward_buf *want, bool must, struct ward_verify_result *ret,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf have = WARD_BUF_INIT;
	ward_cleanup_fd int fd = files->open(files->ctx, name);
	if (fd == -ENOENT) {
		if (must)
			ward_verify_say(ret, WARD_VERIFY_DELETED, 0,
				"the file %s, a copy of what the records have, is missing", name);
		return 0;
	}
	/* A longer file, or one that is not regular, is another text. */
	int r = fd < 0 ? fd : ward_fd_read_all(fd, want->len, &have);
	if (r < 0 && r != -EFBIG)
		return ward_err_sys(err, r, "%s", name);
	if (r < 0 || have.len != want->len ||
		memcmp(ward_buf_str(&have), ward_buf_str(want), want->len) != 0)
		ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
			"the file %s is not the policy that the records have", name);
	return 0;
}

int ward_verify_policies(struct ward_log *log, const struct ward_policy_files *files,
	struct ward_verify_result *ret, struct ward_err *err)
{
	ward_cleanup(ward_policy_texts_clear) struct ward_policy_texts t = {0};
	char name[NAME_MAX_];
	unsigned n = 0;
	if (ret->state != WARD_VERIFY_INTACT && ret->state != WARD_VERIFY_GAP &&
		ret->state != WARD_VERIFY_INCOMPLETE)
		return 0;
	/* Without a reload the first records have all there is. */
	ward_cleanup_fd int reloaded = files->open(files->ctx, "policy.1");
	const bool first = reloaded == -ENOENT;
	int r = ward_policy_texts_read(log, first, &t, err);
	for (size_t i = 0; r == 0 && i < t.n; i++) {
		if (!t.v[i].loaded || !t.v[i].meaning.len)
			continue;
		name_of(name, n);
		r = compare(files, name, &t.v[i].sources, n == 0, ret, err);
		n++;
		if (ret->state == WARD_VERIFY_EDITED || ret->state == WARD_VERIFY_DELETED)
			break;
	}
	return r;
}
