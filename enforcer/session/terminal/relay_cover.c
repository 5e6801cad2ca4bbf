/* SPDX-License-Identifier: Apache-2.0 */
/* Lends the user's terminal to another process of ours, and takes it back. */
#include <string.h>
#include <sys/ioctl.h>

#include "enforcer/session/terminal/escape_key.h"
#include "enforcer/session/terminal/relay_internal.h"

void ward_relay_reserve(struct ward_relay *r, bool on)
{
	r->reserved = on && r->raw_wanted;
}

bool ward_relay_is_reserved(const struct ward_relay *r)
{
	return r->reserved;
}

void ward_relay_leave(struct ward_relay *r)
{
	r->wants_away = r->detachable;
}

bool ward_relay_wants_panel(struct ward_relay *r, struct ward_buf *ret_typed)
{
	if (!r->wants_panel)
		return false;
	r->wants_panel = false;
	*ret_typed = r->cover.typed;
	r->cover.typed = WARD_BUF_INIT;
	return true;
}

/*
 * The key is not the command's, nor is what was typed behind it. A sequence that comes in two parts
 * is not recognised: terminals write it at once.
 */
void ward_relay_cover_keys(struct ward_relay *r, const char *data, size_t *n)
{
	for (size_t i = 0; i < *n; i++) {
		const size_t len = ward_escape_key(data + i, *n - i);
		if (!len)
			continue;
		ward_buf_add(&r->cover.typed, data + i + len, *n - i - len);
		r->wants_panel = true;
		*n = i;
	}
}

void ward_relay_uncover(struct ward_relay *r, const char *data, size_t n)
{
	if (!r->cover.on)
		return;
	r->cover.on = r->cover.keep = false;
	ward_buf_add(&r->cover.out, data, n);
	/* What is under way was not shown from its beginning. */
	r->cover.whole = !ward_pieces_between(&r->notes.shown);
}

void ward_relay_redraw(struct ward_relay *r)
{
	struct winsize ws = {0};
	if (r->pty < 0 || ioctl(r->pty, TIOCGWINSZ, &ws) < 0)
		return;
	/* The kernel tells programs of another size alone. */
	ws.ws_row++;
	(void)ioctl(r->pty, TIOCSWINSZ, &ws);
	ws.ws_row--;
	(void)ioctl(r->pty, TIOCSWINSZ, &ws);
}

void ward_relay_type(struct ward_relay *r, const char *data, size_t n)
{
	struct ward_relay_stream *s = &r->stream[KEYS];
	if (s->start == s->end)
		s->start = s->end = 0;
	/* One byte less: of a key that is kept back. */
	if (s->to < 0 || n >= s->room - s->end)
		return;
	memcpy(s->data + s->end, data, n);
	s->end += n;
}

/* --- what the command writes --- */

void ward_relay_cover_piece(void *user, enum ward_piece kind, const char *data, size_t n)
{
	struct ward_relay *r = user;
	/* Of a long string the beginning was shown, or not even that. */
	if (r->cover.whole && !r->cover.on &&
		(kind == WARD_PIECE_TEXT || kind == WARD_PIECE_SEQUENCE))
		ward_buf_add(&r->cover.out, data, n);
}

bool ward_relay_cover_takes(struct ward_relay *r)
{
	const bool takes = r->cover.on || r->cover.whole;
	if (!r->cover.on && ward_pieces_between(&r->notes.shown))
		r->cover.whole = false;
	return takes;
}

bool ward_relay_cover_busy(const struct ward_relay *r)
{
	return r->cover.on || r->cover.sent < r->cover.out.len;
}

void ward_relay_cover_give(struct ward_relay *r)
{
	struct ward_relay_stream *s = &r->stream[SCREEN];
	struct ward_relay_covered *c = &r->cover;
	const size_t left = c->out.len - c->sent;
	if (c->on || left == 0 || s->start != s->end)
		return;
	const size_t n = left < s->room ? left : s->room;
	if (s->to >= 0)
		memcpy(s->data, c->out.data + c->sent, n);
	s->start = 0;
	s->end = s->to >= 0 ? n : 0;
	c->sent += n;
	if (c->sent == c->out.len) {
		ward_buf_clear(&c->out);
		c->sent = 0;
	}
}
