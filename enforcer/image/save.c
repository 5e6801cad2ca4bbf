/* SPDX-License-Identifier: Apache-2.0 */
/* Runs an engine with a command line of ours; nothing of it comes from the policy or a project. */
#include "enforcer/image/save.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/host_program.h"
#include "enforcer/base/limit.h"
#include "enforcer/base/quantity.h"
#include "enforcer/policy/image_name.h"

#define SAID_MAX 4096

static const char path_inside[] =
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/* What a variable means for a fetch that nobody typed. */
enum meaning {
	DROPPED = 0, /* names something of the caller's configuration */
	REPLACED,    /* a directory of configuration: another one */
	KEPT,	     /* a text */
	KEPT_PATH,   /* a place, or the address of one */
};

/* Where the caller's engine finds its own images, and its way out. */
static const struct variable {
	const char *name;
	enum meaning alone;
} passed[] = {{"HOME", REPLACED}, {"XDG_RUNTIME_DIR", KEPT_PATH}, {"XDG_DATA_HOME", KEPT_PATH},
	{"XDG_CONFIG_HOME", REPLACED}, {"DOCKER_HOST", KEPT_PATH}, {"DOCKER_CONTEXT", DROPPED},
	{"CONTAINER_HOST", KEPT_PATH}, {"REGISTRY_AUTH_FILE", KEPT_PATH}, {"HTTP_PROXY", KEPT},
	{"HTTPS_PROXY", KEPT}, {"NO_PROXY", KEPT}, {"http_proxy", KEPT}, {"https_proxy", KEPT},
	{"no_proxy", KEPT}};

static const struct engine {
	const char *word;
	const char *argv[6]; /* what stands before the reference */
	const char *before;  /* in front of the reference itself */
	const char *last;    /* behind it, or NULL */
	bool registry;	     /* never unasked */
} engines[] = {
	{"docker", {"docker", "image", "save", NULL}, "", NULL, false},
	{"podman", {"podman", "save", "--format", "docker-archive", NULL}, "", NULL, false},
	/* Not /dev/stdout: skopeo removes its destination when it fails, also one of the host's. */
	{"skopeo", {"skopeo", "copy", "--quiet", NULL}, "docker://",
		"docker-archive:/proc/self/fd/1", true},
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

bool ward_image_engine(const char *word)
{
	for (size_t i = 0; i < COUNT(engines); i++)
		if (strcmp(engines[i].word, word) == 0)
			return true;
	return false;
}

void ward_image_engines(bool registry, struct ward_buf *b)
{
	char program[PATH_MAX];
	for (size_t i = 0; i < COUNT(engines); i++)
		if ((registry || !engines[i].registry) &&
			ward_host_program(engines[i].word, program) == 0)
			ward_buf_printf(b, " %s", engines[i].word);
}

/* --- the environment --- */

/* The caller's, or where podman looks without it. NULL: there is none; *ret_made is the caller's.
 */
static const char *value_of(const struct variable *v, const char *alone, char **ret_made)
{
	const char *value = getenv(v->name), *home = getenv("HOME");
	if (!alone)
		return value;
	if (v->alone == REPLACED)
		return alone;
	/* podman finds its images below a home, which is another one. */
	if (strcmp(v->name, "XDG_DATA_HOME") == 0 && (!value || !*value) && home && *home)
		return asprintf(ret_made, "%s/.local/share", home) < 0 ? (*ret_made = NULL)
								       : *ret_made;
	return v->alone == DROPPED ? NULL : value;
}

/* All entries are the caller's, but for the first. */
static int make_environment(const char *alone, char *envp[COUNT(passed) + 2])
{
	size_t n = 0;
	envp[n++] = (char *)(uintptr_t)path_inside;
	for (size_t i = 0; i < COUNT(passed); i++) {
		ward_cleanup_free char *made = NULL;
		const char *value = value_of(&passed[i], alone, &made);
		if (!value)
			continue;
		if (asprintf(&envp[n], "%s=%s", passed[i].name, value) < 0) {
			envp[n] = NULL;
			return -ENOMEM;
		}
		n++;
	}
	return 0;
}

/* What decides at the place that a variable names. */
static int call_for(
	const struct variable *v, ward_image_place_fn fn, void *user, struct ward_err *err)
{
	static const char socket[] = "unix://";
	ward_cleanup_free char *made = NULL, *below = NULL;
	const char *value = v->alone == KEPT_PATH ? value_of(v, "/", &made) : NULL;
	if (!value || !*value)
		return 0;
	if (strncmp(value, socket, sizeof(socket) - 1) == 0)
		value += sizeof(socket) - 1;
	else if (strstr(value, "://"))
		return 0; /* of another host */
	if (value[0] != '/')
		return ward_err_set(err, -EPERM, "%s=%s is not an absolute path", v->name, value);
	if (strcmp(v->name, "XDG_DATA_HOME") != 0)
		return fn(user, v->name, value, err);
	if (asprintf(&below, "%s/containers", value) < 0) {
		below = NULL;
		return ward_err_sys(err, -ENOMEM, "%s", v->name);
	}
	return fn(user, v->name, below, err);
}

int ward_image_places(bool registry, ward_image_place_fn fn, void *user, struct ward_err *err)
{
	char program[PATH_MAX];
	int r = 0;
	for (size_t i = 0; i < COUNT(engines) && r == 0; i++)
		if ((registry || !engines[i].registry) &&
			ward_host_program(engines[i].word, program) == 0)
			r = fn(user, NULL, program, err);
	for (size_t i = 0; i < COUNT(passed) && r == 0; i++)
		r = call_for(&passed[i], fn, user, err);
	return r;
}

/* --- running one --- */

/* group: it leads a process group of its own, which can be killed as a whole. */
static void child(
	const char *program, char *const *argv, char *const *envp, int out, int said, bool group)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const int from[] = {null, out, said}, to[] = {0, 1, 2};
	/* The process that waits for it may be killed. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || null < 0 || chdir("/") < 0 ||
		(group && setpgid(0, 0) < 0) || ward_fd_inherit(from, to, 3) < 0)
		_exit(125);
	execve(program, argv, envp);
	_exit(127);
}

/* 0: it has ended, or there is no limit. */
static int wait_until(pid_t pid, uint64_t until_ns)
{
	const bool limited = until_ns != WARD_UNLIMITED;
	ward_cleanup_fd int fd = limited ? pidfd_open(pid, 0) : -1;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	if (limited && fd < 0)
		return -errno;
	while (limited) {
		const uint64_t now = ward_clock_mono_ns();
		if (now >= until_ns)
			return -ETIMEDOUT;
		const uint64_t ms = (until_ns - now) / (WARD_NS_PER_SEC / 1000) + 1;
		const int n = poll(&p, 1, ms < INT_MAX ? (int)ms : INT_MAX);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
	return 0;
}

/* Its status as wait(2) has it, or a negative errno. It is gone then. */
static int wait_for(pid_t pid, uint64_t until_ns)
{
	int status = 0;
	const int r = wait_until(pid, until_ns);
	/* It may not have come to make its group. */
	if (r < 0 && kill(-pid, SIGKILL) < 0)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return r < 0 ? r : status;
}

/* Its exit status, or a negative errno. What it says goes to said. */
static int run(const struct engine *e, const char *program, const struct ward_image_save *s,
	uint64_t until_ns, int out, int said)
{
	char *argv[COUNT(e->argv) + 3] = {NULL}, *envp[COUNT(passed) + 2] = {NULL};
	ward_cleanup_free char *reference = NULL;
	size_t n = 0;
	if (asprintf(&reference, "%s%s", e->before, s->name) < 0) {
		reference = NULL;
		return -ENOMEM;
	}
	for (; e->argv[n]; n++)
		argv[n] = (char *)(uintptr_t)e->argv[n];
	argv[n++] = reference;
	argv[n] = (char *)(uintptr_t)e->last;
	int r = make_environment(s->alone, envp);
	pid_t pid = r == 0 ? fork() : -1;
	if (pid == 0)
		child(program, argv, envp, out, said, until_ns != WARD_UNLIMITED);
	if (r == 0)
		r = pid < 0 ? -errno : wait_for(pid, until_ns);
	for (size_t i = 1; envp[i]; i++)
		free(envp[i]);
	return r < 0 ? r : WIFEXITED(r) ? WEXITSTATUS(r) : 128 + WTERMSIG(r);
}

/* 0, or why this one has no such image. */
static int save(const struct engine *e, const struct ward_image_save *s, uint64_t until_ns,
	int *ret_fd, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	char program[PATH_MAX];
	if (ward_host_program(e->word, program) < 0)
		return ward_err_set(err, -ENOENT, "%s is not on this host", e->word);
	ward_cleanup_fd int out = open(s->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ward_cleanup_fd int said = open(s->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (out < 0 || said < 0)
		return ward_err_sys(err, -errno, "a file in %s", s->dir);
	int r = run(e, program, s, until_ns, out, said);
	if (r == -ETIMEDOUT) {
		char text[WARD_DURATION_TEXT_MAX];
		ward_quantity_duration_text(s->time_ns, text);
		return ward_err_set(
			err, r, "%s did not end within %s ([container] pull-time)", program, text);
	}
	if (r < 0)
		return ward_err_sys(err, r, "%s", program);
	if (r > 0) {
		(void)!ward_fd_pread_all(said, SAID_MAX, &b);
		return ward_err_set(err, -ENOENT, "%s has no image %s: %.*s", program, s->name,
			(int)strcspn(ward_buf_str(&b), "\n"), ward_buf_str(&b));
	}
	if (lseek(out, 0, SEEK_SET) < 0)
		return ward_err_sys(err, -errno, "the archive");
	*ret_fd = ward_steal_fd(&out);
	return 0;
}

/* May this one be asked? */
static bool is_meant(const struct engine *e, const struct ward_image_save *s)
{
	return s->engine ? strcmp(e->word, s->engine) == 0 : s->registry || !e->registry;
}

int ward_image_save(
	const struct ward_image_save *s, int *ret_fd, const char **ret_engine, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	const uint64_t now = ward_clock_mono_ns();
	const uint64_t until_ns =
		s->time_ns < WARD_UNLIMITED - now ? now + s->time_ns : WARD_UNLIMITED;
	int r = ward_image_name_is_path(s->name) ? -EINVAL : ward_image_name_check(s->name, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < COUNT(engines); i++) {
		const struct engine *e = &engines[i];
		struct ward_err one = WARD_ERR_INIT;
		if (!is_meant(e, s))
			continue;
		r = save(e, s, until_ns, ret_fd, &one);
		if (r == 0) {
			*ret_engine = e->word;
			return 0;
		}
		ward_buf_printf(&why, "%s%s", why.len ? "; " : "", one.text);
		if (r == -ETIMEDOUT)
			return ward_err_set(err, r, "%s", ward_buf_str(&why));
	}
	return ward_err_set(err, -ENOENT, "%s", ward_buf_str(&why));
}
