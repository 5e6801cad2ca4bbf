/* SPDX-License-Identifier: Apache-2.0 */
/* Files of reports, and the page of HTML. */
#include "enforcer/attack/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

FILE *ward_report_begin(const char *file, char **beside)
{
	if (asprintf(beside, "%s.XXXXXX", file) < 0) {
		*beside = NULL;
		return NULL;
	}
	const int fd = mkostemp(*beside, O_CLOEXEC);
	if (fd >= 0)
		(void)fchmod(fd, 0644);
	return fd < 0 ? NULL : fdopen(fd, "w");
}

int ward_report_end(FILE *out, const char *file, char *beside)
{
	int r = out ? 0 : -1, e = errno;
	if (out && (fflush(out) != 0 || ferror(out))) {
		r = -1;
		e = errno;
	}
	if (out)
		fclose(out);
	if (r == 0 && rename(beside, file) < 0) {
		r = -1;
		e = errno;
	}
	if (r < 0 && beside)
		(void)unlink(beside);
	free(beside);
	errno = e;
	return r;
}

void ward_report_text(FILE *out, const char *text)
{
	for (; *text; text++)
		if (strchr("<>&\"", *text))
			fprintf(out, "&#%d;", *text);
		else if ((unsigned char)*text >= ' ' && (unsigned char)*text < 127)
			putc(*text, out);
		else
			putc('?', out);
}

/* --- HTML --- */
static void cell(FILE *out, const char *text)
{
	fputs("<td>", out);
	ward_report_text(out, text);
	fputs("</td>", out);
}

static void group_html(FILE *out, const struct ward_attack_run *r, int group)
{
	const struct ward_attack_table *t = ward_attack_tables[group];

	fprintf(out, "<h2>%s</h2><p>", t->name);
	ward_report_text(out, t->what);
	fputs("</p><table><tr><th>attempt<th>verdict<th>severity<th>what it does<th>inside<th>control"
	      "<th>seen<th>what stops it<th>reference</tr>\n",
		out);
	for (size_t i = 0; i < r->n; i++) {
		const struct ward_attack_outcome *o = &r->v[i];
		if ((int)o->group != group)
			continue;
		const char *cells[] = {o->attempt->name, ward_attack_verdict_name(o->verdict),
			ward_attack_severity_name(o->attempt->severity), o->attempt->what, o->said,
			o->control, o->seen, o->attempt->stops, o->attempt->reference};
		fprintf(out, "<tr class=\"v%d\">", (int)o->verdict);
		for (size_t k = 0; k < sizeof(cells) / sizeof(*cells); k++)
			cell(out, cells[k]);
		fputs("</tr>\n", out);
	}
	fputs("</table>\n", out);
}

int ward_report_page(const struct ward_attack_run *r, const char *file)
{
	struct utsname host;
	char *beside;
	FILE *out = ward_report_begin(file, &beside);

	if (!out)
		return ward_report_end(out, file, beside);
	(void)uname(&host);
	fputs("<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>wardfs attack</title>"
	      "<style>body{font-family:sans-serif}td,th{text-align:left;padding:.2em .6em}"
	      ".v1{background:#fcc}.v3{background:#ffc}</style><h1>wardfs attack: ",
		out);
	ward_report_text(out, r->sandbox);
	fprintf(out, "</h1><p>%s, kernel ", host.machine);
	ward_report_text(out, host.release);
	fprintf(out, ": %zu held, %zu broken, %zu not applicable, %zu untested, in %.1f s.</p>\n",
		ward_report_count(r, -1, WARD_ATTACK_HELD),
		ward_report_count(r, -1, WARD_ATTACK_BROKEN),
		ward_report_count(r, -1, WARD_ATTACK_NOT_APPLICABLE),
		ward_report_count(r, -1, WARD_ATTACK_UNTESTED), r->seconds);
	for (int g = 0; g < WARD_ATTACK_GROUPS; g++)
		for (size_t i = 0; i < r->n; i++)
			if ((int)r->v[i].group == g) {
				group_html(out, r, g);
				break;
			}
	fputs("</html>\n", out);
	return ward_report_end(out, file, beside);
}
