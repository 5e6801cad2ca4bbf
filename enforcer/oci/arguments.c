/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the command line of an OCI runtime apart. */
#include "enforcer/oci/arguments.h"

#include <errno.h>
#include <string.h>

#include "enforcer/oci/oci.h"

enum option {
	PLAIN = 0,
	ROOT,
	LOG,
	LOG_FORMAT,
	BUNDLE,
	PROCESS,
	CAP,
	PRIVILEGES,
	HELP,
	VERSION,
};

/* letter: as -x as well; value: it takes one. */
struct row {
	const char *name;
	char letter;
	bool value;
	enum option what;
};

static const struct row of_all[] = {
	{"root", 0, true, ROOT},
	{"log", 0, true, LOG},
	{"log-format", 0, true, LOG_FORMAT},
	{"debug", 0, false, PLAIN},
	{"systemd-cgroup", 0, false, PLAIN},
	{"cgroup-manager", 0, true, PLAIN},
	{"rootless", 0, true, PLAIN},
	{"criu", 0, true, PLAIN},
	{"help", 'h', false, HELP},
	{"version", 'v', false, VERSION},
};

static const struct row of_create[] = {
	{"bundle", 'b', true, BUNDLE},
	{"console-socket", 0, true, PLAIN},
	{"pid-file", 0, true, PLAIN},
	{"no-pivot", 0, false, PLAIN},
	{"no-new-keyring", 0, false, PLAIN},
	{"preserve-fds", 0, true, PLAIN},
	{"detach", 'd', false, PLAIN},
	{"keep", 0, false, PLAIN},
	{"no-subreaper", 0, false, PLAIN},
};

static const struct row of_exec[] = {
	{"console-socket", 0, true, PLAIN},
	{"cwd", 0, true, PLAIN},
	{"env", 'e', true, PLAIN},
	{"tty", 't', false, PLAIN},
	{"user", 'u', true, PLAIN},
	{"additional-gids", 'g', true, PLAIN},
	{"process", 'p', true, PROCESS},
	{"detach", 'd', false, PLAIN},
	{"pid-file", 0, true, PLAIN},
	{"process-label", 0, true, PLAIN},
	{"apparmor", 0, true, PLAIN},
	{"no-new-privs", 0, false, PLAIN},
	{"cap", 'c', true, CAP},
	{"preserve-fds", 0, true, PLAIN},
	{"ignore-paused", 0, false, PLAIN},
};

/* Limits by options of the command line are the runtime's own. No engine uses them. */
static const struct row of_update[] = {
	{"resources", 'r', true, PROCESS},
};

static const struct row of_others[] = {
	{"force", 'f', false, PLAIN},
	{"all", 'a', false, PLAIN},
	{"format", 'f', true, PLAIN},
	{"quiet", 'q', false, PLAIN},
};

/* What has no guard, and why. */
static const struct {
	const char *word, *why;
} refused[] = {
	{"checkpoint", "the guard's mounts cannot be saved"},
	{"restore", "a restored container would have no guard"},
	{"init", "it is for the runtime itself"},
	{"spec", "a bundle is the engine's to write"},
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TABLE(t) (t), COUNT(t)

static const struct {
	const char *word;
	enum ward_oci_command command;
	const struct row *rows;
	size_t n;
} commands[] = {
	{"create", WARD_OCI_CREATE, TABLE(of_create)},
	{"run", WARD_OCI_RUN, TABLE(of_create)},
	{"exec", WARD_OCI_EXEC, TABLE(of_exec)},
	{"start", WARD_OCI_START, TABLE(of_others)},
	{"delete", WARD_OCI_DELETE, of_others, 1},
	{"state", WARD_OCI_PASSED, NULL, 0},
	{"kill", WARD_OCI_PASSED, of_others + 1, 1},
	{"ps", WARD_OCI_PASSED, of_others + 2, 1},
	{"list", WARD_OCI_PASSED, of_others + 2, 2},
	{"pause", WARD_OCI_PASSED, NULL, 0},
	{"resume", WARD_OCI_PASSED, NULL, 0},
	{"features", WARD_OCI_PASSED, NULL, 0},
	{"update", WARD_OCI_UPDATE, TABLE(of_update)},
	{"events", WARD_OCI_PASSED, NULL, 0},
};

static int take(struct ward_oci_args *a, const struct row *row, const char *value, int at)
{
	switch (row->what) {
	case ROOT:
		a->root = value;
		break;
	case LOG:
		a->log = value;
		break;
	case LOG_FORMAT:
		a->log_json = strcmp(value, "json") == 0;
		break;
	case BUNDLE:
		a->bundle = value;
		a->bundle_at = at;
		break;
	case PROCESS:
		a->process = value;
		a->process_at = at;
		break;
	case CAP:
		a->caps = true;
		break;
	case PRIVILEGES:
		a->privileges = true;
		break;
	case HELP:
		a->command = WARD_OCI_HELP;
		break;
	case VERSION:
		a->command = WARD_OCI_VERSION;
		break;
	case PLAIN:
		break;
	}
	return 0;
}

static const struct row *find(const struct row *rows, size_t n, const char *arg, size_t len)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = rows[i].name;
		if (strncmp(arg, "--", 2) == 0 && strlen(name) == len - 2 &&
			memcmp(arg + 2, name, len - 2) == 0)
			return &rows[i];
		if (len == 2 && arg[0] == '-' && rows[i].letter && arg[1] == rows[i].letter)
			return &rows[i];
	}
	return NULL;
}

/* Options from *i on; *i is then the first word that is none. */
static int options(
	struct ward_oci_args *a, const struct row *rows, size_t n, int *i, struct ward_err *err)
{
	for (; *i < a->argc && a->argv[*i][0] == '-'; ++*i) {
		const char *arg = a->argv[*i];
		const size_t len = strcspn(arg, "=");
		const struct row *row = find(rows, n, arg, len);
		const char *value = arg[len] ? arg + len + 1 : NULL;
		if (!row)
			return ward_err_set(err, -EINVAL, "unknown option '%s'", arg);
		if (value && !row->value)
			return ward_err_set(err, -EINVAL, "'%s': the option takes no value", arg);
		a->bundle_joined = row->what == BUNDLE ? value != NULL : a->bundle_joined;
		a->process_joined = row->what == PROCESS ? value != NULL : a->process_joined;
		if (row->value && !value && ++*i == a->argc)
			return ward_err_set(err, -EINVAL, "'%s' needs a value", arg);
		take(a, row, row->value && !value ? a->argv[*i] : value, *i);
	}
	return 0;
}

/* It becomes a name in directories of ours and of the runtime's. */
static int check_id(const char *id, struct ward_err *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_+-.";
	const size_t n = strlen(id);
	if (n == 0 || n > WARD_OCI_ID_MAX || strspn(id, letters) != n || strcmp(id, ".") == 0 ||
		strcmp(id, "..") == 0)
		return ward_err_set(err, -EINVAL,
			"'%s' is no id of a container: letters, digits, '_', '+', '-', '.', %d at "
			"most",
			id, WARD_OCI_ID_MAX);
	return 0;
}

static int command(struct ward_oci_args *a, int i, struct ward_err *err)
{
	const char *word = a->argv[i++];
	for (size_t k = 0; k < COUNT(refused); k++)
		if (strcmp(refused[k].word, word) == 0)
			return ward_err_set(
				err, -EINVAL, "'%s' is refused: %s", word, refused[k].why);
	for (size_t k = 0; k < COUNT(commands); k++) {
		if (strcmp(commands[k].word, word) != 0)
			continue;
		a->command = commands[k].command;
		if (a->command == WARD_OCI_PASSED)
			return 0;
		int r = options(a, commands[k].rows, commands[k].n, &i, err);
		if (r < 0)
			return r;
		if (i == a->argc)
			return ward_err_set(err, -EINVAL, "'%s' needs the id of a container", word);
		a->id = a->argv[i];
		a->rest = a->argv + i + 1;
		return check_id(a->id, err);
	}
	return ward_err_set(err, -EINVAL, "unknown command '%s'", word);
}

int ward_oci_arguments(int argc, char **argv, struct ward_oci_args *ret, struct ward_err *err)
{
	struct ward_oci_args a = {.argc = argc, .argv = argv};
	int i = 1;
	if (argc < 1 || argc > WARD_OCI_ARGS_MAX)
		return ward_err_set(err, -EINVAL, "too many arguments");
	int r = options(&a, TABLE(of_all), &i, err);
	/* Engines read why something failed there. */
	ret->log = a.log;
	ret->log_json = a.log_json;
	if (r == 0 && a.command == WARD_OCI_NONE && i == argc)
		a.command = WARD_OCI_HELP;
	else if (r == 0 && a.command == WARD_OCI_NONE)
		r = command(&a, i, err);
	if (r == 0)
		*ret = a;
	return r;
}
