/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command with one guarded tree: what the supervisor does, for the tests of wardfs-fs alone.
 *
 *   fsmount [options] POLICY BACKING MOUNTPOINT CMD…
 *     -m root|user|other  as root (default); as an ordinary user in its own user namespace; as root
 *                         for all users (`wardfs mount --allow-other`)
 *     -o UID:GID[,GID…]   the owner (default 0:0); in mode user the whole program becomes it
 *     -a UID:GID          the agent (default: the owner)
 *     -t PATH             sandbox path of the tree (default /workspace)
 *     -l FILE             events as lines: KIND key=value…
 *     -w N                wake (0 auto; default: /dev/fuse as it is best)
 *     -n                  no passthrough
 *     -x NAME             the log fails once an event's path ends in /NAME
 *     -F FILE             calls of the daemon on the backing fail as FILE says (inject.h)
 *     -p FILE             the daemon's pid is written here before the command starts
 *
 * FSMOUNT_REVIEW names a directory in which a new store is made: changes are staged there
 * (fs/review/review.h); not with -m other.
 * FSMOUNT_MOVES in the environment names the file that sessions share (fs/base/shared_moves.h).
 * WARD_TRANSPORT asks for one way that requests reach the daemon: "plain"
 * (/dev/fuse, without spinning), "io_uring" (allowed on this host until the daemon is ready; that
 * it then uses another is an error), "auto" (so too, and the daemon chooses), "late" (allowed once
 * it is mounted, which must be of no use). Exit status 77: this kernel does not know io_uring.
 * WARD_INIT is MINOR:FLAGS, the protocol's minor version that the kernel is to offer, and flags of
 * INIT, in hexadecimal, that it is not to (inject.h); not together with -F.
 *
 * POLICY is a file, the base. The mount lives in a mount namespace of its own, in which CMD runs as
 * the agent in MOUNTPOINT. The exit status is the command's; 99 where the daemon did not end well
 * by itself, unless -p was given (then the test kills it).
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/ring.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/policy/policy.h"
#include "tests/support/enable_uring.h"
#include "tests/support/inject.h"

#define GROUPS_MAX 16
/* FUSE_PASSTHROUGH in the flags of INIT (7.40) */
#define PASSTHROUGH_BIT 37
#define STATUS_DAEMON 99

enum mode { MODE_ROOT, MODE_USER, MODE_OTHER };

struct options {
	enum mode mode;
	uid_t uid, agent_uid;
	gid_t gid, agent_gid;
	gid_t groups[GROUPS_MAX];
	size_t n_groups;
	const char *tree, *log, *pid_file, *fail_at, *faults, *policy, *backing, *mountpoint;
	uint32_t wake;
	bool passthrough, uring, late;
	struct inject_init init; /* minor 0: as the kernel says */
	char **argv;
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "fsmount: %s: %s\n", what, strerror(errno));
	exit(98);
}

#define CHECK(call)                                                                                \
	do {                                                                                       \
		if ((call) < 0)                                                                    \
			die(#call);                                                                \
	} while (0)

/* --- events --- */
struct drain {
	struct ward_ring *ring;
	int wake_fd;
	FILE *log;
	const char *fail_at; /* NULL: never */
	atomic_bool stop;
};

static const struct {
	enum ward_event_tag tag;
	const char *name;
	bool number;
} tags[] = {
	{WARD_TAG_PID, "pid", true},
	{WARD_TAG_UID, "uid", true},
	{WARD_TAG_COMM, "comm", false},
	{WARD_TAG_ACTION, "action", false},
	{WARD_TAG_PATH, "path", false},
	{WARD_TAG_PATH2, "path2", false},
	{WARD_TAG_INO, "ino", true},
	{WARD_TAG_VERDICT, "verdict", true},
	{WARD_TAG_RULE, "rule", false},
	{WARD_TAG_RULE_TEXT, "text", false},
	{WARD_TAG_ERRNO, "errno", true},
	{WARD_TAG_IO, "io", false},
	{WARD_TAG_READ, "read", true},
	{WARD_TAG_WRITTEN, "written", true},
	{WARD_TAG_TEXT, "cause", false},
	{WARD_TAG_QUOTA, "quota", false},
	{WARD_TAG_NAME, "name", false},
	{WARD_TAG_LIMIT, "limit", true},
	{WARD_TAG_USED, "used", true},
	{WARD_TAG_NAMES, "names", true},
};

static void print_event(
	FILE *f, const struct ward_event *ev, const struct ward_event_fields *fields)
{
	fputs(ward_event_kind_name(ev->head.kind), f);
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		const struct ward_event_field *v = &fields->of[tags[i].tag];

		if (!v->p)
			continue;
		if (!tags[i].number) {
			ward_escape(&b, v->p, v->len);
			fprintf(f, " %s=[%s]", tags[i].name, ward_buf_str(&b));
		} else if (v->u64 == WARD_EVENT_UNKNOWN) {
			fprintf(f, " %s=null", tags[i].name);
		} else {
			fprintf(f, " %s=%llu", tags[i].name, (unsigned long long)v->u64);
		}
	}
	fputs(ev->head.flags & WARD_EVENT_CUT ? " cut\n" : "\n", f);
	(void)fflush(f);
}

static bool ends_in(const struct ward_event_field *path, const char *name)
{
	const size_t n = strlen(name);

	return path->p && path->len > n && path->p[path->len - n - 1] == '/' &&
	       !memcmp(path->p + path->len - n, name, n);
}

static void *drain_run(void *arg)
{
	struct drain *d = arg;
	struct ward_event *ev = malloc(sizeof(*ev));
	struct ward_event_fields fields;
	struct pollfd p = {.fd = d->wake_fd, .events = POLLIN};
	uint64_t n;

	while (ev) {
		const bool last = atomic_load(&d->stop);
		bool got = false;
		int r;

		while ((r = ward_ring_get(d->ring, ev, &fields)) != 0) {
			got = true;
			if (r == 1 && ward_record_kind_foreign(ev->head.kind, &fields.members)) {
				fputs("fsmount: a member that its kind does not have: ", stderr);
				print_event(stderr, ev, &fields);
				abort();
			}
			if (r == 1 && d->fail_at && ends_in(&fields.of[WARD_TAG_PATH], d->fail_at))
				ward_ring_fail(d->ring, true);
			if (r == 1 && d->log)
				print_event(d->log, ev, &fields);
			else if (r < 0 && d->log)
				fputs("SPOILED\n", d->log);
		}
		ward_ring_release(d->ring);
		if (last)
			break;
		/* A nap after work, a sleep after a nap without any: as the writer does. */
		if (got ? ward_ring_may_nap(d->ring) : ward_ring_may_sleep(d->ring)) {
			if (poll(&p, 1, got ? 5 : 100) > 0 && read(d->wake_fd, &n, sizeof(n)) < 0)
				continue;
		}
	}
	free(ev);
	return NULL;
}

/* --- descriptors between the processes --- */
static void send_fd(int sock, int fd)
{
	struct ward_msg m;

	ward_msg_init(&m, WARD_MSG_READY);
	CHECK(ward_msg_send(sock, &m, &fd, 1));
	ward_msg_clear(&m);
}

static int recv_fd(int sock)
{
	char buf[256];
	int fd = -1;
	size_t n = 1;

	if (ward_msg_recv(sock, buf, sizeof(buf), &fd, &n) <= 0 || n != 1)
		die("no mount");
	return fd;
}

/* --- the side that holds the mount and runs the command --- */
static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	CHECK(fd);
	CHECK(ward_fd_write_all(fd, text, strlen(text)));
	close(fd);
}

static void become(uid_t uid, gid_t gid, const gid_t *groups, size_t n)
{
	CHECK(setgroups(n, groups));
	CHECK(setresgid(gid, gid, gid));
	CHECK(setresuid(uid, uid, uid));
}

/* A /dev/fuse that everybody may open, as most machines have it. */
static void enter_user_namespace(const struct options *o)
{
	char map[64];

	CHECK(mount("fsmount", "/mnt", "tmpfs", 0, "mode=0755"));
	CHECK(mknod("/mnt/fuse", S_IFCHR | 0666, makedev(10, 229)));
	CHECK(chmod("/mnt/fuse", 0666));
	become(o->uid, o->gid, o->groups, o->n_groups);
	/* Else /proc/self belongs to root after the change of ids. */
	CHECK(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	CHECK(unshare(CLONE_NEWUSER | CLONE_NEWNS));
	write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", o->uid, o->uid);
	write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1", o->gid, o->gid);
	write_file("/proc/self/gid_map", map);
}

static _Noreturn void hold(const struct options *o, int sock)
{
	char data[256], go;
	struct stat st;
	const char *dev = "/dev/fuse";
	int fd;

	CHECK(unshare(CLONE_NEWNS));
	CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	if (o->mode == MODE_USER) {
		enter_user_namespace(o);
		dev = "/mnt/fuse";
	}
	fd = open(dev, O_RDWR | O_CLOEXEC);
	CHECK(fd);
	snprintf(data, sizeof(data), "fd=%d,rootmode=40000,user_id=%u,group_id=%u%s", fd,
		o->mode == MODE_OTHER ? 0 : o->agent_uid, o->mode == MODE_OTHER ? 0 : o->agent_gid,
		o->mode == MODE_OTHER ? ",default_permissions,allow_other" : "");
	CHECK(mount("wardfs", o->mountpoint, "fuse", MS_NOSUID | MS_NODEV, data));
	send_fd(sock, fd);
	close(fd);
	if (read(sock, &go, 1) != 1)
		exit(98);
	if (o->mode == MODE_ROOT)
		become(o->agent_uid, o->agent_gid, &o->agent_gid, 0);
	CHECK(chdir(o->mountpoint));
	/*
	 * Until its first GETATTR the root has uid 0, which has no mapping in a user namespace: the
	 * kernel refuses to create in it (HAS_UNMAPPED_ID). So the process that mounts looks once.
	 */
	CHECK(stat(".", &st));
	execvp(o->argv[0], o->argv);
	die(o->argv[0]);
}

/* --- the side that starts the daemon --- */
static int make_policy(const char *path)
{
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	struct ward_source_text source = {.kind = WARD_SOURCE_BASE, .file = path};
	struct ward_policy *policy;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK(fd);
	CHECK(ward_fd_read_all(fd, 1 << 20, &text));
	close(fd);
	source.text = ward_buf_str(&text);
	source.len = text.len;
	if (ward_policy_compile(&source, 1, &policy, &err) < 0 ||
		ward_policy_encode(policy, &blob) < 0 ||
		ward_fd_sealed("policy", blob.data, blob.len, &fd, &err) < 0) {
		fprintf(stderr, "fsmount: %s\n", err.text);
		exit(98);
	}
	ward_policy_unref(policy);
	return fd;
}

static void send_config(const struct options *o, int sock)
{
	uint32_t flags = 0;
	struct ward_msg m;

	switch (o->mode) {
	case MODE_ROOT:
		flags = WARD_FS_ROOT | (o->passthrough ? WARD_FS_PASSTHROUGH : 0);
		break;
	case MODE_USER:
		flags = WARD_FS_MASK_IDS;
		break;
	case MODE_OTHER:
		flags = WARD_FS_ALLOW_OTHER | WARD_FS_SETUID |
			(o->passthrough ? WARD_FS_PASSTHROUGH : 0);
		break;
	}
	ward_msg_init(&m, WARD_MSG_CONFIG);
	ward_msg_put_str(&m, "test");
	if (getenv("FSMOUNT_MOVES"))
		flags |= WARD_FS_MOVES;
	if (getenv("FSMOUNT_REVIEW") && o->mode != MODE_OTHER)
		flags |= WARD_FS_REVIEW;
	ward_msg_put_u32(&m, flags);
	ward_msg_put_u32(&m, o->uid);
	ward_msg_put_u32(&m, o->gid);
	ward_msg_put_u32(&m, (uint32_t)o->n_groups);
	for (size_t i = 0; i < o->n_groups; i++)
		ward_msg_put_u32(&m, o->groups[i]);
	ward_msg_put_u32(&m, o->agent_uid);
	ward_msg_put_u32(&m, o->agent_gid);
	ward_msg_put_u32(&m, 1);
	ward_msg_put_str(&m, o->tree);
	ward_msg_put_u32(&m, 0); /* no other tree serves a part of it */
	ward_msg_put_u32(&m, flags & WARD_FS_REVIEW ? WARD_FS_TREE_STAGED : WARD_FS_TREE_DIRECTORY);
	ward_msg_put_u32(&m, o->wake);
	ward_msg_put_str(&m, getenv("FSMOUNT_VIA"));
	CHECK(ward_msg_send(sock, &m, NULL, 0));
	ward_msg_clear(&m);
}

static void write_line(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (!f)
		die(path);
	fprintf(f, "%s\n", text);
	fclose(f);
}

static void wait_ready(const struct options *o, int sock)
{
	char buf[4096];
	struct ward_msg_reader r;
	size_t n = 0;
	ssize_t len = ward_msg_recv(sock, buf, sizeof(buf), NULL, &n);

	if (len <= 0)
		die("wardfs-fs died");
	ward_msg_reader_init(&r, buf, (size_t)len);
	if (r.type == WARD_MSG_FAILED) {
		char *text = ward_msg_get_str(&r);

		fprintf(stderr, "fsmount: wardfs-fs: %s\n", text ? text : "?");
		exit(98);
	}
	if (o->uring || o->late) {
		ward_cleanup_free char *text = ward_msg_get_str(&r);

		if (!text || !strcmp(text, "io_uring") == o->late) {
			fprintf(stderr, "fsmount: unexpected: %s\n", text ? text : "?");
			exit(98);
		}
	}
}

static const char *program(void)
{
	static char path[4096];
	const char *build = getenv("WARD_BUILD");

	snprintf(path, sizeof(path), "%s/wardfs-fs", build ? build : ".");
	return path;
}

/* A new store of the owner's, O_PATH, in the directory that FSMOUNT_REVIEW names. */
static int open_review(const struct options *o)
{
	const char *dir = getenv("FSMOUNT_REVIEW");
	char path[PATH_MAX];
	int fd;

	if (!dir || o->mode == MODE_OTHER)
		return open("/dev/null", O_PATH | O_CLOEXEC);
	(void)snprintf(path, sizeof(path), "%s/XXXXXX", dir);
	if (!mkdtemp(path))
		die(path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd);
	CHECK(fchown(fd, o->uid, o->gid));
	close(fd);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd);
	return fd;
}

static pid_t start_daemon(const struct options *o, int fuse_fd, int ring_fd, int wake_fd,
	int policy_fd, int inject_sock, int *ret_control)
{
	int control[2], life[2];
	int backing = open(o->backing, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const char *shared = getenv("FSMOUNT_MOVES");
	int moves = open(shared ? shared : "/dev/null", O_RDWR | O_CLOEXEC);
	int review = open_review(o);
	pid_t pid;

	CHECK(backing);
	CHECK(moves);
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control));
	CHECK(pipe2(life, O_CLOEXEC));
	pid = fork();
	CHECK(pid);
	if (!pid) {
		const int from[] = {null, control[1], life[1], policy_fd, ring_fd, wake_fd, moves,
			review, fuse_fd, backing};
		const int to[] = {0, WARD_FD_CONTROL, WARD_FD_LIFELINE, WARD_FD_POLICY,
			WARD_FD_RING, WARD_FD_RING_WAKE, WARD_FD_FS_MOVES, WARD_FD_FS_REVIEW,
			WARD_FD_FS_TREES, WARD_FD_FS_TREES + 1};

		if (o->mode == MODE_USER)
			become(o->uid, o->gid, o->groups, o->n_groups);
		if (inject_sock >= 0)
			CHECK(inject_into(inject_sock, o->init.minor ? WARD_FD_FS_TREES : -1));
		CHECK(ward_fd_inherit(from, to, sizeof(to) / sizeof(*to)));
		execl(program(), "wardfs-fs", (char *)NULL);
		die(program());
	}
	close(control[1]);
	close(backing);
	close(moves);
	close(review);
	close(null);
	close(life[1]);
	*ret_control = control[0];
	send_config(o, control[0]);
	wait_ready(o, control[0]);
	return pid;
}

/* The daemon's end: bounded. 0, or what went wrong. */
static int reap_daemon(pid_t pid)
{
	int status = 0;

	for (int i = 0; i < 6000; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : STATUS_DAEMON;
		usleep(10000);
	}
	fprintf(stderr, "fsmount: wardfs-fs goes on after its mount is gone\n");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return STATUS_DAEMON;
}

static void parse_ids(const char *s, uid_t *uid, gid_t *gid, gid_t *groups, size_t *n)
{
	char *end;

	*uid = (uid_t)strtoul(s, &end, 10);
	*gid = *end == ':' ? (gid_t)strtoul(end + 1, &end, 10) : *uid;
	while (groups && *end == ',' && *n < GROUPS_MAX)
		groups[(*n)++] = (gid_t)strtoul(end + 1, &end, 10);
}

/* MINOR:FLAGS */
static void parse_init(const char *s, struct inject_init *ret)
{
	char *end = NULL;

	ret->minor = (uint32_t)strtoul(s, &end, 10);
	if (!ret->minor || *end != ':')
		die("WARD_INIT");
	ret->without = strtoull(end + 1, NULL, 16);
}

static void parse(struct options *o, int argc, char **argv)
{
	const char *transport = getenv("WARD_TRANSPORT"), *agent = NULL;
	int c;

	*o = (struct options){.tree = "/workspace", .passthrough = true, .wake = 6};
	if (getenv("WARD_INIT"))
		parse_init(getenv("WARD_INIT"), &o->init);
	/* The daemon does not ask whether it is offered: the ioctl tells, and would be granted. */
	if (o->init.without & UINT64_C(1) << PASSTHROUGH_BIT)
		o->passthrough = false;
	while ((c = getopt(argc, argv, "+m:o:a:t:l:w:np:x:F:")) != -1) {
		switch (c) {
		case 'm':
			o->mode = !strcmp(optarg, "user")    ? MODE_USER
				  : !strcmp(optarg, "other") ? MODE_OTHER
							     : MODE_ROOT;
			break;
		case 'o':
			parse_ids(optarg, &o->uid, &o->gid, o->groups, &o->n_groups);
			break;
		case 'a':
			agent = optarg;
			break;
		case 't':
			o->tree = optarg;
			break;
		case 'l':
			o->log = optarg;
			break;
		case 'w':
			o->wake = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'n':
			o->passthrough = false;
			break;
		case 'x':
			o->fail_at = optarg;
			break;
		case 'F':
			o->faults = optarg;
			break;
		case 'p':
			o->pid_file = optarg;
			break;
		default:
			exit(98);
		}
	}
	if (transport && !strcmp(transport, "plain"))
		o->wake = 1;
	o->uring = transport && (!strcmp(transport, "io_uring") || !strcmp(transport, "auto"));
	o->late = transport && !strcmp(transport, "late");
	if (o->uring || o->late)
		o->wake = strcmp(transport, "auto") ? 8 : 0;
	if (argc - optind < 4) {
		fprintf(stderr, "usage: fsmount [options] POLICY BACKING MOUNTPOINT CMD…\n");
		exit(98);
	}
	o->policy = argv[optind];
	o->backing = argv[optind + 1];
	o->mountpoint = argv[optind + 2];
	o->argv = argv + optind + 3;
	o->agent_uid = o->uid;
	o->agent_gid = o->gid;
	if (agent)
		parse_ids(agent, &o->agent_uid, &o->agent_gid, NULL, NULL);
}

static void allow(const struct options *o, char value, int *ret)
{
	if (!o->uring && !o->late)
		return;
	*ret = enable_uring_begin(value);
	if (*ret < 0)
		exit(77);
}

int main(int argc, char **argv)
{
	struct ward_err err = WARD_ERR_INIT;
	struct drain drain = {0};
	struct options o;
	pthread_t thread;
	int sock[2], ring_fd, fuse_fd, control, status, policy_fd;
	pid_t holder, daemon_pid, injector = -1;
	int inject_sock = -1, allowed = -1;

	parse(&o, argc, argv);
	policy_fd = make_policy(o.policy);
	drain.fail_at = o.fail_at;
	CHECK(ward_ring_create(WARD_RING_BYTES, &ring_fd, &err));
	drain.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	CHECK(drain.wake_fd);
	CHECK(ward_ring_open(ring_fd, drain.wake_fd, &drain.ring, &err));
	if (o.log && !(drain.log = fopen(o.log, "ae")))
		die(o.log);
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock));
	allow(&o, o.uring ? 'Y' : 'N', &allowed);
	holder = fork();
	CHECK(holder);
	if (!holder) {
		close(sock[0]);
		hold(&o, sock[1]);
	}
	close(sock[1]);
	fuse_fd = recv_fd(sock[0]);
	if (o.late) {
		enable_uring_end(allowed);
		allow(&o, 'Y', &allowed);
	}
	if (o.faults || o.init.minor)
		CHECK(injector = inject_start(
			      o.faults, fuse_fd, o.init.minor ? &o.init : NULL, &inject_sock));
	daemon_pid =
		start_daemon(&o, fuse_fd, ring_fd, drain.wake_fd, policy_fd, inject_sock, &control);
	if (o.uring || o.late)
		enable_uring_end(allowed);
	close(fuse_fd);
	if (inject_sock >= 0)
		close(inject_sock);
	if (pthread_create(&thread, NULL, drain_run, &drain))
		die("thread");
	if (o.pid_file) {
		char pid[16];

		snprintf(pid, sizeof(pid), "%d", daemon_pid);
		write_line(o.pid_file, pid);
	}
	CHECK(write(sock[0], "g", 1));
	waitpid(holder, &status, 0);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (reap_daemon(daemon_pid) && !o.pid_file)
		status = STATUS_DAEMON;
	if (injector > 0)
		waitpid(injector, NULL, 0);
	atomic_store(&drain.stop, true);
	pthread_join(thread, NULL);
	ward_ring_close(drain.ring);
	if (drain.log)
		fclose(drain.log);
	return status;
}
