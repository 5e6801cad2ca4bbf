/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what a terminal shows, with libvterm, and draws it. */
#include "enforcer/screen/picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vterm.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/screen/tty_modes.h"

/* libvterm's mark of the right half of a wide character. */
#define RIGHT_HALF ((uint32_t)-1)

struct line {
	VTermScreenCell *cells; /* owned */
	int n;
};

struct ward_picture {
	VTerm *vt;
	VTermScreen *screen;
	VTermState *state;
	struct ward_tty_modes modes;
	struct ward_buf beneath; /* the first screen, drawn, while the other one is shown */
	VTermPos beneath_at;
	struct line lines[WARD_PICTURE_LINES_MAX]; /* a ring: the oldest is at `oldest` */
	size_t oldest, n_lines, line_bytes;
	struct ward_buf *answer; /* NULL: what libvterm answers is dropped */
};

/* --- lines that went off the top --- */

static struct line *line_at(struct ward_picture *p, size_t i)
{
	return &p->lines[(p->oldest + i) % WARD_PICTURE_LINES_MAX];
}

static void forget_oldest(struct ward_picture *p)
{
	struct line *l = line_at(p, 0);
	p->line_bytes -= (size_t)l->n * sizeof(*l->cells);
	free(l->cells);
	*l = (struct line){0};
	p->oldest = (p->oldest + 1) % WARD_PICTURE_LINES_MAX;
	p->n_lines--;
}

static bool is_blank(const VTermScreenCell *c)
{
	return c->chars[0] == 0 && !c->attrs.reverse && !c->attrs.underline && !c->attrs.strike &&
	       VTERM_COLOR_IS_DEFAULT_BG(&c->bg);
}

static int push_line(int columns, const VTermScreenCell *cells, void *user)
{
	struct ward_picture *p = user;
	int n = columns;
	while (n > 0 && is_blank(&cells[n - 1]))
		n--;
	const size_t bytes = (size_t)n * sizeof(*cells);
	VTermScreenCell *copy = malloc(bytes ? bytes : 1);
	if (!copy)
		return 0;
	memcpy(copy, cells, bytes);
	while (p->n_lines > 0 && (p->n_lines == WARD_PICTURE_LINES_MAX ||
					 p->line_bytes + bytes > WARD_PICTURE_LINES_BYTES))
		forget_oldest(p);
	*line_at(p, p->n_lines) = (struct line){.cells = copy, .n = n};
	p->n_lines++;
	p->line_bytes += bytes;
	return 1;
}

/* The window has grown: the last line comes back. */
static int pop_line(int columns, VTermScreenCell *cells, void *user)
{
	struct ward_picture *p = user;
	if (p->n_lines == 0)
		return 0;
	struct line *l = line_at(p, p->n_lines - 1);
	const int n = l->n < columns ? l->n : columns;
	VTermScreenCell blank = {.width = 1};
	vterm_state_get_default_colors(p->state, &blank.fg, &blank.bg);
	memcpy(cells, l->cells, (size_t)n * sizeof(*cells));
	for (int i = n; i < columns; i++)
		cells[i] = blank;
	/* A wide character that is cut in two is none. */
	if (n > 0 && n < l->n && cells[n - 1].width == 2)
		cells[n - 1] = blank;
	p->line_bytes -= (size_t)l->n * sizeof(*cells);
	free(l->cells);
	*l = (struct line){0};
	p->n_lines--;
	return 1;
}

/* --- drawing --- */

static void put_character(struct ward_buf *b, uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c <= 0x9f))
		c = ' ';
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		c = 0xfffd;
	char s[4];
	size_t n = 0;
	if (c < 0x80) {
		s[n++] = (char)c;
	} else if (c < 0x800) {
		s[n++] = (char)(0xc0 | c >> 6);
	} else if (c < 0x10000) {
		s[n++] = (char)(0xe0 | c >> 12);
		s[n++] = (char)(0x80 | (c >> 6 & 0x3f));
	} else {
		s[n++] = (char)(0xf0 | c >> 18);
		s[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		s[n++] = (char)(0x80 | (c >> 6 & 0x3f));
	}
	if (c >= 0x80)
		s[n++] = (char)(0x80 | (c & 0x3f));
	ward_buf_add(b, s, n);
}

/* from: 30 for the text's, 40 for the ground's. */
static void put_colour(struct ward_buf *b, const VTermColor *c, unsigned from)
{
	if (from == 30 ? VTERM_COLOR_IS_DEFAULT_FG(c) : VTERM_COLOR_IS_DEFAULT_BG(c))
		return;
	if (VTERM_COLOR_IS_RGB(c))
		ward_buf_printf(
			b, ";%u;2;%u;%u;%u", from + 8, c->rgb.red, c->rgb.green, c->rgb.blue);
	else if (c->indexed.idx < 8)
		ward_buf_printf(b, ";%u", from + c->indexed.idx);
	else if (c->indexed.idx < 16)
		ward_buf_printf(b, ";%u", from + 60 + c->indexed.idx - 8);
	else
		ward_buf_printf(b, ";%u;5;%u", from + 8, c->indexed.idx);
}

static void put_pen(struct ward_buf *b, const VTermScreenCell *c)
{
	static const char *const lines[] = {"", ";4", ";21", ";4:3"};
	ward_buf_puts(b, "\033[0");
	if (c->attrs.bold)
		ward_buf_puts(b, ";1");
	if (c->attrs.italic)
		ward_buf_puts(b, ";3");
	ward_buf_puts(b, lines[c->attrs.underline & 3]);
	if (c->attrs.blink)
		ward_buf_puts(b, ";5");
	if (c->attrs.reverse)
		ward_buf_puts(b, ";7");
	if (c->attrs.strike)
		ward_buf_puts(b, ";9");
	put_colour(b, &c->fg, 30);
	put_colour(b, &c->bg, 40);
	ward_buf_puts(b, "m");
}

static bool same_pen(const VTermScreenCell *a, const VTermScreenCell *b)
{
	return a->attrs.bold == b->attrs.bold && a->attrs.italic == b->attrs.italic &&
	       a->attrs.underline == b->attrs.underline && a->attrs.blink == b->attrs.blink &&
	       a->attrs.reverse == b->attrs.reverse && a->attrs.strike == b->attrs.strike &&
	       vterm_color_is_equal(&a->fg, &b->fg) && vterm_color_is_equal(&a->bg, &b->bg);
}

static VTermScreenCell plain_pen(const struct ward_picture *p)
{
	VTermScreenCell plain = {.width = 1};
	vterm_state_get_default_colors(p->state, &plain.fg, &plain.bg);
	return plain;
}

static void put_cell(struct ward_buf *b, const VTermScreenCell *c)
{
	if (c->chars[0] == 0)
		ward_buf_puts(b, " ");
	for (size_t i = 0; i < VTERM_MAX_CHARS_PER_CELL && c->chars[i]; i++)
		put_character(b, c->chars[i]);
}

/* The pen is plain before and after. */
static void put_cells(
	const struct ward_picture *p, const VTermScreenCell *cells, int n, struct ward_buf *b)
{
	const VTermScreenCell plain = plain_pen(p);
	const VTermScreenCell *pen = &plain;
	while (n > 0 && is_blank(&cells[n - 1]))
		n--;
	for (int i = 0; i < n; i++) {
		if (cells[i].chars[0] == RIGHT_HALF)
			continue;
		if (!same_pen(&cells[i], pen)) {
			put_pen(b, &cells[i]);
			pen = &cells[i];
		}
		put_cell(b, &cells[i]);
	}
	if (!same_pen(pen, &plain))
		ward_buf_puts(b, "\033[m");
}

static int take_row(struct ward_picture *p, int row, int columns, VTermScreenCell *cells)
{
	int last = 0;
	const bool reversed = ward_tty_modes_has(&p->modes, 5);
	for (int i = 0; i < columns; i++) {
		(void)vterm_screen_get_cell(p->screen, (VTermPos){.row = row, .col = i}, &cells[i]);
		/* libvterm has turned them already; the terminal will. */
		cells[i].attrs.reverse ^= reversed;
		if (!is_blank(&cells[i]))
			last = i + 1;
	}
	return last;
}

/* All rows from the first line on; to_end: the empty ones at the end as well. */
static void put_screen(struct ward_picture *p, bool to_end, struct ward_buf *b)
{
	int rows = 0, columns = 0, empty = 0;
	vterm_get_size(p->vt, &rows, &columns);
	ward_cleanup_free VTermScreenCell *cells = calloc((size_t)columns, sizeof(*cells));
	for (int row = 0; cells && row < rows; row++) {
		const int n = take_row(p, row, columns, cells);
		empty += row > 0;
		if (n == 0 && !to_end)
			continue;
		for (; empty > 0; empty--)
			ward_buf_puts(b, "\r\n");
		put_cells(p, cells, n, b);
	}
	while (to_end && empty-- > 0)
		ward_buf_puts(b, "\r\n");
}

static void put_lines(struct ward_picture *p, struct ward_buf *b)
{
	for (size_t i = 0; i < p->n_lines; i++) {
		const struct line *l = line_at(p, i);
		put_cells(p, l->cells, l->n, b);
		ward_buf_puts(b, "\r\n");
	}
}

static void put_position(struct ward_buf *b, VTermPos at)
{
	ward_buf_printf(b, "\033[%d;%dH", at.row + 1, at.col + 1);
}

/* The pen in which the program writes on. */
static void put_current_pen(const struct ward_picture *p, struct ward_buf *b)
{
	VTermScreenCell c = plain_pen(p);
	const VTermScreenCell plain = c;
	VTermValue v;
	const struct {
		VTermAttr attr;
		unsigned value;
	} flags[] = {{VTERM_ATTR_BOLD, 0}, {VTERM_ATTR_ITALIC, 0}, {VTERM_ATTR_BLINK, 0},
		{VTERM_ATTR_REVERSE, 0}, {VTERM_ATTR_STRIKE, 0}};
	bool on[5] = {0};
	for (size_t i = 0; i < 5; i++)
		on[i] = vterm_state_get_penattr(p->state, flags[i].attr, &v) && v.boolean;
	c.attrs.bold = on[0];
	c.attrs.italic = on[1];
	c.attrs.blink = on[2];
	c.attrs.reverse = on[3];
	c.attrs.strike = on[4];
	if (vterm_state_get_penattr(p->state, VTERM_ATTR_UNDERLINE, &v))
		c.attrs.underline = (unsigned)v.number & 3;
	if (vterm_state_get_penattr(p->state, VTERM_ATTR_FOREGROUND, &v))
		c.fg = v.color;
	if (vterm_state_get_penattr(p->state, VTERM_ATTR_BACKGROUND, &v))
		c.bg = v.color;
	if (!same_pen(&c, &plain))
		put_pen(b, &c);
}

static void draw(struct ward_picture *p, bool first, struct ward_buf *b)
{
	int rows = 0, columns = 0;
	VTermPos at = {0};
	vterm_get_size(p->vt, &rows, &columns);
	ward_tty_modes_undo(&(struct ward_tty_modes){0}, true, b);
	ward_buf_puts(b, "\033[?1049l");
	if (first) {
		/* The present content scrolls off the top, as old lines do. */
		ward_buf_puts(b, "\033[999;1H");
		for (int i = 0; i < rows; i++)
			ward_buf_puts(b, "\n");
	}
	/* A line that is too long for this terminal ends at its edge. */
	ward_buf_puts(b, "\033[H\033[2J\033[?7l");
	if (first)
		put_lines(p, b);
	if (p->modes.alt) {
		ward_buf_add(b, p->beneath.data, p->beneath.len);
		put_position(b, p->beneath_at);
		ward_buf_printf(b, "\033[?%uh\033[H\033[2J", p->modes.alt);
	}
	put_screen(p, !p->modes.alt && first && p->n_lines > 0, b);
	ward_buf_puts(b, "\033[?7h");
	ward_tty_modes_set_title(&p->modes, b);
	ward_tty_modes_set(&p->modes, b);
	vterm_state_get_cursorpos(p->state, &at);
	if (ward_tty_modes_has(&p->modes, 6) && p->modes.top > 0)
		at.row -= (int)p->modes.top - 1;
	put_position(b, at);
	put_current_pen(p, b);
}

void ward_picture_draw(struct ward_picture *p, bool first, struct ward_buf *b)
{
	ward_cleanup(ward_buf_clear) struct ward_buf all = {.max = WARD_PICTURE_MAX};
	draw(p, first, &all);
	if (ward_buf_error(&all)) {
		ward_buf_clear(&all);
		ward_tty_modes_undo(&(struct ward_tty_modes){0}, true, &all);
		ward_buf_puts(&all, "\033[?1049l\033[H\033[2J");
		if (p->modes.alt)
			ward_buf_printf(&all, "\033[?%uh\033[H\033[2J", p->modes.alt);
		ward_tty_modes_set(&p->modes, &all);
	}
	ward_buf_add(b, all.data, all.len);
}

void ward_picture_undo(const struct ward_picture *p, struct ward_buf *b)
{
	ward_tty_modes_undo(&p->modes, false, b);
}

/* --- what is written --- */

static void on_output(const char *data, size_t n, void *user)
{
	struct ward_picture *p = user;
	if (p->answer)
		ward_buf_add(p->answer, data, n);
}

/* The program goes to the other screen: the first one cannot be read until it comes back. */
static void keep_beneath(struct ward_picture *p)
{
	ward_buf_clear(&p->beneath);
	p->beneath.max = WARD_PICTURE_MAX / 2;
	put_screen(p, p->n_lines > 0, &p->beneath);
	if (ward_buf_error(&p->beneath))
		ward_buf_clear(&p->beneath);
	vterm_state_get_cursorpos(p->state, &p->beneath_at);
}

/*
 * libvterm 0.1 has room for 16 values, and writes the next ones behind them; the same of leaders
 * and of intermediate bytes. It gets no more than there is room for, and no number that overflows.
 */
#define VALUES_MAX 15
#define DIGITS_MAX 5
#define MIDDLES_MAX 3

/* data is a CSI; out has room for n bytes. Returns how many of them it took. */
static size_t tame(const char *data, size_t n, char *out)
{
	size_t to = 2, values = 1, digits = 0, middles = 0;
	memcpy(out, data, 2);
	for (size_t i = 2; i < n; i++) {
		const char c = data[i];
		const bool digit = c >= '0' && c <= '9', separator = c == ';' || c == ':';
		if (c >= '<' && c <= '?' && i > 2)
			continue;
		if (separator && ++values <= VALUES_MAX)
			digits = 0;
		middles += c >= 0x20 && c <= 0x2f;
		if ((digit && digits++ >= DIGITS_MAX) ||
			((digit || separator) && values > VALUES_MAX) ||
			(c >= 0x20 && c <= 0x2f && middles > MIDDLES_MAX))
			continue;
		out[to++] = c;
	}
	return to;
}

/* Of the modes that lead to the other screen libvterm knows 1047 and 1049 alone. */
static void feed(struct ward_picture *p, enum ward_piece kind, const char *data, size_t n)
{
	char tamed[WARD_PIECE_MAX + 8];
	if (n == 6 && memcmp(data, "\033[?47", 5) == 0 && (data[5] == 'h' || data[5] == 'l')) {
		data = data[5] == 'h' ? "\033[?1047h" : "\033[?1047l";
		n = 8;
	} else if (kind == WARD_PIECE_SEQUENCE && data[n - 1] == 'b' && data[1] == '[') {
		/* REP: without a count, or with a large one, libvterm would not come back. */
		struct ward_csi c = {0};
		const bool good = ward_csi_parse(data, n, &c) && c.value[0] <= 999;
		n = (size_t)snprintf(
			tamed, sizeof(tamed), "\033[%ub", good && c.value[0] > 0 ? c.value[0] : 1);
		data = tamed;
	} else if (kind == WARD_PIECE_SEQUENCE && data[1] == '[' && n <= sizeof(tamed)) {
		n = tame(data, n, tamed);
		data = tamed;
	}
	(void)vterm_input_write(p->vt, data, n);
}

/*
 * libvterm 0.1 takes a byte that begins a CSI or a string for that also behind intermediate bytes,
 * and is then not where we are.
 */
static bool misread(const char *data, size_t n)
{
	return n > 2 && data[1] >= 0x20 && data[1] <= 0x2f &&
	       (n > 3 || strchr("[PX]^_", data[n - 1]));
}

static void put_cursor(struct ward_picture *p, VTermPos at)
{
	int rows = 0, columns = 0;
	char text[32];
	vterm_get_size(p->vt, &rows, &columns);
	const int n =
		snprintf(text, sizeof(text), "\033[%d;%dH", (at.row < rows ? at.row : rows - 1) + 1,
			(at.col < columns ? at.col : columns - 1) + 1);
	(void)vterm_input_write(p->vt, text, (size_t)n);
}

void ward_picture_write(struct ward_picture *p, enum ward_piece kind, const char *data, size_t n,
	struct ward_buf *ret_answer)
{
	if (kind == WARD_PIECE_LONG || kind == WARD_PIECE_LONG_END)
		return;
	const bool sequence = kind == WARD_PIECE_SEQUENCE;
	const unsigned was_alt = p->modes.alt;
	struct ward_tty_modes next = p->modes;
	ward_tty_modes_see(&next, kind, data, n);
	if (next.alt && !was_alt)
		keep_beneath(p);
	p->modes = next;
	if (!next.alt && was_alt)
		ward_buf_clear(&p->beneath);
	/* Titles and the like are no part of the screen; of strings libvterm answers one. */
	if (sequence && strchr("X]^_k", data[1]))
		return;
	if (sequence && data[1] == 'P' && !ward_piece_asks(data, n))
		return;
	if (sequence && misread(data, n))
		return;
	p->answer = sequence && ward_piece_asks(data, n) ? ret_answer : NULL;
	feed(p, kind, data, n);
	p->answer = NULL;
	/* The window may have changed since: where the cursor was is in it still. */
	if (was_alt == 1049 && !next.alt)
		put_cursor(p, p->beneath_at);
}

/* --- the whole --- */

static int bounded(unsigned wanted, unsigned otherwise, unsigned max)
{
	if (wanted == 0)
		wanted = otherwise;
	return (int)(wanted < max ? wanted : max);
}

void ward_picture_resize(struct ward_picture *p, unsigned rows, unsigned columns)
{
	int had_rows = 0, had_columns = 0;
	const int r = bounded(rows, 24, WARD_PICTURE_ROWS_MAX);
	const int c = bounded(columns, 80, WARD_PICTURE_COLUMNS_MAX);
	vterm_get_size(p->vt, &had_rows, &had_columns);
	if (r == had_rows && c == had_columns)
		return;
	/* libvterm 0.1 keeps margins, and a cursor that was saved, where the screen ends before
	 * them, and scrolls, or writes, there. */
	VTermPos at = {0};
	vterm_state_get_cursorpos(p->state, &at);
	(void)vterm_input_write(p->vt, "\033[r\033[s", 6);
	p->modes.top = p->modes.end = 0;
	vterm_set_size(p->vt, r, c);
	put_cursor(p, at);
	if (r < had_rows || c < had_columns)
		(void)vterm_input_write(p->vt, "\0337", 2);
}

int ward_picture_new(
	unsigned rows, unsigned columns, struct ward_picture **ret, struct ward_err *err)
{
	static const VTermScreenCallbacks callbacks = {
		.sb_pushline = push_line, .sb_popline = pop_line};
	struct ward_picture *p = calloc(1, sizeof(*p));
	if (!p)
		return ward_err_sys(err, -ENOMEM, "screen");
	p->vt = vterm_new(bounded(rows, 24, WARD_PICTURE_ROWS_MAX),
		bounded(columns, 80, WARD_PICTURE_COLUMNS_MAX));
	if (!p->vt) {
		free(p);
		return ward_err_sys(err, -ENOMEM, "screen");
	}
	vterm_set_utf8(p->vt, 1);
	vterm_output_set_callback(p->vt, on_output, p);
	p->state = vterm_obtain_state(p->vt);
	p->screen = vterm_obtain_screen(p->vt);
	vterm_screen_enable_altscreen(p->screen, 1);
	vterm_screen_set_callbacks(p->screen, &callbacks, p);
	vterm_screen_set_damage_merge(p->screen, VTERM_DAMAGE_SCREEN);
	vterm_screen_reset(p->screen, 1);
	*ret = p;
	return 0;
}

void ward_picture_free(struct ward_picture *p)
{
	if (!p)
		return;
	while (p->n_lines > 0)
		forget_oldest(p);
	ward_buf_clear(&p->beneath);
	vterm_free(p->vt);
	free(p);
}
