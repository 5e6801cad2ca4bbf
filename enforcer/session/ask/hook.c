/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the program of [approvals] command. */
#include "enforcer/session/ask/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/question_id.h"
#include "enforcer/session/guard/outside.h"
#include "enforcer/session/owner/as_owner.h"

/* Directories above the program. */
#define DEPTH_MAX 64

struct run {
	struct ward_hook *h;
	char question[WARD_QUESTION_NAME_SIZE];
	pid_t pid; /* 0: this one is free */
	int output;
	uint64_t until_ns; /* CLOCK_MONOTONIC */
	ward_pollset_id id;
	struct ward_buf heard;
};

struct ward_hook {
	const struct ward_run_plan *plan;
	const char *path; /* the policy's */
	int program;
	struct stat st; /* of the start */
	struct ward_pollset *set;
	unsigned rank;
	ward_hook_fn *fn;
	void *arg;
	struct run runs[WARD_HOOK_RUNS];
};

/* --- which file --- */

static int refuse(const char *path, const char *why, struct ward_err *err)
{
	return ward_err_set(err, -EPERM,
		"[approvals] command %s: %s. Put the program where no session writes, such as ~/.local/bin",
		path, why);
}

static bool is_tree(const struct ward_run_plan *plan, const struct stat *dir)
{
	struct stat st;
	for (size_t i = 0; i < plan->n_trees; i++)
		if (plan->trees[i].backing >= 0 && fstat(plan->trees[i].backing, &st) == 0 &&
			st.st_dev == dir->st_dev && st.st_ino == dir->st_ino)
			return true;
	return false;
}

/* Is the directory, or one above it, the top of a tree? True also where that is unknown. */
static bool in_tree(const struct ward_run_plan *plan, int dir)
{
	ward_cleanup_fd int at = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	struct stat st, above;
	if (at < 0 || fstat(at, &st) < 0)
		return true;
	for (unsigned i = 0; i < DEPTH_MAX; i++) {
		if (is_tree(plan, &st))
			return true;
		ward_cleanup_fd int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0 || fstat(up, &above) < 0)
			return true;
		if (above.st_dev == st.st_dev && above.st_ino == st.st_ino)
			return false;
		close(at);
		at = ward_steal_fd(&up);
		st = above;
	}
	return true;
}

static int check(const struct ward_hook *h, int dir, struct ward_err *err)
{
	const uid_t owner = h->plan->id.owner_uid;
	if (!S_ISREG(h->st.st_mode) || !(h->st.st_mode & 0111))
		return refuse(h->path, "it is no file that can be executed", err);
	if (h->st.st_uid != 0 && h->st.st_uid != owner)
		return refuse(
			h->path, "it belongs neither to root nor to the session's owner", err);
	if (h->st.st_mode & (S_IWGRP | S_IWOTH))
		return refuse(h->path, "others may write to it", err);
	/* Another name of it could lie in a tree. */
	if (h->st.st_nlink != 1)
		return refuse(h->path, "it has a second name (a hard link)", err);
	return in_tree(h->plan, dir) ? refuse(h->path, "the session can write there", err) : 0;
}

/* With the owner's rights. */
static int open_program(struct ward_hook *h, int *ret_dir)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	const char *slash = strrchr(h->path, '/');
	ward_cleanup_free char *above =
		strndup(h->path, slash > h->path ? (size_t)(slash - h->path) : 1);
	*ret_dir = above ? ward_fd_openat2(AT_FDCWD, above, &how) : -ENOMEM;
	h->program = *ret_dir < 0 ? *ret_dir : ward_fd_openat2(*ret_dir, slash + 1, &how);
	return h->program;
}

int ward_hook_new(const struct ward_run_plan *plan, struct ward_hook **ret, struct ward_err *err)
{
	ward_cleanup_fd int dir = -1;
	struct ward_as_owner as = {0};
	*ret = NULL;
	if (!plan->settings->ask_command)
		return 0;
	struct ward_hook *h = calloc(1, sizeof(*h));
	if (!h)
		return ward_err_sys(err, -ENOMEM, "approvals");
	h->plan = plan;
	h->path = plan->settings->ask_command;
	h->program = -1;
	int r = ward_as_owner_begin(&plan->id, &as, err);
	if (r == 0) {
		r = open_program(h, &dir);
		ward_as_owner_end(&as);
		r = r < 0 ? ward_err_sys(err, r, "[approvals] command %s", h->path) : 0;
	}
	if (r == 0 && fstat(h->program, &h->st) < 0)
		r = ward_err_sys(err, -errno, "[approvals] command %s", h->path);
	if (r == 0)
		r = check(h, dir, err);
	if (r < 0)
		ward_hook_free(h);
	else
		*ret = h;
	return r;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* What writes to a file, or gives it another name, changes its ctime. */
static bool unchanged(const struct ward_hook *h)
{
	struct stat st;
	return fstat(h->program, &st) == 0 && st.st_dev == h->st.st_dev &&
	       st.st_ino == h->st.st_ino && st.st_size == h->st.st_size &&
	       st.st_mode == h->st.st_mode && st.st_uid == h->st.st_uid &&
	       st.st_nlink == h->st.st_nlink && same_time(&st.st_mtim, &h->st.st_mtim) &&
	       same_time(&st.st_ctim, &h->st.st_ctim);
}

/* --- a run --- */

static void end(struct run *r)
{
	if (!r->pid)
		return;
	/* It leads a session of its own (ward_outside_become()); what left that is not ours. */
	(void)kill(-r->pid, SIGKILL);
	(void)kill(r->pid, SIGKILL);
	while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (r->id)
		ward_pollset_remove(r->h->set, r->id);
	close(r->output);
	ward_buf_clear(&r->heard);
	*r = (struct run){.h = r->h, .output = -1};
}

static void answer(struct run *r)
{
	json_t *o = ward_buf_error(&r->heard) == 0
			    ? json_loadb(ward_buf_str(&r->heard), r->heard.len,
				      JSON_REJECT_DUPLICATES, NULL)
			    : NULL;
	if (json_is_object(o))
		r->h->fn(r->h->arg, r->question, r->pid, o);
	json_decref(o);
	end(r);
}

static void on_output(void *arg, short revents)
{
	struct run *r = arg;
	char buf[4096];
	(void)revents;
	const ssize_t n = read(r->output, buf, sizeof(buf));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		ward_buf_add(&r->heard, buf, (size_t)n);
	if (n <= 0)
		answer(r);
	else if (ward_buf_error(&r->heard) < 0)
		end(r);
}

void ward_hook_watch(
	struct ward_hook *h, struct ward_pollset *set, unsigned rank, ward_hook_fn *fn, void *arg)
{
	if (!h)
		return;
	h->set = set;
	h->rank = rank;
	h->fn = fn;
	h->arg = arg;
	for (size_t i = 0; i < WARD_HOOK_RUNS; i++)
		h->runs[i] = (struct run){.h = h, .output = -1};
}

static int start(struct run *r, int input)
{
	int out[2];
	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	const pid_t pid = fork();
	if (pid == 0)
		ward_outside_become(&(const struct ward_outside){.path = r->h->path,
			.program = r->h->program,
			.id = &r->h->plan->id,
			.input = input,
			.output = out[1],
			.dies = true});
	close(out[1]);
	r->output = out[0];
	if (pid < 0) {
		close(out[0]);
		r->output = -1;
		return -EAGAIN;
	}
	r->pid = pid;
	r->heard.max = WARD_HOOK_ANSWER_MAX;
	r->until_ns = ward_clock_mono_ns() + r->h->plan->settings->ask_ns;
	(void)fcntl(r->output, F_SETFL, O_NONBLOCK);
	const int e =
		ward_pollset_add(r->h->set, r->h->rank, r->output, POLLIN, on_output, r, &r->id);
	if (e < 0)
		end(r);
	return e;
}

int ward_hook_tell(struct ward_hook *h, const char *question, const char *json)
{
	ward_cleanup_fd int input = -1;
	struct run *r = NULL;
	for (size_t i = 0; !r && h->set && i < WARD_HOOK_RUNS; i++)
		if (!h->runs[i].pid)
			r = &h->runs[i];
	if (!r)
		return -EAGAIN;
	if (!unchanged(h))
		return -ESTALE;
	int e = ward_fd_sealed("wardfs-question", json, strlen(json), &input, NULL);
	if (e == 0 && lseek(input, 0, SEEK_SET) < 0)
		e = -errno;
	(void)snprintf(r->question, sizeof(r->question), "%s", question);
	return e < 0 ? e : start(r, input);
}

void ward_hook_tick(struct ward_hook *h, bool (*waits)(void *arg, const char *question), void *arg)
{
	const uint64_t now = ward_clock_mono_ns();
	for (size_t i = 0; h && i < WARD_HOOK_RUNS; i++)
		if (h->runs[i].pid &&
			(h->runs[i].until_ns <= now || !waits(arg, h->runs[i].question)))
			end(&h->runs[i]);
}

int ward_hook_timeout(const struct ward_hook *h)
{
	const uint64_t now = ward_clock_mono_ns();
	uint64_t until = UINT64_MAX;
	for (size_t i = 0; h && i < WARD_HOOK_RUNS; i++)
		if (h->runs[i].pid && h->runs[i].until_ns < until)
			until = h->runs[i].until_ns;
	if (until == UINT64_MAX)
		return -1;
	return until <= now ? 0 : (int)((until - now) / 1000000) + 1;
}

void ward_hook_free(struct ward_hook *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < WARD_HOOK_RUNS; i++)
		end(&h->runs[i]);
	if (h->program >= 0)
		close(h->program);
	free(h);
}
