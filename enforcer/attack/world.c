/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/attack/world.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/attack/facts.h"
#include "enforcer/attack/servers.h"
#include "enforcer/attack/tree.h"

#define PATH_SPACE (2 * PATH_MAX)

static char *join(const char *dir, const char *name)
{
	char *s;
	return asprintf(&s, "%s/%s", dir, name) < 0 ? NULL : s;
}

/* A new secret; it stays valid as long as w does. */
static const char *secret(struct ward_world *w, const char *before)
{
	uint64_t n[2];
	char *s = w->secrets[w->n_secrets++];
	if (getrandom(n, sizeof(n), 0) != sizeof(n))
		abort();
	snprintf(s, WARD_PROOF_SIZE, "%s%08llx%08llx", before,
		(unsigned long long)n[0] & 0xffffffff, (unsigned long long)n[1] & 0xffffffff);
	return s;
}

/* --- making it --- */
/* For attempts to open the file by a handle; without one they are not tested. */
static void take_handle(struct ward_world *w)
{
	union {
		struct file_handle h;
		char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u = {.h.handle_bytes = MAX_HANDLE_SZ};
	char text[2 * MAX_HANDLE_SZ + 16];
	int id;

	if (name_to_handle_at(w->base_fd, "outside/secret", &u.h, &id, 0) < 0)
		return;
	int n = snprintf(text, sizeof(text), "%d:", u.h.handle_type);
	for (unsigned i = 0; i < u.h.handle_bytes; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%02x", u.h.f_handle[i]);
	w->facts.handle = strdup(text);
}

/* Descriptors that a careless caller leaves open. */
static int leave_open(struct ward_world *w)
{
	const char *kept = secret(w, "kept-"), *sent = secret(w, "sock-");
	int pair[2];

	if (ward_tree_put(w->base_fd, "outside/inherited-write", "as it was\n", 0644) < 0 ||
		ward_tree_put(w->base_fd, "outside/inherited-reopen", "as it was\n", 0644) < 0 ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	w->other_end = pair[0];
	w->left[WARD_PASSED_SOCKET] = pair[1];
	w->left[WARD_PASSED_FILE] = ward_tree_open(w->base_fd, "left-open", O_RDONLY, 0);
	w->left[WARD_PASSED_DIRECTORY] =
		ward_tree_open(w->base_fd, "left", O_RDONLY | O_DIRECTORY, 0);
	w->left[WARD_PASSED_WRITE] =
		ward_tree_open(w->base_fd, "outside/inherited-write", O_RDWR, 0);
	w->left[WARD_PASSED_REOPEN] =
		ward_tree_open(w->base_fd, "outside/inherited-reopen", O_RDONLY, 0);
	w->left[WARD_PASSED_MEMORY] = memfd_create("kept", MFD_CLOEXEC);
	for (int i = 0; i < WARD_PASSED_PROCESS; i++)
		if (w->left[i] < 0)
			return -1;
	return pwrite(w->left[WARD_PASSED_MEMORY], kept, strlen(kept), 0) < 0 ||
			       write(w->other_end, sent, strlen(sent)) < 0
		       ? -1
		       : 0;
}

static int make_outside(struct ward_world *w)
{
	const char *dir = getenv("TMPDIR") ? getenv("TMPDIR") : "/var/tmp";
	char name[PATH_SPACE], made[WARD_TREE_NAME];
	struct ward_facts *f = &w->facts;

	w->above[0] = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w->base_fd = w->above[0] < 0 ? -1 : ward_tree_new(w->above[0], made);
	if (w->base_fd < 0)
		return -1;
	w->base = join(dir, made);
	if (!w->base || fchmod(w->base_fd, 0711) < 0)
		return -1;
	f->outside = join(w->base, "outside");
	f->secret = join(w->base, "outside/secret");
	f->hidden = join(w->base, "closed/secret");
	if (!f->outside || !f->secret || !f->hidden ||
		ward_tree_dir(w->base_fd, "outside", 0755) < 0 ||
		ward_tree_put(w->base_fd, "outside/secret", secret(w, ""), 0644) < 0 ||
		ward_tree_dir(w->base_fd, "closed", 0700) < 0 ||
		ward_tree_put(w->base_fd, "closed/secret", secret(w, ""), 0600) < 0)
		return -1;
	snprintf(name, sizeof(name), "outside/listed-%s", secret(w, ""));
	if (ward_tree_put(w->base_fd, name, "", 0644) < 0 ||
		ward_tree_dir(w->base_fd, "left", 0755) < 0 ||
		ward_tree_put(w->base_fd, "left/listed", secret(w, ""), 0644) < 0 ||
		ward_tree_put(w->base_fd, "left-open", secret(w, "left-"), 0644) < 0)
		return -1;
	setenv("WARD_ATTACK_PASSED", secret(w, ""), 1);
	take_handle(w);
	/* For the preset of that name: what its README shows as a configuration. */
	if (ward_tree_put(w->base_fd, "srt-settings.json",
		    "{\"filesystem\": {\"denyRead\": [], \"allowWrite\": [\".\"], \"denyWrite\": []},"
		    " \"network\": {\"allowedDomains\": [], \"deniedDomains\": []}}\n",
		    0644) < 0)
		return -1;
	return leave_open(w);
}

/* Is this an attempt on a repository of the workspace? */
static bool on_repository(const struct ward_attempt *a)
{
	enum ward_attack_group group;
	return a->evidence == WARD_SEEN_CHANGE && ward_attack_find(a->name, &group) &&
	       group == WARD_ATTACK_PERSIST;
}

static int make_repository(const struct ward_world *w, const struct ward_attempt *a)
{
	static const char *const dirs[] = {"", "/.git", "/.git/hooks", "/.git/info",
		"/.git/objects", "/.git/objects/info", "/.git/refs", "/.git/refs/heads", "/.vscode",
		"/.claude", "/.codex", "/.cargo", "/.github", "/.github/workflows",
		"/.devcontainer"};
	char at[PATH_SPACE];
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(at, sizeof(at), "repo-%s%s", a->name, dirs[i]);
		if (ward_tree_dir(w->work_fd, at, 0755) < 0)
			return -1;
	}
	snprintf(at, sizeof(at), "repo-%s/.git/HEAD", a->name);
	if (ward_tree_put(w->work_fd, at, "ref: refs/heads/main\n", 0644) < 0)
		return -1;
	snprintf(at, sizeof(at), "repo-%s/program", a->name);
	if (ward_tree_put(w->work_fd, at, "#!/bin/sh\n", 0755) < 0)
		return -1;
	snprintf(at, sizeof(at), "repo-%s/.git/config", a->name);
	return ward_tree_put(
		w->work_fd, at, "[core]\n\trepositoryformatversion = 0\n\tbare = false\n", 0644);
}

static int make_repositories(const struct ward_world *w)
{
	const struct ward_attack_table *t = ward_attack_tables[WARD_ATTACK_PERSIST];
	int r = 0;
	for (size_t i = 0; r == 0 && i < t->n; i++)
		if (on_repository(&t->v[i]))
			r = make_repository(w, &t->v[i]);
	return r;
}

static int make_work(struct ward_world *w)
{
	char here[PATH_MAX];

	if (!getcwd(here, sizeof(here)))
		return -1;
	w->above[1] = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w->work_fd = w->above[1] < 0 ? -1 : ward_tree_new(w->above[1], w->work_name);
	if (w->work_fd < 0)
		return -1;
	w->facts.work = join(strcmp(here, "/") ? here : "", w->work_name);
	if (!w->facts.work || fchmod(w->work_fd, 0755) < 0)
		return -1;
	w->program = join(w->facts.work, "wardfs-attack");
	w->facts_file = join(w->facts.work, "facts");
	if (!w->program || !w->facts_file)
		return -1;
	return ward_tree_copy("/proc/self/exe", w->work_fd, "wardfs-attack") < 0 ||
			       make_repositories(w) < 0
		       ? -1
		       : 0;
}

static int make_shared(struct ward_world *w)
{
	struct ward_facts *f = &w->facts;
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 64};
	const char *s = secret(w, "");
	char at[PATH_SPACE];

	snprintf(at, sizeof(at), "/dev/shm/%s-shared", f->token);
	f->shared = strdup(at);
	const int shm = open("/dev/shm", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const int put =
		shm < 0 ? -1 : ward_tree_put(shm, strrchr(at, '/') + 1, secret(w, ""), 0644);
	if (shm >= 0)
		close(shm);
	if (put < 0)
		return -1;
	const int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0666);
	char *p = id < 0 ? (char *)-1 : shmat(id, NULL, 0);
	if (p != (char *)-1) {
		snprintf(p, WARD_PROOF_SIZE, "%s", secret(w, ""));
		shmdt(p);
		f->segment = (uint64_t)id;
	}
	snprintf(at, sizeof(at), "/%s-queue", f->token);
	const mqd_t q = mq_open(at, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666, &attr);
	if (q != (mqd_t)-1) {
		if (mq_send(q, s, strlen(s), 0) == 0)
			f->queue = strdup(at);
		mq_close(q);
	}
	return 0;
}

/* Where the caller's programs have their sockets: none is said if there is no such directory. */
static int make_runtime(struct ward_world *w, const char **ret_answers)
{
	char dir[PATH_MAX], at[PATH_SPACE], made[WARD_TREE_NAME];
	const char *home = getenv("XDG_RUNTIME_DIR");

	if (getuid() == 0)
		snprintf(dir, sizeof(dir), "/run");
	else if (home && *home == '/')
		snprintf(dir, sizeof(dir), "%s", home);
	else
		snprintf(dir, sizeof(dir), "/run/user/%u", (unsigned)getuid());
	*ret_answers = secret(w, "");
	w->above_runtime = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w->runtime_fd = w->above_runtime < 0 ? -1 : ward_tree_new(w->above_runtime, made);
	if (w->runtime_fd < 0)
		return 0;
	memcpy(w->runtime_name, made, sizeof(made));
	snprintf(at, sizeof(at), "%s/%s", dir, made);
	w->facts.runtime = strdup(at);
	return !w->facts.runtime || fchmod(w->runtime_fd, 0711) < 0 ||
			       ward_tree_put(w->runtime_fd, "token", secret(w, ""), 0644) < 0
		       ? -1
		       : 0;
}

static int make_terminal(struct ward_world *w)
{
	char path[32];

	w->typed = secret(w, "");
	w->before = secret(w, "");
	/* A host without terminals is attacked all the same. */
	if (ward_terminal_open(&w->other) < 0)
		return 0;
	w->facts.terminal = strdup(ward_terminal_path(&w->other, path));
	return w->facts.terminal ? 0 : -1;
}

static int write_facts(const struct ward_facts *f, int dir)
{
	const int fd = ward_tree_open(dir, "facts", O_WRONLY | O_CREAT | O_EXCL, 0644);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out)
		return -1;
	const int r = ward_facts_write(f, out);
	fclose(out);
	return r;
}

static int make_all(struct ward_world *w, const char **what)
{
	struct ward_facts *f = &w->facts;
	uint64_t n;

	*what = "random numbers";
	if (getrandom(&n, sizeof(n), 0) != sizeof(n) ||
		asprintf(&f->token, "wa%012llx", (unsigned long long)n & 0xffffffffffff) < 0)
		return -1;
	snprintf(w->session, sizeof(w->session), "attack-%s", f->token + 2);
	f->home = strdup(getenv("HOME") ? getenv("HOME") : "/");
	*what = "a directory in /var/tmp";
	if (make_outside(w) < 0)
		return -1;
	*what = "a workspace in the current directory";
	if (make_work(w) < 0)
		return -1;
	*what = "shared memory";
	if (make_shared(w) < 0)
		return -1;
	*what = "a terminal";
	if (make_terminal(w) < 0)
		return -1;
	*what = "a directory in the runtime directory";
	const char *answers;
	if (make_runtime(w, &answers) < 0)
		return -1;
	*what = "servers";
	const struct ward_serve serve = {.tcp = secret(w, ""),
		.runtime = answers,
		.agent = secret(w, ""),
		.udp = secret(w, ""),
		.path = secret(w, ""),
		.abstract = secret(w, "")};
	if (ward_servers_start(f, w->base, &serve, &w->server) < 0)
		return -1;
	/* An interface's address is what "interfaces" brings back. */
	if (f->address)
		snprintf(w->secrets[w->n_secrets++], WARD_PROOF_SIZE, "%s", f->address);
	*what = "a victim process";
	const char *a = secret(w, ""), *e = secret(w, ""), *m = secret(w, ""), *d = secret(w, "");
	if (ward_victim_start(f, a, e, m, d, &w->victim_page) < 0)
		return -1;
	w->left[WARD_PASSED_PROCESS] = (int)syscall(SYS_pidfd_open, (pid_t)f->victim, 0U);
	*what = "the facts";
	w->own_facts = join(w->base, "facts");
	return w->own_facts && write_facts(f, w->work_fd) == 0 ? write_facts(f, w->base_fd) : -1;
}

int ward_world_make(struct ward_world *w, char *why, size_t size)
{
	const char *what = NULL;

	*w = (struct ward_world)WARD_WORLD_NONE;
	if (make_all(w, &what) == 0)
		return 0;
	snprintf(why, size, "%s: %s", what, strerror(errno));
	ward_world_clear(w);
	return -1;
}

void ward_world_clear(struct ward_world *w)
{
	struct ward_facts *f = &w->facts;

	if (w->server > 0) {
		kill(w->server, SIGKILL);
		waitpid(w->server, NULL, 0);
	}
	if (f->victim) {
		kill((pid_t)f->victim, SIGKILL);
		waitpid((pid_t)f->victim, NULL, 0);
	}
	if (f->segment)
		shmctl((int)f->segment, IPC_RMID, NULL);
	if (f->queue)
		mq_unlink(f->queue);
	if (f->shared)
		unlink(f->shared);
	if (f->token)
		ward_world_sweep(w);
	/* A name that leads elsewhere by now is left alone. */
	if (w->work_fd >= 0)
		ward_tree_remove(w->above[1], w->work_name);
	if (w->base_fd >= 0 && w->base)
		ward_tree_remove(w->above[0], strrchr(w->base, '/') + 1);
	if (w->runtime_fd >= 0)
		ward_tree_remove(w->above_runtime, w->runtime_name);
	free(w->base);
	ward_terminal_close(&w->other);
	const int held[] = {w->work_fd, w->base_fd, w->above[0], w->above[1], w->other_end,
		w->runtime_fd, w->above_runtime};
	for (size_t i = 0; i < sizeof(held) / sizeof(*held); i++)
		if (held[i] >= 0)
			close(held[i]);
	for (size_t i = 0; i < WARD_PASSED_COUNT; i++)
		if (w->left[i] >= 0)
			close(w->left[i]);
	free(w->program);
	free(w->facts_file);
	free(w->own_facts);
	free(w->own_script);
	free(w->engine);
	ward_facts_clear(f);
	*w = (struct ward_world)WARD_WORLD_NONE;
}

int ward_world_tell(struct ward_world *w, const char *file, char *why, size_t size)
{
	struct ward_facts more = {0};
	FILE *in = fopen(file, "re");
	const int line = in ? ward_facts_read(&more, in) : 0;
	int r = in && !line && !more.token ? 0 : -1;

	if (in)
		fclose(in);
	else
		snprintf(why, size, "%s: %s", file, strerror(errno));
	if (line)
		snprintf(why, size, "%s:%d: this is no fact", file, line);
	else if (in && r < 0)
		snprintf(why, size, "%s: the token is the observer's", file);
	const int fd = r < 0 ? -1 : ward_tree_open(w->work_fd, "facts", O_WRONLY | O_APPEND, 0);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "a");
	if (r == 0 && (!out || ward_facts_write(&more, out) < 0)) {
		snprintf(why, size, "the facts: %s", strerror(errno));
		r = -1;
	}
	if (out)
		fclose(out);
	if (r == 0 && more.work) {
		char *program = join(more.work, strrchr(w->program, '/') + 1);
		free(w->program);
		free(w->facts_file);
		w->program = program;
		w->facts_file = join(more.work, "facts");
		r = w->program && w->facts_file ? 0 : -1;
	}
	ward_facts_clear(&more);
	return r;
}

bool ward_world_told(const struct ward_world *w, const char *proof)
{
	if (strcmp(proof, w->facts.token) == 0)
		return true;
	for (size_t i = 0; i < w->n_secrets; i++)
		if (*proof && strcmp(proof, w->secrets[i]) == 0)
			return true;
	return false;
}

/* --- the targets of one attempt --- */
static bool is_left(const struct ward_attempt *a)
{
	return strcmp(a->name, "inherited-write") == 0 || strcmp(a->name, "inherited-reopen") == 0;
}

/* Attempts that change a file need one; the others make it. */
static void prepare_trail(const struct ward_world *w, const struct ward_attempt *a)
{
	static const char *const changed[] = {"silence-append", "silence-mapping",
		"silence-truncate", "silence-mode", "silence-times", "silence-attribute",
		"silence-remove", "silence-exchange"};
	char at[PATH_SPACE];

	snprintf(at, sizeof(at), "trail-%s", a->name);
	ward_tree_remove(w->work_fd, at);
	for (size_t i = 0; i < sizeof(changed) / sizeof(*changed); i++)
		if (strcmp(changed[i], a->name) == 0)
			(void)!ward_tree_put(w->work_fd, at, "as it was\n", 0666);
	/* A second name that a session may have left. */
	snprintf(at, sizeof(at), "trail-%s-%s", a->name,
		strcmp(a->name, "silence-exchange") == 0 ? "other" : "first");
	ward_tree_remove(w->work_fd, at);
}
void ward_world_prepare(struct ward_world *w, const struct ward_attempt *a, bool outside)
{
	char at[PATH_SPACE];

	if (a->evidence == WARD_SEEN_TERMINAL || strncmp(a->name, "terminal", 8) == 0)
		ward_terminal_prepare(&w->other, w->typed);
	if (a->evidence == WARD_SEEN_TRAIL)
		prepare_trail(w, a);
	if (strcmp(a->name, "approve-answer") == 0 && w->runtime_fd >= 0) {
		ward_tree_remove(w->runtime_fd, "answer");
		(void)!ward_tree_put(w->runtime_fd, "answer", "as it was\n", 0644);
	}
	snprintf(at, sizeof(at), "outside/%s", a->name);
	if (is_left(a)) {
		/* The descriptor that was left open leads to this file. */
		const int fd = ward_tree_open(w->base_fd, at, O_WRONLY | O_TRUNC, 0);
		(void)!write(fd, "as it was\n", 10);
		close(fd);
		return;
	}
	ward_tree_remove(w->base_fd, at);
	/* What "read-rename" takes away is put back. */
	const bool taken = strcmp(a->name, "read-rename") == 0;
	if (taken || (a->evidence == WARD_SEEN_CHANGE && strncmp(a->name, "create-", 7) != 0))
		(void)!ward_tree_put(w->base_fd, at, taken ? w->secrets[0] : "as it was\n", 0644);
	if (on_repository(a) && outside) {
		snprintf(at, sizeof(at), "repo-%s", a->name);
		ward_tree_remove(w->work_fd, at);
		(void)!make_repository(w, a);
	}
	snprintf(at, sizeof(at), "%s/.%s-%s", w->facts.home, w->facts.token, a->name);
	(void)unlink(at);
}

uint64_t ward_world_scene(const struct ward_world *w, const struct ward_attempt *a)
{
	uint64_t h = WARD_MIX_BEGIN;
	char at[PATH_SPACE];

	snprintf(at, sizeof(at), "outside/%s", a->name);
	h = ward_tree_mix(h, w->base_fd, at);
	const int home = open(w->facts.home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(at, sizeof(at), ".%s-%s", w->facts.token, a->name);
	if (home >= 0) {
		h = ward_tree_mix(h, home, at);
		close(home);
	}
	if (on_repository(a)) {
		snprintf(at, sizeof(at), "repo-%s", a->name);
		h = ward_tree_mix(h, w->work_fd, at);
	}
	if (a->evidence == WARD_SEEN_TRAIL) {
		snprintf(at, sizeof(at), "trail-%s", a->name);
		h = ward_tree_mix(h, w->work_fd, at);
	}
	if (a->evidence == WARD_SEEN_TERMINAL) {
		const uint64_t other = ward_terminal_scene(&w->other);
		h = ward_mix(h, &other, sizeof(other));
	}
	if (strcmp(a->name, "approve-answer") == 0 && w->runtime_fd >= 0)
		h = ward_tree_mix(h, w->runtime_fd, "answer");
	return h;
}

uint64_t ward_world_victim(const struct ward_world *w)
{
	const pid_t pid = (pid_t)w->facts.victim;
	uint64_t h = ward_mix(WARD_MIX_BEGIN, w->victim_page, 4096);
	char at[64], line[256];
	cpu_set_t cpus;
	struct rlimit core = {0};

	if (sched_getaffinity(pid, sizeof(cpus), &cpus) == 0)
		h = ward_mix(h, &cpus, sizeof(cpus));
	if (prlimit(pid, RLIMIT_CORE, NULL, &core) == 0)
		h = ward_mix(h, &core, sizeof(core));
	const int nice = getpriority(PRIO_PROCESS, (id_t)pid);
	h = ward_mix(h, &nice, sizeof(nice));
	static const char *const files[] = {"status", "oom_score_adj"};
	for (size_t i = 0; i < 2; i++) {
		snprintf(at, sizeof(at), "/proc/%d/%s", (int)pid, files[i]);
		FILE *in = fopen(at, "re");
		while (in && fgets(line, sizeof(line), in))
			if (i == 1 || strncmp(line, "TracerPid:", 10) == 0)
				h = ward_mix(h, line, strlen(line));
		if (in)
			fclose(in);
	}
	return h;
}

void ward_world_sweep(const struct ward_world *w)
{
	static const char *const dirs[] = {
		"/tmp", "/var/tmp", "/dev/shm", "/run", "/var/cache", "/var/spool", "/opt"};
	char at[PATH_SPACE];

	for (size_t i = 0; i <= sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(at, sizeof(at), "%s/%s-kept",
			i < sizeof(dirs) / sizeof(*dirs) ? dirs[i] : w->facts.home, w->facts.token);
		(void)unlink(at);
	}
	snprintf(at, sizeof(at), "%s/.%s-create-home", w->facts.home, w->facts.token);
	(void)unlink(at);
	snprintf(at, sizeof(at), "/%s-kept", w->facts.token);
	(void)mq_unlink(at);
	const key_t key = (key_t)(strtoul(w->facts.token + 2, NULL, 16) & 0x7fffffff);
	int id = shmget(key, 0, 0);
	if (id >= 0)
		(void)shmctl(id, IPC_RMID, NULL);
	id = semget(key, 0, 0);
	if (id >= 0)
		(void)semctl(id, 0, IPC_RMID);
	id = msgget(key, 0);
	if (id >= 0)
		(void)msgctl(id, IPC_RMID, NULL);
}
