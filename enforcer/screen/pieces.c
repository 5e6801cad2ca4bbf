/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts what a program writes to its terminal into whole pieces. */
#include "enforcer/screen/pieces.h"

#include <string.h>

enum state { GROUND = 0, ESCAPE, BETWEEN, CSI, STRING, STRING_ESCAPE };

enum { BEL = 0x07, CAN = 0x18, SUB = 0x1a, ESC = 0x1b, DEL = 0x7f };

/* Longer ones are none: 16 values of five digits fit twice. */
#define CSI_MAX 256

/* U+FFFD: what stands for a byte that is no character, and that some terminal takes for a control.
 */
static const char no_character[] = "\xef\xbf\xbd";

struct reading {
	struct ward_pieces *t;
	ward_piece_fn *fn;
	void *user;
};

static void give(const struct reading *r, enum ward_piece kind)
{
	struct ward_pieces *t = r->t;
	if (t->n > 0)
		r->fn(r->user, kind, t->data, t->n);
	t->n = 0;
}

static void keep(struct ward_pieces *t, unsigned char c)
{
	t->data[t->n++] = (char)c;
}

static void begin(const struct reading *r, enum state state)
{
	struct ward_pieces *t = r->t;
	if (t->state == GROUND)
		give(r, WARD_PIECE_TEXT);
	/* Cuts the unfinished sequence. A string that was shown in part must end. */
	t->n = 0;
	if (t->is_long)
		r->fn(r->user, WARD_PIECE_LONG_END, "\033\\", 2);
	t->is_long = t->drop = false;
	t->utf8 = 0;
	t->state = state;
	keep(t, ESC);
}

static void end_sequence(const struct reading *r)
{
	if (r->t->drop)
		r->t->n = 0;
	give(r, WARD_PIECE_SEQUENCE);
	r->t->state = GROUND;
	r->t->drop = false;
}

static void end_string(const struct reading *r)
{
	struct ward_pieces *t = r->t;
	if (t->is_long)
		give(r, WARD_PIECE_LONG);
	memcpy(t->data + t->n, "\033\\", 2);
	t->n += 2;
	give(r, t->is_long ? WARD_PIECE_LONG_END : WARD_PIECE_SEQUENCE);
	t->is_long = false;
	t->state = GROUND;
}

static void give_up(const struct reading *r)
{
	struct ward_pieces *t = r->t;
	t->n = 0;
	if (t->is_long)
		r->fn(r->user, WARD_PIECE_LONG_END, "\033\\", 2);
	t->is_long = t->drop = false;
	t->state = GROUND;
}

/* A control of one byte amid a sequence is done at once, as terminals do. */
static void control_within(const struct reading *r, unsigned char c)
{
	const char one = (char)c;
	r->fn(r->user, WARD_PIECE_TEXT, &one, 1);
}

static unsigned wants_more(unsigned char c)
{
	return c >= 0xc2 && c <= 0xdf	? 1
	       : c >= 0xe0 && c <= 0xef ? 2
	       : c >= 0xf0 && c <= 0xf4 ? 3
					: 0;
}

static void escape(const struct reading *r, unsigned char c);

/* U+0080 to U+009F is ESC and a letter. */
static void eight_bits(const struct reading *r, unsigned char c)
{
	r->t->n--;
	begin(r, ESCAPE);
	escape(r, (unsigned char)(c - 0x40));
}

static void text_byte(const struct reading *r, unsigned char c)
{
	struct ward_pieces *t = r->t;
	if (t->utf8 > 0 && c >= 0x80 && c <= 0xbf) {
		if (t->utf8 == 1 && c <= 0x9f && t->data[t->n - 1] == '\xc2') {
			t->utf8 = 0;
			eight_bits(r, c);
			return;
		}
		keep(t, c);
		t->utf8--;
		return;
	}
	t->utf8 = wants_more(c);
	if (c >= 0x80 && c <= 0x9f)
		for (size_t i = 0; i < 3; i++)
			keep(t, (unsigned char)no_character[i]);
	else
		keep(t, c);
}

static void ground(const struct reading *r, unsigned char c)
{
	struct ward_pieces *t = r->t;
	if (c == ESC) {
		begin(r, ESCAPE);
		return;
	}
	/* Where the text is cut, no character is under way, but for what will be none. */
	if (t->n >= WARD_PIECE_MAX - 4 && !(t->utf8 > 0 && (c & 0xc0) == 0x80))
		give(r, WARD_PIECE_TEXT);
	text_byte(r, c);
}

/* DCS, SOS, OSC, PM, APC, and the title of screen(1). */
static bool begins_string(unsigned char c)
{
	return c && strchr("PX]^_k", c);
}

static void escape(const struct reading *r, unsigned char c)
{
	struct ward_pieces *t = r->t;
	if (c == ESC) {
		begin(r, ESCAPE);
	} else if (c == CAN || c == SUB || c >= DEL) {
		give_up(r);
	} else if (c < 0x20) {
		control_within(r, c);
	} else if (t->n >= 8) {
		give_up(r);
	} else {
		keep(t, c);
		if (c <= 0x2f)
			t->state = BETWEEN;
		else if (t->state == ESCAPE && c == '[')
			t->state = CSI;
		else if (t->state == ESCAPE && begins_string(c))
			t->state = STRING;
		else
			end_sequence(r);
	}
}

static void csi(const struct reading *r, unsigned char c)
{
	struct ward_pieces *t = r->t;
	if (c == ESC) {
		begin(r, ESCAPE);
	} else if (c == CAN || c == SUB || c > DEL) {
		give_up(r);
	} else if (c < 0x20) {
		control_within(r, c);
	} else if (c != DEL) {
		if (t->n >= CSI_MAX)
			t->drop = true;
		else
			keep(t, c);
		if (c >= 0x40)
			end_sequence(r);
	}
}

static void string(const struct reading *r, unsigned char c)
{
	struct ward_pieces *t = r->t;
	if (c == ESC) {
		t->state = STRING_ESCAPE;
	} else if (c == CAN || c == SUB) {
		give_up(r);
	} else if (c == BEL) {
		end_string(r);
	} else if (t->n > 2 && c == 0x9c && t->data[t->n - 1] == '\xc2') {
		t->n--;
		end_string(r);
	} else {
		if (t->n >= WARD_PIECE_MAX) {
			/* A control of eight bits is not cut in two. */
			const bool half = t->data[t->n - 1] == '\xc2';
			t->n -= half;
			give(r, WARD_PIECE_LONG);
			t->is_long = true;
			if (half)
				keep(t, 0xc2);
		}
		keep(t, c);
	}
}

/* A character that is not whole waits for its rest; what stands before it does not. */
static void give_whole(const struct reading *r)
{
	struct ward_pieces *t = r->t;
	char rest[4];
	size_t n = 0;
	if (t->utf8 > 0)
		do
			n++;
		while (n < t->n && n < sizeof(rest) && (t->data[t->n - n] & 0xc0) == 0x80);
	memcpy(rest, t->data + t->n - n, n);
	t->n -= n;
	give(r, WARD_PIECE_TEXT);
	memcpy(t->data, rest, n);
	t->n = n;
}

void ward_pieces_read(
	struct ward_pieces *t, const char *data, size_t n, ward_piece_fn *fn, void *user)
{
	const struct reading r = {.t = t, .fn = fn, .user = user};
	for (size_t i = 0; i < n; i++) {
		const unsigned char c = (unsigned char)data[i];
		switch ((enum state)t->state) {
		case GROUND:
			ground(&r, c);
			break;
		case ESCAPE:
		case BETWEEN:
			escape(&r, c);
			break;
		case CSI:
			csi(&r, c);
			break;
		case STRING:
			string(&r, c);
			break;
		case STRING_ESCAPE:
			if (c == '\\') {
				end_string(&r);
			} else {
				/* Every terminal ends the string here, so there is no string. */
				begin(&r, ESCAPE);
				escape(&r, c);
			}
			break;
		}
	}
	if (t->state == GROUND)
		give_whole(&r);
}

bool ward_pieces_in_long(const struct ward_pieces *t)
{
	return t->is_long;
}

bool ward_pieces_between(const struct ward_pieces *t)
{
	return t->state == GROUND && t->n == 0;
}

bool ward_csi_parse(const char *data, size_t n, struct ward_csi *ret)
{
	struct ward_csi c = {.n = 1};
	if (n < 3 || data[0] != ESC || data[1] != '[')
		return false;
	bool sub = false;
	for (size_t i = 2; i < n; i++) {
		const unsigned char b = (unsigned char)data[i];
		if (i == 2 && b >= '<' && b <= '?') {
			c.leader = (char)b;
		} else if (b >= '0' && b <= '9') {
			unsigned *v = &c.value[c.n - 1];
			if (!sub && c.n <= WARD_CSI_VALUES && *v < 100000)
				*v = *v * 10 + (b - '0');
		} else if (b == ';') {
			sub = false;
			/* One more than is kept: the rest goes nowhere. */
			if (c.n == WARD_CSI_VALUES)
				sub = true;
			else
				c.n++;
		} else if (b == ':') {
			sub = true;
		} else if (b >= 0x20 && b <= 0x2f) {
			c.middle = (char)b;
		} else if (b >= 0x40 && b <= 0x7e) {
			c.final = (char)b;
		} else {
			return false;
		}
	}
	*ret = c;
	return c.final;
}
