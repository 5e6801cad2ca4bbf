/* SPDX-License-Identifier: Apache-2.0 */
/* Lets argp(3) parse a command line, and escapes what it prints about it. */
#include "enforcer/cli/base/arguments.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"

/* The argument at text, if it has lines of its own: they would look like messages of ours. */
static size_t argument_at(char *const *argv, const char *text, size_t len)
{
	for (; *argv; argv++) {
		const size_t n = strlen(*argv);
		if (n > 1 && n <= len && strchr(*argv, '\n') && memcmp(*argv, text, n) == 0)
			return n;
	}
	return 0;
}

/*
 * For fopencookie(3): getopt(3) and argp(3) print a message at a time, whose last line break is
 * theirs, as is every other that is in no argument.
 */
static ssize_t put(void *cookie, const char *text, size_t len)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	size_t from = 0;
	for (size_t i = 0; i < len;) {
		const size_t n = argument_at(cookie, text + i, len - i);
		if (n == 0) {
			i++;
			continue;
		}
		ward_cleanup_free char *argument = strndup(text + i, n);
		ward_shown_lines(&b, text + from, i - from);
		ward_shown(&b, argument ? argument : "?");
		from = i += n;
	}
	ward_shown_lines(&b, text + from, len - from);
	if (ward_buf_error(&b) < 0 || ward_fd_write_all(STDERR_FILENO, b.data, b.len) < 0)
		return -1;
	return (ssize_t)len;
}

/* --- -h, which many type first; argp(3) has -? --- */

#define HELP_SHORT 'h'
#define CHILDREN_MAX 8

static error_t parse_help(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != HELP_SHORT)
		return ARGP_ERR_UNKNOWN;
	ward_arguments_help(state);
	return 0;
}

static const struct argp_option help_options[] = {
	{NULL, HELP_SHORT, NULL, OPTION_HIDDEN, NULL, 0}, {0}};
static const struct argp help_argp = {help_options, parse_help, NULL, NULL, NULL, NULL, NULL};

static bool has_short_help(const struct argp *argp)
{
	for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
		if (o->key == HELP_SHORT)
			return true;
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		if (has_short_help(c->argp))
			return true;
	return false;
}

error_t ward_arguments_parse(
	const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
	const cookie_io_functions_t functions = {.write = put};
	struct argp_child children[CHILDREN_MAX + 2] = {0};
	struct argp with_help = *argp;
	size_t n = 0;
	while (argp->children && argp->children[n].argp && n < CHILDREN_MAX) {
		children[n] = argp->children[n];
		n++;
	}
	if (!has_short_help(argp) && !(argp->children && argp->children[n].argp)) {
		children[n].argp = &help_argp;
		with_help.children = children;
	}
	FILE *own = fopencookie(argv, "w", functions);
	FILE *const before = stderr;
	if (!own)
		return ENOMEM;
	/* A message is one call of put(). */
	(void)setvbuf(own, NULL, _IONBF, 0);
	stderr = own;
	const error_t r = argp_parse(&with_help, argc, argv, flags, NULL, input);
	stderr = before;
	(void)fclose(own);
	return r;
}

void ward_arguments_wrong(const struct argp_state *state, const char *fmt, ...)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	va_list ap;
	va_start(ap, fmt);
	ward_vshownf(&b, fmt, ap);
	va_end(ap);
	argp_error(state, "%s", ward_buf_str(&b));
}

void ward_arguments_help(const struct argp_state *state)
{
	argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
}
