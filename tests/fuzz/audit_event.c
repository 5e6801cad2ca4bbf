/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an event: decoded whole or refused; what is decoded becomes one line that parses. */
#include <stdlib.h>
#include <string.h>

#include "audit/event.h"
#include "audit/log/chain.h"
#include "audit/write/encode.h"
#include "enforcer/base/cleanup.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ward_event ev;
	struct ward_event_fields fields;
	static const uint8_t key[WARD_KEY_BYTES] = {7};
	uint8_t prev[WARD_MAC_BYTES] = {0};
	if (size > sizeof(ev) || ward_chain_setup() < 0)
		return 0;
	memcpy(&ev, data, size);
	if (ward_event_decode(&ev, size, &fields) < 0)
		return 0;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	struct ward_record_place place = {.seq = 1, .session = "fuzz", .ring = 1, .pos = size};
	ward_encode_record(&b, &place, &ev.head, &fields);
	ward_chain_seal(key, prev, &b, 0);
	struct ward_line l;
	int64_t ring = 0;
	uint64_t pos = 0;
	fuzz_insist(ward_buf_error(&b) == 0);
	fuzz_insist(memchr(b.data, '\n', b.len) == b.data + b.len - 1);
	fuzz_insist(b.len < WARD_LINE_MAX);
	for (size_t i = 0; i + 1 < b.len; i++)
		fuzz_insist((uint8_t)b.data[i] >= ' ' && b.data[i] != 0x7f);
	fuzz_insist(ward_line_parse(b.data, b.len - 1, &l) == 0);
	fuzz_insist(ward_line_source(&l, &ring, &pos) == 0 && ring == 1 && pos == size);
	return 0;
}
