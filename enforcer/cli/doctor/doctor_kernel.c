/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs doctor: the kernel: its version, FUSE and how fast it can be, Landlock. */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/kernel.h"
#include "enforcer/cli/doctor/doctor.h"
#include "enforcer/ipc/host.h"
#include "enforcer/session/guard/host_service.h"

/* The first kernel with FUSE passthrough: Linux 6.9. */
#define PASSTHROUGH_MAJOR 6
#define PASSTHROUGH_MINOR 9

void ward_check_kernel(struct ward_check *c)
{
	struct ward_err err = WARD_ERR_INIT;
	struct utsname u;
	const bool fit = ward_kernel_check(&err) == 0;
	ward_check_say(c, fit ? WARD_CHECK_OK : WARD_CHECK_MISSING,
		"use Linux " WARD_KERNEL_FLOOR " or newer", "Linux %s",
		uname(&u) < 0 ? "?" : u.release);
}

void ward_check_device(struct ward_check *c)
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

void ward_check_landlock(struct ward_check *c)
{
	/* LANDLOCK_CREATE_RULESET_VERSION is 1 (landlock(7)). */
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1U);
	if (abi > 0)
		ward_check_say(c, WARD_CHECK_OK, NULL, "ABI %ld", abi);
	else
		ward_check_say(c, WARD_CHECK_UNUSABLE,
			"boot with landlock in lsm=, or a kernel with CONFIG_SECURITY_LANDLOCK",
			"%s", strerror(errno));
}

/* As an ordinary user. */
static void check_host_service(struct ward_check *c)
{
	ward_cleanup_fd int fd = ward_host_service_connect(WARD_HOST_SOCKET);
	const int r = fd;

	if (r < 0)
		fd = -1;
	if (r >= 0)
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"wardfs-hostd registers files that are written to, or large");
	else if (r == -ENOENT)
		ward_check_say(c, WARD_CHECK_OPTIONAL,
			"as root: systemd-sysusers; systemd-tmpfiles --create; systemctl enable --now wardfs-host.socket. Then large files are read, and all are written, at native speed",
			"needs CAP_SYS_ADMIN, and the host has no wardfs-host.socket; wardfs uses the page cache instead");
	else
		ward_check_say(c, WARD_CHECK_OPTIONAL,
			"as root: systemctl restart wardfs-host.socket; systemctl status wardfs-host.service",
			"needs CAP_SYS_ADMIN, and " WARD_HOST_SOCKET
			": %s; wardfs uses the page cache instead",
			strerror(-r));
}

void ward_check_passthrough(struct ward_check *c)
{
	unsigned major = 0, minor = 0;
	if (ward_kernel_version(&major, &minor) < 0 || major < PASSTHROUGH_MAJOR ||
		(major == PASSTHROUGH_MAJOR && minor < PASSTHROUGH_MINOR))
		ward_check_say(c, WARD_CHECK_OPTIONAL, "Linux 6.9 or newer",
			"this kernel is older than 6.9");
	else if (geteuid() != 0)
		check_host_service(c);
	else
		ward_check_say(c, WARD_CHECK_OK, NULL, "root, Linux %u.%u", major, minor);
}

/* A ring as wardfs-fs makes them (fs/kernel/uring_rings.c). */
static int try_ring(void)
{
	struct io_uring_params p = {.flags = IORING_SETUP_SQE128 | IORING_SETUP_R_DISABLED |
					     IORING_SETUP_SINGLE_ISSUER |
					     IORING_SETUP_DEFER_TASKRUN};
	return syscall(SYS_io_uring_setup, 4, &p) < 0 ? -errno : 0;
}

void ward_check_uring(struct ward_check *c)
{
	const char *path = "/sys/module/fuse/parameters/enable_uring";
	char value = '?';
	int r = 0;
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, &value, 1) != 1)
		ward_check_say(
			c, WARD_CHECK_OPTIONAL, "Linux 6.14 or newer", "%s does not exist", path);
	else if (value != 'Y')
		ward_check_say(c, WARD_CHECK_OPTIONAL,
			"as root, for the next sessions of ordinary users: echo Y > /sys/module/fuse/parameters/enable_uring; at every start of the host: echo options fuse enable_uring=1 > /etc/modprobe.d/fuse.conf (or fuse.enable_uring=1 on the kernel's command line)",
			"%s is %c", path, value);
	else if ((r = ward_check_in_child(try_ring)) < 0)
		ward_check_say(c, WARD_CHECK_UNUSABLE,
			"as root: sysctl -w kernel.io_uring_disabled=0",
			"%s is Y, but io_uring_setup: %s", path, strerror(-r));
	else
		ward_check_say(
			c, WARD_CHECK_OK, NULL, "%s is Y, and wardfs could make a ring", path);
}
