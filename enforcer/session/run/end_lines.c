/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the lines that a run prints at its end. */
#include "enforcer/session/run/end_lines.h"

#include <stdlib.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/session/run/run.h"

/* New files named on stderr; the trail has them all. */
#define NAMED_MAX 20
/* Bytes of a name or of what a link says: they are the agent's choice. */
#define SAID_MAX 120

char *ward_note_refused(const struct ward_guard_summary *s, const char *session, bool system)
{
	if (s->refusals == 0)
		return NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, "%llu refused:", (unsigned long long)s->refusals);
	for (size_t i = 0; i < s->n_first; i++)
		ward_buf_printf(&b, "%s %s %s (%s)", i ? ";" : "", s->first[i].action,
			s->first[i].path, s->first[i].rule);
	ward_buf_printf(&b, "%s more: wardfs audit%s denials %s",
		s->refusals > s->n_first ? "; …" : ";", system ? " --system" : "", session);
	return ward_buf_steal(&b);
}

char *ward_note_executed(const struct ward_executed *found, const char *session, bool system)
{
	if (found->n == 0 && found->whole)
		return NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_puts(&b, found->n ? "new files that this host may execute:" : "");
	for (size_t i = 0; i < found->n && i < NAMED_MAX; i++) {
		ward_buf_puts(&b, i ? ", " : " ");
		ward_escape(&b, found->paths[i], strlen(found->paths[i]));
	}
	if (found->n > NAMED_MAX)
		ward_buf_printf(&b, ", and %zu more", found->n - NAMED_MAX);
	if (found->n)
		ward_buf_puts(&b, "; look at them before you use them");
	if (!found->whole)
		ward_buf_printf(&b,
			"%snot all of the project could be searched for new files that this host may "
			"execute",
			found->n ? "; " : "");
	ward_buf_printf(
		&b, "; the trail: wardfs audit%s show %s", system ? " --system" : "", session);
	return ward_buf_steal(&b);
}

/* The trail has all of it. */
static void say_start(struct ward_buf *b, const char *s)
{
	const size_t n = strlen(s);
	ward_escape(b, s, n < SAID_MAX ? n : SAID_MAX);
	if (n > SAID_MAX)
		ward_buf_puts(b, "...");
}

static void say_left(struct ward_buf *b, const struct ward_left *l)
{
	static const char *const kinds[] = {[WARD_LEFT_NONE] = "",
		[WARD_LEFT_PIPE] = "named pipe ",
		[WARD_LEFT_SOCKET] = "socket ",
		[WARD_LEFT_DEVICE] = "device ",
		[WARD_LEFT_OUT] = "link ",
		[WARD_LEFT_CLOSED] = "link "};
	ward_buf_puts(b, kinds[l->kind]);
	say_start(b, l->path);
	if (l->to) {
		ward_buf_puts(b, " to ");
		say_start(b, l->to);
	}
	if (l->kind == WARD_LEFT_CLOSED)
		ward_buf_puts(b, " (closed to the command)");
}

char *ward_note_left(const struct ward_executed *found, const char *session, bool system)
{
	if (found->n_left == 0)
		return NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_puts(&b, "left in the project, and no files of it:");
	for (size_t i = 0; i < found->n_left && i < NAMED_MAX; i++) {
		ward_buf_puts(&b, i ? ", " : " ");
		say_left(&b, &found->left[i]);
	}
	size_t more = found->left_more;
	more += found->n_left > NAMED_MAX ? found->n_left - NAMED_MAX : 0;
	if (more)
		ward_buf_printf(&b, ", and %zu more", more);
	ward_buf_printf(&b,
		"; who opens such a name waits, or gets something else; the trail: wardfs audit%s "
		"show %s",
		system ? " --system" : "", session);
	return ward_buf_steal(&b);
}

const char ward_note_offline[] =
	"the command looked for a host, and [network] mode = none gives it no network: --net HOST[:PORT] opens "
	"one for a run (wardfs run --net HOST -- CMD), wardfs policy add allow HOST[:PORT] for this project";

void ward_run_notes_clear(struct ward_run_notes *n)
{
	free(n->limits);
	free(n->refused);
	free(n->executed);
	free(n->left);
	free(n->anchor);
	*n = (struct ward_run_notes){0};
}
