/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the line about a question, and bounds how many there are. */
#include "enforcer/session/ask/notice.h"

#include <jansson.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"

/* A path is the command's choice, and its end says more than its middle. */
#define PATH_END 60U

static bool may_say(const struct ward_notice *n, uint64_t now_ns)
{
	const uint64_t oldest = n->said_ns[n->next];
	return !oldest || now_ns - oldest >= WARD_NOTICE_NS;
}

static void said(struct ward_notice *n, uint64_t now_ns)
{
	n->said_ns[n->next] = now_ns;
	n->next = (n->next + 1) % WARD_NOTICE_LINES;
}

static void add_path(struct ward_buf *b, const char *path)
{
	const size_t len = strlen(path);
	if (len <= WARD_NOTICE_PATH_MAX)
		ward_shownf(b, "%s", path);
	else
		ward_shownf(b, "%.*s...%s", (int)(WARD_NOTICE_PATH_MAX - PATH_END), path,
			path + len - PATH_END);
}

bool ward_notice_question(struct ward_notice *n, const struct ward_asked *q, bool is_signed,
	uint64_t now_ns, struct ward_buf *b)
{
	ward_cleanup(ward_buf_clear) struct ward_buf rights = WARD_BUF_INIT;
	if (!may_say(n, now_ns)) {
		n->left_out++;
		return false;
	}
	said(n, now_ns);
	json_t *o = json_loads(q->shown, 0, NULL);
	const char *program = json_string_value(json_object_get(o, "program"));
	ward_rights_format(&rights, q->rights);
	ward_shownf(b, "wardfs: question %s: %s ", q->name, program ? program : "a process");
	if (q->process > 0)
		ward_buf_printf(b, "(%d) ", (int)q->process);
	if (q->host)
		ward_buf_puts(b, "asks to connect to ");
	else
		ward_shownf(b, "asks for %s of ", q->action);
	add_path(b, q->path);
	if (*q->path2) {
		ward_buf_puts(b, " to ");
		add_path(b, q->path2);
	}
	if (!q->host)
		ward_shownf(b, " (%s)", ward_buf_str(&rights));
	ward_shownf(b, ", and %s. ", q->due_ns > now_ns ? "waits" : "was refused for now");
	if (is_signed)
		ward_shownf(b, "It takes signed answers: wardfs approve sign; wardfs approve %s no",
			q->name);
	else
		ward_shownf(b, "Answer: wardfs approve %s yes|once|no", q->name);
	json_decref(o);
	return ward_buf_error(b) == 0;
}

bool ward_notice_rest(struct ward_notice *n, size_t waiting, uint64_t now_ns, struct ward_buf *b)
{
	if (!n->left_out || !may_say(n, now_ns))
		return false;
	n->left_out = 0;
	if (!waiting)
		return false;
	said(n, now_ns);
	ward_shownf(b, "wardfs: %zu question%s wait%s for an answer. List them: wardfs approve",
		waiting, ward_s(waiting), waiting == 1 ? "s" : "");
	return ward_buf_error(b) == 0;
}

int ward_notice_timeout(const struct ward_notice *n, uint64_t now_ns)
{
	const uint64_t due = n->said_ns[n->next] + WARD_NOTICE_NS;
	if (!n->left_out)
		return -1;
	return due <= now_ns ? 0 : (int)((due - now_ns) / 1000000) + 1;
}
