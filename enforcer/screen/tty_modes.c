/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps in mind which modes of a terminal a program has changed. */
#include "enforcer/screen/tty_modes.h"

#include <string.h>

/* "?N" modes of DEC and xterm, then those of ANSI; `on`: as a terminal begins. */
static const struct {
	bool dec, on;
	unsigned number;
} modes[] = {
	{true, false, 1},			  /* DECCKM: application cursor keys */
	{true, false, 5},			  /* DECSCNM: reverse video */
	{true, false, 6},			  /* DECOM: origin */
	{true, true, 7},			  /* DECAWM: lines wrap */
	{true, false, 9},			  /* mouse: X10 */
	{true, false, 12},			  /* the cursor blinks */
	{true, true, 25},			  /* DECTCEM: the cursor is shown */
	{true, false, 66},			  /* DECNKM */
	{true, false, 69},			  /* DECLRMM */
	{true, false, 1000},			  /* mouse: clicks */
	{true, false, 1001}, {true, false, 1002}, /* mouse: drags */
	{true, false, 1003},			  /* mouse: all moves */
	{true, false, 1004},			  /* focus */
	{true, false, 1005},			  /* mouse: how it is reported */
	{true, false, 1006}, {true, false, 1015}, {true, false, 1016},
	{true, false, 2004}, /* bracketed paste */
	{true, false, 2026}, /* synchronized output */
	{true, false, 2031}, /* colour scheme is reported */
	{true, false, 2048}, /* size is reported */
	{false, false, 4},   /* IRM: insert */
	{false, false, 20},  /* LNM */
};
#define N_MODES (sizeof(modes) / sizeof(*modes))
_Static_assert(N_MODES <= 32, "struct ward_tty_modes.changed");

/* Those that DECSTR sets back. */
static bool is_soft(size_t i)
{
	return !modes[i].dec || modes[i].number == 1 || modes[i].number == 6 ||
	       modes[i].number == 25 || modes[i].number == 69;
}

static void reset(struct ward_tty_modes *m, bool hard)
{
	struct ward_tty_modes now = {0};
	if (!hard) {
		now = *m;
		now.keypad = now.shifted = false;
		now.charset = '\0';
		now.top = now.end = 0;
		for (size_t i = 0; i < N_MODES; i++)
			if (is_soft(i))
				now.changed &= ~(1U << i);
	}
	*m = now;
}

static void set_mode(struct ward_tty_modes *m, bool dec, unsigned number, bool on)
{
	if (dec && (number == 47 || number == 1047 || number == 1049)) {
		m->alt = on ? number : 0;
		return;
	}
	for (size_t i = 0; i < N_MODES; i++)
		if (modes[i].dec == dec && modes[i].number == number) {
			const uint32_t bit = 1U << i;
			m->changed = on == modes[i].on ? m->changed & ~bit : m->changed | bit;
		}
}

/* kitty's stack of keyboard flags, as far as a terminal has to get out of it again. */
static void keyboard(struct ward_tty_modes *m, const struct ward_csi *c)
{
	const size_t s = m->alt != 0;
	if (c->leader == '>') {
		m->pushed[s] += m->pushed[s] < 64;
		m->flags[s] = c->value[0];
	} else if (c->leader == '<') {
		unsigned n = c->value[0] ? c->value[0] : 1;
		m->pushed[s] -= n < m->pushed[s] ? n : m->pushed[s];
		m->flags[s] = 0;
	} else if (c->leader == '=') {
		m->flags[s] = c->value[0];
	}
}

static void see_csi(struct ward_tty_modes *m, const struct ward_csi *c)
{
	const bool plain = !c->leader && !c->middle;
	if ((c->final == 'h' || c->final == 'l') && !c->middle &&
		(!c->leader || c->leader == '?')) {
		for (unsigned i = 0; i < c->n; i++)
			set_mode(m, c->leader == '?', c->value[i], c->final == 'h');
	} else if (c->final == 'r' && plain) {
		m->top = c->value[0];
		m->end = c->n > 1 ? c->value[1] : 0;
	} else if (c->final == 'q' && c->middle == ' ' && !c->leader) {
		m->cursor = c->value[0];
	} else if (c->final == 'm' && c->leader == '>') {
		m->modify = c->value[0] == 4 && c->n > 1 ? c->value[1] : 0;
	} else if (c->final == 'u' && c->leader && !c->middle) {
		keyboard(m, c);
	} else if (c->final == 'p' && c->middle == '!') {
		reset(m, false);
	}
}

/* Length of the whole character at s, which is no control; 0: there is none. */
static size_t character(const unsigned char *s, size_t left)
{
	const size_t n = s[0] < 0x80			? 1
			 : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
			 : s[0] >= 0xe0 && s[0] <= 0xef ? 3
			 : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
							: 0;
	if (n == 0 || n > left || s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] <= 0x9f))
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

/*
 * Only what can stand in the title of a terminal, and in that of its user's, without steering it:
 * whole characters. What is left of two broken ones could be a control of eight bits again.
 */
static void see_title(struct ward_tty_modes *m, const char *text, size_t n)
{
	m->titled = true;
	m->n_title = 0;
	for (size_t i = 0; i < n;) {
		const size_t len = character((const unsigned char *)text + i, n - i);
		if (len > sizeof(m->title) - m->n_title)
			break;
		memcpy(m->title + m->n_title, text + i, len);
		m->n_title += len;
		i += len ? len : 1;
	}
}

static void see_sequence(struct ward_tty_modes *m, const char *data, size_t n)
{
	struct ward_csi c;
	if (ward_csi_parse(data, n, &c)) {
		see_csi(m, &c);
		return;
	}
	if (n == 2 && (data[1] == '=' || data[1] == '>'))
		m->keypad = data[1] == '=';
	else if (n == 2 && data[1] == 'c')
		reset(m, true);
	else if (n == 3 && data[1] == '(')
		m->charset = data[2] == 'B' ? '\0' : data[2];
	else if (n >= 6 && data[1] == ']' && (data[2] == '0' || data[2] == '2') && data[3] == ';')
		see_title(m, data + 4, n - 6);
}

bool ward_tty_modes_has(const struct ward_tty_modes *m, unsigned number)
{
	for (size_t i = 0; i < N_MODES; i++)
		if (modes[i].dec && modes[i].number == number)
			return modes[i].on != (m->changed >> i & 1);
	return false;
}

void ward_tty_modes_see(struct ward_tty_modes *m, enum ward_piece kind, const char *data, size_t n)
{
	if (kind == WARD_PIECE_SEQUENCE)
		see_sequence(m, data, n);
	if (kind != WARD_PIECE_TEXT)
		return;
	for (size_t i = 0; i < n; i++)
		if (data[i] == 0x0e || data[i] == 0x0f)
			m->shifted = data[i] == 0x0e;
}

static void put_mode(struct ward_buf *b, size_t i, bool on)
{
	ward_buf_printf(b, "\033[%s%u%c", modes[i].dec ? "?" : "", modes[i].number, on ? 'h' : 'l');
}

void ward_tty_modes_set(const struct ward_tty_modes *m, struct ward_buf *b)
{
	/* These two move the cursor, which the caller sets afterwards. */
	if (m->top || m->end) {
		ward_buf_printf(b, "\033[%u", m->top ? m->top : 1);
		if (m->end)
			ward_buf_printf(b, ";%u", m->end);
		ward_buf_puts(b, "r");
	}
	/* Output amid synchronized output appears at once. */
	for (size_t i = 0; i < N_MODES; i++)
		if (m->changed & 1U << i && modes[i].number != 2026)
			put_mode(b, i, !modes[i].on);
	if (m->keypad)
		ward_buf_puts(b, "\033=");
	if (m->charset)
		ward_buf_printf(b, "\033(%c", m->charset);
	if (m->shifted)
		ward_buf_putc(b, 0x0e);
	if (m->cursor)
		ward_buf_printf(b, "\033[%u q", m->cursor);
	if (m->modify)
		ward_buf_printf(b, "\033[>4;%um", m->modify);
	const size_t s = m->alt != 0;
	if (m->pushed[s])
		ward_buf_printf(b, "\033[>%uu", m->flags[s]);
}

void ward_tty_modes_set_title(const struct ward_tty_modes *m, struct ward_buf *b)
{
	if (!m->titled)
		return;
	ward_buf_puts(b, "\033]2;");
	ward_buf_add(b, m->title, m->n_title);
	ward_buf_puts(b, "\033\\");
}

void ward_tty_modes_undo(const struct ward_tty_modes *m, bool all, struct ward_buf *b)
{
	const size_t s = m->alt != 0;
	/* Ends a string that was cut; else it does nothing. */
	ward_buf_puts(b, "\033\\");
	for (size_t i = 0; i < N_MODES; i++)
		if (all || m->changed & 1U << i)
			put_mode(b, i, modes[i].on);
	if (all || m->keypad)
		ward_buf_puts(b, "\033>");
	if (all || m->cursor)
		ward_buf_puts(b, "\033[0 q");
	if (all || m->modify)
		ward_buf_puts(b, "\033[>4;0m");
	if (m->pushed[s])
		ward_buf_printf(b, "\033[<%uu", m->pushed[s]);
	ward_buf_puts(b, "\017\033(B\033[m");
	/* Setting the region moves the cursor. */
	if (all || m->top || m->end)
		ward_buf_puts(b, "\0337\033[r\0338");
	if (m->alt)
		ward_buf_printf(b, "\033[?%ul", m->alt);
	if (m->alt && m->pushed[0])
		ward_buf_printf(b, "\033[<%uu", m->pushed[0]);
}
