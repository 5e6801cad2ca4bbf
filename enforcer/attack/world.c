/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/attack/world.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "enforcer/attack/facts.h"
#include "enforcer/attack/servers.h"

#define PATH_SPACE (2 * PATH_MAX)

static const char *const attributes[] = {"user.attack"};

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

static int put(const char *path, const char *text, mode_t mode)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return -1;
	const ssize_t n = write(fd, text, strlen(text));
	const int r = fchmod(fd, mode);
	close(fd);
	return n < 0 ? -1 : r;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path) == 0 || errno == ENOENT ? 0 : 0;
}

static void remove_tree(const char *path)
{
	(void)nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* --- making it --- */
static int make_outside(struct ward_world *w)
{
	char at[PATH_SPACE];
	struct ward_facts *f = &w->facts;

	w->base = join(getenv("TMPDIR") ? getenv("TMPDIR") : "/var/tmp", "wardfs-attack.XXXXXX");
	if (!w->base || !mkdtemp(w->base) || chmod(w->base, 0711) < 0)
		return -1;
	f->outside = join(w->base, "outside");
	f->secret = join(f->outside, "secret");
	snprintf(at, sizeof(at), "%s/closed", w->base);
	f->hidden = join(at, "secret");
	if (mkdir(f->outside, 0755) < 0 || put(f->secret, secret(w, ""), 0644) < 0 ||
		mkdir(at, 0700) < 0 || put(f->hidden, secret(w, ""), 0600) < 0)
		return -1;
	snprintf(at, sizeof(at), "%s/listed-%s", f->outside, secret(w, ""));
	if (put(at, "", 0644) < 0)
		return -1;
	snprintf(at, sizeof(at), "%s/left", w->base);
	if (mkdir(at, 0755) < 0)
		return -1;
	w->left[1] = open(at, O_RDONLY | O_DIRECTORY);
	snprintf(at, sizeof(at), "%s/left/listed", w->base);
	if (put(at, secret(w, ""), 0644) < 0)
		return -1;
	snprintf(at, sizeof(at), "%s/left-open", w->base);
	if (put(at, secret(w, "left-"), 0644) < 0)
		return -1;
	w->left[0] = open(at, O_RDONLY);
	setenv("WARD_ATTACK_PASSED", secret(w, ""), 1);
	return w->left[0] < 0 || w->left[1] < 0 ? -1 : 0;
}

static int copy_program(const char *to)
{
	char buffer[1 << 16];
	ssize_t n = -1;
	const int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	while (in >= 0 && out >= 0 && (n = read(in, buffer, sizeof(buffer))) > 0)
		if (write(out, buffer, (size_t)n) != n)
			break;
	if (in >= 0)
		close(in);
	return in < 0 || out < 0 || n != 0 || close(out) < 0 ? -1 : 0;
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
		"/.git/objects", "/.git/refs", "/.git/refs/heads", "/.vscode"};
	char at[PATH_SPACE];
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(at, sizeof(at), "%s/repo-%s%s", w->facts.work, a->name, dirs[i]);
		if (mkdir(at, 0755) < 0)
			return -1;
	}
	snprintf(at, sizeof(at), "%s/repo-%s/.git/HEAD", w->facts.work, a->name);
	if (put(at, "ref: refs/heads/main\n", 0644) < 0)
		return -1;
	snprintf(at, sizeof(at), "%s/repo-%s/.git/config", w->facts.work, a->name);
	return put(at, "[core]\n\trepositoryformatversion = 0\n\tbare = false\n", 0644);
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
	char here[PATH_MAX], at[PATH_SPACE];

	if (!getcwd(here, sizeof(here)))
		return -1;
	snprintf(at, sizeof(at), "%s/wardfs-attack.XXXXXX", strcmp(here, "/") ? here : "");
	if (!mkdtemp(at) || chmod(at, 0755) < 0)
		return -1;
	w->facts.work = strdup(at);
	w->program = join(at, "wardfs-attack");
	w->facts_file = join(at, "facts");
	if (!w->facts.work || !w->program || !w->facts_file)
		return -1;
	return copy_program(w->program) < 0 || make_repositories(w) < 0 ? -1 : 0;
}

static int make_shared(struct ward_world *w)
{
	struct ward_facts *f = &w->facts;
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 64};
	const char *s = secret(w, "");
	char at[PATH_SPACE];

	snprintf(at, sizeof(at), "/dev/shm/%s-shared", f->token);
	f->shared = strdup(at);
	if (put(at, secret(w, ""), 0644) < 0)
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

static int write_facts(const struct ward_facts *f, const char *file)
{
	const int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
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
	*what = "servers";
	const struct ward_serve serve = {.tcp = secret(w, ""),
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
	*what = "the facts";
	w->own_facts = join(w->base, "facts");
	return w->own_facts && write_facts(f, w->facts_file) == 0 ? write_facts(f, w->own_facts)
								  : -1;
}

int ward_world_make(struct ward_world *w, char *why, size_t size)
{
	const char *what = NULL;

	*w = (struct ward_world){.left = {-1, -1}};
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
	if (f->work)
		remove_tree(f->work);
	if (f->outside)
		remove_tree(w->base);
	free(w->base);
	for (int i = 0; i < 2; i++)
		if (w->left[i] >= 0)
			close(w->left[i]);
	free(w->program);
	free(w->facts_file);
	free(w->own_facts);
	ward_facts_clear(f);
	*w = (struct ward_world){.left = {-1, -1}};
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
void ward_world_prepare(struct ward_world *w, const struct ward_attempt *a, bool outside)
{
	char at[PATH_SPACE];

	ward_attack_target(&w->facts, a->name, at, sizeof(at));
	remove_tree(at);
	if (a->evidence == WARD_SEEN_CHANGE && strncmp(a->name, "create-", 7) != 0)
		(void)put(at, "as it was\n", 0644);
	/* What "read-rename" takes away is put back. */
	if (strcmp(a->name, "read-rename") == 0)
		(void)put(at, w->secrets[0], 0644);
	if (on_repository(a) && outside) {
		snprintf(at, sizeof(at), "%s/repo-%s", w->facts.work, a->name);
		remove_tree(at);
		(void)make_repository(w, a);
	}
	snprintf(at, sizeof(at), "%s/.%s-%s", w->facts.home, w->facts.token, a->name);
	(void)unlink(at);
}

/* FNV-1a */
static uint64_t mix(uint64_t h, const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		h = (h ^ ((const unsigned char *)data)[i]) * 0x100000001b3;
	return h;
}

static uint64_t scene;
static int mix_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char text[4096];
	const uint64_t fields[] = {st->st_mode, (uint64_t)st->st_size, st->st_ino,
		S_ISREG(st->st_mode) ? (uint64_t)st->st_mtim.tv_sec : 0,
		S_ISREG(st->st_mode) ? st->st_nlink : 0};
	(void)ftw;
	(void)type;
	scene = mix(mix(scene, path, strlen(path)), fields, sizeof(fields));
	if (S_ISREG(st->st_mode)) {
		const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		const ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));
		if (n > 0)
			scene = mix(scene, text, (size_t)n);
		if (fd >= 0)
			close(fd);
		for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++)
			if (lgetxattr(path, attributes[i], text, sizeof(text)) > 0)
				scene = mix(scene, attributes[i], strlen(attributes[i]));
	}
	return 0;
}

uint64_t ward_world_scene(const struct ward_world *w, const struct ward_attempt *a)
{
	char at[PATH_SPACE];

	scene = 0xcbf29ce484222325;
	(void)nftw(ward_attack_target(&w->facts, a->name, at, sizeof(at)), mix_file, 16, FTW_PHYS);
	snprintf(at, sizeof(at), "%s/.%s-%s", w->facts.home, w->facts.token, a->name);
	(void)nftw(at, mix_file, 16, FTW_PHYS);
	static const char *const parts[] = {".git", ".vscode", ".envrc"};
	for (size_t i = 0; on_repository(a) && i < sizeof(parts) / sizeof(*parts); i++) {
		snprintf(at, sizeof(at), "%s/repo-%s/%s", w->facts.work, a->name, parts[i]);
		(void)nftw(at, mix_file, 16, FTW_PHYS);
	}
	return scene;
}

uint64_t ward_world_victim(const struct ward_world *w)
{
	const pid_t pid = (pid_t)w->facts.victim;
	uint64_t h = mix(0xcbf29ce484222325, w->victim_page, 4096);
	char at[64], line[256];
	cpu_set_t cpus;
	struct rlimit core = {0};

	if (sched_getaffinity(pid, sizeof(cpus), &cpus) == 0)
		h = mix(h, &cpus, sizeof(cpus));
	if (prlimit(pid, RLIMIT_CORE, NULL, &core) == 0)
		h = mix(h, &core, sizeof(core));
	const int nice = getpriority(PRIO_PROCESS, (id_t)pid);
	h = mix(h, &nice, sizeof(nice));
	static const char *const files[] = {"status", "oom_score_adj"};
	for (size_t i = 0; i < 2; i++) {
		snprintf(at, sizeof(at), "/proc/%d/%s", (int)pid, files[i]);
		FILE *in = fopen(at, "re");
		while (in && fgets(line, sizeof(line), in))
			if (i == 1 || strncmp(line, "TracerPid:", 10) == 0)
				h = mix(h, line, strlen(line));
		if (in)
			fclose(in);
	}
	return h;
}

void ward_world_sweep(const struct ward_world *w)
{
	static const char *const dirs[] = {"/tmp", "/var/tmp", "/dev/shm"};
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
	const int id = shmget((key_t)(strtoul(w->facts.token + 2, NULL, 16) & 0x7fffffff), 0, 0);
	if (id >= 0)
		(void)shmctl(id, IPC_RMID, NULL);
}
