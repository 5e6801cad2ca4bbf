/* SPDX-License-Identifier: Apache-2.0 */
/* Which control sequences are questions that a terminal answers. */
#include <string.h>

#include "enforcer/screen/pieces.h"

/*
 * From xterm's ctlseqs, and the pages of kitty's keyboard protocol. ANY stands for any leader, as
 * well as none.
 */
#define ANY '*'
static const struct {
	char leader, middle, final;
	unsigned from, to; /* the first value; 0, 0: whatever it is */
} questions[] = {
	{ANY, 0, 'c', 0, 0},   /* DA1, DA2, DA3: who are you? */
	{0, 0, 'n', 0, 0},     /* DSR: how are you, where is the cursor? */
	{'?', 0, 'n', 0, 0},   /* DSR, of DEC: printer, keys, colours */
	{ANY, '$', 'p', 0, 0}, /* DECRQM: how is this mode set? */
	{0, 0, 'x', 0, 0},     /* DECREQTPARM */
	{0, 0, 't', 11, 21},   /* XTWINOPS: state, place, size, title of the window */
	{'?', 0, 'u', 0, 0},   /* kitty: keyboard flags */
	{'?', 0, 'm', 0, 0},   /* XTQMODKEYS */
	{'>', 0, 'q', 0, 0},   /* XTVERSION */
	{'?', 0, 'S', 0, 0},   /* XTSMGRAPHICS */
	{0, '"', 'v', 0, 0},   /* DECRQDE: what is displayed */
	{0, '&', 'u', 0, 0},   /* DECRQUPSS */
	{0, '$', 'w', 0, 0},   /* DECRQPSR */
	{0, '$', 'u', 0, 0},   /* DECRQTSR */
	{0, '*', 'y', 0, 0},   /* DECRQCRA: checksum */
	{0, '+', 'x', 0, 0},   /* DECRQPKFM */
	{0, '\'', '|', 0, 0},  /* DECRQLP: where is the mouse? */
	{0, '#', '|', 0, 0},   /* XTREPORTSGR */
	{0, '#', 'R', 0, 0},   /* XTREPORTCOLORS */
	{0, '#', 'S', 0, 0},   /* XTTITLEPOS */
};

static bool csi_asks(const struct ward_csi *c)
{
	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++)
		if (c->final == questions[i].final && c->middle == questions[i].middle &&
			(questions[i].leader == ANY || c->leader == questions[i].leader) &&
			(questions[i].to == 0 || (c->value[0] >= questions[i].from &&
							 c->value[0] <= questions[i].to)))
			return true;
	return false;
}

/* OSC: a field that is or begins with "?", or, in colours of kitty, ends with "=?". */
static bool osc_asks(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] == '?' && (i == 0 || text[i - 1] == ';' || text[i - 1] == '='))
			return true;
	/* iTerm2: cell size, variables, and the like. */
	return n > 5 && memcmp(text, "1337;", 5) == 0 &&
	       (memmem(text, n, "Report", 6) || memmem(text, n, "Request", 7));
}

bool ward_piece_asks(const char *data, size_t n)
{
	struct ward_csi c;
	if (n < 2 || data[0] != '\033')
		return false;
	if (ward_csi_parse(data, n, &c))
		return csi_asks(&c);
	const char *text = data + 2;
	/* Without ESC \. */
	const size_t len = n >= 4 ? n - 4 : 0;
	switch (data[1]) {
	case 'Z': /* DECID */
		return true;
	case ']':
		return osc_asks(text, len);
	case 'P': /* DECRQSS, XTGETTCAP */
		return len >= 2 && (text[0] == '$' || text[0] == '+') && text[1] == 'q';
	case '_': /* kitty's graphics: each command can be answered */
		return len >= 1 && text[0] == 'G';
	default:
		return false;
	}
}
