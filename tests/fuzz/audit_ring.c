/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hostile producer: it shares the ring's memory and does to it what the bytes say, between events
 * that it puts as it should. The reader comes to an end, copies nothing but whole events, and its
 * position goes on only.
 *
 * Commands: 0 put an event of n bytes; 1 write bytes at a place; 2 the reader takes what there is;
 * 3 the reader gives room back; 4 the log fails, or not. Places are two bytes, times 8 where the
 * command has its top bit set (the words of the header and of records).
 */
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit/ring.h"
#include "tests/fuzz/fuzz.h"

#define BYTES ((size_t)64 << 10)
/* A ring of this size has no more records, and a spoiled one is passed over with all behind it. */
#define EVENTS_MAX (BYTES / 48 + 2)

struct input {
	const uint8_t *p;
	size_t left;
};

static unsigned next(struct input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->p++;
}

static void take(struct ward_ring *reader)
{
	static struct ward_event ev;
	struct ward_event_fields fields;
	uint64_t before = ward_ring_pos(reader);
	size_t n = 0;
	for (int r = 1; r != 0; n++) {
		r = ward_ring_get(reader, &ev, &fields);
		fuzz_insist(n <= EVENTS_MAX);
		fuzz_insist(ward_ring_pos(reader) >= before && ward_ring_pos(reader) % 8 == 0);
		before = ward_ring_pos(reader);
		if (r != 1)
			continue;
		fuzz_insist(ward_event_size(&ev) <= WARD_EVENT_MAX);
		for (unsigned t = 0; t < WARD_TAG_COUNT_; t++) {
			fuzz_insist(ward_member_set_has(&fields.members, (enum ward_event_tag)t) ==
				    (fields.of[t].p != NULL));
			fuzz_insist(!fields.of[t].p || (fields.of[t].p >= ev.fields &&
							       fields.of[t].p + fields.of[t].len <=
								       ev.fields + ev.head.len));
		}
	}
}

static void put(struct ward_ring *producer, unsigned n)
{
	struct ward_event ev;
	uint8_t text[256] = {0};
	ward_event_begin(&ev, WARD_EVENT_OPEN);
	ward_event_bytes(&ev, WARD_TAG_PATH, text, n);
	(void)!ward_ring_put(producer, &ev);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {.p = data, .left = size};
	struct ward_ring *producer = NULL, *reader = NULL;
	int fd = -1;
	int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fuzz_insist(wake >= 0 && ward_ring_create(BYTES, &fd, NULL) == 0);
	fuzz_insist(ward_ring_open(fd, wake, &producer, NULL) == 0);
	fuzz_insist(ward_ring_open(fd, wake, &reader, NULL) == 0);
	uint8_t *mem = mmap(
		NULL, WARD_RING_HEADER_BYTES + BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	fuzz_insist(mem != MAP_FAILED);
	size_t puts = 0;
	while (in.left > 0) {
		unsigned command = next(&in);
		size_t at = next(&in) | (size_t)next(&in) << 8;
		unsigned n = next(&in);
		/* A full ring would have the producer wait for a reader that is this thread. */
		if (command % 5 == 0 && puts++ < BYTES / 512)
			put(producer, n);
		for (unsigned i = 0; command % 5 == 1 && i < n % 32; i++) {
			size_t to = (command & 128 ? 8 * at : at) + i;
			unsigned v = next(&in);
			if (to < WARD_RING_HEADER_BYTES + BYTES)
				mem[to] = (uint8_t)v;
		}
		if (command % 5 == 2)
			take(reader);
		if (command % 5 == 3)
			ward_ring_release(reader);
		if (command % 5 == 4)
			ward_ring_fail(reader, n & 1);
	}
	take(reader);
	munmap(mem, WARD_RING_HEADER_BYTES + BYTES);
	ward_ring_close(reader);
	ward_ring_close(producer);
	close(fd);
	close(wake);
	return 0;
}
