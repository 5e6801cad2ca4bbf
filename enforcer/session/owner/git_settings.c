/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the name, the address and settings of taste from the owner's git. */
#include "enforcer/session/owner/git_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/patient.h"
#include "enforcer/policy/gitconfig.h"
#include "enforcer/session/owner/as_owner.h"

#define FILE_MAX ((size_t)1 << 20)
#define VALUE_MAX 256U

/* Of these no value names a program, a file or an address. */
static const char *const carried[] = {"user.name", "user.email", "init.defaultbranch",
	"pull.rebase", "pull.ff", "push.default", "push.autosetupremote", "merge.conflictstyle",
	"merge.ff", "rebase.autostash", "rebase.autosquash", "fetch.prune", "rerere.enabled",
	"core.autocrlf", "core.eol", "core.safecrlf", "core.quotepath", "core.abbrev",
	"diff.algorithm", "diff.renames", "diff.mnemonicprefix", "commit.verbose", "branch.sort",
	"tag.sort", "log.date", "color.ui", "status.showuntrackedfiles"};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct settings {
	char *values[COUNT(carried)];
};

static bool printable(const char *value)
{
	for (const char *p = value; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	return strlen(value) <= VALUE_MAX;
}

static int on_entry(void *user, const char *name, const char *sub, const char *value)
{
	(void)sub;
	struct settings *s = user;
	for (size_t i = 0; i < COUNT(carried); i++) {
		if (strcmp(name, carried[i]) != 0 || !printable(value))
			continue;
		char *copy = strdup(value);
		if (!copy)
			return -ENOMEM;
		free(s->values[i]);
		s->values[i] = copy;
	}
	return 0;
}

/* What cannot be opened counts as if it did not exist. */
static int read_file(const char *home, const char *name, struct settings *s)
{
	ward_cleanup_free char *path = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	struct stat st;
	if (asprintf(&path, "%s/%s", home, name) < 0)
		return -ENOMEM;
	/* A home may lie on a file system whose server is gone. */
	if (ward_patient_reach(path, NULL) < 0)
		return 0;
	/* People link these to where they keep them; whatever it is, the owner may read it. */
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
		ward_fd_read_all(fd, FILE_MAX, &text) < 0)
		return 0;
	return ward_git_config_read(text.data, text.len, on_entry, s);
}

static void put_value(struct ward_buf *b, const char *value)
{
	ward_buf_putc(b, '"');
	for (const char *p = value; *p; p++) {
		if (*p == '"' || *p == '\\')
			ward_buf_putc(b, '\\');
		ward_buf_putc(b, *p);
	}
	ward_buf_puts(b, "\"\n");
}

static char *text_of(const struct settings *s)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	for (size_t i = 0; i < COUNT(carried); i++) {
		if (!s->values[i])
			continue;
		const char *dot = strchr(carried[i], '.');
		ward_buf_printf(
			&b, "[%.*s]\n\t%s = ", (int)(dot - carried[i]), carried[i], dot + 1);
		put_value(&b, s->values[i]);
	}
	return ward_buf_steal(&b);
}

int ward_git_settings(const struct ward_identity *id, char **ret, struct ward_err *err)
{
	struct settings s = {.values = {NULL}};
	struct ward_as_owner owner;
	bool any = false;
	*ret = NULL;
	if (!id->home)
		return 0;
	int r = ward_as_owner_begin(id, &owner, err);
	if (r < 0)
		return r;
	r = read_file(id->home, ".config/git/config", &s);
	if (r == 0)
		r = read_file(id->home, ".gitconfig", &s);
	ward_as_owner_end(&owner);
	for (size_t i = 0; i < COUNT(carried); i++)
		any = any || s.values[i];
	if (r == 0 && any && !(*ret = text_of(&s)))
		r = -ENOMEM;
	for (size_t i = 0; i < COUNT(carried); i++)
		free(s.values[i]);
	return r < 0 ? ward_err_sys(err, r, "git's settings") : 0;
}
