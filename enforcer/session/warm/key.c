/* SPDX-License-Identifier: Apache-2.0 */
/* Digests what a session depends on. */
#include "enforcer/session/warm/key.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/build_id.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/sandbox/sandbox.h"

/* A file of proc(5) that is digested whole, or the key fails. */
#define TEXT_MAX ((size_t)4 << 20)

/* Each piece with its length, so that no two lists of pieces come to the same bytes. */
static void put(struct sha256_ctx *c, const void *data, size_t len)
{
	const uint64_t n = len;
	sha256_update(c, sizeof(n), (const uint8_t *)&n);
	sha256_update(c, len, data);
}

static void put_number(struct sha256_ctx *c, uint64_t v)
{
	put(c, &v, sizeof(v));
}

/* NULL is not "". */
static void put_text(struct sha256_ctx *c, const char *s)
{
	put_number(c, s != NULL);
	put(c, s ? s : "", s ? strlen(s) : 0);
}

static void put_list(struct sha256_ctx *c, char *const *v, size_t n)
{
	put_number(c, n);
	for (size_t i = 0; i < n; i++)
		put_text(c, v[i]);
}

static void put_options(struct sha256_ctx *c, const struct ward_strs *s)
{
	put_number(c, s->n);
	for (size_t i = 0; i < s->n; i++)
		put_text(c, s->v[i]);
}

static void put_stat(struct sha256_ctx *c, const struct stat *st)
{
	put_number(c, st->st_dev);
	put_number(c, st->st_ino);
	put_number(c, st->st_mode);
	put_number(c, st->st_uid);
	put_number(c, st->st_gid);
}

/* changes: also when it changed last. */
static void put_path(struct sha256_ctx *c, const char *path, bool changes)
{
	struct stat st;
	const bool is = lstat(path, &st) == 0;
	put_text(c, path);
	put_number(c, is);
	if (!is)
		return;
	put_stat(c, &st);
	if (!changes)
		return;
	put(c, &st.st_ctim, sizeof(st.st_ctim));
	put(c, &st.st_mtim, sizeof(st.st_mtim));
}

/* The file system is of the mount by which the directory was found. */
static void put_directory(struct sha256_ctx *c, int fd)
{
	struct statx st;
	const bool is =
		fd >= 0 && statx(fd, "", AT_EMPTY_PATH,
				   STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID, &st) == 0;
	put_number(c, is);
	if (!is)
		return;
	const uint64_t v[] = {st.stx_dev_major, st.stx_dev_minor, st.stx_ino, st.stx_mode,
		st.stx_uid, st.stx_gid, st.stx_mnt_id, (uint64_t)st.stx_btime.tv_sec,
		st.stx_btime.tv_nsec};
	put(c, v, sizeof(v));
}

static int read_file(const char *path, struct ward_buf *b, struct ward_err *err)
{
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : ward_fd_read_all(fd, TEXT_MAX, b);
	return r < 0 ? ward_err_sys(err, r, "%s", path) : 0;
}

static int put_file(struct sha256_ctx *c, const char *path, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	int r = read_file(path, &b, err);
	put(c, b.data ? b.data : "", b.len);
	return r;
}

/* Where the kernel has no such file. */
static void put_file_if(struct sha256_ctx *c, const char *path)
{
	struct ward_err none = WARD_ERR_INIT;
	put_number(c, put_file(c, path, &none) == 0);
}

static void end(struct sha256_ctx *c, char ret[WARD_WARM_KEY_SIZE])
{
	uint8_t sum[SHA256_DIGEST_SIZE];
	sha256_digest(c, sizeof(sum), sum);
	for (size_t i = 0; i < sizeof(sum); i++)
		snprintf(ret + 2 * i, 3, "%02x", sum[i]);
}

/* --- what the caller's process passes on --- */

/* Lines of proc_pid_status(5) that a child process inherits; the others count or measure. */
static const char *const inherited[] = {
	"Umask:", "Uid:", "Gid:", "Groups:", "CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:",
	"NoNewPrivs:", "Seccomp:", "Seccomp_filters:", "Cpus_allowed:", "Mems_allowed:"};

static int put_status(struct sha256_ctx *c, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	int r = read_file("/proc/self/status", &b, err);
	const char *line = ward_buf_str(&b);
	for (const char *end = line; r == 0 && *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		for (size_t i = 0; i < sizeof(inherited) / sizeof(*inherited); i++)
			if (strncmp(line, inherited[i], strlen(inherited[i])) == 0)
				put(c, line, (size_t)(end - line));
	}
	return r;
}

int ward_warm_context(char ret[WARD_WARM_KEY_SIZE], struct ward_err *err)
{
	static const char *const namespaces[] = {
		"cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"};
	static const char *const files[] = {"/proc/self/cgroup", "/proc/self/loginuid",
		"/proc/self/sessionid", "/proc/self/attr/current", "/proc/self/oom_score_adj"};
	static const char *const variables[] = {"SUDO_UID", "SUDO_USER", "XDG_RUNTIME_DIR"};
	struct sha256_ctx c;
	char path[64];
	sha256_init(&c);
	int r = put_status(&c, err);
	for (size_t i = 0; i < sizeof(namespaces) / sizeof(*namespaces); i++) {
		struct stat st = {0};
		snprintf(path, sizeof(path), "/proc/self/ns/%s", namespaces[i]);
		put_number(&c, stat(path, &st) == 0);
		put_number(&c, st.st_ino);
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		put_file_if(&c, files[i]);
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		put_text(&c, getenv(variables[i]));
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit l = {0};
		put_number(&c, getrlimit((__rlimit_resource_t)i, &l) == 0);
		put_number(&c, l.rlim_cur);
		put_number(&c, l.rlim_max);
	}
	put_number(&c, (uint64_t)getpriority(PRIO_PROCESS, 0));
	put_number(&c, (uint64_t)personality(0xffffffff));
	put_directory(&c, -1);
	put_path(&c, "/", false);
	/* This program, and so those beside it, which were installed with it. */
	char build[WARD_BUILD_ID_SIZE];
	put_text(&c, ward_build_id(build));
	struct stat self = {0};
	put_number(&c, stat("/proc/self/exe", &self) == 0);
	put_stat(&c, &self);
	put(&c, &self.st_ctim, sizeof(self.st_ctim));
	end(&c, ret);
	return r;
}

/* --- the plan --- */

static void put_identity(struct sha256_ctx *c, const struct ward_identity *id)
{
	const uint64_t v[] = {id->root, id->sudo, id->owner_uid, id->owner_gid, id->agent_uid,
		id->agent_gid, id->n_groups};
	put(c, v, sizeof(v));
	put(c, id->groups ? (const void *)id->groups : "", id->n_groups * sizeof(*id->groups));
	put_text(c, id->name);
	put_text(c, id->home);
	put_text(c, id->agent_name);
	put_text(c, id->agent_home);
}

/* Numbers that are shares of what this host has, which no text of the policy says. */
static void put_settings(struct sha256_ctx *c, const struct ward_settings *s)
{
	const uint64_t v[] = {s->limits_where_available, s->cpus, s->memory, s->processes,
		s->open_files, s->file_size, s->cpu_time_ns, s->wall_ns, s->command_ns,
		s->per_command_ns, s->idle_ns, s->grace_ns, s->tmp_bytes, s->core, s->home, s->view,
		s->seccomp, s->terminal, s->net, s->log, s->hash, s->exec, s->sync, s->on_failure,
		s->rotate, s->keep_ns, s->checkpoint_records, s->checkpoint_ms, s->warm,
		s->warm_ns};
	put(c, v, sizeof(v));
}

static void put_trees(struct sha256_ctx *c, const struct ward_run_plan *p)
{
	put_number(c, p->n_trees);
	for (size_t i = 0; i < p->n_trees; i++) {
		const struct ward_run_plan_tree *t = &p->trees[i];
		put_text(c, t->path);
		put_text(c, t->at);
		put_text(c, t->source);
		/* One in memory is made anew each time. */
		if (t->source)
			put_directory(c, t->backing);
		put_number(c, p->spots.elsewhere[i]);
	}
}

static void put_reads(struct sha256_ctx *c, const struct ward_run_plan *p)
{
	put_list(c, p->reads, p->n_reads);
	put_list(c, p->reads_at, p->n_reads);
	for (size_t i = 0; i < p->n_reads; i++) {
		const struct ward_shown_file *s = &p->shown[i];
		const uint64_t v[] = {s->type, s->linked, s->named, s->dev, s->ino, s->rights,
			(uint64_t)s->served, (uint64_t)s->links, s->closed != NULL};
		put_text(c, s->real);
		put(c, v, sizeof(v));
	}
	for (size_t i = 0; i < sizeof(p->ca) / sizeof(*p->ca) && p->ca[i]; i++)
		put_text(c, p->ca[i]);
	put_list(c, p->programs.v, p->programs.n);
	for (size_t i = 0; p->noexec && p->noexec[i]; i++)
		put_text(c, p->noexec[i]);
	put_list(c, p->sockets, p->n_sockets);
}

static void put_places(struct sha256_ctx *c, const struct ward_run_plan *p)
{
	const char *const v[] = {p->state, p->runtime, p->config, p->entered, p->git_settings,
		p->own_guards, p->owner_policy, p->shared, p->main_checkout, p->stand_in,
		p->mode->word};
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++)
		put_text(c, v[i]);
	put_number(c, p->allow_missing);
	put_number(c, p->keep_min_s);
	put_number(c, p->home_other);
	put_number(c, p->given);
}

/* What the sandbox shows of the host besides: which directories there are, and what /etc holds. */
static void put_host(struct sha256_ctx *c)
{
	const char *own[WARD_SANDBOX_OWN_MAX];
	const size_t n = ward_sandbox_own_paths(own);
	for (size_t i = 0; i < n; i++)
		put_path(c, own[i], false);
	put_path(c, "/", true);
	put_path(c, "/etc", true);
	put_path(c, "/dev/fuse", false);
}

static void put_asked(
	struct sha256_ctx *c, const struct ward_run_plan *p, const struct ward_run_options *o)
{
	const char *const v[] = {
		o->policy, o->stand_in, o->mode, o->trust, o->user, o->verb, p->project.path};
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++)
		put_text(c, v[i]);
	const struct ward_strs *const lists[] = {&o->allow_missing, &o->read, &o->write, &o->hide,
		&o->shown, &o->net, &o->publish, &o->forward};
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		put_options(c, lists[i]);
	put_number(c, p->id.owner_uid);
}

int ward_warm_key(const struct ward_run_plan *p, const struct ward_run_options *o,
	const char *context, struct ward_warm_key *ret, struct ward_err *err)
{
	struct sha256_ctx c;
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	sha256_init(&c);
	put_asked(&c, p, o);
	put_text(&c, context);
	end(&c, ret->group);
	sha256_init(&c);
	put_text(&c, ret->group);
	put_identity(&c, &p->id);
	put_text(&c, p->project.path);
	put_number(&c, p->project.by);
	put_number(&c, p->project.uid);
	put_directory(&c, p->project.fd);
	int r = ward_policy_encode(p->policy, &blob);
	if (r < 0)
		return ward_err_sys(err, r, "policy");
	put(&c, blob.data, blob.len);
	put_text(&c, ward_policy_digest(p->policy));
	put_settings(&c, p->settings);
	put_trees(&c, p);
	put_reads(&c, p);
	put_places(&c, p);
	put_host(&c);
	r = put_file(&c, "/proc/self/mountinfo", err);
	end(&c, ret->whole);
	return r;
}
