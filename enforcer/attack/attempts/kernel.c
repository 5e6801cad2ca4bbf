/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the kernel from which a way out begins: mounts, namespaces, ids, and rare interfaces. */
/* Before <linux/vm_sockets.h>, which does not include it everywhere. */
#include <sys/socket.h>

#include <linux/vm_sockets.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/reboot.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <sys/io.h>
#endif

#include "enforcer/attack/attempts/attempts.h"

/* --- mounts --- */
static int mount_tmpfs(const struct ward_facts *f, char *proof)
{
	return mount("none", f->work, "tmpfs", 0, NULL);
}

static int mount_bind(const struct ward_facts *f, char *proof)
{
	return mount("/", f->work, NULL, MS_BIND | MS_REC, NULL);
}

static int mount_proc(const struct ward_facts *f, char *proof)
{
	return mount("proc", f->work, "proc", 0, NULL);
}

static int unmount(const struct ward_facts *f, char *proof)
{
	return umount2("/proc", MNT_DETACH);
}

/* Of the mount that /proc is: writable, where it was read-only. */
static int remount(const struct ward_facts *f, char *proof)
{
	return mount(NULL, "/proc", NULL, MS_REMOUNT | MS_BIND, NULL);
}

static int mount_attributes(const struct ward_facts *f, char *proof)
{
	struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY};
	return (int)syscall(SYS_mount_setattr, AT_FDCWD, "/proc", 0, &attr, sizeof(attr));
}

static int memory_map(const struct ward_facts *f, char *proof)
{
	/* Asks for the size of the structure: harmless where it is allowed. */
	unsigned size = 0;
	return prctl(PR_SET_MM, PR_SET_MM_MAP_SIZE, &size, 0, 0);
}

static int tree_copy(const struct ward_facts *f, char *proof)
{
	return (int)syscall(
		SYS_open_tree, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */ | O_CLOEXEC | AT_RECURSIVE);
}

static int fs_context(const struct ward_facts *f, char *proof)
{
	return (int)syscall(SYS_fsopen, "tmpfs", 0);
}

static int other_root(const struct ward_facts *f, char *proof)
{
	return chroot(f->work);
}

/* --- namespaces --- */
#define UNSHARE(id, flag)                                                                          \
	static int unshare_##id(const struct ward_facts *f, char *proof)                           \
	{                                                                                          \
		return unshare(flag);                                                              \
	}
UNSHARE(user, CLONE_NEWUSER)
UNSHARE(mount, CLONE_NEWNS)
UNSHARE(pid, CLONE_NEWPID)
UNSHARE(net, CLONE_NEWNET)
UNSHARE(ipc, CLONE_NEWIPC)
UNSHARE(uts, CLONE_NEWUTS)
UNSHARE(cgroup, CLONE_NEWCGROUP)
UNSHARE(time, 0x80 /* CLONE_NEWTIME */)

/* --- ids and capabilities --- */
static int to_root(const struct ward_facts *f, char *proof)
{
	if (getuid() == 0 && setuid(1) == 0)
		return 0;
	return setresuid(0, 0, 0);
}

static int to_other_group(const struct ward_facts *f, char *proof)
{
	const gid_t other = 1;
	return setgroups(1, &other);
}

static int all_capabilities(const struct ward_facts *f, char *proof)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct old[2], all[2];
	if (syscall(SYS_capget, &head, old) < 0)
		return -1;
	memcpy(all, old, sizeof(all));
	all[0].effective |= 1U << CAP_SYS_ADMIN;
	all[0].permitted |= 1U << CAP_SYS_ADMIN;
	if ((old[0].effective >> CAP_SYS_ADMIN) & 1)
		return 0;
	return (int)syscall(SYS_capset, &head, all);
}

/* --- descriptors of rare kinds --- */
static int bpf_map(const struct ward_facts *f, char *proof)
{
	union bpf_attr attr = {0};
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = attr.value_size = 4;
	attr.max_entries = 1;
	return (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

static int faults(const struct ward_facts *f, char *proof)
{
	return (int)syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */ | O_CLOEXEC);
}

static int uring(const struct ward_facts *f, char *proof)
{
	struct io_uring_params p = {0};
	return (int)syscall(SYS_io_uring_setup, 1, &p);
}

static int perf(const struct ward_facts *f, char *proof)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.exclude_kernel = 1};
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static int fanotify(const struct ward_facts *f, char *proof)
{
	return fanotify_init(FAN_CLASS_NOTIF, O_RDONLY);
}

static int packet_socket(const struct ward_facts *f, char *proof)
{
	return socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
}

static int raw_socket(const struct ward_facts *f, char *proof)
{
	return socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1 /* ICMP */);
}

static int vm_socket(const struct ward_facts *f, char *proof)
{
	return socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int crypto_socket(const struct ward_facts *f, char *proof)
{
	return socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

static int kernel_log(const struct ward_facts *f, char *proof)
{
	return ward_attempt_open("/dev/kmsg", O_RDONLY);
}

static int memory_device(const struct ward_facts *f, char *proof)
{
	return ward_attempt_open("/dev/mem", O_RDONLY);
}

static int core_file(const struct ward_facts *f, char *proof)
{
	return ward_attempt_open("/proc/kcore", O_RDONLY);
}

static int core_pattern(const struct ward_facts *f, char *proof)
{
	return ward_attempt_open("/proc/sys/kernel/core_pattern", O_WRONLY);
}

static int module_loader(const struct ward_facts *f, char *proof)
{
	return ward_attempt_open("/proc/sys/kernel/modprobe", O_WRONLY);
}

static int sysrq(const struct ward_facts *f, char *proof)
{
	return ward_attempt_open("/proc/sysrq-trigger", O_WRONLY);
}

static int hotplug(const struct ward_facts *f, char *proof)
{
	return ward_attempt_open("/sys/kernel/uevent_helper", O_WRONLY);
}

static int fuse_device(const struct ward_facts *f, char *proof)
{
	return ward_attempt_open("/dev/fuse", O_RDWR);
}

static int tun_device(const struct ward_facts *f, char *proof)
{
	return ward_attempt_open("/dev/net/tun", O_RDWR);
}

static int kvm_device(const struct ward_facts *f, char *proof)
{
	return ward_attempt_open("/dev/kvm", O_RDWR);
}

/* --- calls whose effect no descriptor shows: made so that they change nothing where they reach ---
 */
static int make_device(const struct ward_facts *f, char *proof)
{
	char at[4096];
	if (ward_attempt_work(f, "make-device", at, sizeof(at)) < 0)
		return WARD_UNREADY;
	return mknod(at, S_IFCHR | 0600, 0x103 /* null */);
}

static int make_block_device(const struct ward_facts *f, char *proof)
{
	char at[4096];
	if (ward_attempt_work(f, "make-block-device", at, sizeof(at)) < 0)
		return WARD_UNREADY;
	return mknod(at, S_IFBLK | 0600, 0x700 /* loop0 */);
}

static int host_name(const struct ward_facts *f, char *proof)
{
	char name[65] = "";
	return gethostname(name, sizeof(name) - 1) < 0 ? -1 : sethostname(name, strlen(name));
}

static int set_clock(const struct ward_facts *f, char *proof)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return clock_settime(CLOCK_REALTIME, &now);
}

static int tune_clock(const struct ward_facts *f, char *proof)
{
	struct timex t = {.modes = 0};
	if (adjtimex(&t) < 0)
		return -1;
	t.modes = ADJ_FREQUENCY; /* to what it is */
	return adjtimex(&t) < 0 ? -1 : 0;
}

/* An empty module: a caller that may load modules gets "not a module" instead of EPERM. */
static int load_module(const struct ward_facts *f, char *proof)
{
	(void)syscall(SYS_init_module, "", 0UL, "");
	return errno == ENOEXEC || errno == EINVAL || errno == EFAULT ? 0 : -1;
}

/* Wrong magic numbers: who may reboot hears EINVAL. */
static int reboot_host(const struct ward_facts *f, char *proof)
{
	(void)syscall(SYS_reboot, 0, 0, 0, NULL);
	return errno == EINVAL ? 0 : -1;
}

static int swap_on(const struct ward_facts *f, char *proof)
{
	(void)swapon(f->work, 0);
	return errno == EINVAL || errno == EISDIR ? 0 : -1;
}

static int read_log(const struct ward_facts *f, char *proof)
{
	char text[16];
	return syscall(SYS_syslog, 3 /* READ_ALL */, text, sizeof(text)) < 0 ? -1 : 0;
}

static int kernel_image(const struct ward_facts *f, char *proof)
{
	(void)syscall(SYS_kexec_load, 0UL, 0UL, NULL, ~0UL);
	return errno == EINVAL ? 0 : -1;
}

static int io_ports(const struct ward_facts *f, char *proof)
{
#ifdef __x86_64__
	return ioperm(0x80, 1, 1);
#else
	errno = ENOSYS;
	return -1;
#endif
}

static int add_key(const struct ward_facts *f, char *proof)
{
	return syscall(SYS_add_key, "user", "attack", "x", 1UL, -2 /* the process's keyring */) < 0
		       ? -1
		       : 0;
}

static int no_random(const struct ward_facts *f, char *proof)
{
	return personality(ADDR_NO_RANDOMIZE) < 0 ? -1 : 0;
}

static int address_map(const struct ward_facts *f, char *proof)
{
	/* An empty descriptor: nothing is changed by it. */
	struct {
		unsigned number, base, limit, flags;
	} none = {0, 0, 0, 0x28};
#ifdef SYS_modify_ldt
	return (int)syscall(SYS_modify_ldt, 1, &none, sizeof(none));
#else
	(void)none;
	errno = ENOSYS;
	return -1;
#endif
}

#define GAIN(sev, name, what, ref, fn)                                                             \
	WARD_ATTEMPT(sev, GAIN, name, what, "seccomp, or no capability", ref, fn)
#define LACK(sev, need, name_, what_, ref_, fn)                                                    \
	{                                                                                          \
		.name = (name_), .severity = WARD_ATTACK_##sev, .evidence = WARD_SEEN_LACK,        \
		.needs = (need), .what = (what_), .stops = "seccomp, or no capability",            \
		.reference = (ref_), .act = (fn)                                                   \
	}
static const struct ward_attempt rows[] = {
	GAIN(PROMISE, "mount-tmpfs", "Mounts a file system.", "T1611, AML.T0105", mount_tmpfs),
	GAIN(PROMISE, "mount-bind", "Mounts the root directory once more.", "T1611, AML.T0105",
		mount_bind),
	GAIN(PROMISE, "mount-proc", "Mounts /proc once more.", "T1611, AML.T0105", mount_proc),
	GAIN(PROMISE, "unmount", "Unmounts /proc, to see what lies beneath.", "T1611, AML.T0105",
		unmount),
	LACK(PROMISE, CAP_SYS_ADMIN, "remount", "Mounts /proc as writable, where it is not.",
		"T1611, AML.T0105", remount),
	LACK(PROMISE, CAP_SYS_ADMIN, "mount-attributes",
		"Makes the mount of /proc writable (mount_setattr).", "T1611, AML.T0105",
		mount_attributes),
	LACK(HARDENING, WARD_NEEDS_FILTER, "memory-map",
		"Asks how the kernel describes its memory (PR_SET_MM).", "CWE-284", memory_map),
	GAIN(PROMISE, "tree-copy", "Copies the mount tree (open_tree).", "T1611, AML.T0105",
		tree_copy),
	GAIN(PROMISE, "fs-context", "Opens a context for a new file system (fsopen).",
		"CVE-2022-0185", fs_context),
	GAIN(HARDENING, "change-root", "Changes its root directory.", "CWE-243", other_root),
	GAIN(HARDENING, "unshare-user", "Makes a user namespace, which gives capabilities in it.",
		"CVE-2022-0185", unshare_user),
	GAIN(HARDENING, "unshare-mount", "Makes a mount namespace.", "T1611, AML.T0105",
		unshare_mount),
	GAIN(HARDENING, "unshare-pid", "Makes a pid namespace.", "T1611, AML.T0105", unshare_pid),
	GAIN(HARDENING, "unshare-net", "Makes a network namespace.", "T1611, AML.T0105",
		unshare_net),
	GAIN(HARDENING, "unshare-ipc", "Makes an ipc namespace.", "T1611, AML.T0105", unshare_ipc),
	GAIN(HARDENING, "unshare-uts", "Makes a uts namespace.", "T1611, AML.T0105", unshare_uts),
	GAIN(HARDENING, "unshare-cgroup", "Makes a cgroup namespace.", "CVE-2022-0492",
		unshare_cgroup),
	GAIN(HARDENING, "unshare-time", "Makes a time namespace.", "T1611, AML.T0105",
		unshare_time),
	GAIN(PROMISE, "change-user", "Becomes another user.", "T1548", to_root),
	GAIN(PROMISE, "change-groups", "Takes another group.", "T1548", to_other_group),
	LACK(PROMISE, CAP_SYS_ADMIN, "capabilities", "Takes CAP_SYS_ADMIN.", "T1548",
		all_capabilities),
	GAIN(HARDENING, "bpf", "Creates a bpf map.", "CVE-2021-3490", bpf_map),
	GAIN(HARDENING, "userfaultfd", "Handles page faults itself.", "CWE-362", faults),
	GAIN(HARDENING, "io-uring",
		"Sets up an io_uring, which filters of system calls do not see.", "CVE-2023-2598",
		uring),
	GAIN(HARDENING, "perf", "Opens a performance counter.", "CVE-2023-2235", perf),
	GAIN(HARDENING, "fanotify", "Watches file accesses of the host.", "T1083", fanotify),
	GAIN(PROMISE, "packet-socket", "Opens a packet socket.", "T1040, CVE-2020-14386",
		packet_socket),
	GAIN(HARDENING, "raw-socket", "Opens a raw socket.", "T1095", raw_socket),
	GAIN(HARDENING, "vm-socket", "Opens a socket to the host of this virtual machine.",
		"CVE-2025-21756", vm_socket),
	GAIN(HARDENING, "crypto-socket", "Opens a socket of the kernel's cryptography.",
		"CVE-2019-8912", crypto_socket),
	GAIN(HARDENING, "kernel-log", "Opens the kernel's log.", "CWE-532", kernel_log),
	GAIN(PROMISE, "memory-device", "Opens the machine's memory.", "T1611, AML.T0105",
		memory_device),
	GAIN(PROMISE, "core-file", "Opens the kernel's memory as a core file.", "T1003", core_file),
	GAIN(PROMISE, "core-pattern", "Opens the setting that names a program for core dumps.",
		"T1611, AML.T0105", core_pattern),
	GAIN(PROMISE, "module-loader", "Opens the setting that names the loader of modules.",
		"T1611, AML.T0105", module_loader),
	GAIN(PROMISE, "sysrq", "Opens the trigger of the kernel's emergency functions.", "T1499",
		sysrq),
	GAIN(PROMISE, "hotplug", "Opens the setting that names a program for new devices.",
		"T1611, AML.T0105", hotplug),
	GAIN(HARDENING, "fuse-device", "Opens /dev/fuse.", "T1611, AML.T0105", fuse_device),
	GAIN(HARDENING, "tun-device", "Opens /dev/net/tun.", "T1572, CVE-2022-4744", tun_device),
	GAIN(HARDENING, "kvm-device", "Opens /dev/kvm.", "CVE-2021-22543", kvm_device),
	LACK(PROMISE, CAP_MKNOD, "make-device", "Makes a device in the workspace.",
		"T1611, AML.T0105", make_device),
	LACK(PROMISE, CAP_MKNOD, "make-block-device", "Makes a block device in the workspace.",
		"T1611, AML.T0105", make_block_device),
	LACK(HARDENING, CAP_SYS_ADMIN, "host-name", "Sets the host name (to what it is).",
		"CWE-732", host_name),
	LACK(PROMISE, CAP_SYS_TIME, "clock", "Sets the clock (to the present time).", "CWE-284",
		set_clock),
	LACK(PROMISE, CAP_SYS_TIME, "clock-frequency", "Tunes the clock.", "CWE-284", tune_clock),
	LACK(PROMISE, CAP_SYS_MODULE, "load-module", "Loads a kernel module (an empty one).",
		"T1547.006", load_module),
	LACK(PROMISE, CAP_SYS_BOOT, "reboot", "Reboots (with a wrong magic number).", "T1529",
		reboot_host),
	LACK(PROMISE, CAP_SYS_ADMIN, "swap", "Adds swap space (a directory).", "T1499", swap_on),
	LACK(HARDENING, CAP_SYSLOG, "read-log", "Reads the kernel's log (syslog).", "CWE-532",
		read_log),
	LACK(PROMISE, CAP_SYS_BOOT, "kernel-image", "Loads another kernel (an invalid one).",
		"CWE-284", kernel_image),
	LACK(PROMISE, CAP_SYS_RAWIO, "io-ports", "Takes an I/O port.", "T1611, AML.T0105",
		io_ports),
	LACK(HARDENING, WARD_NEEDS_FILTER, "keyring", "Adds a key to a keyring.", "CVE-2017-15299",
		add_key),
	LACK(HARDENING, WARD_NEEDS_FILTER, "personality", "Turns address randomisation off.",
		"CWE-330", no_random),
	LACK(HARDENING, WARD_NEEDS_FILTER, "local-descriptors",
		"Changes its table of segments (modify_ldt).", "CVE-2017-17053", address_map),
};
WARD_ATTEMPT_TABLE(kernel, WARD_ATTACK_KERNEL, "reach parts of the kernel that lead further", rows);
