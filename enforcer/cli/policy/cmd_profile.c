/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs profile: the shipped policies; what there is, what each says, and one's own from one. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/output.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/verbs.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/policy/profile_lines.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/load.h"
#include "enforcer/session/owner/as_owner.h"

#define SHIPPED "shipped with wardfs " WARD_VERSION

struct args {
	const char *name;
	const char *output;
	bool json, resolved, whole, force;
};

enum { OPT_WHOLE = 0x100 };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case 'j':
		a->json = true;
		return 0;
	case 'r':
		a->resolved = true;
		return 0;
	case 'o':
		a->output = arg;
		return 0;
	case 'f':
		a->force = true;
		return 0;
	case OPT_WHOLE:
		a->whole = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->name)
			return ARGP_ERR_UNKNOWN;
		a->name = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The purpose of a profile, from its first line "; NAME: WHAT". Not NUL-terminated. */
static const char *purpose(const char *name, size_t *ret_len)
{
	size_t len = 0, n = strlen(name);
	const char *text = ward_profile_text(name, &len);
	*ret_len = 0;
	if (!text || strncmp(text, "; ", 2) != 0 || strncmp(text + 2, name, n) != 0 ||
		strncmp(text + 2 + n, ": ", 2) != 0)
		return "";
	text += n + 4;
	*ret_len = strcspn(text, "\n");
	return text;
}

/* The shipped profile of that name, or -ENOENT with the nearest right one. */
static int find(const char *name, const char **ret_text, size_t *ret_len, struct ward_err *err)
{
	const char *text = name ? ward_profile_text(name, ret_len) : NULL;
	if (text) {
		*ret_text = text;
		return 0;
	}
	ward_cleanup(ward_buf_clear) struct ward_buf all = WARD_BUF_INIT;
	const char *near = NULL;
	for (size_t i = 0; ward_profile_name(i); i++) {
		const char *one = ward_profile_name(i);
		ward_buf_printf(&all, "%s%s", i ? ", " : "", one);
		if (name && !near)
			near = ward_near(name, &one, 1, sizeof(one));
	}
	if (!name)
		return ward_err_set(err, -EINVAL, "name a profile: %s", ward_buf_str(&all));
	return ward_err_set(err, -ENOENT, "no shipped profile '%s' (%s)%s%s%s%s", name,
		ward_buf_str(&all), near ? ": did you mean " : "", near ? near : "",
		near ? "?" : "",
		strchr(name, '/') ? "; of a file: wardfs policy show --policy FILE" : "");
}

/* --- list --- */

static const struct argp_option list_options[] = {
	{"json", 'j', NULL, 0, "One JSON object: profiles, and what holds here", 0}, {0}};
static const struct argp list_argp = {list_options, parse, NULL,
	"Lists the shipped profiles, with the origin and purpose of each, and names the policy "
	"that a run here would use.",
	NULL, NULL, NULL};

/* Your file for this project, if there is one; *ret_path is place's. */
static bool own_file(struct ward_policy_place *place, const char **ret_path)
{
	struct ward_err ignored = WARD_ERR_INIT;
	struct stat st;
	if (ward_policy_place_find("medium", place, &ignored) < 0 && !place->owner_file)
		return false;
	*ret_path = place->owner_file;
	return place->owner_file && stat(place->owner_file, &st) == 0;
}

static json_t *list_json(const char *own)
{
	json_t *all = json_array(), *o = json_object();
	for (size_t i = 0; ward_profile_name(i); i++) {
		size_t n = 0;
		const char *name = ward_profile_name(i), *what = purpose(name, &n);
		json_array_append_new(all, json_pack("{s:s, s:s, s:o}", "name", name, "from",
						   SHIPPED, "purpose", json_stringn(what, n)));
	}
	json_object_set_new(o, "profiles", all);
	json_object_set_new(o, "here", own ? ward_json_text(own) : json_string("medium"));
	return o;
}

static int cmd_list(int argc, char **argv)
{
	struct args a = {0};
	if (ward_arguments_parse(&list_argp, argc, argv, 0, &a))
		return 2;
	if (a.name) {
		ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
		ward_sayf("profile list takes no name; this prints one: wardfs profile show %s",
			ward_shell_quoted(&word, a.name));
		return 2;
	}
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place place = {
		.project = {.fd = -1}};
	const char *own = NULL;
	if (!own_file(&place, &own))
		own = NULL;
	if (a.json) {
		ward_print_json(list_json(own));
		return 0;
	}
	ward_outf("%-10s %-26s %s\n", "PROFILE", "FROM", "WHAT FOR");
	for (size_t i = 0; ward_profile_name(i); i++) {
		size_t n = 0;
		const char *name = ward_profile_name(i), *what = purpose(name, &n);
		ward_outf("%-10s %-26s %.*s\n", name, SHIPPED, (int)n, what);
	}
	ward_outf("A run here uses %s (%s).\n", own ? own : "medium",
		own ? "your file for this project" : "the default");
	return 0;
}

/* --- show --- */

static const struct argp_option show_options[] = {
	{"resolved", 'r', NULL, 0,
		"Print the meaning, as 'wardfs policy show' does, not the source text", 0},
	{"json", 'j', NULL, 0,
		"One JSON object: name, from, purpose, digest, text as it is written, lines", 0},
	{0},
};
static const struct argp show_argp = {show_options, parse, "PROFILE",
	"Prints a shipped profile with its comments, and explains each line. Messages name a "
	"line as PROFILE:LINE, such as medium:21. With PROFILE:LINE as the argument, this "
	"prints that line and its section. When a session starts, wardfs adds guards for files "
	"that the host executes later, after the line ';@host-executed'. PROFILE:LINE counts "
	"these guards too, for the current project.",
	NULL, NULL, NULL};

/* The profile alone, with the guards that it gets for the project at hand. */
static int load_here(const char *name, struct ward_policy **ret, struct ward_err *err)
{
	struct ward_policy *alone = NULL;
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place place = {
		.project = {.fd = -1}};
	int r = ward_policy_load_alone(name, &alone, err);
	if (r == 0)
		r = ward_policy_place_find(name, &place, err);
	/* As `alone` has them: without floor and project file, which apply to a file as well. */
	const struct ward_load l = {
		.policy = name, .tree_fd = place.in_project ? place.project.fd : -1, .like = alone};
	if (r == 0)
		r = ward_policy_load_owned(&place.id, &l, ret, err);
	ward_policy_unref(alone);
	return r;
}

/* The line at *text, without its newline; *ret_next: behind that. */
static size_t line_at(const char *text, const char *end, const char **ret_next)
{
	const char *nl = memchr(text, '\n', (size_t)(end - text));
	*ret_next = nl ? nl + 1 : end;
	return (size_t)((nl ? nl : end) - text);
}

/* Line number `wanted` of a text, behind the section that it stands in. False: there is none. */
static bool pick_line(const struct ward_buf *lines, unsigned long wanted, struct ward_buf *ret)
{
	const char *s = lines->data, *end = s + lines->len, *next = s, *section = NULL;
	size_t len = 0, section_len = 0;
	for (unsigned long n = 1; s < end; n++, s = next) {
		len = line_at(s, end, &next);
		if (n == wanted)
			break;
		if (*s == '[') {
			section = s;
			section_len = len;
		}
	}
	if (s >= end)
		return false;
	if (section && *s != '[') {
		ward_buf_add(ret, section, section_len);
		ward_buf_putc(ret, '\n');
	}
	ward_buf_add(ret, s, len);
	ward_buf_putc(ret, '\n');
	return true;
}

/* NAME:LINE, as a message names a line: counted with the guards for the project at hand. */
static int show_line(const char *name, const char *number, struct ward_err *err)
{
	const char *text = NULL;
	char *stop = NULL;
	size_t len = 0;
	struct ward_policy *p = NULL;
	struct ward_source_text source = {0};
	ward_cleanup(ward_buf_clear) struct ward_buf lines = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf one = WARD_BUF_INIT;
	const unsigned long wanted = strtoul(number, &stop, 10);
	int r = find(name, &text, &len, err);
	if (r == 0 && (*number < '0' || *number > '9' || *stop || wanted == 0))
		r = ward_err_set(err, -EINVAL, "'%s' is not the number of a line", number);
	if (r == 0)
		r = load_here(name, &p, err);
	if (r == 0 && !ward_policy_source(p, WARD_SOURCE_BASE, &source))
		r = ward_err_set(err, -ENOENT, "%s has no text", name);
	if (r == 0 && (r = ward_lines_explain(name, source.text, source.len, &lines)) < 0)
		ward_err_sys(err, r, "%s", name);
	if (r == 0 && !pick_line(&lines, wanted, &one))
		r = ward_err_set(err, -ENOENT,
			"%s has no line %s in this project. To print the policy of an earlier session: wardfs audit policy SESSION",
			name, number);
	if (r == 0)
		ward_print_policy(one.data, one.len);
	ward_policy_unref(p);
	return r;
}

static int show(const struct args *a, struct ward_err *err)
{
	const char *text = NULL;
	size_t len = 0, n = 0;
	struct ward_policy *p = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf resolved = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf lines = WARD_BUF_INIT;
	int r = find(a->name, &text, &len, err);
	if (r == 0)
		r = ward_policy_load_alone(a->name, &p, err);
	if (r == 0 && a->resolved) {
		r = ward_policy_show(p, &resolved);
		if (r < 0)
			ward_err_sys(err, r, "%s", a->name);
		text = ward_buf_str(&resolved);
		len = resolved.len;
	}
	if (r == 0 && a->json) {
		const char *what = purpose(a->name, &n);
		ward_print_json(json_pack("{s:s, s:s, s:s#, s:s, s:s#, s:o*}", "name", a->name,
			"from", SHIPPED, "purpose", what, n, "digest", ward_policy_digest(p),
			"text", text, len, "lines", ward_lines_json(a->name, text, len)));
	} else if (r == 0) {
		r = ward_lines_explain(a->name, text, len, &lines);
		if (r < 0)
			ward_err_sys(err, r, "%s", a->name);
		else
			ward_print_policy(lines.data, lines.len);
	}
	ward_policy_unref(p);
	return r;
}

static int cmd_show(int argc, char **argv)
{
	struct args a = {0};
	struct ward_err err = WARD_ERR_INIT;
	if (ward_arguments_parse(&show_argp, argc, argv, 0, &a))
		return 2;
	const char *colon = a.name ? strchr(a.name, ':') : NULL;
	ward_cleanup_free char *name = colon ? strndup(a.name, (size_t)(colon - a.name)) : NULL;
	if (colon && !name)
		ward_err_sys(&err, -ENOMEM, "%s", a.name);
	else if (colon && (a.json || a.resolved))
		ward_err_set(&err, -EINVAL, "a line excludes --json and --resolved");
	else if (colon ? show_line(name, colon + 1, &err) == 0 : show(&a, &err) == 0)
		return 0;
	ward_say(err.text);
	return 2;
}

/* --- export --- */

static const struct argp_option export_options[] = {
	{"output", 'o', "FILE", 0,
		"Write the policy to FILE, which must not exist (default: stdout)", 0},
	{"force", 'f', NULL, 0, "Replace FILE", 0},
	{"whole", OPT_WHOLE, NULL, 0, "Write the whole profile, not a file that extends it", 0},
	{"json", 'j', NULL, 0, "One JSON object: name, extends, file, text", 0},
	{0},
};
static const struct argp export_argp = {export_options, parse, "PROFILE",
	"Writes a policy of your own that extends a shipped profile. wardfs still looks for "
	"repositories to guard at each start, and an upgrade brings newer versions of the "
	"profile. With --whole the file contains the whole profile, with the guards that this "
	"project needs now. wardfs does not look for new ones then.\vExit status: 0 written; 2 "
	"usage, or FILE exists.",
	NULL, NULL, NULL};

static void put_extending(const char *name, struct ward_buf *b)
{
	size_t n = 0;
	const char *what = purpose(name, &n);
	ward_buf_printf(b,
		"; Begins with all of the shipped profile %s (wardfs profile show %s):\n"
		"; %.*s\n"
		"; Lines here come after its lines. Its guards hold whatever stands here.\n"
		"; What each line means: wardfs policy explain, wardfs policy check FILE.\n"
		"\n"
		"[policy]\n"
		"version = 1\n"
		"extends = %s\n"
		"\n"
		"[guard]\n"
		"; deny = secrets.yml           ; nothing lifts a guard\n"
		"\n"
		"[files]\n"
		"; read = /workspace/vendor     ; the last rule that matches decides\n"
		"\n"
		"[limits]\n"
		"; wall = 2h\n"
		"\n"
		"[network]\n"
		"; mode  = allowlist\n"
		"; allow = example.org:443\n",
		name, name, (int)n, what, name);
}

static int put_whole(const char *name, struct ward_buf *b, struct ward_err *err)
{
	struct ward_policy *p = NULL;
	int r = load_here(name, &p, err);
	if (r == 0) {
		ward_buf_printf(b,
			"; All of the shipped profile %s as one text. Guards for the files that "
			"the "
			"host executes\n"
			"; later are those that the project at hand needs now. wardfs does not "
			"look for them again.\n"
			"; In a file that says `extends = %s`, wardfs looks for them at each "
			"start.\n",
			name, name);
		r = ward_policy_show(p, b);
		if (r < 0)
			ward_err_sys(err, r, "%s", name);
	}
	ward_policy_unref(p);
	return r;
}

static int write_file(
	const char *file, bool force, const struct ward_buf *text, struct ward_err *err)
{
	int r = ward_output_write(file, force, text, err);
	return r == -EEXIST ? ward_err_set(err, r, "%s exists already; --force replaces it", file)
			    : r;
}

static int export(const struct args *a, struct ward_err *err)
{
	const char *text = NULL;
	size_t len = 0;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	int r = find(a->name, &text, &len, err);
	if (r == 0 && a->whole)
		r = put_whole(a->name, &b, err);
	else if (r == 0)
		put_extending(a->name, &b);
	if (r == 0 && ward_buf_error(&b) < 0)
		r = ward_err_sys(err, -ENOMEM, "%s", a->name);
	if (r == 0 && a->output)
		r = write_file(a->output, a->force, &b, err);
	if (r < 0)
		return r;
	if (a->json) {
		/* A pattern may hold any bytes. */
		json_t *plain = json_stringn(b.data, b.len);
		ward_print_json(json_pack("{s:s, s:b, s:o, s:o}", "name", a->name, "extends",
			!a->whole, "file", ward_json_text(a->output), "text",
			plain ? plain : ward_json_text(ward_buf_str(&b))));
	} else if (!a->output) {
		ward_print_policy(b.data, b.len);
	}
	return 0;
}

static int cmd_export(int argc, char **argv)
{
	struct args a = {0};
	struct ward_err err = WARD_ERR_INIT;
	if (ward_arguments_parse(&export_argp, argc, argv, 0, &a))
		return 2;
	if (export(&a, &err) < 0) {
		ward_say(err.text);
		return 2;
	}
	return 0;
}

int ward_cmd_profile(int argc, char **argv)
{
	static const struct ward_cli_verb verbs[] = {
		{"list", cmd_list, "wardfs profile list",
			"list the profiles, and what each is for"},
		{"show", cmd_show, "wardfs profile show", "print a profile and explain each line"},
		{"export", cmd_export, "wardfs profile export",
			"write a policy of your own that extends a profile"},
	};
	static const struct ward_cli_verbs all = {"wardfs profile",
		"The policies that come with wardfs.\n", verbs, sizeof(verbs) / sizeof(*verbs)};
	return ward_cli_call(&all, argc, argv);
}
