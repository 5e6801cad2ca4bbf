/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a program writes to its terminal. In one piece, byte by byte and in others they
 * are cut into the same pieces, which are whole; a picture can be kept and drawn at any time, with
 * any window; and what is drawn is whole pieces itself that ask a terminal nothing, and leave it in
 * the modes in which the program has it.
 */
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/screen/tty_modes.h"
#include "enforcer/screen/picture.h"
#include "tests/fuzz/fuzz.h"

#define SIZE_MAX_HERE 8192

/* Text may be cut anywhere between characters: only what it is put together again counts. */
struct seen {
	struct ward_pieces tokens;
	struct ward_tty_modes modes;
	struct ward_buf all;
	struct ward_picture *picture;
	unsigned asked;
};

static void check_text(const char *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const unsigned char c = (unsigned char)data[i];
		fuzz_insist(c != 0x1b);
		/* No control of eight bits, as a byte or as a character. */
		if (c >= 0x80 && c <= 0x9f)
			fuzz_insist(i > 0 && data[i - 1] & 0x80 && data[i - 1] != '\xc2');
	}
}

static void on_token(void *user, enum ward_piece kind, const char *data, size_t n)
{
	struct seen *s = user;
	struct ward_buf answer = {.max = WARD_PIECE_MAX};
	fuzz_insist(n > 0 && n <= WARD_PIECE_MAX + 8);
	if (kind == WARD_PIECE_TEXT)
		check_text(data, n);
	if (kind == WARD_PIECE_SEQUENCE) {
		fuzz_insist(n >= 2 && data[0] == '\033');
		fuzz_insist(!memchr(data + 1, '\033', n - 1) ||
			    (n >= 4 && memcmp(data + n - 2, "\033\\", 2) == 0));
		s->asked += ward_piece_asks(data, n);
	}
	ward_buf_add(&s->all, data, n);
	ward_tty_modes_see(&s->modes, kind, data, n);
	if (s->picture)
		ward_picture_write(s->picture, kind, data, n, &answer);
	ward_buf_clear(&answer);
}

static void feed(struct seen *s, const char *data, size_t n, size_t step)
{
	for (size_t i = 0; i < n; i += step)
		ward_pieces_read(&s->tokens, data + i, n - i < step ? n - i : step, on_token, s);
}

static void check_drawing(struct ward_picture *p, const struct ward_tty_modes *modes, bool first)
{
	struct ward_buf b = WARD_BUF_INIT;
	struct seen *shown = calloc(1, sizeof(*shown));
	fuzz_insist(shown != NULL);
	ward_picture_draw(p, first, &b);
	fuzz_insist(b.len <= WARD_PICTURE_MAX);
	feed(shown, b.data, b.len, b.len);
	fuzz_insist(shown->asked == 0 && !ward_pieces_in_long(&shown->tokens));
	/* All of it was pieces. */
	fuzz_insist(shown->all.len == b.len);
	fuzz_insist((shown->modes.alt != 0) == (modes->alt != 0));
	static const unsigned numbers[] = {1, 25, 1000, 1002, 1003, 1004, 1006, 2004};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		fuzz_insist(ward_tty_modes_has(&shown->modes, numbers[i]) ==
			    ward_tty_modes_has(modes, numbers[i]));
	/* And back: a terminal as it begins. */
	struct ward_buf undo = WARD_BUF_INIT;
	ward_tty_modes_undo(&shown->modes, false, &undo);
	feed(shown, undo.data, undo.len, undo.len);
	fuzz_insist(shown->modes.alt == 0 && shown->modes.changed == 0 && !shown->modes.keypad);
	ward_buf_clear(&undo);
	ward_buf_clear(&shown->all);
	ward_buf_clear(&b);
	free(shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ward_err err = WARD_ERR_INIT;
	if (size < 4 || size > SIZE_MAX_HERE)
		return 0;
	struct seen *whole = calloc(1, sizeof(*whole));
	struct seen *cut = calloc(1, sizeof(*cut));
	fuzz_insist(whole && cut);
	const char *text = (const char *)data + 4;
	const size_t n = size - 4;
	/* The first bytes are two windows, and where in the text the second comes. */
	fuzz_insist(ward_picture_new(data[0] % 64U, data[1] % 128U, &cut->picture, &err) == 0);
	feed(whole, text, n, n ? n : 1);
	const size_t at = n * data[2] / 256;
	feed(cut, text, at, 1);
	check_drawing(cut->picture, &cut->modes, data[3] & 1);
	ward_picture_resize(cut->picture, data[3] % 64U, data[0] % 128U);
	feed(cut, text + at, n - at, 1 + data[1] % 7U);
	check_drawing(cut->picture, &cut->modes, data[3] & 2);
	fuzz_insist(whole->all.len == cut->all.len &&
		    (whole->all.len == 0 ||
			    memcmp(whole->all.data, cut->all.data, whole->all.len) == 0));
	ward_picture_free(cut->picture);
	ward_buf_clear(&whole->all);
	ward_buf_clear(&cut->all);
	free(whole);
	free(cut);
	return 0;
}
