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

#include "enforcer/base/patient.h"
#include "enforcer/base/plain.h"

/* What the name is now must not be lost for a report: -ELOOP, -EINVAL, or 0. */
static int may_replace(const struct ward_report_file *f)
{
	struct stat st, dir;

	if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISLNK(st.st_mode) ? -ELOOP : -EINVAL;
	/* Where everybody can put a file, root replaces root's alone. */
	if (geteuid() != 0 || st.st_uid == 0)
		return 0;
	if (fstat(f->dir, &dir) < 0)
		return -errno;
	return dir.st_mode & S_IWOTH && st.st_uid != dir.st_uid ? -EACCES : 0;
}

/* sudo's invoking user owns what is made in that user's directories. */
static int give(const struct ward_report_file *f, int fd)
{
	const char *user = secure_getenv("SUDO_UID");
	struct stat dir;

	if (geteuid() != 0 || !user)
		return 0;
	if (fstat(f->dir, &dir) < 0)
		return -errno;
	if (dir.st_uid == 0 || strtoul(user, NULL, 10) != dir.st_uid)
		return 0;
	return fchown(fd, dir.st_uid, dir.st_gid) < 0 ? -errno : 0;
}

static int make_beside(struct ward_report_file *f)
{
	int r = may_replace(f), fd = -1;

	for (unsigned i = 0; r == 0 && fd < 0 && i < 100; i++) {
		snprintf(f->beside, sizeof(f->beside), ".wardfs-%ld-%u", (long)getpid(), i);
		fd = openat(f->dir, f->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0644);
		if (fd < 0 && errno != EEXIST)
			r = -errno;
	}
	if (fd < 0) {
		*f->beside = '\0';
		return r < 0 ? r : -EEXIST;
	}
	r = give(f, fd);
	f->out = r == 0 ? fdopen(fd, "w") : NULL;
	if (f->out)
		return 0;
	r = r < 0 ? r : -errno;
	close(fd);
	return r;
}

void ward_report_begin(const char *file, struct ward_report_file *ret)
{
	*ret = (struct ward_report_file){.dir = -1};
	int r = ward_patient_reach(file, NULL);
	if (r == 0)
		r = ward_plain_above(file, &ret->dir, &ret->name, NULL);
	if (r == 0)
		r = *ret->name ? make_beside(ret) : -EISDIR;
	ret->error = -r;
}

int ward_report_end(struct ward_report_file *f)
{
	int e = f->error;

	if (f->out && (fflush(f->out) != 0 || ferror(f->out) || fsync(fileno(f->out)) < 0))
		e = errno;
	if (f->out)
		fclose(f->out);
	if (e == 0)
		e = -may_replace(f);
	if (e == 0 && renameat(f->dir, f->beside, f->dir, f->name) < 0)
		e = errno;
	if (e && *f->beside)
		(void)unlinkat(f->dir, f->beside, 0);
	if (f->dir >= 0)
		close(f->dir);
	f->out = NULL;
	f->dir = -1;
	errno = e;
	return e ? -1 : 0;
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
	struct ward_report_file f;

	ward_report_begin(file, &f);
	FILE *out = f.out;
	if (!out)
		return ward_report_end(&f);
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
	return ward_report_end(&f);
}
