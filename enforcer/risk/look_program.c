/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of the program: where it comes from, who can replace it, how old it is. A command line is
 * followed to the file that is run in the end: `timeout 9 python3 x.py` runs x.py. Nothing is
 * executed; what is no regular file is never opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/way.h"
#include "enforcer/policy/known.h"
#include "enforcer/risk/maker.h"
#include "enforcer/risk/package.h"
#include "enforcer/risk/risk.h"
#include "enforcer/risk/signature.h"

/* Programs that start one another on one command line. */
#define CHAIN_MAX 8U
/* Arguments that are looked at for the file that an interpreter runs. */
#define ARGUMENTS_MAX 64U
#define DAY_S INT64_C(86400)

/* A regular file of the host. */
struct file {
	int fd; /* to be read */
	char *path;
	struct stat st;
	bool written; /* a session can lead its name elsewhere */
	bool link;    /* over a link that a session can change: inside it may lead elsewhere */
};
#define FILE_INIT ((struct file){.fd = -1})

static void file_clear(struct file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	*f = FILE_INIT;
}

struct look {
	const struct ward_risk_command *c;
	struct ward_risk_facts *f;
	enum ward_origin worst; /* of the files so far */
};

static void signature_freep(struct ward_signature **s)
{
	ward_signature_free(*s);
}

/* --- finding --- */

static bool is_written(const struct ward_risk_command *c, const char *path)
{
	for (size_t i = 0; i < c->n_written; i++)
		if (ward_known_beneath(path, c->written[i]))
			return true;
	return false;
}

struct names {
	const struct ward_risk_command *c;
	bool written, link;
};

/* Whether a session can lead a path elsewhere: one of its names is in what sessions write. */
static int look_at_name(void *user, const char *dir, const char *name, bool is_link)
{
	struct names *n = user;
	(void)name;
	if (is_written(n->c, dir)) {
		n->written = true;
		n->link |= is_link;
	}
	return 0;
}

/* 1: there is a regular file of this name, which can be executed or need not be; 0. */
static int open_file(
	const struct ward_risk_command *c, const char *path, bool executable, struct file *ret)
{
	ward_cleanup(file_clear) struct file f = FILE_INIT;
	struct names names = {.c = c};
	int r = ward_fd_open_named(path, WARD_NAMED_FILE, &f.fd, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (fstat(f.fd, &f.st) < 0 || (executable && !(f.st.st_mode & 0111)))
		return 0;
	r = ward_fd_path(f.fd, &f.path);
	if (r == 0)
		r = ward_way_each(path, look_at_name, &names);
	if (r == -ENOMEM)
		return r;
	/* What cannot be followed to its end may lead anywhere. */
	f.written = r != 0 || names.written;
	f.link = r != 0 || names.link;
	if (!f.path)
		return 0;
	*ret = f;
	f = FILE_INIT;
	return 1;
}

/* dir may be empty: the current directory of the caller. */
static int open_in(const struct ward_risk_command *c, const char *dir, size_t n, const char *name,
	bool executable, struct file *ret)
{
	char path[PATH_MAX];
	int len = *name == '/' ? snprintf(path, sizeof(path), "%s", name)
		  : n > 0 && *dir == '/'
			  ? snprintf(path, sizeof(path), "%.*s/%s", (int)n, dir, name)
		  : n > 0 ? snprintf(path, sizeof(path), "%s/%.*s/%s", c->cwd, (int)n, dir, name)
			  : snprintf(path, sizeof(path), "%s/%s", c->cwd, name);
	return len < 0 || (size_t)len >= sizeof(path) ? 0 : open_file(c, path, executable, ret);
}

/* What execvp(3) would start. */
static int find_program(const struct ward_risk_command *c, const char *name, struct file *ret)
{
	if (strchr(name, '/'))
		return open_in(c, "", 0, name, true, ret);
	int r = 0;
	for (const char *p = c->path; p && *name && r == 0;) {
		size_t n = strcspn(p, ":");
		r = open_in(c, p, n, name, true, ret);
		p = p[n] ? p + n + 1 : NULL;
	}
	return r;
}

/* --- who can replace it --- */

static bool others_can(const struct stat *st, uint32_t owner)
{
	if (st->st_uid != 0 && st->st_uid != owner)
		return true;
	/* A group of the same number is the user's own (Debian's adduser(8)). */
	if (st->st_mode & 020 && st->st_gid != 0 && st->st_gid != st->st_uid)
		return true;
	/* In a directory with the sticky bit only the owner replaces a file. */
	return st->st_mode & 02 && !(S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX);
}

/* What is asked of each name on the way to a file. */
struct way {
	bool others, root;
};

static void ask(const struct look *l, const struct stat *st, struct way *w)
{
	w->others |= others_can(st, l->c->owner);
	w->root &= st->st_uid == 0;
}

/* Of the file and of each directory above it. A way that is not the file's is anybody's. */
static struct way way_of(const struct look *l, const struct file *file)
{
	const struct way lost = {.others = true, .root = false};
	struct way w = {.others = false, .root = true};
	struct stat st;
	ward_cleanup_fd int dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	ask(l, &file->st, &w);
	for (const char *s = file->path; dir >= 0 && *s == '/';) {
		char name[NAME_MAX + 1];
		size_t n = strcspn(++s, "/");
		if (fstat(dir, &st) < 0 || n == 0 || n >= sizeof(name))
			return lost;
		ask(l, &st, &w);
		memcpy(name, s, n);
		name[n] = '\0';
		s += n;
		if (!*s)
			return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
					       st.st_dev == file->st.st_dev &&
					       st.st_ino == file->st.st_ino
				       ? w
				       : lost;
		int next = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(dir);
		dir = next;
	}
	return lost;
}

/* --- where it comes from --- */

static const char *manager_of(const char *path)
{
	static const char *const parts[] = {
#define RISK_MANAGER(part) part,
#include "conf/risk.table"
#undef RISK_MANAGER
	};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(path, parts[i]))
			return parts[i];
	return NULL;
}

/* Who brought the file, if not dpkg did. Not from what a session wrote. */
static int maker_of(const struct look *l, const struct file *file, bool others, char **ret)
{
	const struct ward_maker_place place = {
		.written = l->c->written, .n_written = l->c->n_written};
	return others ? 0 : ward_maker_find(&place, file->path, ret);
}

static int origin_of(struct look *l, const struct file *file, char **ret_package,
	char **ret_made_by, bool *ret_others, enum ward_origin *ret)
{
	*ret_package = NULL;
	*ret_made_by = NULL;
	if (file->written || is_written(l->c, file->path)) {
		*ret = WARD_ORIGIN_PROJECT;
		return 0;
	}
	const struct way w = way_of(l, file);
	*ret_others = w.others;
	if (w.others) {
		l->f->others_write = true;
		ward_risk_behind(l->f, WARD_RISK_OTHERS_WRITE, "%s", file->path);
	}
	if (w.root && !w.others) {
		int r = ward_package_find(l->c->packages, file->path, ret_package);
		if (r < 0 || *ret_package) {
			*ret = WARD_ORIGIN_PACKAGE;
			return r;
		}
	}
	int r = maker_of(l, file, w.others, ret_made_by);
	*ret = *ret_made_by || manager_of(file->path) ? WARD_ORIGIN_MANAGER
	       : w.root && !w.others		      ? WARD_ORIGIN_SYSTEM
						      : WARD_ORIGIN_DOWNLOAD;
	return r;
}

/* The row of an origin that costs something; WARD_RISK_ROWS: none does. */
static enum ward_risk_row row_of(enum ward_origin o)
{
	switch (o) {
	case WARD_ORIGIN_UNKNOWN:
		return WARD_RISK_FROM_UNKNOWN;
	case WARD_ORIGIN_PROJECT:
		return WARD_RISK_FROM_PROJECT;
	case WARD_ORIGIN_DOWNLOAD:
		return WARD_RISK_FROM_DOWNLOAD;
	case WARD_ORIGIN_MANAGER:
		return WARD_RISK_FROM_MANAGER;
	case WARD_ORIGIN_SYSTEM:
		return WARD_RISK_FROM_SYSTEM;
	case WARD_ORIGIN_SIGNED:
	case WARD_ORIGIN_PACKAGE:
	case WARD_ORIGIN_NONE:
		break;
	}
	return WARD_RISK_ROWS;
}

/* --- how old it is, and what is in it --- */

/* By the time of change of the inode, which only the kernel sets. */
static void look_at_age(struct look *l, const struct file *file)
{
	int64_t s = l->c->now.tv_sec - file->st.st_ctim.tv_sec;
	enum ward_age age = s < DAY_S	     ? WARD_AGE_DAY
			    : s < 7 * DAY_S  ? WARD_AGE_WEEK
			    : s < 30 * DAY_S ? WARD_AGE_MONTH
					     : WARD_AGE_OLD;
	if (age >= l->f->age)
		return;
	l->f->age = age;
	for (unsigned row = WARD_RISK_AGE_DAY; row <= WARD_RISK_AGE_MONTH; row++) {
		free(l->f->behind[row]);
		l->f->behind[row] = NULL;
		ward_risk_behind(l->f, (enum ward_risk_row)row, "%s", file->path);
	}
}

/*
 * Digest and signature in one reading of the descriptor: both are about the same bytes. A program
 * that is larger than WARD_RISK_DIGEST_MAX is read only where a signature asks for it.
 */
static int read_program(
	struct ward_risk_program *p, const struct file *file, struct ward_signature *sign)
{
	uint8_t buf[65536];
	struct sha256_ctx state;
	const bool large = (uint64_t)file->st.st_size > WARD_RISK_DIGEST_MAX;
	size_t left =
		ward_signature_wants(sign) ? WARD_SIGNATURE_PROGRAM_MAX : WARD_RISK_DIGEST_MAX;
	ssize_t n = 1;
	int r = 0;
	p->no_digest = large ? "larger than 2 MiB" : NULL;
	sha256_init(&state);
	while (n > 0 && r == 0 && (!large || ward_signature_wants(sign))) {
		n = read(file->fd, buf, sizeof(buf) < left ? sizeof(buf) : left);
		if (n > 0) {
			sha256_update(&state, (size_t)n, buf);
			r = ward_signature_update(sign, buf, (size_t)n);
		} else if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		left -= n > 0 ? (size_t)n : 0;
		n = left ? n : 0;
	}
	const bool whole = n == 0 && left;
	p->has_digest = whole && !large;
	if (!whole && !large)
		p->no_digest = "it cannot be read";
	sha256_digest(&state, sizeof(p->digest), p->digest);
	ward_signature_end(sign, whole, &p->sign);
	return r;
}

/* This file is what runs in the end, as far as we know. package, made_by: the program's now. */
static int take_program(struct look *l, struct file *file, char *package, char *made_by)
{
	ward_cleanup(signature_freep) struct ward_signature *sign = NULL;
	struct ward_risk_program *p = &l->f->program;
	free(p->path);
	free(p->package);
	free(p->made_by);
	*p = (struct ward_risk_program){.path = file->path,
		.package = package,
		.made_by = made_by,
		.dev = file->st.st_dev,
		.ino = file->st.st_ino,
		.size = (uint64_t)file->st.st_size,
		.ctime_ns =
			file->st.st_ctim.tv_sec * INT64_C(1000000000) + file->st.st_ctim.tv_nsec};
	file->path = NULL;
	int r = ward_signature_open(l->c->signers, p->path, p->size, &sign);
	return r < 0 ? r : read_program(p, file, sign);
}

/*
 * A good signature speaks for a file that nobody but the owner and root can replace. Elsewhere the
 * file that starts may be another one than the file that was checked.
 */
static enum ward_origin weigh_signature(
	struct look *l, enum ward_origin origin, bool others, bool link)
{
	const struct ward_risk_program *p = &l->f->program;
	if (p->sign.state == WARD_SIGNED_BAD) {
		l->f->bad_signature = true;
		ward_risk_behind(l->f, WARD_RISK_BAD_SIGNATURE, "%s%s: %s", p->path, p->sign.suffix,
			p->sign.why);
	}
	const bool counts = p->sign.state == WARD_SIGNED_GOOD && !others && !link &&
			    (origin == WARD_ORIGIN_DOWNLOAD || origin == WARD_ORIGIN_MANAGER ||
				    origin == WARD_ORIGIN_SYSTEM);
	return counts ? WARD_ORIGIN_SIGNED : origin;
}

/*
 * Nobody here can say what that is: inside it may be a file that the session made. So it costs what
 * a new one costs. by: where it comes from, as far as that is known.
 */
static void unresolved(struct look *l, const char *name, enum ward_origin by)
{
	l->f->unresolved = true;
	l->f->age = WARD_AGE_DAY;
	l->worst = by;
	ward_risk_behind(l->f, row_of(by), "%s", name);
	ward_risk_behind(l->f, WARD_RISK_AGE_DAY, "%s", name);
	ward_risk_behind(l->f, WARD_RISK_NEVER_SEEN, "%s", name);
}

/* "/srv/x/cli.js (npm x 1.2.3, 3 days ago)" */
static void say_origin(struct look *l, enum ward_origin origin)
{
	const struct ward_risk_program *p = &l->f->program;
	const int64_t days = (l->c->now.tv_sec - p->ctime_ns / INT64_C(1000000000)) / DAY_S;
	if (row_of(origin) == WARD_RISK_ROWS)
		return;
	if (p->made_by)
		ward_risk_behind(l->f, row_of(origin), "%s (%s, %lld day%s ago)", p->path,
			p->made_by, (long long)(days > 0 ? days : 0), days == 1 ? "" : "s");
	else
		ward_risk_behind(l->f, row_of(origin), "%s", p->path);
}

static int look_at_file(struct look *l, struct file *file)
{
	enum ward_origin origin = WARD_ORIGIN_UNKNOWN;
	char *package = NULL;
	char *made_by = NULL;
	bool others = false;
	int r = origin_of(l, file, &package, &made_by, &others, &origin);
	if (r < 0) {
		free(package);
		free(made_by);
		return r;
	}
	look_at_age(l, file);
	r = take_program(l, file, package, made_by);
	if (r < 0)
		return r;
	origin = weigh_signature(l, origin, others, file->link);
	if (origin < l->worst)
		l->worst = origin;
	say_origin(l, origin);
	if (file->link)
		unresolved(l, l->f->program.path, WARD_ORIGIN_PROJECT);
	return 0;
}

/* --- the command line --- */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* By the name of the file and by the one it was called by: python3 is python3.11. */
static bool is_one(const char *const *patterns, size_t n, const char *path, const char *called)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(patterns[i], base_of(path), 0) == 0 ||
			fnmatch(patterns[i], base_of(called), 0) == 0)
			return true;
	return false;
}

static bool runs_a_file(const char *path, const char *called)
{
	static const char *const patterns[] = {
#define RISK_RUNS(pattern) pattern,
#include "conf/risk.table"
#undef RISK_RUNS
	};
	return is_one(patterns, sizeof(patterns) / sizeof(patterns[0]), path, called);
}

static bool runs_a_command(const char *path, const char *called)
{
	static const char *const patterns[] = {
#define RISK_STARTS(pattern) pattern,
#include "conf/risk.table"
#undef RISK_STARTS
	};
	return is_one(patterns, sizeof(patterns) / sizeof(patterns[0]), path, called);
}

static bool is_fetched(char *const *argv)
{
	static const struct {
		const char *program, *word;
	} all[] = {
#define RISK_FETCHES(program, word) {program, word},
#include "conf/risk.table"
#undef RISK_FETCHES
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(base_of(argv[0]), all[i].program) == 0 &&
			(!*all[i].word || (argv[1] && strcmp(argv[1], all[i].word) == 0)))
			return true;
	return false;
}

/* Options of one letter that take no argument and change nothing of what is run. */
static bool is_plain(const char *option, const char *letters)
{
	return option[0] == '-' && option[1] && strspn(option + 1, letters) == strlen(option + 1);
}

/* Programs that take a command as text: by which option, and which others may stand before it. */
static const struct {
	const char *program, *text, *plain;
} texts[] = {
	{"sh", "-c", "efuvx"},
	{"*[abdzh]sh", "-c", "efuvx"},
	{"ksh*", "-c", "efuvx"},
	{"python*", "-c", "BEIOSbdqsuv"},
	{"perl*", "-e", "lw"},
	{"ruby*", "-e", "w"},
	{"node*", "-e", ""},
	{"bun", "-e", ""},
	{"php*", "-r", "n"},
};

/* What the options say: the text behind them is the command, and the caller's own. */
static bool brings_text(char *const *argv)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (fnmatch(texts[i].program, base_of(argv[0]), 0) != 0)
			continue;
		size_t at = 1;
		while (argv[at] && strcmp(argv[at], texts[i].text) != 0 &&
			is_plain(argv[at], texts[i].plain))
			at++;
		bool own = argv[at] && strcmp(argv[at], texts[i].text) == 0 && argv[at + 1] &&
			   argv[at + 1][0] != '-';
		/* A shell takes what follows as arguments; others go on to read options there. */
		for (size_t k = at + 2; own && texts[i].text[1] != 'c' && argv[k]; k++)
			own = argv[k][0] != '-';
		return own;
	}
	return false;
}

/*
 * The first argument that is no option: what an interpreter runs. An option may take the argument
 * behind it, or name what is run by itself (`python3 -m x`): behind one nothing is certain.
 */
static int look_at_script(struct look *l, char *const *argv)
{
	size_t i = 1;
	if (!argv[1] || brings_text(argv))
		return 0;
	while (argv[i] && i < ARGUMENTS_MAX && argv[i][0] == '-')
		i++;
	const bool unsure = i > 1;
	ward_cleanup(file_clear) struct file file = FILE_INIT;
	int r = argv[i] && i < ARGUMENTS_MAX ? open_in(l->c, "", 0, argv[i], false, &file) : 0;
	if (r < 0)
		return r;
	const bool found = r > 0;
	r = found ? look_at_file(l, &file) : 0;
	if (r == 0 && (!found || unsure))
		unresolved(l, argv[i] ? argv[i] : argv[1], WARD_ORIGIN_PROJECT);
	return r;
}

/* Does an argument say that this program starts a command, or runs a file, that is not found here?
 */
static bool hands_on(char *const *argv, const char *path)
{
	static const struct {
		const char *program, *argument;
	} all[] = {
#define RISK_HANDS(program, argument) {program, argument},
#include "conf/risk.table"
#undef RISK_HANDS
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (size_t k = 0; is_one(&all[i].program, 1, path, argv[0]) && argv[k]; k++)
			if (k == 0 ? !*all[i].argument : fnmatch(all[i].argument, argv[k], 0) == 0)
				return true;
	return false;
}

/* NAME=VALUE, or NAME: a variable that says what is loaded or run besides. */
static bool steers(const char *assignment)
{
	static const char *const patterns[] = {
#define RISK_STEERS(pattern) pattern,
#include "conf/risk.table"
#undef RISK_STEERS
	};
	ward_cleanup_free char *name = strndup(assignment, strcspn(assignment, "="));
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (!name || fnmatch(patterns[i], name, 0) == 0)
			return true;
	return false;
}

/* Takes no argument of its own, or brings it along, or takes a number; and is no text to split. */
static bool is_certain(const char *option)
{
	static const char *const all[] = {"--", "-", "-c", "-i", "-k", "-n", "-p", "-v", "-w",
		"--foreground", "--ignore-environment", "--preserve-status", "--verbose", "--wait"};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(option, all[i]) == 0)
			return true;
	return fnmatch("-[ceikno][0-9L]*", option, 0) == 0 || fnmatch("-[0-9]*", option, 0) == 0;
}

/*
 * Where the command begins that a program such as env(1) starts. *ret_sure: it begins there, and is
 * all that is run; an option may also take what looks like a command for its own argument.
 */
static char *const *command_of(char *const *argv, bool *ret_sure)
{
	/* Only some take a number, and only env(1) an assignment, before the command. */
	static const char *const none[] = {"env", "nohup", "setsid", "time"};
	const char *program = base_of(argv[0]);
	bool number = true;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		number &= strcmp(program, none[i]) != 0;
	*ret_sure = true;
	for (argv++; *argv; argv++) {
		if ((*argv)[0] == '-')
			*ret_sure &= is_certain(*argv);
		else if (strchr(*argv, '='))
			*ret_sure &= strcmp(program, "env") == 0 && !steers(*argv);
		else if (!number || strspn(*argv, "0123456789.smhd") != strlen(*argv))
			return argv;
	}
	return argv;
}

/* What this program runs: goes on to the command that it starts; NULL: it starts none. */
static int look_beyond(struct look *l, char *const *argv, const char *path, char *const **ret)
{
	bool sure = true;
	*ret = NULL;
	if (runs_a_command(path, argv[0])) {
		*ret = command_of(argv, &sure);
		if (!sure)
			unresolved(l, argv[0], WARD_ORIGIN_PROJECT);
		return 0;
	}
	if (hands_on(argv, path))
		unresolved(l, argv[0], WARD_ORIGIN_PROJECT);
	return runs_a_file(path, argv[0]) ? look_at_script(l, argv) : 0;
}

int ward_risk_look_program(
	const struct ward_risk_command *c, struct ward_risk_facts *f, struct ward_err *err)
{
	struct look l = {.c = c, .f = f, .worst = WARD_ORIGIN_NONE};
	int r = 0;
	f->age = WARD_AGE_OLD;
	f->origin = WARD_ORIGIN_NONE;
	f->named = c->argv && c->argv[0];
	char *const *argv = c->argv;
	for (size_t i = 0; f->named && i < c->n_env; i++)
		if (steers(c->env[i]))
			unresolved(&l, c->env[i], WARD_ORIGIN_PROJECT);
	unsigned links = 0;
	for (; r == 0 && argv && *argv && links < CHAIN_MAX; links++) {
		ward_cleanup(file_clear) struct file file = FILE_INIT;
		char path[PATH_MAX];
		if (is_fetched(argv)) {
			f->fetched = true;
			ward_risk_behind(
				f, WARD_RISK_FETCHED, "%s %s", argv[0], argv[1] ? argv[1] : "");
		}
		r = find_program(c, argv[0], &file);
		/* A mode may run a script that cannot be executed by itself. */
		if (r == 0)
			r = open_in(c, "", 0, argv[0], false, &file);
		if (r == 0) {
			unresolved(&l, argv[0],
				strchr(argv[0], '/') ? WARD_ORIGIN_PROJECT : WARD_ORIGIN_UNKNOWN);
			break;
		}
		if (r < 0)
			break;
		snprintf(path, sizeof(path), "%s", file.path);
		r = look_at_file(&l, &file);
		if (r == 0)
			r = look_beyond(&l, argv, path, &argv);
	}
	/* Programs that start one another, and no end of it. */
	if (r == 0 && links == CHAIN_MAX && argv && *argv)
		unresolved(&l, argv[0], WARD_ORIGIN_PROJECT);
	if (f->named)
		f->origin = l.worst;
	if (f->program.path && !f->unresolved)
		ward_risk_behind(f, WARD_RISK_NEVER_SEEN, "%s", f->program.path);
	return r < 0 ? ward_err_sys(err, r, "mode auto: %s", c->argv[0]) : 0;
}
