/* SPDX-License-Identifier: Apache-2.0 */
/* Signs the checkpoints of a session when they are due, and writes them. */
#include "audit/write/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "enforcer/base/zeros.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"

int ward_checkpoints_resume(struct ward_checkpoints *c)
{
	struct ward_checkpoint_list l = {0};
	int r = ward_checkpoint_list_read(c->fd, &l);
	if (r < 0)
		return r;
	c->number = l.n > 0 ? l.v[l.n - 1].number : 0;
	c->at_ns = ward_clock_mono_ns();
	/* A crash leaves at most a piece of one note, and zeros. verify reports anything more. */
	if (l.torn && ftruncate(c->fd, (off_t)(l.text.len - l.rest)) < 0)
		r = -errno;
	ward_checkpoint_list_clear(&l);
	return r;
}

void ward_checkpoints_sign(struct ward_checkpoints *c, enum ward_checkpoint_state state)
{
	struct ward_checkpoint note = {.size = c->tree.n, .number = ++c->number, .state = state};
	snprintf(note.session, sizeof(note.session), "%s", c->session);
	ward_merkle_root(&c->tree, note.root);
	size_t from = c->owed.len;
	ward_checkpoint_sign(&c->owed, &note, &c->key);
	/* Without memory the flush that follows says so. */
	snprintf(c->last, sizeof(c->last), "%s",
		ward_buf_error(&c->owed) < 0 ? "" : c->owed.data + from);
	c->at = c->tree.n;
}

void ward_checkpoints_add(struct ward_checkpoints *c, const char *line, size_t len)
{
	uint8_t leaf[WARD_HASH_BYTES];
	ward_merkle_leaf(line, len, leaf);
	ward_merkle_add(&c->tree, leaf);
	if (c->tree.n - c->at >= c->every)
		ward_checkpoints_sign(c, WARD_CHECKPOINT_OPEN);
}

uint64_t ward_checkpoints_due_ns(const struct ward_checkpoints *c, uint64_t now_ns)
{
	uint64_t since = now_ns - c->at_ns;
	if (c->tree.n == c->at && c->owed.len == 0)
		return UINT64_MAX;
	return since >= c->every_ns ? 0 : c->every_ns - since;
}

int ward_checkpoints_flush(struct ward_checkpoints *c)
{
	int r = ward_buf_error(&c->owed);
	if (r < 0)
		return r;
	while (c->written < c->owed.len) {
		ssize_t n = write(c->fd, c->owed.data + c->written, c->owed.len - c->written);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		c->written += (size_t)n;
	}
	if (c->owed.len > 0)
		c->at_ns = ward_clock_mono_ns();
	c->owed.len = 0;
	c->written = 0;
	return 0;
}

void ward_checkpoints_clear(struct ward_checkpoints *c)
{
	ward_buf_clear(&c->owed);
	ward_chain_wipe(&c->key, sizeof(c->key));
}

/* --- reading --- */

int ward_checkpoint_list_read(int fd, struct ward_checkpoint_list *ret)
{
	struct ward_checkpoint_list l = {.text = {.max = WARD_CHECKPOINTS_MAX + 1}};
	size_t cap = 0;
	int r = lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0;
	if (r == 0)
		r = ward_fd_read_all(fd, WARD_CHECKPOINTS_MAX, &l.text);
	l.rest = l.text.len;
	const size_t zeros = l.text.len - ward_before_zeros(l.text.data, l.text.len);
	l.torn = zeros > 0;
	while (r == 0 && l.rest > zeros) {
		size_t at = l.text.len - l.rest;
		struct ward_checkpoint c;
		int bad = ward_checkpoint_parse(l.text.data + at, l.rest - zeros, &c);
		if (bad < 0) {
			l.torn = bad == -ENODATA;
			break;
		}
		if (l.n == cap) {
			cap = cap ? 2 * cap : 16;
			struct ward_checkpoint *v = reallocarray(l.v, cap, sizeof(*v));
			l.v = v ? v : l.v;
			size_t *offset = reallocarray(l.offset, cap, sizeof(*offset));
			l.offset = offset ? offset : l.offset;
			if (!v || !offset)
				r = -ENOMEM;
		}
		if (r == 0) {
			l.v[l.n] = c;
			l.offset[l.n++] = at;
			l.rest -= c.len;
		}
	}
	if (r < 0) {
		ward_checkpoint_list_clear(&l);
		return r;
	}
	*ret = l;
	return 0;
}

void ward_checkpoint_list_clear(struct ward_checkpoint_list *l)
{
	ward_buf_clear(&l->text);
	free(l->v);
	free(l->offset);
	*l = (struct ward_checkpoint_list){0};
}
