/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/resume.h"

#include <errno.h>
#include <string.h>

#include "audit/chain.h"
#include "audit/lines.h"
#include "enforcer/base/cleanup.h"

static void take_line(
	struct ward_resume *res, const char *session, const struct ward_lines_line *text)
{
	struct ward_line l;
	uint8_t mac[WARD_MAC_BYTES];
	uint8_t leaf[WARD_HASH_BYTES];
	int64_t ring = -1;
	uint64_t pos = 0;
	res->seq++;
	res->bytes = text->offset + text->len + 1;
	res->ended = false;
	ward_merkle_leaf(text->p, text->len, leaf);
	ward_merkle_add(&res->tree, leaf);
	bool good = ward_line_parse(text->p, text->len, &l) == 0;
	if (good) {
		ward_chain_mac(res->key, res->prev, text->p, l.body_len, mac);
		/* The next record follows on what stands there, as verify will see it. */
		good = memcmp(mac, l.mac, sizeof(mac)) == 0 && l.seq == res->seq &&
		       ward_line_of(&l, session);
		memcpy(res->prev, l.mac, sizeof(res->prev));
	}
	ward_chain_ratchet(res->key);
	if (!good) {
		if (res->damaged == 0)
			res->damaged = res->seq;
		return;
	}
	res->ended = ward_line_is(&l, "session.end");
	res->refusals += ward_line_is(&l, "deny");
	if (ward_line_source(&l, &ring, &pos) == 0 && ring >= 0 && ring < WARD_RINGS_MAX)
		res->pos[ring] = pos;
}

int ward_resume_walk(int log_fd, const char *session, struct ward_resume *res, struct ward_err *err)
{
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	int r = ward_lines_open(&lines, log_fd, 0);
	if (r < 0)
		return ward_err_sys(err, r, "log");
	struct ward_lines_line text;
	while ((r = ward_lines_next(&lines, &text)) == 1) {
		if (text.whole)
			take_line(res, session, &text);
		else
			res->torn = text.offset + text.len - res->bytes;
	}
	return r < 0 ? ward_err_sys(err, r, "log") : 0;
}
