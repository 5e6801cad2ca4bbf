/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs doctor: what kind of host this is, and what such hosts do to user namespaces. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/cli/doctor/doctor.h"
#include "enforcer/session/guard/helper.h"

/* Of the small files of /proc, /run and /etc that are read here. */
#define FILE_MAX ((size_t)1 << 20)

/* The file's text, "" where it cannot be read. */
static const char *text_of(const char *path, struct ward_buf *b)
{
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || ward_fd_read_all(fd, FILE_MAX, b) < 0)
		ward_buf_clear(b);
	return ward_buf_str(b);
}

static bool exists(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0;
}

/* The name that systemd, podman, LXC and nspawn give to a container, as container_interface(7)
 * says. */
static bool named_container(char *ret, size_t size)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const char *name = text_of("/run/systemd/container", &b);
	const char *told = getenv("container");
	if (!*name && told)
		name = told;
	size_t n = 0;
	for (; name[n] && n + 1 < size && (isalnum((unsigned char)name[n]) || name[n] == '-'); n++)
		ret[n] = name[n];
	ret[n] = '\0';
	return n > 0;
}

static bool is_wsl(void)
{
	struct utsname u;
	return uname(&u) == 0 && (strstr(u.release, "icrosoft") || strstr(u.release, "WSL"));
}

void ward_check_host(struct ward_check *c)
{
	char name[64];
	if (getenv("REMOTE_CONTAINERS") || getenv("DEVCONTAINER") || getenv("CODESPACES"))
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"a devcontainer; if a line below says missing: it needs the runArgs that `wardfs init --devcontainer` writes: --device=/dev/fuse, a list of system calls, systempaths=unconfined");
	else if (exists("/.dockerenv"))
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"a docker container; if a line below says missing: docker run --device /dev/fuse --security-opt seccomp=unconfined --security-opt systempaths=unconfined");
	else if (exists("/run/.containerenv"))
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"a podman container; if a line below says missing: podman run --device /dev/fuse --security-opt unmask=ALL");
	else if (named_container(name, sizeof(name)))
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"a container (%s); if a line below says missing, give the container /dev/fuse and user namespaces",
			name);
	else if (is_wsl())
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"WSL 2; keep projects in the file system of Linux, not beneath /mnt");
	else
		ward_check_say(c, WARD_CHECK_OK, NULL, "no known container");
}

static void profile_missing(struct ward_check *c, const char *setting)
{
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup_free char *profile = NULL;
	const char *fix = c->own_fix;
	if (ward_helper_data("apparmor/wardfs", &profile, &err) < 0 ||
		snprintf(c->own_fix, sizeof(c->own_fix),
			"as root: install -m 644 %s /etc/apparmor.d/wardfs && "
			"apparmor_parser -r /etc/apparmor.d/wardfs",
			profile) >= (int)sizeof(c->own_fix))
		fix = "load the AppArmor profile that is installed with wardfs";
	ward_check_say(c, WARD_CHECK_UNUSABLE, fix,
		"%s is 1, and the profile wardfs is not in force", setting);
}

void ward_check_apparmor(struct ward_check *c)
{
	const char *path = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf current = WARD_BUF_INIT;
	if (text_of(path, &b)[0] != '1') {
		ward_check_say(c, WARD_CHECK_OK, NULL, "it does not restrict user namespaces");
		return;
	}
	const char *profile = text_of("/proc/self/attr/apparmor/current", &current);
	if (geteuid() == 0)
		ward_check_say(c, WARD_CHECK_OK, NULL, "it restricts ordinary users, not root");
	else if (strncmp(profile, "wardfs", 6) == 0)
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"it restricts ordinary users, but the profile wardfs permits wardfs");
	else
		profile_missing(c, path);
}

/* A line of subuid(5) is NAME-OR-UID:FIRST:COUNT. */
static bool has_range(const char *text, const char *name, uid_t uid)
{
	char id[16];
	snprintf(id, sizeof(id), "%u", uid);
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		size_t n = strcspn(text, ":\n");
		if (text[n] == ':' &&
			((strlen(id) == n && strncmp(text, id, n) == 0) ||
				(name && strlen(name) == n && strncmp(text, name, n) == 0)))
			return true;
	}
	return false;
}

void ward_check_subids(struct ward_check *c)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const struct passwd *pw = getpwuid(geteuid());
	const bool there =
		has_range(text_of("/etc/subuid", &b), pw ? pw->pw_name : NULL, geteuid());
	ward_check_say(c, WARD_CHECK_OK, NULL,
		"%s in /etc/subuid; wardfs needs none: it maps one id, and shows all others as yours",
		there ? "a range" : "no range");
}
