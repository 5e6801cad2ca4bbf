/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs doctor: what this host offers and lacks. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/kernel.h"
#include "enforcer/cli/cli.h"
#include "enforcer/cli/doctor.h"
#include "enforcer/cli/say.h"
#include "enforcer/policy/settings.h"
#include "enforcer/sandbox/cgroup.h"
#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/delegate.h"
#include "enforcer/session/helper.h"

/* The first kernel with FUSE passthrough: Linux 6.9. */
#define PASSTHROUGH_MAJOR 6
#define PASSTHROUGH_MINOR 9

void ward_check_say(
	struct ward_check *c, enum ward_check_status status, const char *fix, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(c->tried, sizeof(c->tried), fmt, ap);
	va_end(ap);
	c->status = status;
	c->fix = status == WARD_CHECK_OK ? NULL : fix;
}

/* --- things tried in a child, which may spoil itself --- */

int ward_check_in_child(int (*fn)(void))
{
	int status = 0;
	pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		/* A supervisor is not dumpable, and the files in /proc of such a process are
		 * root's: its id maps could not be written, whatever the host allows. */
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
		_exit(-fn());
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

static int write_file(const char *path, const char *text)
{
	ward_cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : ward_fd_write_all(fd, text, strlen(text));
}

/* A user namespace with one's own id mapped, and the other namespaces in flags. */
static int enter_user_namespace(int flags)
{
	char map[64];
	uid_t uid = geteuid();
	gid_t gid = getegid();
	if (unshare(CLONE_NEWUSER | flags) < 0)
		return -errno;
	int r = write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1\n", uid, uid);
	if (r == 0)
		r = write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1\n", gid, gid);
	return r < 0 ? r : write_file("/proc/self/gid_map", map);
}

static int try_userns(void)
{
	return enter_user_namespace(0);
}

static int try_pidns(void)
{
	return enter_user_namespace(CLONE_NEWPID);
}

static int try_netns(void)
{
	return enter_user_namespace(CLONE_NEWNET);
}

static int try_otherns(void)
{
	return enter_user_namespace(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP);
}

/* A detached mount: seen nowhere, gone with its descriptor. */
static int mount_detached(const char *type, const char *const (*options)[2], size_t n)
{
	ward_cleanup_fd int fs = fsopen(type, FSOPEN_CLOEXEC);
	if (fs < 0)
		return -errno;
	for (size_t i = 0; i < n; i++)
		if (fsconfig(fs, FSCONFIG_SET_STRING, options[i][0], options[i][1], 0) < 0)
			return -errno;
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	ward_cleanup_fd int mount = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	return mount < 0 ? -errno : 0;
}

static int try_fuse_mount(void)
{
	int r = enter_user_namespace(CLONE_NEWNS);
	if (r < 0)
		return r;
	ward_cleanup_fd int dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		return -errno;
	char fd[16], uid[16], gid[16];
	snprintf(fd, sizeof(fd), "%d", dev);
	snprintf(uid, sizeof(uid), "%u", geteuid());
	snprintf(gid, sizeof(gid), "%u", getegid());
	const char *const options[][2] = {{"source", "wardfs"}, {"fd", fd}, {"rootmode", "40000"},
		{"user_id", uid}, {"group_id", gid}};
	return mount_detached("fuse", options, sizeof(options) / sizeof(options[0]));
}

static int mount_proc(void)
{
	static const char *const options[][2] = {{"source", "proc"}};
	return mount_detached("proc", options, 1);
}

static int try_proc_mount(void)
{
	int r = enter_user_namespace(CLONE_NEWNS | CLONE_NEWPID);
	return r < 0 ? r : ward_check_in_child(mount_proc);
}

static int try_seccomp(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = {.len = 1, .filter = &allow};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
		return -errno;
	return 0;
}

/* A ring as wardfs-fs makes them (fs/uring_rings.c). */
static int try_ring(void)
{
	struct io_uring_params p = {.flags = IORING_SETUP_SQE128 | IORING_SETUP_R_DISABLED |
					     IORING_SETUP_SINGLE_ISSUER |
					     IORING_SETUP_DEFER_TASKRUN};
	return syscall(SYS_io_uring_setup, 4, &p) < 0 ? -errno : 0;
}

/* --- the checks --- */

static void check_kernel(struct ward_check *c)
{
	struct ward_err err = WARD_ERR_INIT;
	struct utsname u;
	const bool fit = ward_kernel_check(&err) == 0;
	ward_check_say(c, fit ? WARD_CHECK_OK : WARD_CHECK_MISSING,
		"use Linux " WARD_KERNEL_FLOOR " or newer", "Linux %s",
		uname(&u) < 0 ? "?" : u.release);
}

static void check_device(struct ward_check *c)
{
	struct stat st;
	if (stat("/dev/fuse", &st) < 0) {
		ward_check_say(c, WARD_CHECK_MISSING,
			"modprobe fuse; in a container: pass the device (docker run --device "
			"/dev/fuse)",
			"/dev/fuse: %s", strerror(errno));
		return;
	}
	ward_cleanup_fd int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		ward_check_say(
			c, WARD_CHECK_OK, NULL, "/dev/fuse opened, mode %04o", st.st_mode & 07777);
	else if (errno == EACCES)
		ward_check_say(c, WARD_CHECK_MISSING,
			"as root: chmod 0666 /dev/fuse (its standard mode)",
			"/dev/fuse has mode %04o: %s", st.st_mode & 07777, strerror(errno));
	else
		ward_check_say(c, WARD_CHECK_MISSING,
			"modprobe fuse; in a container: allow the device (c 10:229 rwm)",
			"open /dev/fuse: %s", strerror(errno));
}

static void check_try(struct ward_check *c, int (*fn)(void), const char *what, const char *fix)
{
	int r = ward_check_in_child(fn);
	if (r == 0)
		ward_check_say(c, WARD_CHECK_OK, NULL, "%s: worked", what);
	else
		ward_check_say(c, WARD_CHECK_MISSING, fix, "%s: %s", what, strerror(-r));
}

static void check_userns(struct ward_check *c)
{
	check_try(c, try_userns, "unshare(CLONE_NEWUSER), own id mapped",
		"as root, whichever exists: sysctl -w user.max_user_namespaces=10000; sysctl -w "
		"kernel.unprivileged_userns_clone=1; sysctl -w "
		"kernel.apparmor_restrict_unprivileged_userns=0; in a container: a seccomp profile "
		"that passes unshare");
}

static void check_pidns(struct ward_check *c)
{
	check_try(c, try_pidns, "unshare(CLONE_NEWPID)",
		"sysctl -w user.max_pid_namespaces=10000, or a kernel with CONFIG_PID_NS");
}

static void check_netns(struct ward_check *c)
{
	check_try(c, try_netns, "unshare(CLONE_NEWNET)",
		"sysctl -w user.max_net_namespaces=10000, or a kernel with CONFIG_NET_NS");
}

static void check_otherns(struct ward_check *c)
{
	check_try(c, try_otherns, "unshare(mount, ipc, uts, cgroup)",
		"sysctl -w user.max_mnt_namespaces=10000 (also max_ipc_, max_uts_, "
		"max_cgroup_namespaces)");
}

static void check_fuse_mount(struct ward_check *c)
{
	check_try(c, try_fuse_mount, "FUSE mounted in a namespace of its own",
		"see the lines on /dev/fuse and user namespaces");
}

static void check_proc_mount(struct ward_check *c)
{
	check_try(c, try_proc_mount, "proc mounted in a pid namespace of its own",
		"in a container: leave /proc uncovered (docker run --security-opt "
		"systempaths=unconfined)");
}

static void check_seccomp(struct ward_check *c)
{
	check_try(c, try_seccomp, "a filter installed", "a kernel with CONFIG_SECCOMP_FILTER");
}

static void check_landlock(struct ward_check *c)
{
	/* LANDLOCK_CREATE_RULESET_VERSION is 1 (landlock(7)). */
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1U);
	if (abi > 0)
		ward_check_say(c, WARD_CHECK_OK, NULL, "ABI %ld", abi);
	else
		ward_check_say(c, WARD_CHECK_ABSENT,
			"boot with landlock in lsm=, or a kernel with CONFIG_SECURITY_LANDLOCK",
			"%s", strerror(errno));
}

/* A group is made, as a session's, and removed. */
static void check_cgroup(struct ward_check *c)
{
	static const struct {
		const char *limit;
		enum ward_cgroup_part part;
	} parts[] = {{"memory", WARD_CGROUP_MEMORY}, {"processes", WARD_CGROUP_PIDS},
		{"cpus", WARD_CGROUP_CPU}, {"cpu-time", WARD_CGROUP_CPUACCT}};
	struct ward_err err = WARD_ERR_INIT;
	struct ward_cgroup *cg = NULL;
	char name[64], text[WARD_CHECK_TEXT_MAX] = "";
	const char *why = NULL;
	snprintf(name, sizeof(name), "doctor-%d", (int)getpid());
	/* Limits that limit nothing, so that each part is wanted. */
	struct ward_cgroup_spec spec = {.name = name,
		.root = geteuid() == 0,
		.memory = UINT64_C(1) << 50,
		.processes = 1000,
		.cpus = 100};
	if (ward_cgroup_make(&spec, &cg, &err) < 0)
		why = err.text;
	for (size_t i = 0; cg && i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t len = strlen(text);
		const char *version = ward_cgroup_version(cg, parts[i].part);
		snprintf(text + len, sizeof(text) - len, "%s%s: %s", i ? ", " : "", parts[i].limit,
			version ? version : "none");
		if (!version && !why)
			why = ward_cgroup_why(cg, parts[i].part);
	}
	if (!why)
		ward_check_say(c, WARD_CHECK_OK, NULL, "a group made; %s", text);
	else if (geteuid() != 0 && ward_delegate_possible())
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"the user manager of systemd gives a group where a limit needs it");
	else if (geteuid() == 0)
		ward_check_say(c, WARD_CHECK_ABSENT,
			"in a container: mount /sys/fs/cgroup writable, with no process in its top "
			"group; else boot with the controller (cgroup_enable=memory)",
			"%s (%s)", text, why);
	else
		ward_check_say(c, WARD_CHECK_ABSENT,
			"with cgroup v2 and systemd: loginctl enable-linger, then log in anew; [limits] "
			"memory, cpus and cpu-time are refused without it; else as root: make a "
			"group, chown it and its cgroup.procs and cgroup.subtree_control to you, and "
			"start wardfs in it",
			"%s (%s)", text, why);
	ward_cgroup_free(cg);
}

static void check_passthrough(struct ward_check *c)
{
	unsigned major = 0, minor = 0;
	if (ward_kernel_version(&major, &minor) < 0 || major < PASSTHROUGH_MAJOR ||
		(major == PASSTHROUGH_MAJOR && minor < PASSTHROUGH_MINOR))
		ward_check_say(c, WARD_CHECK_ABSENT, "Linux 6.9 or newer",
			"this kernel is older than 6.9");
	else if (geteuid() != 0)
		ward_check_say(c, WARD_CHECK_ABSENT,
			"run as root (files are then read at native speed)",
			"needs CAP_SYS_ADMIN; the page cache is used instead");
	else
		ward_check_say(c, WARD_CHECK_OK, NULL, "root, Linux %u.%u", major, minor);
}

static void check_uring(struct ward_check *c)
{
	const char *path = "/sys/module/fuse/parameters/enable_uring";
	char value = '?';
	int r = 0;
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, &value, 1) != 1)
		ward_check_say(c, WARD_CHECK_ABSENT, "Linux 6.14 or newer", "%s: not there", path);
	else if (value != 'Y')
		ward_check_say(c, WARD_CHECK_ABSENT,
			"as root (the next sessions of ordinary users then use it): echo Y > "
			"/sys/module/fuse/parameters/enable_uring; at every start of the host: "
			"echo options fuse enable_uring=1 > /etc/modprobe.d/fuse.conf (or "
			"fuse.enable_uring=1 on the kernel's command line)",
			"%s is %c", path, value);
	else if ((r = ward_check_in_child(try_ring)) < 0)
		ward_check_say(c, WARD_CHECK_ABSENT,
			"as root: sysctl -w kernel.io_uring_disabled=0",
			"%s is Y, but io_uring_setup: %s", path, strerror(-r));
	else
		ward_check_say(c, WARD_CHECK_OK, NULL, "%s is Y, a ring was made", path);
}

static int wait_for_exit(struct ward_sandbox *sb)
{
	/* Ten seconds at most: `true` waits for nothing. */
	for (int i = 0; i < 1000; i++) {
		struct ward_sandbox_event ev;
		int r = ward_sandbox_next(sb, &ev);
		if (r < 0)
			return r;
		if (ev.kind == WARD_SANDBOX_EXITED)
			return ev.value == 0 ? 0 : -EIO;
		if (ev.kind != WARD_SANDBOX_NOTHING && ev.kind != WARD_SANDBOX_STOPPED)
			return -EIO;
		usleep(10000);
	}
	return -ETIMEDOUT;
}

/* All of it together: the sandbox of mode restricted, with one tree, running `true`. */
static void check_whole(struct ward_check *c)
{
	ward_cleanup_free char *init = NULL;
	char name[] = "true", path[] = "PATH=/usr/bin:/bin";
	char *argv[] = {name, NULL}, *envp[] = {path, NULL};
	struct ward_err err = WARD_ERR_INIT;
	struct ward_sandbox *sb = NULL;
	bool root = geteuid() == 0;
	struct ward_sandbox_tree tree = {.path = "/workspace"};
	if (ward_helper_program("wardfs-init", &init, &err) < 0) {
		ward_check_say(c, WARD_CHECK_MISSING, "install wardfs as a whole", "%s", err.text);
		return;
	}
	/* As root the command gets the id of nobody: any but 0 shows what is to be shown. */
	uid_t uid = root ? 65534 : geteuid();
	gid_t gid = root ? 65534 : getegid();
	struct ward_sandbox_spec spec = {.init_program = init,
		.root = root,
		.owner_uid = uid,
		.owner_gid = gid,
		.agent_uid = uid,
		.agent_gid = gid,
		.user_name = "doctor",
		.hostname = "doctor",
		.trees = &tree,
		.n_trees = 1,
		.tmp_bytes = WARD_UNLIMITED,
		.processes = WARD_UNLIMITED,
		.open_files = WARD_UNLIMITED,
		.file_size = WARD_UNLIMITED,
		.seccomp = WARD_SECCOMP_DEFAULT,
		.argv = argv,
		.envp = envp,
		.cwd = "/",
		.stdio = {-1, -1, -1}};
	int r = ward_sandbox_create(&spec, &sb, &err);
	struct ward_probe_result probes[WARD_PROBE_COUNT_];
	enum ward_probe_verdict verdicts[WARD_PROBE_COUNT_];
	if (r == 0)
		r = ward_sandbox_probe(sb, probes, verdicts, &err);
	if (r == 0)
		r = ward_sandbox_start(sb, &err);
	if (r == 0)
		r = wait_for_exit(sb);
	ward_sandbox_free(sb);
	if (r == 0)
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"a sandbox with a tree ran `true`; its probes held");
	else
		ward_check_say(c, WARD_CHECK_MISSING, "see the lines above", "%s",
			err.text[0] ? err.text : strerror(-r));
}

static const struct {
	const char *name;
	bool required;
	void (*check)(struct ward_check *c);
} checks[] = {
	{"host", false, ward_check_host},
	{"kernel", true, check_kernel},
	{"/dev/fuse", true, check_device},
	{"user namespaces", true, check_userns},
	{"apparmor", false, ward_check_apparmor},
	{"subordinate ids", false, ward_check_subids},
	{"pid namespaces", true, check_pidns},
	{"net namespaces", true, check_netns},
	{"other namespaces", true, check_otherns},
	{"fuse mount", true, check_fuse_mount},
	{"proc mount", true, check_proc_mount},
	{"seccomp", true, check_seccomp},
	{"sandbox", true, check_whole},
	{"landlock", false, check_landlock},
	{"cgroups", false, check_cgroup},
	{"fuse passthrough", false, check_passthrough},
	{"fuse io_uring", false, check_uring},
	{"watches", false, ward_check_watches},
	{"network broker", false, ward_check_network},
	{"network askers", false, ward_check_askers},
	{"audit writer", false, ward_check_audit_writer},
	{"audit anchor", false, ward_check_anchor},
};
#define CHECKS (sizeof(checks) / sizeof(checks[0]))

/* --- the report --- */

static const char *status_name(enum ward_check_status s)
{
	switch (s) {
	case WARD_CHECK_OK:
		return "ok";
	case WARD_CHECK_ABSENT:
		return "absent";
	case WARD_CHECK_MISSING:
		break;
	}
	return "missing";
}

static void print_text(const struct ward_check *c, bool fit)
{
	for (size_t i = 0; i < CHECKS; i++) {
		printf("%-8s %-17s %s\n", status_name(c[i].status), c[i].name, c[i].tried);
		if (c[i].fix)
			printf("%-8s %-17s fix: %s\n", "", "", c[i].fix);
	}
	puts(fit ? "This host can run the default policy."
		 : "This host cannot run the default policy: fix what is missing.");
}

static void print_json(const struct ward_check *c, bool fit)
{
	json_t *list = json_array();
	for (size_t i = 0; i < CHECKS; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:b, s:s, s:s?}", "name", c[i].name, "status",
				      status_name(c[i].status), "required", c[i].required, "tried",
				      c[i].tried, "fix", c[i].fix));
	ward_print_json(json_pack("{s:b, s:o}", "ok", fit, "checks", list));
}

/* What is tried as a whole, and says "see the lines above", comes last and explains least. */
void ward_doctor_say(void)
{
	(void)fflush(stdout);
	for (size_t i = 0; i < CHECKS; i++) {
		struct ward_check c = {.name = checks[i].name};
		if (!checks[i].required || checks[i].check == check_whole)
			continue;
		checks[i].check(&c);
		if (c.status == WARD_CHECK_OK)
			continue;
		ward_sayf("missing on this host: %s (%s); fix: %s", c.name, c.tried, c.fix);
		ward_say("wardfs doctor tells all that a guarded run needs");
		return;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	bool *json = state->input;
	(void)arg;
	if (key != 'j')
		return ARGP_ERR_UNKNOWN;
	*json = true;
	return 0;
}

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "One JSON object", 0},
	{0},
};
static const struct argp argp = {options, parse, NULL,
	"Tries what a guarded run needs on this host, as the caller, and names the fix for what is "
	"missing.\v"
	"Exit status: 0 the default policy can be run here, 1 it cannot, 2 usage.",
	NULL, NULL, NULL};

int ward_cmd_doctor(int argc, char **argv)
{
	struct ward_check report[CHECKS] = {0};
	bool json = false;
	bool fit = true;
	if (argp_parse(&argp, argc, argv, 0, NULL, &json))
		return 2;
	/* Children would print once more what is still in the buffer. */
	(void)fflush(stdout);
	for (size_t i = 0; i < CHECKS; i++) {
		report[i].name = checks[i].name;
		report[i].required = checks[i].required;
		checks[i].check(&report[i]);
		fit = fit && (!checks[i].required || report[i].status == WARD_CHECK_OK);
	}
	if (json)
		print_json(report, fit);
	else
		print_text(report, fit);
	return fit ? 0 : 1;
}
