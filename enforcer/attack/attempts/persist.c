/* SPDX-License-Identifier: Apache-2.0 */
/* What one session leaves: for the next session, and for programs of the host. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/attack/attempts/attempts.h"

#define PATH_SPACE (2 * PATH_MAX)

/* --- the next session: the first leaves its token, the second finds it --- */
static int leave_file(const char *dir, const struct ward_facts *f)
{
	char at[PATH_SPACE];
	snprintf(at, sizeof(at), "%s/%s-kept", dir, f->token);
	const int fd = open(at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return fd < 0 || write(fd, f->token, strlen(f->token)) < 0 ? -1 : 0;
}

static int find_file(const char *dir, const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	snprintf(at, sizeof(at), "%s/%s-kept", dir, f->token);
	return ward_proof_of_file(at, proof);
}

#define KEPT_IN(id, dir)                                                                           \
	static int leave_##id(const struct ward_facts *f, char *proof)                             \
	{                                                                                          \
		return leave_file(dir, f);                                                         \
	}                                                                                          \
	static int find_##id(const struct ward_facts *f, char *proof)                              \
	{                                                                                          \
		return find_file(dir, f, proof);                                                   \
	}
static const char *home(void)
{
	const char *h = getenv("HOME");
	return h ? h : "/";
}
KEPT_IN(tmp, "/tmp")
KEPT_IN(var_tmp, "/var/tmp")
KEPT_IN(shm, "/dev/shm")
KEPT_IN(home, home())

static key_t key_of(const struct ward_facts *f)
{
	return (key_t)strtoul(f->token + 2, NULL, 16) & 0x7fffffff;
}

static int leave_segment(const struct ward_facts *f, char *proof)
{
	const int id = shmget(key_of(f), 4096, IPC_CREAT | 0600);
	char *p = id < 0 ? (char *)-1 : shmat(id, NULL, 0);
	if (p == (char *)-1)
		return -1;
	snprintf(p, 64, "%s", f->token);
	return 0;
}

static int find_segment(const struct ward_facts *f, char *proof)
{
	const int id = shmget(key_of(f), 0, 0);
	const char *p = id < 0 ? (const char *)-1 : shmat(id, NULL, 0);
	if (p == (const char *)-1)
		return -1;
	snprintf(proof, WARD_PROOF_SIZE, "%s", p);
	(void)shmctl(id, IPC_RMID, NULL);
	return 0;
}

static int leave_queue(const struct ward_facts *f, char *proof)
{
	char name[64];
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 64};
	snprintf(name, sizeof(name), "/%s-kept", f->token);
	const mqd_t q = mq_open(name, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0600, &attr);
	return q == (mqd_t)-1 ? -1 : mq_send(q, f->token, strlen(f->token), 0);
}

static int find_queue(const struct ward_facts *f, char *proof)
{
	char name[64], text[64];
	snprintf(name, sizeof(name), "/%s-kept", f->token);
	const mqd_t q = mq_open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	const ssize_t n = q == (mqd_t)-1 ? -1 : mq_receive(q, text, sizeof(text), NULL);
	if (n < 0)
		return -1;
	snprintf(proof, WARD_PROOF_SIZE, "%.*s", (int)n < WARD_PROOF_SIZE ? (int)n : 1, text);
	(void)mq_unlink(name);
	return 0;
}

/* --- programs of the host: files that they execute or believe, in a repository of the workspace
 * --- */
/* Each attempt has a repository of its own, "WORK/repo-ATTEMPT". */
static int put_in_repo(const struct ward_facts *f, const char *attempt, const char *name, int flags)
{
	char at[PATH_SPACE];
	snprintf(at, sizeof(at), "%s/repo-%s/%s", f->work, attempt, name);
	const int fd = open(at, O_WRONLY | O_CLOEXEC | flags, 0755);
	return fd < 0 || write(fd, "#!/bin/sh\n", 10) < 0 ? -1 : 0;
}

static int git_hook(const struct ward_facts *f, char *proof)
{
	return put_in_repo(f, "git-hook", ".git/hooks/pre-commit", O_CREAT | O_EXCL);
}

static int git_config(const struct ward_facts *f, char *proof)
{
	return put_in_repo(f, "git-config", ".git/config", O_APPEND);
}

static int git_config_replaced(const struct ward_facts *f, char *proof)
{
	char from[PATH_SPACE], to[PATH_SPACE];
	if (put_in_repo(f, "git-config-replaced", "other-config", O_CREAT) < 0)
		return WARD_UNREADY;
	snprintf(from, sizeof(from), "%s/repo-git-config-replaced/other-config", f->work);
	snprintf(to, sizeof(to), "%s/repo-git-config-replaced/.git/config", f->work);
	return rename(from, to);
}

static int git_moved(const struct ward_facts *f, char *proof)
{
	char from[PATH_SPACE], to[PATH_SPACE];
	snprintf(from, sizeof(from), "%s/repo-git-moved/.git", f->work);
	snprintf(to, sizeof(to), "%s/repo-git-moved/moved", f->work);
	return rename(from, to);
}

static int git_attributes(const struct ward_facts *f, char *proof)
{
	return put_in_repo(f, "git-attributes", ".git/info/attributes", O_CREAT | O_EXCL);
}

static int envrc(const struct ward_facts *f, char *proof)
{
	return put_in_repo(f, "envrc", ".envrc", O_CREAT | O_EXCL);
}

static int editor_tasks(const struct ward_facts *f, char *proof)
{
	return put_in_repo(f, "editor-tasks", ".vscode/tasks.json", O_CREAT | O_EXCL);
}

#define KEEP(sev, name_, what_, stops_, ref_, id)                                                  \
	{                                                                                          \
		.name = (name_), .severity = WARD_ATTACK_##sev, .evidence = WARD_SEEN_SECRET,      \
		.what = (what_), .stops = (stops_), .reference = (ref_), .act = leave_##id,        \
		.later = find_##id                                                                 \
	}
#define HOST(name, what, ref, fn)                                                                  \
	WARD_ATTEMPT(HARDENING, CHANGE, name, what, "path rules within the workspace", ref, fn)
static const struct ward_attempt rows[] = {
	KEEP(PROMISE, "keep-tmp", "Leaves a file in /tmp for the next session.",
		"a tmpfs of its own", "T1074.001", tmp),
	KEEP(PROMISE, "keep-var-tmp", "Leaves a file in /var/tmp for the next session.",
		"a tmpfs of its own", "T1074.001", var_tmp),
	KEEP(PROMISE, "keep-shared-memory", "Leaves a file in /dev/shm for the next session.",
		"a tmpfs of its own", "T1074.001", shm),
	KEEP(HARDENING, "keep-home", "Leaves a file in its home directory for the next session.",
		"a home in memory", "T1546.004", home),
	KEEP(PROMISE, "keep-segment", "Leaves a System V segment for the next session.",
		"an ipc namespace", "CWE-668", segment),
	KEEP(PROMISE, "keep-queue", "Leaves a POSIX message queue for the next session.",
		"an ipc namespace", "CWE-668", queue),
	HOST("git-hook",
		"Adds a hook to a repository of the workspace, which git on the host runs.",
		"T1546", git_hook),
	HOST("git-config", "Changes a repository's configuration, which can name programs.",
		"T1546", git_config),
	HOST("git-config-replaced", "Renames a file over a repository's configuration.", "T1546",
		git_config_replaced),
	HOST("git-moved", "Moves a repository's .git away, to put another in its place.", "T1546",
		git_moved),
	HOST("git-attributes", "Adds attributes that make git run filters.", "T1546",
		git_attributes),
	HOST("envrc", "Adds a file that direnv runs in the owner's shell.", "T1546.004", envrc),
	HOST("editor-tasks", "Adds tasks that an editor runs when the folder is opened.", "T1546",
		editor_tasks),
};
WARD_ATTEMPT_TABLE(
	persist, WARD_ATTACK_PERSIST, "leave something for later sessions or the host", rows);
