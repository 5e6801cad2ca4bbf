/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds how many records the connections to a published port make. */
#include "enforcer/net/entry/tally.h"

bool ward_tally_alone(struct ward_tally *t, uint64_t now_ns)
{
	const uint64_t back = (now_ns - t->refill_ns) / WARD_TALLY_REFILL_NS;
	if (back >= t->used) {
		/* Quiet for long enough: what comes now is another burst. */
		t->used = 0;
		t->refill_ns = now_ns;
		t->length_ns = 0;
	} else {
		t->used -= back;
		t->refill_ns += back * WARD_TALLY_REFILL_NS;
	}
	if (t->used >= WARD_TALLY_BURST)
		return false;
	t->used++;
	return true;
}

bool ward_tally_open(struct ward_tally *t, uint64_t now_ns, uint64_t *ret_ns)
{
	if (t->opened_ns)
		return false;
	t->opened_ns = now_ns;
	t->length_ns = t->length_ns ? 2 * t->length_ns : WARD_TALLY_FIRST_NS;
	if (t->length_ns > WARD_TALLY_LONGEST_NS)
		t->length_ns = WARD_TALLY_LONGEST_NS;
	*ret_ns = t->length_ns;
	return true;
}

bool ward_tally_close(struct ward_tally *t, struct ward_tally *ret)
{
	const struct ward_tally was = *t;
	t->opened_ns = 0;
	t->connections = t->failed = t->sent = t->received = 0;
	if (!was.opened_ns || !(was.connections || was.sent || was.received))
		return false;
	*ret = was;
	return true;
}
