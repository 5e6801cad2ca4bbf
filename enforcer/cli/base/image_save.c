/* SPDX-License-Identifier: Apache-2.0 */
/* Runs an engine with a command line of ours; nothing of it comes from the policy or a project. */
#include "enforcer/cli/base/image_save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/host_program.h"
#include "enforcer/policy/image_name.h"

#define SAID_MAX 4096

static const char path_inside[] =
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/* Where the caller's engine finds its own images, and its way out. */
static const char *const passed[] = {"HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME",
	"DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST", "REGISTRY_AUTH_FILE", "HTTP_PROXY",
	"HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"};

static const struct engine {
	const char *word;
	const char *argv[6]; /* what stands before the reference */
	const char *before;  /* in front of the reference itself */
	const char *last;    /* behind it, or NULL */
	bool unasked;
} engines[] = {
	{"docker", {"docker", "image", "save", NULL}, "", NULL, true},
	{"podman", {"podman", "save", "--format", "docker-archive", NULL}, "", NULL, true},
	{"skopeo", {"skopeo", "copy", "--quiet", NULL}, "docker://", "docker-archive:/dev/stdout",
		false},
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

bool ward_image_engine(const char *word)
{
	for (size_t i = 0; i < COUNT(engines); i++)
		if (strcmp(engines[i].word, word) == 0)
			return true;
	return false;
}

void ward_image_engines(struct ward_buf *b)
{
	char program[PATH_MAX];
	for (size_t i = 0; i < COUNT(engines); i++)
		if (ward_host_program(engines[i].word, program) == 0)
			ward_buf_printf(b, " %s", engines[i].word);
}

static void child(const char *program, char *const *argv, char *const *envp, int out, int said)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const int from[] = {null, out, said}, to[] = {0, 1, 2};
	if (null < 0 || chdir("/") < 0 || ward_fd_inherit(from, to, 3) < 0)
		_exit(125);
	execve(program, argv, envp);
	_exit(127);
}

/* Its exit status, or a negative errno. What it says goes to said. */
static int run(const struct engine *e, const char *program, const char *name, int out, int said)
{
	char *argv[COUNT(e->argv) + 3] = {NULL}, *envp[COUNT(passed) + 2] = {NULL};
	ward_cleanup_free char *reference = NULL;
	char *variables[COUNT(passed)] = {NULL};
	size_t n = 0, n_env = 0;
	int status = 0, r = 0;
	if (asprintf(&reference, "%s%s", e->before, name) < 0) {
		reference = NULL;
		return -ENOMEM;
	}
	for (; e->argv[n]; n++)
		argv[n] = (char *)(uintptr_t)e->argv[n];
	argv[n++] = reference;
	argv[n] = (char *)(uintptr_t)e->last;
	envp[n_env++] = (char *)(uintptr_t)path_inside;
	for (size_t i = 0; i < COUNT(passed) && r == 0; i++) {
		const char *value = getenv(passed[i]);
		if (value && asprintf(&variables[i], "%s=%s", passed[i], value) < 0) {
			variables[i] = NULL;
			r = -ENOMEM;
		}
		if (variables[i])
			envp[n_env++] = variables[i];
	}
	pid_t pid = r == 0 ? fork() : -1;
	if (pid == 0)
		child(program, argv, envp, out, said);
	if (r == 0 && pid < 0)
		r = -errno;
	while (r == 0 && waitpid(pid, &status, 0) < 0)
		r = errno == EINTR ? 0 : -errno;
	for (size_t i = 0; i < COUNT(passed); i++)
		free(variables[i]);
	return r < 0 ? r : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* 0, or why this one has no such image. */
static int save(const struct engine *e, const char *name, const char *dir, int *ret_fd,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	char program[PATH_MAX];
	if (ward_host_program(e->word, program) < 0)
		return ward_err_set(err, -ENOENT, "%s is not on this host", e->word);
	ward_cleanup_fd int out = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ward_cleanup_fd int said = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (out < 0 || said < 0)
		return ward_err_sys(err, -errno, "a file in %s", dir);
	int r = run(e, program, name, out, said);
	if (r < 0)
		return ward_err_sys(err, r, "%s", program);
	if (r > 0) {
		(void)!ward_fd_pread_all(said, SAID_MAX, &b);
		return ward_err_set(err, -ENOENT, "%s has no image %s: %.*s", program, name,
			(int)strcspn(ward_buf_str(&b), "\n"), ward_buf_str(&b));
	}
	if (lseek(out, 0, SEEK_SET) < 0)
		return ward_err_sys(err, -errno, "the archive");
	*ret_fd = ward_steal_fd(&out);
	return 0;
}

int ward_image_save(
	const char *engine, const char *name, const char *dir, int *ret_fd, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	int r = ward_image_name_is_path(name) ? -EINVAL : ward_image_name_check(name, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < COUNT(engines); i++) {
		const struct engine *e = &engines[i];
		struct ward_err one = WARD_ERR_INIT;
		if (engine ? strcmp(e->word, engine) != 0 : !e->unasked)
			continue;
		if (save(e, name, dir, ret_fd, &one) == 0)
			return 0;
		ward_buf_printf(&why, "%s%s", why.len ? "; " : "", one.text);
	}
	return ward_err_set(err, -ENOENT,
		"%s. You can also pull an archive of docker save or skopeo copy: wardfs image pull ./FILE.tar",
		ward_buf_str(&why));
}
