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
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
KEPT_IN(run, "/run")
KEPT_IN(cache, "/var/cache")
KEPT_IN(spool, "/var/spool")
KEPT_IN(opt, "/opt")

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

/* The number of a semaphore is the secret that stays. */
static int leave_semaphore(const struct ward_facts *f, char *proof)
{
	const int id = semget(key_of(f), 1, IPC_CREAT | 0600);
	return id < 0 ? -1 : semctl(id, 0, SETVAL, 4711);
}

static int find_semaphore(const struct ward_facts *f, char *proof)
{
	const int id = semget(key_of(f), 0, 0);
	if (id < 0 || semctl(id, 0, GETVAL) != 4711)
		return -1;
	snprintf(proof, WARD_PROOF_SIZE, "%s", f->token);
	(void)semctl(id, 0, IPC_RMID);
	return 0;
}

struct message {
	long type;
	char text[32];
};

static int leave_messages(const struct ward_facts *f, char *proof)
{
	struct message m = {.type = 1};
	const int id = msgget(key_of(f), IPC_CREAT | 0600);
	snprintf(m.text, sizeof(m.text), "%s", f->token);
	return id < 0 ? -1 : msgsnd(id, &m, sizeof(m.text), IPC_NOWAIT);
}

static int find_messages(const struct ward_facts *f, char *proof)
{
	struct message m = {.type = 0};
	const int id = msgget(key_of(f), 0);
	if (id < 0 || msgrcv(id, &m, sizeof(m.text), 0, IPC_NOWAIT) < 0)
		return -1;
	snprintf(proof, WARD_PROOF_SIZE, "%.31s", m.text);
	(void)msgctl(id, IPC_RMID, NULL);
	return 0;
}

/* In the user's keyring, which lives as long as the user has processes. */
#define USER_KEYRING (-4)
static int leave_key(const struct ward_facts *f, char *proof)
{
	return syscall(SYS_add_key, "user", f->token, f->token, strlen(f->token), USER_KEYRING) < 0
		       ? -1
		       : 0;
}

static int find_key(const struct ward_facts *f, char *proof)
{
	char text[WARD_PROOF_SIZE] = "";
	const long key = syscall(SYS_keyctl, 10 /* SEARCH */, USER_KEYRING, "user", f->token, 0);
	if (key < 0 || syscall(SYS_keyctl, 11 /* READ */, key, text, sizeof(text) - 1) < 0)
		return -1;
	snprintf(proof, WARD_PROOF_SIZE, "%s", text);
	(void)syscall(SYS_keyctl, 9 /* UNLINK */, key, USER_KEYRING);
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
	if (ward_attempt_work(f, "other-config", from, sizeof(from)) < 0)
		return WARD_UNREADY;
	const int fd = open(from, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return WARD_UNREADY;
	close(fd);
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

#define NEW_FILE(id, attempt, name)                                                                \
	static int id(const struct ward_facts *f, char *proof)                                     \
	{                                                                                          \
		return put_in_repo(f, attempt, name, O_CREAT | O_EXCL);                            \
	}
NEW_FILE(git_worktree_config, "git-worktree-config", ".git/config.worktree")
NEW_FILE(git_commondir, "git-commondir", ".git/commondir")
NEW_FILE(git_alternates, "git-alternates", ".git/objects/info/alternates")
NEW_FILE(editor_settings, "editor-settings", ".vscode/settings.json")
NEW_FILE(agent_hooks, "agent-hooks", ".claude/settings.json")
NEW_FILE(agent_servers, "agent-servers", ".mcp.json")
NEW_FILE(agent_config, "agent-config", ".codex/config.toml")
NEW_FILE(agent_text, "agent-text", "AGENTS.md")
NEW_FILE(package_config, "package-config", ".npmrc")
NEW_FILE(compiler_config, "compiler-config", ".cargo/config.toml")
NEW_FILE(ci_workflow, "ci-workflow", ".github/workflows/x.yml")
NEW_FILE(container_config, "container-config", ".devcontainer/devcontainer.json")

/* The observer made the program. */
static int set_user_program(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	snprintf(at, sizeof(at), "%s/repo-set-user-program/program", f->work);
	return chmod(at, 04755);
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
	KEEP(PROMISE, "keep-semaphore", "Leaves a System V semaphore for the next session.",
		"an ipc namespace", "CWE-668", semaphore),
	KEEP(PROMISE, "keep-messages", "Leaves a System V message queue for the next session.",
		"an ipc namespace", "CWE-668", messages),
	KEEP(PROMISE, "keep-key", "Leaves a key in the user's keyring for the next session.",
		"seccomp", "CWE-668", key),
	KEEP(PROMISE, "keep-run", "Leaves a file in /run for the next session.",
		"a tmpfs of its own", "T1074.001", run),
	KEEP(PROMISE, "keep-cache", "Leaves a file in /var/cache for the next session.",
		"a view of its own", "T1074.001", cache),
	KEEP(PROMISE, "keep-spool", "Leaves a file in /var/spool for the next session.",
		"a view of its own", "T1053.003", spool),
	KEEP(PROMISE, "keep-opt", "Leaves a file in /opt for the next session.",
		"a view of its own", "T1554", opt),
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
	HOST("editor-settings", "Adds settings that name programs for an editor.", "T1546",
		editor_settings),
	HOST("git-worktree-config", "Adds a configuration that git reads for a work tree.", "T1546",
		git_worktree_config),
	HOST("git-commondir", "Makes git read the configuration of another directory.", "T1546",
		git_commondir),
	HOST("git-alternates", "Makes git take objects from another directory.", "T1565.001",
		git_alternates),
	HOST("agent-hooks", "Adds hooks that an agent outside runs.", "T1546, AML.T0081",
		agent_hooks),
	HOST("agent-servers", "Adds servers that agents and editors outside start.",
		"T1546, AML.T0081", agent_servers),
	HOST("agent-config", "Adds the configuration of an agent outside.", "T1546, AML.T0081",
		agent_config),
	HOST("agent-text", "Adds instructions that the next agent reads.", "AML.T0080", agent_text),
	HOST("package-config", "Adds a configuration that names programs for npm.", "T1195.001",
		package_config),
	HOST("compiler-config", "Adds a configuration that names programs for cargo.", "T1195.001",
		compiler_config),
	HOST("ci-workflow", "Adds a workflow that CI runs.", "T1195.001", ci_workflow),
	HOST("container-config", "Adds commands that run when an editor opens a container.",
		"T1546", container_config),
	WARD_ATTEMPT(PROMISE, CHANGE, "set-user-program",
		"Leaves a program in the workspace that runs as its owner (set-user-id).",
		"refusing the bit, or nosuid", "T1548.001", set_user_program),
};
WARD_ATTEMPT_TABLE(
	persist, WARD_ATTACK_PERSIST, "leave something for later sessions or the host", rows);
