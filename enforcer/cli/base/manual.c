/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the manual beside the program. */
#include "enforcer/cli/base/manual.h"

#include <limits.h>
#include <stdlib.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"

/* The directory of this program, without a slash at its end. */
static bool program_dir(char dir[PATH_MAX])
{
	const ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
	if (n <= 0)
		return false;
	dir[n] = 0;
	char *slash = strrchr(dir, '/');
	if (slash)
		*slash = 0;
	return slash;
}

static bool there(struct ward_buf *path, const char *dir, const char *between, const char *page,
	char section, const char *end)
{
	ward_buf_clear(path);
	ward_buf_printf(path, "%s/%s/%s.%c%s", dir, between, page, section, end);
	return ward_buf_error(path) == 0 && access(ward_buf_str(path), R_OK) == 0;
}

bool ward_manual_command(const char *page, char section, struct ward_buf *b)
{
	/* What meson made of a template, and what stands in the sources. */
	static const char *const built[] = {"docs", "../docs/man"};
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	char dir[PATH_MAX], installed[] = "../share/man/man0";
	if (!program_dir(dir))
		return false;
	installed[sizeof(installed) - 2] = section;
	if (there(&path, dir, installed, page, section, "") ||
		there(&path, dir, installed, page, section, ".gz")) {
		ward_buf_printf(b, section == '1' ? "man %s" : "man 5 %s", page);
		return ward_buf_error(b) == 0;
	}
	for (size_t i = 0; i < sizeof(built) / sizeof(*built); i++) {
		if (!there(&path, dir, built[i], page, section, ""))
			continue;
		ward_cleanup_free char *real = realpath(ward_buf_str(&path), NULL);
		ward_buf_puts(b, "man -l ");
		ward_shell_word(b, real ? real : ward_buf_str(&path));
		return ward_buf_error(b) == 0;
	}
	return false;
}
