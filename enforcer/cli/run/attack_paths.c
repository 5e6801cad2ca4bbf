/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts derived from a policy. For each operation a session gets a fresh copy of the names, and
 * makes the operation on each; the same is done on another copy without a session, as the control.
 * What ward_policy_decide() says is what should happen. What did happen is what the copy shows
 * from outside, or a secret that came out.
 */
#include "enforcer/cli/run/attack_paths.h"

#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/output.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/run/attack_path_names.h"
#include "enforcer/policy/load.h"
#include "enforcer/session/guard/helper.h"
#include "enforcer/session/owner/project.h"

#define USAGE 2
#define FAILED 125
#define ANSWERS_MAX ((size_t)8 << 20)
#define DEPTH_MAX 64

enum verdict { HELD, BROKEN, UNTESTED };
static const char *const verdicts[] = {"held", "broken", "untested"};

static const char *const operations[] = {"stat", "read", "append", "write", "truncate", "mode",
	"remove", "move", "replace", "link", "symlink", "create", "execute", "parent", "exchange",
	"attribute", "times", "mkdir"};
#define N_OPERATIONS (sizeof(operations) / sizeof(*operations))

struct args {
	const char *policy, *mode, *junit, *sarif;
	bool json, verbose;
};

struct paths {
	const struct args *args;
	char name[32], self[PATH_MAX]; /* name: of the directory with the copies, in here_fd */
	char *policy_file;	       /* in root_fd; with what it extends beside it */
	char *program;
	int here_fd, root_fd, said; /* said: where the session's messages go, unless verbose */
	char token[17];
	struct ward_policy *policy, *copied; /* alone; as the session finds it in the copy */
	struct ward_path_names names;
	size_t counts[3];
	json_t *list;
	struct ward_buf junit;
};

/* --- the copies --- */
/* Opens, or makes, the directories before the last name, and follows no link. */
static int reach(int at, const char *path, bool make, const char **ret_last)
{
	int dir = fcntl(at, F_DUPFD_CLOEXEC, 0);
	char name[NAME_MAX + 1];

	for (const char *slash; dir >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		snprintf(name, sizeof(name), "%.*s", (int)(slash - path), path);
		if (make && mkdirat(dir, name, 0755) < 0 && errno != EEXIST) {
			close(dir);
			return -1;
		}
		const int next = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(dir);
		dir = next;
	}
	*ret_last = path;
	return dir;
}

static void content_of(const struct paths *p, size_t i, char ret[512])
{
	snprintf(ret, 512, "#!/bin/sh\necho %s-%zu\n%*s\n", p->token, i, (int)(i % 97) + 1, "#");
}

static int put(int at, const char *path, const char *text)
{
	const char *last;
	ward_cleanup_fd int dir = reach(at, path, true, &last);
	ward_cleanup_fd int fd =
		dir < 0 ? -1
			: openat(dir, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				  0755);
	return fd < 0 ? -errno : ward_fd_write_all(fd, text, strlen(text));
}

static void empty(int at, const char *name, int depth)
{
	const int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 || depth > DEPTH_MAX ? NULL : fdopendir(fd);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			empty(dirfd(d), e->d_name, depth + 1);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	(void)unlinkat(at, name, fd >= 0 ? AT_REMOVEDIR : 0);
}

/* Where an operation puts or finds a second name. */
static void other_of(size_t i, char ret[32])
{
	snprintf(ret, 32, "attack-%zu", i);
}

/* A directory of this name with all files, or, for creations, with their directories alone. */
static int fill(struct paths *p, const char *name, const char *operation)
{
	char text[512], other[32];
	const char *last;
	int r = 0;

	empty(p->root_fd, name, 0);
	if (mkdirat(p->root_fd, name, 0755) < 0)
		return -errno;
	ward_cleanup_fd int top = openat(p->root_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; r == 0 && i < p->names.n; i++) {
		content_of(p, i, text);
		if (strcmp(operation, "create") == 0 || strcmp(operation, "mkdir") == 0) {
			ward_cleanup_fd int dir = reach(top, p->names.v[i].path, true, &last);
			r = dir < 0 ? -errno : 0;
		} else {
			r = put(top, p->names.v[i].path, text);
		}
		if (r == 0 &&
			(strcmp(operation, "replace") == 0 || strcmp(operation, "exchange") == 0)) {
			other_of(i, other);
			r = put(top, other, "echo replaced\n");
		}
	}
	return r;
}

/* --- what the operation should do, and did --- */
static const struct ward_state *state_of(struct ward_policy *policy, const char *path)
{
	char full[PATH_MAX];
	const struct ward_state *s = NULL;
	snprintf(full, sizeof(full), "/workspace/%s", path);
	return ward_policy_walk(policy, full, strlen(full), &s) < 0 ? NULL : s;
}

/* The request of the operation on the name in state a; b: that of the other name. */
static void request_of(const char *operation, const struct ward_state *a,
	const struct ward_state *b, struct ward_request *ret)
{
	static const struct {
		const char *name;
		enum ward_action action;
		uint32_t rights;
	} all[] = {{"stat", WARD_ACTION_ACCESS, WARD_RIGHT_STAT},
		{"read", WARD_ACTION_ACCESS, WARD_RIGHT_READ},
		{"append", WARD_ACTION_ACCESS, WARD_RIGHT_APPEND},
		{"write", WARD_ACTION_ACCESS, WARD_RIGHT_WRITE},
		{"truncate", WARD_ACTION_ACCESS, WARD_RIGHT_WRITE},
		{"mode", WARD_ACTION_ACCESS, WARD_RIGHT_ATTR}, {"remove", WARD_ACTION_REMOVE, 0},
		{"move", WARD_ACTION_RENAME, 0}, {"replace", WARD_ACTION_RENAME, 0},
		{"link", WARD_ACTION_LINK, 0}, {"symlink", WARD_ACTION_ACCESS, WARD_RIGHT_READ},
		{"create", WARD_ACTION_CREATE, WARD_RIGHT_CREATE | WARD_RIGHT_APPEND},
		{"execute", WARD_ACTION_ACCESS, WARD_RIGHT_READ | WARD_RIGHT_EXEC},
		{"parent", WARD_ACTION_ACCESS, WARD_RIGHT_READ},
		{"exchange", WARD_ACTION_RENAME, 0},
		{"attribute", WARD_ACTION_ACCESS, WARD_RIGHT_ATTR},
		{"times", WARD_ACTION_ACCESS, WARD_RIGHT_ATTR}, {"mkdir", WARD_ACTION_CREATE, 0}};
	const bool replace = strcmp(operation, "replace") == 0,
		   exchange = strcmp(operation, "exchange") == 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strcmp(all[i].name, operation) == 0)
			*ret = (struct ward_request){.action = all[i].action,
				.rights = all[i].rights,
				.flags = exchange  ? WARD_REQUEST_EXCHANGE | WARD_REQUEST_DST_EXISTS
					 : replace ? WARD_REQUEST_DST_EXISTS
						   : 0,
				.state = replace ? b : a,
				.state2 = replace ? a : b,
				.fact2 = replace || exchange ? WARD_FACT_THERE : WARD_FACT_ABSENT};
	if (ret->action == WARD_ACTION_CREATE)
		ret->fact = WARD_FACT_ABSENT;
	if (strcmp(operation, "mkdir") == 0)
		ret->flags = WARD_REQUEST_DIR;
}

/* The beginning and the end of the present content, or "". */
static size_t look(int top, const char *path, char text[600], struct stat *st)
{
	const char *last;
	ward_cleanup_fd int dir = reach(top, path, false, &last);
	ward_cleanup_fd int fd =
		dir < 0 ? -1 : openat(dir, last, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	*st = (struct stat){0};
	const ssize_t n = fd < 0 || fstat(fd, st) < 0 ? -1 : pread(fd, text, 599, 0);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static bool has_attribute(int top, const char *path)
{
	const char *last;
	char value;
	ward_cleanup_fd int dir = reach(top, path, false, &last);
	ward_cleanup_fd int fd =
		dir < 0 ? -1 : openat(dir, last, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0 && fgetxattr(fd, "user.attack", &value, 1) == 1;
}

/* Did the operation have its effect? Seen from outside, or by a secret that came out. */
static bool effect(
	const struct paths *p, int top, const char *operation, size_t i, const char *said)
{
	char text[600], was[512], other[32], secret[64];
	struct stat st, st2;
	const bool did = strncmp(said, "did ", 4) == 0;

	other_of(i, other);
	content_of(p, i, was);
	snprintf(secret, sizeof(secret), "%s-%zu", p->token, i);
	const size_t n = look(top, p->names.v[i].path, text, &st);
	if (strcmp(operation, "stat") == 0)
		return did && strtoul(said + 4, NULL, 10) == strlen(was);
	if (strcmp(operation, "append") == 0)
		return n == strlen(was) + 9 && strcmp(text + n - 9, "#written\n") == 0;
	if (strcmp(operation, "write") == 0)
		return strncmp(text, "#written\n", 9) == 0;
	if (strcmp(operation, "create") == 0)
		return S_ISREG(st.st_mode);
	if (strcmp(operation, "mkdir") == 0)
		return S_ISDIR(st.st_mode);
	if (strcmp(operation, "times") == 0)
		return st.st_mtime == 1000000000;
	if (strcmp(operation, "attribute") == 0)
		return has_attribute(top, p->names.v[i].path);
	if (strcmp(operation, "truncate") == 0)
		return st.st_mode && st.st_size == 0;
	if (strcmp(operation, "mode") == 0)
		return (st.st_mode & 07777) == 0700;
	if (strcmp(operation, "remove") == 0)
		return st.st_mode == 0;
	if (strcmp(operation, "replace") == 0)
		return strcmp(text, "echo replaced\n") == 0;
	if (strcmp(operation, "exchange") == 0 && strcmp(text, "echo replaced\n") == 0) {
		(void)look(top, other, text, &st2);
		return strcmp(text, was) == 0;
	}
	if (strcmp(operation, "exchange") == 0)
		return false;
	if (strcmp(operation, "move") == 0 || strcmp(operation, "link") == 0) {
		const bool gone = st.st_mode == 0;
		(void)look(top, other, text, &st2);
		return st2.st_mode && strcmp(text, was) == 0 && gone == (*operation == 'm');
	}
	return did && strcmp(said + 4, secret) == 0;
}

/* --- a session, or none --- */
/* Working directories are taken by descriptor; a name of the policy is then relative to it. */
static _Noreturn void become(struct paths *p, const char *copy, bool control, int in, int out)
{
	char root[PATH_MAX], at[2 * PATH_MAX], policy[PATH_MAX], word[] = "paths";
	const char *const homes[] = {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"};
	struct ward_err err = WARD_ERR_INIT;
	struct ward_project project = {.fd = -1};
	ward_cleanup_fd int dir =
		openat(p->root_fd, copy, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0 || fchdir(p->root_fd) < 0 || !getcwd(root, sizeof(root)) || fchdir(dir) < 0 ||
		!getcwd(at, sizeof(at)) || setenv("PWD", at, 1) < 0)
		_exit(FAILED);
	dup2(in, 0);
	dup2(out, 1);
	if (!p->args->verbose)
		dup2(p->said, 2);
	if (control) {
		execl(p->program, p->program, word, (char *)NULL);
		_exit(FAILED);
	}
	/* The copy, and nothing around it, is what the session serves. */
	const char *was = strdupa(at);
	for (size_t i = 0; i < 3; i++) {
		snprintf(at, sizeof(at), "%s/%s", root, homes[i]);
		(void)setenv(homes[i], at, 1);
	}
	if (ward_project_find(NULL, WARD_PROJECT_OWNERS, &project, &err) < 0 ||
		strcmp(project.path, was) != 0) {
		ward_sayf("the copy %s would not be the project; start this elsewhere", was);
		_exit(FAILED);
	}
	snprintf(policy, sizeof(policy), "../%s", p->policy_file);
	const char *words[] = {p->self, "run", "--policy", policy, "--read", p->program, "--mode",
		p->args->mode ? p->args->mode : "restricted", "--", p->program, word, NULL};
	execv(p->self, (char **)(uintptr_t)words);
	_exit(FAILED);
}

static void hex(struct ward_buf *b, const char *text)
{
	for (; *text; text++)
		ward_buf_printf(b, "%02x", (unsigned)(unsigned char)*text);
}

/* The answers of one operation on all names: a line each. 0, or a negative errno. */
static int ask(struct paths *p, const char *operation, bool control, struct ward_buf *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup_fd int in = memfd_create("in", MFD_CLOEXEC),
			    out = memfd_create("out", MFD_CLOEXEC);
	char other[32];
	int status;

	for (size_t i = 0; i < p->names.n; i++) {
		const bool replace = strcmp(operation, "replace") == 0;
		other_of(i, other);
		ward_buf_printf(&b, "%s ", operation);
		hex(&b, replace ? other : p->names.v[i].path);
		ward_buf_putc(&b, ' ');
		hex(&b, replace ? p->names.v[i].path : other);
		ward_buf_putc(&b, '\n');
	}
	int r = ward_buf_error(&b);
	if (r == 0)
		r = in < 0 || out < 0 ? -errno : ward_fd_write_all(in, b.data, b.len);
	if (r < 0 || lseek(in, 0, SEEK_SET) < 0)
		return r < 0 ? r : -errno;
	const pid_t pid = fork();
	if (pid == 0)
		become(p, control ? "control" : "copy", control, in, out);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -errno;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return -ECHILD;
	return ward_fd_pread_all(out, ANSWERS_MAX, ret);
}

/* --- the verdict --- */
static void report(struct paths *p, const char *operation, const struct ward_path_name *n,
	enum verdict v, const char *seen, const struct ward_rule *rule)
{
	ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT;

	p->counts[v]++;
	ward_shown(&name, n->path);
	json_array_append_new(
		p->list, json_pack("{ss ss ss ss ss si ss}", "operation", operation, "path",
				 ward_buf_str(&name), "neighbour", n->how, "verdict", verdicts[v],
				 "rule", rule ? rule->pattern : "", "line",
				 rule ? (int)rule->line : 0, "seen", seen));
	if (!p->args->json && (v != HELD || p->args->verbose))
		ward_outf(
			"  %-8s %-8s %s (%s): %s\n", verdicts[v], operation, n->path, n->how, seen);
	ward_buf_puts(&p->junit, "<testcase classname=\"path rules\" name=\"");
	ward_buf_printf(&p->junit, "%s ", operation);
	for (const char *at = ward_buf_str(&name); *at; at++)
		if (strchr("<>&\"", *at) || (unsigned char)*at > 126)
			ward_buf_printf(&p->junit, "&#%d;", (unsigned char)*at);
		else
			ward_buf_putc(&p->junit, *at);
	ward_buf_puts(&p->junit, "\">");
	if (v != HELD)
		ward_buf_printf(&p->junit, "<%s message=\"%s\"/>",
			v == BROKEN ? "failure" : "skipped", seen);
	ward_buf_puts(&p->junit, "</testcase>\n");
}

/* Is the name beneath a directory that is a secret if it was there at the start? */
static bool beneath_secret(struct paths *p, const char *path)
{
	char up[PATH_MAX];
	bool found = false;

	snprintf(up, sizeof(up), "%s", path);
	for (char *slash; !found && (slash = strrchr(up, '/'));) {
		struct ward_request q = {.action = WARD_ACTION_ACCESS, .rights = WARD_RIGHT_READ};
		*slash = '\0';
		q.state = state_of(p->policy, up);
		if (q.state) {
			const bool there = ward_policy_decide(p->policy, &q, NULL).verdict ==
					   WARD_VERDICT_ALLOW;
			q.fact = WARD_FACT_OWN;
			found = !there && ward_policy_decide(p->policy, &q, NULL).verdict ==
						  WARD_VERDICT_ALLOW;
		}
		ward_policy_state_put(p->policy, q.state);
	}
	return found;
}

static void judge(struct paths *p, const char *operation, size_t i, bool did, bool control)
{
	char other[32];
	struct ward_request q = {0};

	other_of(i, other);
	const struct ward_state *a = state_of(p->policy, p->names.v[i].path),
				*b = state_of(p->policy, other),
				*c = state_of(p->copied, p->names.v[i].path),
				*e = state_of(p->copied, other);
	request_of(operation, a, b, &q);
	const struct ward_decision d =
		a && b ? ward_policy_decide(p->policy, &q, NULL) : (struct ward_decision){0};
	request_of(operation, c, e, &q);
	const struct ward_decision here =
		c && e ? ward_policy_decide(p->copied, &q, NULL) : (struct ward_decision){0};
	/* Where they differ, what stands at the name decides: then either is right. */
	const bool allowed = d.verdict == WARD_VERDICT_ALLOW && here.verdict == WARD_VERDICT_ALLOW,
		   refused = d.verdict != WARD_VERDICT_ALLOW && here.verdict != WARD_VERDICT_ALLOW;
	/* A move or a link may be refused for reasons of its own; it may never give more. */
	const bool once = strcmp(operation, "parent") == 0 || strcmp(operation, "symlink") == 0;
	enum verdict v = HELD;
	const char *seen = did ? "allowed, and done" : "refused, and not done";

	if (did && refused && !d.look && !here.look) {
		v = BROKEN;
		seen = "the policy refuses it, and it was done";
	} else if (!control) {
		v = UNTESTED;
		seen = "the control failed";
	} else if (!did && allowed && !once && !beneath_secret(p, p->names.v[i].path)) {
		v = BROKEN;
		seen = "the policy allows it, and it was not done";
	} else if (!did && allowed) {
		seen = "not done, which gives nothing";
	}
	report(p, operation, &p->names.v[i], v, seen, d.rule);
	ward_policy_state_put(p->policy, a);
	ward_policy_state_put(p->policy, b);
	ward_policy_state_put(p->copied, c);
	ward_policy_state_put(p->copied, e);
}

static const char *next_line(char **rest)
{
	char *line = strtok_r(NULL, "\n", rest);
	return line ? line : "";
}

static int no_session(const struct paths *p, const char *operation, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf said = WARD_BUF_INIT;
	if (ward_fd_pread_all(p->said, ANSWERS_MAX, &said) == 0 && said.len)
		ward_tellf("%s", ward_buf_str(&said));
	return ward_err_set(
		err, -ECHILD, "the session did not make its attempts ('%s')", operation);
}

/* As the session will find it: some guards hold only where a file, or nothing, has their name. */
static int load_for_copy(struct paths *p, struct ward_err *err)
{
	char root[PATH_MAX], at[2 * PATH_MAX];
	struct ward_policy *policy = NULL;
	ward_cleanup_fd int copy =
		openat(p->root_fd, "copy", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (copy < 0 || fchdir(p->root_fd) < 0)
		return ward_err_sys(err, -errno, "%s", p->name);
	int r = getcwd(root, sizeof(root)) ? 0 : -errno;
	snprintf(at, sizeof(at), "%s/copy", root);
	const struct ward_load l = {.policy = p->policy_file, .tree_fd = copy, .tree_path = at};
	r = r < 0 ? ward_err_sys(err, r, "%s", p->name) : ward_policy_load(&l, &policy, err);
	if (fchdir(p->here_fd) < 0 && r == 0)
		r = ward_err_sys(err, -errno, "the current directory");
	if (r < 0)
		return r;
	ward_policy_unref(p->copied);
	p->copied = policy;
	return 0;
}

static int try_operation(struct paths *p, const char *operation, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf in = WARD_BUF_INIT, out = WARD_BUF_INIT;
	ward_cleanup_fd int copy = -1, control = -1;
	char *rest_in, *rest_out;
	int r = fill(p, "copy", operation);

	if (r == 0)
		r = fill(p, "control", operation);
	if (r < 0)
		return ward_err_sys(err, r, "cannot make the copy in %s", p->name);
	r = load_for_copy(p, err);
	if (r < 0)
		return r;
	if (ask(p, operation, false, &in) < 0 || ask(p, operation, true, &out) < 0)
		return no_session(p, operation, err);
	copy = openat(p->root_fd, "copy", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	control = openat(p->root_fd, "control", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ward_buf_putc(&in, '\0');
	ward_buf_putc(&out, '\0');
	if (ward_buf_error(&in) || ward_buf_error(&out) || copy < 0 || control < 0)
		return ward_err_sys(err, -ENOMEM, "the answers");
	rest_in = in.data;
	rest_out = out.data;
	for (size_t i = 0; i < p->names.n; i++) {
		const char *a = i ? next_line(&rest_in) : strtok_r(in.data, "\n", &rest_in);
		const char *b = i ? next_line(&rest_out) : strtok_r(out.data, "\n", &rest_out);
		const bool top = !strchr(p->names.v[i].path, '/');
		if (strcmp(operation, "parent") == 0 && top)
			continue;
		judge(p, operation, i, effect(p, copy, operation, i, a ? a : ""),
			effect(p, control, operation, i, b ? b : ""));
	}
	return 0;
}

/* --- all of it --- */
/* The directory for the copies, in the current one, whatever becomes of that one's name. */
static int make_root(struct paths *p)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	snprintf(p->token, sizeof(p->token), "%016llx", (unsigned long long)random);
	/* A name that nobody needs to guess; the token is the secret. */
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	snprintf(p->name, sizeof(p->name), "wardfs-paths.%06x", (unsigned)random & 0xffffff);
	p->here_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->here_fd < 0 || mkdirat(p->here_fd, p->name, 0700) < 0)
		return -errno;
	p->root_fd = openat(p->here_fd, p->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* The session may be another user's than the caller. */
	return p->root_fd < 0 || fchmod(p->root_fd, 0711) < 0 ? -errno : 0;
}

/*
 * The policy is read once. The sessions and the decisions here get copies of that text, so nobody
 * puts another policy in its place meanwhile.
 */
static int copy_policy(struct paths *p, struct ward_err *err)
{
	ward_cleanup(ward_base_clear) struct ward_base base = WARD_BASE_INIT;
	int r = ward_base_find(p->args->policy, &base, err);

	for (size_t i = 0; r == 0 && i < 2; i++) {
		const char *file = ward_buf_str(&base.file[i]), *last = strrchr(file, '/');
		ward_cleanup_free char *to = NULL;
		/* A profile that is extended is found by its name. */
		if (i == 1 && !last)
			continue;
		if (asprintf(&to, "policy/%s", last ? last + 1 : file) < 0)
			return ward_err_sys(err, -ENOMEM, "%s", p->args->policy);
		r = put(p->root_fd, to, ward_buf_str(&base.text[i]));
		if (r < 0)
			return ward_err_sys(err, r, "%s/%s", p->name, to);
		if (i == 0)
			p->policy_file = ward_steal_ptr(&to);
	}
	return r;
}

/* Loads the copy by a name that is relative to a directory's descriptor. */
static int load_copy(struct paths *p, struct ward_err *err)
{
	if (fchdir(p->root_fd) < 0)
		return ward_err_sys(err, -errno, "%s", p->name);
	const int r = ward_policy_load_alone(p->policy_file, &p->policy, err);
	return fchdir(p->here_fd) < 0 ? ward_err_sys(err, -errno, "the current directory") : r;
}

/* A policy of the owner's for the copy makes it the project, whatever is around it. */
static int own_policy(struct paths *p)
{
	ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT;
	char root[PATH_MAX], at[2 * PATH_MAX];

	if (fchdir(p->root_fd) < 0 || !getcwd(root, sizeof(root)) || fchdir(p->here_fd) < 0)
		return -errno;
	snprintf(at, sizeof(at), "%s/copy", root);
	const int r = ward_project_file_name(at, &name);
	snprintf(at, sizeof(at), "XDG_CONFIG_HOME/wardfs/projects/%s", ward_buf_str(&name));
	return r < 0 ? r : put(p->root_fd, at, "[policy]\nversion = 1\n");
}

static int prepare(struct paths *p, struct ward_err *err)
{
	const ssize_t n = readlink("/proc/self/exe", p->self, sizeof(p->self) - 1);
	int r = n < 0 ? -errno : make_root(p);

	if (r < 0)
		return ward_err_sys(err, r, "cannot make a directory for copies here");
	r = copy_policy(p, err);
	if (r == 0)
		r = load_copy(p, err);
	if (r < 0)
		return r;
	const struct ward_settings *s = ward_policy_settings(p->policy);
	for (size_t i = 0; i < s->n_trees; i++)
		if (strcmp(s->trees[i].path, "/workspace") == 0 &&
			(!s->trees[i].source || strcmp(s->trees[i].source, ".") != 0))
			return ward_err_set(err, -EINVAL,
				"%s serves a directory of its own at /workspace; a copy cannot stand for it",
				p->args->policy);
	r = ward_path_names_of(p->policy, &p->names);
	if (r == 0 && p->names.n == 0)
		return ward_err_set(
			err, -EINVAL, "%s has no rule on a name in /workspace", p->args->policy);
	if (r == 0)
		r = ward_helper_program("wardfs-attack", &p->program, err);
	if (r < 0)
		return r;
	r = own_policy(p);
	return r < 0 ? ward_err_sys(err, r, "%s", p->name) : 0;
}

/* What code scanning shows beside the rule of the policy that was not kept. */
static int write_sarif(struct paths *p, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	json_t *results = json_array();
	const json_t *o;
	size_t i;

	json_array_foreach(p->list, i, o)
	{
		const char *verdict = json_string_value(json_object_get(o, "verdict"));
		const json_int_t line = json_integer_value(json_object_get(o, "line"));
		if (strcmp(verdict, verdicts[BROKEN]) != 0)
			continue;
		json_array_append_new(results,
			json_pack("{ss ss ss s{so} s[{s{s{ss} s{sI}}}]}", "ruleId",
				json_string_value(json_object_get(o, "operation")), "level",
				"error", "kind", "fail", "message", "text",
				json_sprintf("%s (%s): %s",
					json_string_value(json_object_get(o, "path")),
					json_string_value(json_object_get(o, "neighbour")),
					json_string_value(json_object_get(o, "seen"))),
				"locations", "physicalLocation", "artifactLocation", "uri",
				p->args->policy, "region", "startLine", line > 0 ? line : 1));
	}
	json_t *all = json_pack("{ss ss s[{s{s{ss}} so}]}", "$schema",
		"https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs", "tool",
		"driver", "name", "wardfs attack --path-rules", "results", results);
	char *text = all ? json_dumps(all, JSON_INDENT(1) | JSON_ENSURE_ASCII) : NULL;
	int r = text ? 0 : -ENOMEM;
	if (text)
		ward_buf_puts(&b, text);
	free(text);
	json_decref(all);
	if (r == 0)
		r = ward_buf_error(&b);
	return r < 0 ? ward_err_sys(err, r, "%s", p->args->sarif)
		     : ward_output_write(p->args->sarif, true, &b, err);
}

static int write_junit(struct paths *p, size_t n, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;

	ward_buf_printf(&b,
		"<?xml version=\"1.0\"?>\n<testsuite name=\"path rules\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n",
		n, p->counts[BROKEN], p->counts[UNTESTED]);
	ward_buf_add(&b, p->junit.data, p->junit.len);
	ward_buf_puts(&b, "</testsuite>\n");
	const int r = ward_buf_error(&b);
	return r < 0 ? ward_err_sys(err, r, "%s", p->args->junit)
		     : ward_output_write(p->args->junit, true, &b, err);
}

static int tell(struct paths *p, struct ward_err *err)
{
	const size_t n = p->counts[HELD] + p->counts[BROKEN] + p->counts[UNTESTED];

	if (p->args->json)
		ward_print_json(json_pack("{ss s{si si si} si sO}", "policy", p->args->policy,
			"counts", "held", (int)p->counts[HELD], "broken", (int)p->counts[BROKEN],
			"untested", (int)p->counts[UNTESTED], "left_out", (int)p->names.left_out,
			"attempts", p->list));
	else
		ward_outf("%zu names, %zu attempts: %zu held, %zu broken, %zu untested\n",
			p->names.n, n, p->counts[HELD], p->counts[BROKEN], p->counts[UNTESTED]);
	if (p->names.left_out)
		ward_sayf("%zu names were left out: the policy has too many rules",
			p->names.left_out);
	const int r = p->args->junit ? write_junit(p, n, err) : 0;
	return r == 0 && p->args->sarif ? write_sarif(p, err) : r;
}

static const struct argp_option options[] = {{"path-rules", 'P', "POLICY", 0, "", 0},
	{"mode", 'm', "MODE", 0, "", 0}, {"json", 'j', NULL, 0, "", 0},
	{"junit", 'J', "FILE", 0, "", 0}, {"sarif", 'S', "FILE", 0, "", 0},
	{"verbose", 'v', NULL, 0, "", 0}, {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	const char **const texts[] = {
		['P'] = &a->policy, ['m'] = &a->mode, ['J'] = &a->junit, ['S'] = &a->sarif};
	bool *const marks[] = {['j'] = &a->json, ['v'] = &a->verbose};

	if (key == ARGP_KEY_ARG)
		ward_arguments_wrong(state, "too many arguments: %s", arg);
	else if (key > 0 && key < (int)(sizeof(texts) / sizeof(*texts)) && texts[key])
		*texts[key] = arg;
	else if (key > 0 && key < (int)(sizeof(marks) / sizeof(*marks)) && marks[key])
		*marks[key] = true;
	else
		return ARGP_ERR_UNKNOWN;
	return key == ARGP_KEY_ARG ? EINVAL : 0;
}

static const struct argp argp = {options, parse, "", "", NULL, NULL, NULL};

int ward_attack_paths(int argc, char **argv)
{
	struct args a = {0};
	struct ward_err err = WARD_ERR_INIT;

	if (ward_arguments_parse(&argp, argc, argv, 0, &a) != 0)
		return USAGE;
	struct paths *p = calloc(1, sizeof(*p));
	if (!p)
		return FAILED;
	p->args = &a;
	p->root_fd = p->here_fd = -1;
	p->said = memfd_create("said", MFD_CLOEXEC);
	p->list = json_array();
	int r = prepare(p, &err);
	const bool usage = r == -EINVAL;
	for (size_t i = 0; r == 0 && i < N_OPERATIONS; i++)
		r = try_operation(p, operations[i], &err);
	if (r == 0)
		r = tell(p, &err);
	if (r < 0)
		ward_say(err.text);
	const int status = r < 0				      ? (usage ? USAGE : FAILED)
			   : p->counts[BROKEN]			      ? 1
			   : p->counts[UNTESTED] || p->names.left_out ? 3
								      : 0;
	if (p->root_fd >= 0) {
		close(p->root_fd);
		empty(p->here_fd, p->name, 0);
	}
	if (p->here_fd >= 0)
		close(p->here_fd);
	if (p->said >= 0)
		close(p->said);
	free(p->program);
	free(p->policy_file);
	json_decref(p->list);
	ward_buf_clear(&p->junit);
	ward_path_names_clear(&p->names);
	ward_policy_unref(p->policy);
	ward_policy_unref(p->copied);
	free(p);
	return ward_finish_output(status);
}
