/* SPDX-License-Identifier: Apache-2.0 */
/* What wardfs itself has to say while the command runs, between what the command writes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/session/terminal/relay_internal.h"

/* A sequence that the command leaves open for so long is cut. */
#define OPEN_NS WARD_NS_PER_SEC

/* xterm(1), ctlseqs: XTWINOPS 22 and 23 with 2 keep and put back the window's title. */
#define KEEP_TITLE "\033[22;2t"
#define PUT_BACK_TITLE "\033[23;2t"
#define CUT "\030" /* CAN */

void ward_relay_note_wrote(struct ward_relay *r, int which, const char *data, size_t n)
{
	struct ward_relay_notes *o = &r->notes;
	if (which == SCREEN)
		ward_pieces_read(&o->shown, data, n, ward_relay_cover_piece, r);
	else if (which == o->line_by)
		o->line_open = data[n - 1] != '\n';
}

bool ward_relay_say(struct ward_relay *r, const char *line)
{
	struct ward_relay_notes *o = &r->notes;
	if (o->off || o->line_by < 0 || o->line.len || r->stream[o->line_by].to < 0)
		return false;
	ward_buf_puts(&o->line, line);
	ward_buf_putc(&o->line, '\n');
	return ward_buf_error(&o->line) == 0;
}

void ward_relay_ring(struct ward_relay *r, const char *title)
{
	struct ward_relay_notes *o = &r->notes;
	const char *term = getenv("TERM");
	const bool plain = !term || strcmp(term, "dumb") == 0 || strcmp(term, "linux") == 0;
	if (o->off || r->pty < 0 || r->stream[SCREEN].to < 0)
		return;
	/* What waits still is no news any more. */
	ward_buf_clear(&o->screen);
	o->titles = title && !plain;
	if (o->titles)
		ward_buf_printf(
			&o->screen, "%s\033]2;%s\033\\\a", o->titled ? "" : KEEP_TITLE, title);
	else
		ward_buf_puts(&o->screen, title ? "\a" : o->titled ? PUT_BACK_TITLE : "");
	o->screen_at = ward_clock_mono_ns();
}

/* True: it is in the stream. */
static bool put(struct ward_relay_stream *s, const char *before, struct ward_buf *note)
{
	const size_t n = strlen(before);
	if (s->to < 0 || s->start != s->end || n + note->len > s->room)
		return false;
	memcpy(s->data, before, n);
	memcpy(s->data + n, note->data, note->len);
	s->start = 0;
	s->end = n + note->len;
	ward_buf_clear(note);
	return true;
}

static bool is_late(const struct ward_relay_notes *o)
{
	return ward_clock_mono_ns() - o->screen_at >= OPEN_NS;
}

void ward_relay_note_give(struct ward_relay *r)
{
	struct ward_relay_notes *o = &r->notes;
	if (o->line.len && !o->off &&
		put(&r->stream[o->line_by], o->line_open ? "\n" : "", &o->line))
		o->line_open = false;
	const bool between = ward_pieces_between(&o->shown);
	if (o->screen.len && !ward_relay_cover_busy(r) && (between || is_late(o)) &&
		put(&r->stream[SCREEN], between ? "" : CUT, &o->screen)) {
		o->titled = o->titles;
		if (!between)
			o->shown = (struct ward_pieces){0};
	}
}

int ward_relay_note_timeout(const struct ward_relay *r)
{
	const struct ward_relay_notes *o = &r->notes;
	const struct ward_relay_stream *s = &r->stream[SCREEN];
	if (!o->screen.len || ward_relay_cover_busy(r) || s->to < 0 || s->start != s->end)
		return -1;
	const uint64_t since = ward_clock_mono_ns() - o->screen_at;
	return since >= OPEN_NS ? 0 : (int)((OPEN_NS - since) / 1000000) + 1;
}

const char *ward_relay_note_undo(struct ward_relay *r)
{
	const bool titled = r->notes.titled;
	r->notes.titled = false;
	ward_buf_clear(&r->notes.screen);
	return titled ? PUT_BACK_TITLE : "";
}

void ward_relay_note_clear(struct ward_relay *r)
{
	ward_buf_clear(&r->notes.line);
	ward_buf_clear(&r->notes.screen);
	r->notes.off = true;
}
