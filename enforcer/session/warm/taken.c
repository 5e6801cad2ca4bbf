/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads what a take carries. */
#include "enforcer/session/warm/taken.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/msg.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static void clear_list(struct ward_warm_strings *l)
{
	for (size_t i = 0; l->v && i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct ward_warm_strings){NULL, 0};
}

void ward_warm_taken_clear(struct ward_warm_taken *t)
{
	clear_list(&t->argv);
	clear_list(&t->envp);
	clear_list(&t->env);
	clear_list(&t->labels);
	free(t->cwd);
	*t = (struct ward_warm_taken){.cwd = NULL};
}

static void put_list(struct ward_msg *m, const struct ward_warm_strings *l)
{
	ward_msg_put_u32(m, (uint32_t)l->n);
	for (size_t i = 0; i < l->n; i++)
		ward_msg_put_str(m, l->v[i]);
}

int ward_warm_taken_encode(const struct ward_warm_taken *t, int *ret_fd, struct ward_err *err)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_WARM_TAKEN);
	put_list(&m, &t->argv);
	put_list(&m, &t->envp);
	put_list(&m, &t->env);
	put_list(&m, &t->labels);
	ward_msg_put_str(&m, t->cwd);
	int r = ward_buf_error(&m.buf);
	if (r == 0 && m.buf.len > WARD_WARM_TAKEN_MAX)
		r = -E2BIG;
	return r < 0 ? ward_err_sys(err, r, "the command")
		     : ward_fd_sealed("wardfs-take", m.buf.data, m.buf.len, ret_fd, err);
}

static int get_list(struct ward_msg_reader *m, struct ward_warm_strings *ret)
{
	const uint32_t n = ward_msg_get_u32(m);
	if (n > WARD_WARM_STRINGS_MAX || n > m->left)
		return -EBADMSG;
	ret->v = calloc((size_t)n + 1, sizeof(*ret->v));
	if (!ret->v)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		ret->v[i] = ward_msg_get_str(m);
		if (!ret->v[i])
			return -EBADMSG;
		ret->n++;
	}
	return 0;
}

/* Every entry has a name and a value. */
static bool are_settings(const struct ward_warm_strings *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i][0] == '=' || !strchr(l->v[i], '='))
			return false;
	return true;
}

static int decode(const void *data, size_t len, struct ward_warm_taken *t)
{
	struct ward_msg_reader m;
	ward_msg_reader_init(&m, data, len);
	int r = m.type == WARD_WARM_TAKEN ? get_list(&m, &t->argv) : -EBADMSG;
	if (r == 0)
		r = get_list(&m, &t->envp);
	if (r == 0)
		r = get_list(&m, &t->env);
	if (r == 0)
		r = get_list(&m, &t->labels);
	if (r == 0 && !(t->cwd = ward_msg_get_str(&m)))
		r = -EBADMSG;
	if (r == 0)
		r = ward_msg_done(&m);
	if (r == 0 && (t->argv.n == 0 || !t->argv.v[0][0] || t->cwd[0] != '/' ||
			      !are_settings(&t->envp) || !are_settings(&t->labels)))
		r = -EBADMSG;
	return r;
}

int ward_warm_taken_decode(int fd, struct ward_warm_taken *ret, struct ward_err *err)
{
	struct stat st;
	const int seals = fcntl(fd, F_GET_SEALS);
	int r = -EBADMSG;
	*ret = (struct ward_warm_taken){.cwd = NULL};
	/* What can still be changed, or cut, is not read. */
	if (seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &st) == 0 && st.st_size > 0 &&
		(size_t)st.st_size <= WARD_WARM_TAKEN_MAX) {
		void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		r = data == MAP_FAILED ? -errno : decode(data, (size_t)st.st_size, ret);
		if (data != MAP_FAILED)
			munmap(data, (size_t)st.st_size);
	}
	if (r < 0)
		ward_warm_taken_clear(ret);
	return r < 0 ? ward_err_sys(err, r, "what a run asks a prepared session for") : 0;
}
