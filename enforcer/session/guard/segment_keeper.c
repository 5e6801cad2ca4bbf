/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the writer its next segment, and has finished ones compressed. */
#include "enforcer/session/guard/segment_keeper.h"

#include <errno.h>
#include <unistd.h>

#include "audit/log/segments.h"
#include "enforcer/base/cleanup.h"

/* The writer wants one. Without one it continues in the one it has. */
static void give_next(struct ward_guard *g)
{
	struct ward_msg m;
	unsigned number = g->store.segment + 1;
	if (g->next_fd < 0 && ward_segment_create(g->store.dir_fd, number, &g->next_fd) < 0)
		g->next_fd = -1;
	ward_msg_init(&m, WARD_MSG_AUDIT_SEGMENT);
	ward_msg_put_u32(&m, number);
	/* If it is gone the loop will see it. */
	(void)!ward_msg_send(g->audit.control, &m, &g->next_fd, g->next_fd >= 0);
	ward_msg_clear(&m);
}

/* From now on the next one is the one that is written. */
static void begun(struct ward_guard *g, unsigned number)
{
	if (g->next_fd < 0 || number != g->store.segment + 1)
		return;
	close(g->store.log_fd);
	g->store.log_fd = ward_steal_fd(&g->next_fd);
	g->store.segment = number;
}

bool ward_segments_message(struct ward_guard *g, struct ward_msg_reader *m)
{
	if (m->type == WARD_MSG_AUDIT_SEGMENT && ward_msg_done(m) == 0) {
		give_next(g);
		return true;
	}
	if (m->type == WARD_MSG_AUDIT_BEGUN) {
		unsigned number = ward_msg_get_u32(m);
		if (ward_msg_done(m) == 0)
			begun(g, number);
		ward_segments_tick(g);
		return true;
	}
	return false;
}

static int start_packer(struct ward_guard *g, int from, int to)
{
	struct ward_helper_fd fds[] = {{from, WARD_FD_AUDIT_LOG}, {to, WARD_FD_AUDIT_PACKED}};
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_CONFIG);
	ward_msg_put_str(&m, g->store.name);
	ward_msg_put_u32(&m, 0);
	ward_msg_put_u32(&m, WARD_AUDIT_PACK);
	ward_msg_put_str(&m, "");
	ward_msg_put_u32(&m, g->sync);
	for (int i = 0; i < 4; i++)
		ward_msg_put_u64(&m, 0);
	int r = ward_helper_prepare("wardfs-audit", &g->packer, NULL);
	if (r == 0)
		r = ward_helper_start(&g->packer, fds, 2, &m, NULL);
	ward_msg_clear(&m);
	if (r < 0)
		ward_helper_close(&g->packer);
	return r;
}

static void end_packer(struct ward_guard *g, int status)
{
	unsigned number = g->packed + 1;
	ward_helper_close(&g->packer);
	/* It synced what it wrote. A full disk, or whatever else: the plain one stays. */
	if (status != 0 || ward_segment_pack_end(g->store.dir_fd, number) < 0)
		ward_segment_pack_drop(g->store.dir_fd, number);
	close(g->packing_fd);
	g->packing_fd = -1;
	g->packed = number;
}

void ward_segments_tick(struct ward_guard *g)
{
	if (g->packer.pid > 0) {
		int status = ward_helper_reap(&g->packer, 0, false);
		if (status == -ETIMEDOUT)
			return;
		end_packer(g, status);
	}
	while (g->packer.pid <= 0 && g->packed + 1 < g->store.segment) {
		ward_cleanup_fd int from = -1;
		int r = ward_segment_pack_begin(
			g->store.dir_fd, g->packed + 1, &from, &g->packing_fd);
		if (r == 0)
			r = start_packer(g, from, g->packing_fd);
		if (r == 0)
			return;
		if (g->packing_fd >= 0) {
			ward_segment_pack_drop(g->store.dir_fd, g->packed + 1);
			close(g->packing_fd);
			g->packing_fd = -1;
		}
		g->packed++;
	}
}

void ward_segments_end(struct ward_guard *g)
{
	if (g->packer.pid > 0)
		end_packer(g, ward_helper_reap(&g->packer, 0, true));
	if (g->next_fd < 0)
		return;
	/* It was made, and the writer ended before it began it. */
	ward_segment_unused(g->store.dir_fd, g->store.segment + 1);
	close(g->next_fd);
	g->next_fd = -1;
}
