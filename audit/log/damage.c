/* SPDX-License-Identifier: Apache-2.0 */
/* Finds runs of zeros, and compressed text that does not decompress. */
#include "audit/log/damage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "audit/log/segments.h"

/* Finds the first run that is long enough. Returns its length within the line; 0: none. */
static size_t find(const struct ward_lines_line *line, size_t *ret_at)
{
	size_t n = 0;
	const char *first = memchr(line->p, '\0', line->len);
	for (size_t i = first ? (size_t)(first - line->p) : line->len; i < line->len; i++) {
		n = line->p[i] == '\0' ? n + 1 : 0;
		if (n < WARD_ZEROS_MIN)
			continue;
		*ret_at = i + 1 - n;
		while (i + 1 < line->len && line->p[i + 1] == '\0')
			i++, n++;
		return n;
	}
	return 0;
}

/* A sparse file can have any number of zeros on no disk space. No crash of a host leaves that many.
 */
#define COUNT_MAX (UINT64_C(64) << 20)

/* How many zeros stand in the log from `at` on, as far as they are counted. */
static uint64_t count(struct ward_log *log, uint64_t at)
{
	uint64_t n = 0;
	char buf[4096];
	ssize_t got = 0;
	while (n < COUNT_MAX && (got = ward_log_read(log, buf, sizeof(buf), at + n)) > 0) {
		ssize_t i = 0;
		while (i < got && buf[i] == '\0')
			i++;
		n += (uint64_t)i;
		if (i < got)
			break;
	}
	return n;
}

/* As a frame that does not decompress reads. */
static bool is_no_text(const struct ward_lines_line *line)
{
	size_t i = 0;
	while (i < line->len && line->p[i] == '?')
		i++;
	return i > 0 && i == line->len;
}

static bool is_packed(struct ward_log *log, unsigned segment)
{
	struct ward_log_file f;
	for (size_t i = 0; ward_log_file(log, i, &f) == 0; i++)
		if (f.number == segment)
			return f.packed;
	return false;
}

static bool tell_packed(struct ward_log *log, const struct ward_lines_line *line, uint64_t number,
	char ret[WARD_DAMAGE_TEXT_MAX])
{
	char name[WARD_SEGMENT_NAME_MAX];
	uint64_t at = line->offset;
	const unsigned segment = is_no_text(line) ? ward_log_place(log, &at) : 0;
	if (segment == 0 || !is_packed(log, segment))
		return false;
	ward_segment_name(name, segment, true);
	snprintf(ret, WARD_DAMAGE_TEXT_MAX,
		"line %" PRIu64 " is not one that the writer writes: the compressed file %s was "
		"changed or damaged, and does not decompress from there on",
		number, name);
	return true;
}

bool ward_damage_tell(struct ward_log *log, const struct ward_lines_line *line, uint64_t number,
	char ret[WARD_DAMAGE_TEXT_MAX])
{
	if (tell_packed(log, line, number, ret))
		return true;
	size_t at = 0;
	size_t n = find(line, &at);
	if (n == 0)
		return false;
	uint64_t from = line->offset + at;
	/* A line that is too long comes in pieces, and ends in the middle of them. */
	uint64_t more = at + n == line->len ? count(log, from + n) : 0;
	unsigned segment = ward_log_place(log, &from);
	char name[WARD_SEGMENT_NAME_MAX] = "";
	if (segment > 0)
		ward_segment_name(name, segment, false);
	snprintf(ret, WARD_DAMAGE_TEXT_MAX,
		"line %" PRIu64 " is not one that the writer writes: %s%" PRIu64
		" bytes of zeros at byte %" PRIu64 "%s%s, as a host that stops can leave them, and "
		"as anybody can write them",
		number, more >= COUNT_MAX ? "at least " : "", n + more, from, segment ? " of " : "",
		name);
	return true;
}
