/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for file systems that take several spellings for one name: shows a directory as one of
 * Windows would. Letters of both cases are one, dots and blanks at the end of a name do not count,
 * a composed é is an e with an accent, and LONGNA~1 is the first name that begins with its first
 * letters. Kinds: `fold`, `form` (the accent alone), `exact` (nothing of it: the control).
 *
 *     foldfs KIND DIRECTORY MOUNTPOINT
 *
 * Serves until it is unmounted, on one thread, as root. After SIGUSR1 it takes every request and
 * answers none, as a network file system does whose server is gone: a process that asks cannot even
 * be killed before this program is. It says `silent` on standard output.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <fuse_lowlevel.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { EXACT, FORM, FOLD };

static struct {
	enum kind kind;
	char dir[PATH_MAX];
	int dev; /* of the connection */
} state;

static void fall_silent(int sig)
{
	static char request[1 << 21];

	(void)!write(1, "silent\n", 7);
	while (sig && (read(state.dev, request, sizeof(request)) >= 0 || errno != ENODEV))
		;
	_exit(0);
}

/* The name as it is compared. */
static void plain(const char *name, char ret[NAME_MAX + 1])
{
	size_t n = 0;

	for (size_t i = 0; name[i] && n < NAME_MAX; i++) {
		if (state.kind >= FORM && !strncmp(name + i, "\xc3\xa9", 2)) {
			n += (size_t)snprintf(ret + n, NAME_MAX + 1 - n, "e\xcc\x81");
			i++;
			continue;
		}
		ret[n++] = name[i];
	}
	while (state.kind == FOLD && n && (ret[n - 1] == '.' || ret[n - 1] == ' '))
		n--;
	ret[n] = 0;
}

static int same(const char *stored, const char *asked)
{
	char a[NAME_MAX + 1], b[NAME_MAX + 1];
	const char *tilde = strchr(asked, '~');

	plain(stored, a);
	plain(asked, b);
	if (state.kind != FOLD)
		return !strcmp(a, b);
	return !strcasecmp(a, b) ||
	       (tilde && tilde > asked && !strcmp(tilde, "~1") && strlen(stored) > 8 &&
		       !strncasecmp(stored, asked, (size_t)(tilde - asked)));
}

/* Appends the name as it is stored, or else as it was asked for. */
static void add_name(char path[PATH_MAX], const char *name)
{
	DIR *d = opendir(path);
	const struct dirent *e;
	char found[NAME_MAX + 1];
	size_t n = strlen(path);

	snprintf(found, sizeof(found), "%s", name);
	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
			same(e->d_name, name)) {
			snprintf(found, sizeof(found), "%s", e->d_name);
			break;
		}
	if (d)
		closedir(d);
	snprintf(path + n, PATH_MAX - n, "/%s", found);
}

static const char *at(const char *path, char ret[PATH_MAX])
{
	char names[PATH_MAX], *save = NULL;

	snprintf(ret, PATH_MAX, "%s", state.dir);
	snprintf(names, sizeof(names), "%s", path);
	for (char *n = strtok_r(names, "/", &save); n; n = strtok_r(NULL, "/", &save))
		add_name(ret, n);
	return ret;
}

static int answer(int r)
{
	return r < 0 ? -errno : 0;
}

/* Files that root made belong to the caller. */
static int made(const char *path, int r)
{
	const struct fuse_context *c = fuse_get_context();

	return r < 0 ? -errno : answer(lchown(path, c->uid, c->gid));
}

static void *do_init(struct fuse_conn_info *conn, struct fuse_config *config)
{
	const struct sigaction sa = {.sa_handler = fall_silent};

	(void)conn;
	state.dev = fuse_session_fd(fuse_get_session(fuse_get_context()->fuse));
	sigaction(SIGUSR1, &sa, NULL);
	config->use_ino = 1;
	config->entry_timeout = config->attr_timeout = config->negative_timeout = 0;
	return NULL;
}

static int do_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	char p[PATH_MAX];

	(void)fi;
	return answer(lstat(at(path, p), st));
}

static int do_readdir(const char *path, void *buf, fuse_fill_dir_t fill, off_t off,
	struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	char p[PATH_MAX];
	DIR *d = opendir(at(path, p));
	const struct dirent *e;

	(void)off;
	(void)fi;
	(void)flags;
	if (!d)
		return -errno;
	while ((e = readdir(d)))
		fill(buf, e->d_name, NULL, 0, 0);
	closedir(d);
	return 0;
}

static int do_open(const char *path, struct fuse_file_info *fi)
{
	char p[PATH_MAX];
	int fd = open(at(path, p), (fi->flags & ~(O_APPEND | O_NOFOLLOW)) | O_CLOEXEC);

	fi->fh = (uint64_t)fd;
	return answer(fd);
}

static int do_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	char p[PATH_MAX];
	int fd = open(at(path, p), (fi->flags & ~O_APPEND) | O_CREAT | O_CLOEXEC, mode);

	fi->fh = (uint64_t)fd;
	return made(p, fd);
}

static int do_read(const char *path, char *buf, size_t n, off_t off, struct fuse_file_info *fi)
{
	ssize_t r = pread((int)fi->fh, buf, n, off);

	(void)path;
	return r < 0 ? -errno : (int)r;
}

static int do_write(
	const char *path, const char *buf, size_t n, off_t off, struct fuse_file_info *fi)
{
	ssize_t r = pwrite((int)fi->fh, buf, n, off);

	(void)path;
	return r < 0 ? -errno : (int)r;
}

static int do_release(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	return answer(close((int)fi->fh));
}

static int do_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
	char p[PATH_MAX];

	(void)fi;
	return answer(truncate(at(path, p), size));
}

static int do_mkdir(const char *path, mode_t mode)
{
	char p[PATH_MAX];

	return made(p, mkdir(at(path, p), mode));
}

static int do_unlink(const char *path)
{
	char p[PATH_MAX];

	return answer(unlink(at(path, p)));
}

static int do_rmdir(const char *path)
{
	char p[PATH_MAX];

	return answer(rmdir(at(path, p)));
}

static int do_rename(const char *from, const char *to, unsigned flags)
{
	char p[PATH_MAX], q[PATH_MAX];

	return answer(renameat2(AT_FDCWD, at(from, p), AT_FDCWD, at(to, q), flags));
}

static int do_link(const char *from, const char *to)
{
	char p[PATH_MAX], q[PATH_MAX];

	return answer(link(at(from, p), at(to, q)));
}

static int do_symlink(const char *target, const char *path)
{
	char p[PATH_MAX];

	return made(p, symlink(target, at(path, p)));
}

static int do_readlink(const char *path, char *buf, size_t size)
{
	char p[PATH_MAX];
	ssize_t n = readlink(at(path, p), buf, size - 1);

	if (n < 0)
		return -errno;
	buf[n] = 0;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct fuse_operations ops = {
		.init = do_init,
		.getattr = do_getattr,
		.readdir = do_readdir,
		.open = do_open,
		.create = do_create,
		.read = do_read,
		.write = do_write,
		.release = do_release,
		.truncate = do_truncate,
		.mkdir = do_mkdir,
		.unlink = do_unlink,
		.rmdir = do_rmdir,
		.rename = do_rename,
		.link = do_link,
		.symlink = do_symlink,
		.readlink = do_readlink,
	};
	char foreground[] = "-f", one_thread[] = "-s", option[] = "-o",
	     options[] = "allow_other,default_permissions,fsname=foldfs";

	if (argc != 4) {
		fputs("foldfs KIND DIRECTORY MOUNTPOINT\n", stderr);
		return 2;
	}
	state.kind = !strcmp(argv[1], "fold") ? FOLD : !strcmp(argv[1], "form") ? FORM : EXACT;
	snprintf(state.dir, sizeof(state.dir), "%s", argv[2]);
	umask(0);
	char *args[] = {argv[0], foreground, one_thread, option, options, argv[3], NULL};
	return fuse_main(6, args, &ops, NULL);
}
