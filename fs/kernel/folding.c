/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a backing whether it takes two spellings for one name. */
#include "fs/kernel/folding.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/policy.h"
#include "fs/kernel/backing.h"

/* Names that are looked at for one to ask about, and asked about. */
#define NAMES_MAX 512U
#define ASKED_MAX 8U

/* f_type of file systems that linux/magic.h does not have. */
#define MSDOS 0x4d44U
#define EXFAT 0x2011BAB0U
#define NTFS 0x5346544eU
#define NTFS3 0x7366746eU
#define SMB 0x517BU
#define CIFS 0xFF534D42U
#define SMB2 0xfe534d42U
#define V9FS 0x01021997U
#define VBOXSF 0x786f4256U
#define VMHGFS 0xbacbacbcU
#define PRL_FS 0x7c7c6673U
#define FUSE 0x65735546U
#define HFS 0x4244U
#define HFSPLUS 0x482bU
#define AFFS 0xadffU
#define ADFS 0xadf5U
#define HPFS 0xf995e849U
#define BCACHEFS 0xca451a4eU

/* XFS_IOC_FSGEOMETRY_V1 (xfs_fs.h); only its flags are read; `mkfs.xfs -n version=ci`. */
struct xfs_geometry {
	uint32_t sizes[8];
	uint64_t blocks[4];
	uint8_t uuid[16];
	uint32_t sunit, swidth;
	int32_t version;
	uint32_t flags;
	uint32_t sector, rt_sector, dir_block;
};
_Static_assert(sizeof(struct xfs_geometry) == 112 && offsetof(struct xfs_geometry, flags) == 92,
	"as the kernel has it");
#define XFS_GEOMETRY _IOR('X', 100, struct xfs_geometry)
#define XFS_GEOMETRY_CI (1U << 12)

/* Accented letters of Latin-1: the composed form, and the letter and accent that it is made of. */
static const struct {
	const char *composed, *apart;
} forms[] = {
	{"\xc3\xa0", "a\xcc\x80"},
	{"\xc3\xa1", "a\xcc\x81"},
	{"\xc3\xa2", "a\xcc\x82"},
	{"\xc3\xa4", "a\xcc\x88"},
	{"\xc3\xa5", "a\xcc\x8a"},
	{"\xc3\xa7", "c\xcc\xa7"},
	{"\xc3\xa8", "e\xcc\x80"},
	{"\xc3\xa9", "e\xcc\x81"},
	{"\xc3\xaa", "e\xcc\x82"},
	{"\xc3\xab", "e\xcc\x88"},
	{"\xc3\xad", "i\xcc\x81"},
	{"\xc3\xb1", "n\xcc\x83"},
	{"\xc3\xb3", "o\xcc\x81"},
	{"\xc3\xb6", "o\xcc\x88"},
	{"\xc3\xba", "u\xcc\x81"},
	{"\xc3\xbc", "u\xcc\x88"},
	{"\xc3\x84", "A\xcc\x88"},
	{"\xc3\x89", "E\xcc\x81"},
	{"\xc3\x96", "O\xcc\x88"},
	{"\xc3\x9c", "U\xcc\x88"},
};

enum folding {
	FOLDING_UNKNOWN = 0, /* there is no name to ask about, or it cannot be read */
	FOLDING_NO,
	FOLDING_YES,
};

/* Two spellings of one name. */
struct spellings {
	char one[NAME_MAX + 1], other[NAME_MAX + 1];
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The name with letters of the other case; false: it has none. */
static bool swap_case(const char *name, char ret[NAME_MAX + 1])
{
	bool any = false;
	size_t i;

	for (i = 0; name[i]; i++) {
		ret[i] = is_letter(name[i]) ? (char)(name[i] ^ 0x20) : name[i];
		any = any || is_letter(name[i]);
	}
	ret[i] = 0;
	return any;
}

/* The name with its first accented letter in the other form; false: it has none, or is too long. */
static bool swap_form(const char *name, char ret[NAME_MAX + 1])
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		const char *from = forms[i].composed, *to = forms[i].apart;
		const char *at = strstr(name, from);
		int n;

		if (!at) {
			from = forms[i].apart;
			to = forms[i].composed;
			at = strstr(name, from);
		}
		if (!at)
			continue;
		n = snprintf(ret, NAME_MAX + 1, "%.*s%s%s", (int)(at - name), name, to,
			at + strlen(from));
		return n > 0 && n <= NAME_MAX;
	}
	return false;
}

static int look(int dirfd, const char *name, struct statx *ret)
{
	return statx(dirfd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_INO | STATX_TYPE,
		       ret) < 0
		       ? -errno
		       : 0;
}

/* Do both spellings lead to one file, and is the other no name of its own (a hard link)? */
static enum folding ask_both(int dirfd, const char *name, const char *other)
{
	struct statx a, b;
	int r = look(dirfd, name, &a);

	if (r < 0)
		return FOLDING_UNKNOWN;
	r = look(dirfd, other, &b);
	if (r == -ENOENT || r == -EILSEQ || r == -EINVAL)
		return FOLDING_NO;
	if (r < 0)
		return FOLDING_UNKNOWN;
	if (a.stx_ino != b.stx_ino || a.stx_dev_major != b.stx_dev_major ||
		a.stx_dev_minor != b.stx_dev_minor)
		return FOLDING_NO;
	/* Both in the list: two names of one file, which are kept apart. */
	r = ward_folding_listed(dirfd, other);
	return r == 0 ? FOLDING_YES : r == 1 ? FOLDING_NO : FOLDING_UNKNOWN;
}

static DIR *open_list(int dirfd)
{
	ward_cleanup_fd int fd = -1;
	DIR *d;

	if (ward_backing_open(dirfd, "", O_RDONLY | O_DIRECTORY, 0, &fd) < 0)
		return NULL;
	d = fdopendir(fd);
	if (d)
		(void)ward_steal_fd(&fd);
	return d;
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

int ward_folding_listed(int fd, const char *name)
{
	DIR *d = open_list(fd);
	const struct dirent *e;
	int r = 0;

	if (!d)
		return -EACCES;
	errno = 0;
	while (r == 0 && (e = readdir(d)))
		r = !strcmp(e->d_name, name);
	if (r == 0)
		r = -errno;
	(void)closedir(d);
	return r;
}

static enum folding ask_name(int fd, const char *name, struct spellings *ret)
{
	bool (*const swaps[])(const char *, char *) = {swap_case, swap_form};
	enum folding answer = FOLDING_UNKNOWN;

	for (size_t i = 0; i < sizeof(swaps) / sizeof(*swaps); i++) {
		char other[NAME_MAX + 1];
		enum folding one = FOLDING_UNKNOWN;

		if (swaps[i](name, other))
			one = ask_both(fd, name, other);
		if (one == FOLDING_YES && ret) {
			(void)snprintf(ret->one, sizeof(ret->one), "%s", name);
			(void)snprintf(ret->other, sizeof(ret->other), "%s", other);
		}
		if (one > answer)
			answer = one;
	}
	return answer;
}

/*
 * Takes names of the directory that have a letter, and looks whether the same file answers to the
 * other case; names with an accented letter, whether it answers to the other Unicode form. *ret (it
 * may be NULL) is filled for YES.
 */
static enum folding ask(int fd, struct spellings *ret)
{
	enum folding answer = FOLDING_UNKNOWN;
	DIR *d = open_list(fd);
	const struct dirent *e;
	unsigned asked = 0;

	if (!d)
		return answer;
	for (unsigned n = 0; n < NAMES_MAX && asked < ASKED_MAX && (e = readdir(d)); n++) {
		char other[NAME_MAX + 1];
		enum folding one;

		/* One answer about the case is enough: then only names with accents. */
		if (is_dots(e->d_name) ||
			(answer != FOLDING_UNKNOWN && !swap_form(e->d_name, other)))
			continue;
		one = ask_name(fd, e->d_name, ret);
		asked += one != FOLDING_UNKNOWN;
		if (one > answer)
			answer = one;
		if (answer == FOLDING_YES)
			break;
	}
	(void)closedir(d);
	return answer;
}

/* Of an empty directory: its own name in the one above it, if that is of the same file system. */
static enum folding ask_above(int root_fd, struct spellings *ret)
{
	char link[WARD_BACKING_FD_PATH_MAX], path[PATH_MAX];
	struct stat st, above;
	ward_cleanup_fd int fd = openat(root_fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *slash;
	ssize_t n;

	ward_backing_fd_path(root_fd, link);
	n = readlink(link, path, sizeof(path) - 1);
	if (fd < 0 || n <= 0 || fstat(root_fd, &st) < 0 || fstat(fd, &above) < 0 ||
		st.st_dev != above.st_dev)
		return FOLDING_UNKNOWN;
	path[n] = 0;
	slash = strrchr(path, '/');
	if (!slash || strlen(slash + 1) > NAME_MAX)
		return FOLDING_UNKNOWN;
	return ask_name(fd, slash + 1, ret);
}

/*
 * May: whether it does, its options or the host that serves it say (ZFS, NFS, JFS, ISO 9660), or
 * nobody here knows it. Where: may, directory by directory. Always: folds or has short names
 * whatever a look says. Never: but for directories whose flags tell, or, on XFS, the whole.
 */
enum habit { HABIT_MAY = 0, HABIT_WHERE, HABIT_ALWAYS, HABIT_NEVER };

static bool is_one_of(uint32_t type, const uint32_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (type == list[i])
			return true;
	return false;
}

static enum habit habit_of(uint32_t type)
{
	static const uint32_t where[] = {
		NTFS, NTFS3, SMB, CIFS, SMB2, V9FS, VBOXSF, VMHGFS, PRL_FS, FUSE, HFS, HFSPLUS};

	static const uint32_t always[] = {MSDOS, EXFAT, AFFS, ADFS, HPFS};
	static const uint32_t never[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
		F2FS_SUPER_MAGIC, BCACHEFS, TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC, SQUASHFS_MAGIC,
		EROFS_SUPER_MAGIC_V1};

	if (is_one_of(type, always, sizeof(always) / sizeof(*always)))
		return HABIT_ALWAYS;
	if (is_one_of(type, where, sizeof(where) / sizeof(*where)))
		return HABIT_WHERE;
	return is_one_of(type, never, sizeof(never) / sizeof(*never)) ? HABIT_NEVER : HABIT_MAY;
}

/* XFS says so itself, to a caller that may list its directory. */
static enum folding ask_xfs(int root_fd)
{
	struct xfs_geometry geometry = {.flags = 0};
	ward_cleanup_fd int fd = -1;

	if (ward_backing_open(root_fd, "", O_RDONLY | O_DIRECTORY, 0, &fd) < 0 ||
		ioctl(fd, XFS_GEOMETRY, &geometry) < 0)
		return FOLDING_UNKNOWN;
	return geometry.flags & XFS_GEOMETRY_CI ? FOLDING_YES : FOLDING_NO;
}

/*
 * Of the root of a tree, by statfs f_type where asking is not enough: file systems that always
 * fold, and those that may where nothing can be asked: an empty directory. *ret_each: directories
 * further down may differ.
 */
static enum folding ask_root(int root_fd, uint32_t type, struct spellings *ret, bool *ret_each)
{
	const enum habit habit = habit_of(type);
	enum folding answer;

	*ret = (struct spellings){.one = "a.txt", .other = "A.TXT"};
	*ret_each = habit == HABIT_WHERE;
	if (habit == HABIT_ALWAYS)
		return FOLDING_YES;
	answer = type == XFS_SUPER_MAGIC ? ask_xfs(root_fd) : FOLDING_UNKNOWN;
	if (answer == FOLDING_UNKNOWN)
		answer = ask(root_fd, ret);
	if (answer == FOLDING_UNKNOWN)
		answer = ask_above(root_fd, ret);
	if (answer == FOLDING_UNKNOWN)
		answer = habit == HABIT_NEVER && type != XFS_SUPER_MAGIC ? FOLDING_NO : FOLDING_YES;
	return answer;
}

int ward_folding_check(const struct ward_fs_tree *tree, int dirfd)
{
	ward_cleanup_fd int fd = -1;
	int attrs = 0;
	int r;

	/* There names are looked at one by one (gate/spelling.h). */
	if (tree->folds)
		return 0;
	if (tree->folds_each && ask(dirfd, NULL) == FOLDING_YES)
		return -EOPNOTSUPP;
	if (!tree->fs->casefold)
		return 0;
	r = ward_backing_open(dirfd, "", O_RDONLY | O_DIRECTORY, 0, &fd);
	if (r < 0)
		return r == -EACCES ? 0 : r; /* unreadable: its names cannot be listed either */
	if (ioctl(fd, FS_IOC_GETFLAGS, &attrs) < 0)
		return 0; /* a file system without such flags */
	return attrs & FS_CASEFOLD_FL ? -EOPNOTSUPP : 0;
}

int ward_folding_root(struct ward_fs_tree *tree, struct ward_err *err)
{
	const bool fold = ward_policy_folds(tree->fs->policy);
	struct spellings names;
	int r = ward_folding_check(tree, tree->root_fd);

	if (r == -EOPNOTSUPP && !fold)
		return ward_err_set(err, r,
			"%s: wardfs cannot guard a casefolded directory: it treats a.txt and A.TXT as one name; another spelling would bypass rules of the policy; fix: [guard] fold = yes",
			tree->path);
	if (r < 0 && r != -EOPNOTSUPP)
		return ward_err_sys(err, r, "%s: is its case folded?", tree->path);
	tree->folds = r < 0;
	if (tree->folds ||
		ask_root(tree->root_fd, tree->type, &names, &tree->folds_each) != FOLDING_YES)
		return 0;
	tree->folds = true;
	return fold ? 0
		    : ward_err_set(err, -EOPNOTSUPP,
			      "the file system of %s treats %s and %s as one name; another spelling would bypass rules of the policy; fix: [guard] fold = yes",
			      tree->path, names.one, names.other);
}
