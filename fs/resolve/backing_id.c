/* SPDX-License-Identifier: Apache-2.0 */
/* Gets backing ids: from the kernel as root, else from wardfs-hostd. */
#include "fs/resolve/backing_id.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "fs/kernel/host_ids.h"
#include "fs/kernel/passthrough.h"
#include "fs/resolve/resolve_node.h"

/* What is smaller is read by one request, which costs less than registering it. */
#define READ_MIN ((off_t)256 << 10)

/* As root: the kernel asks for no more than a descriptor, and keeps it until FORGET. */
static int by_root(struct ward_fs_tree *tree, struct ward_node *node, int fd, int acc, int32_t *ret)
{
	ward_cleanup_fd int path_fd = -1;
	struct ward_file file;

	/* One that may write would make the file "busy" for execve. */
	if (acc != O_RDONLY) {
		if (ward_resolve_open(tree, node, O_PATH, &path_fd, &file) < 0)
			return -ENOENT;
		fd = path_fd;
	}
	return ward_passthrough_open(tree, fd, -1, ret);
}

/*
 * By wardfs-hostd, which wants a descriptor for reading and writing. A file that is executed by
 * others cannot be opened so, and while it is open so nobody can execute it: those with an exec bit
 * are left alone unless they are written to anyway.
 */
static int by_host(struct ward_fs_tree *tree, struct ward_node *node, int fd, int acc,
	bool *ret_reads, int32_t *ret)
{
	ward_cleanup_fd int both = -1;
	struct ward_file file;
	struct stat st;
	int r;

	if (acc == O_RDWR && !(fcntl(fd, F_GETFL) & O_APPEND))
		return ward_passthrough_open(tree, fd, -1, ret);
	if (fstat(fd, &st) < 0)
		return -errno;
	if (acc == O_RDONLY && (st.st_size < READ_MIN || st.st_mode & 0111))
		return -ENOENT;
	r = ward_resolve_open(tree, node, O_RDWR, &both, &file);
	if (r == 0)
		return ward_passthrough_open(tree, both, -1, ret);
	/* Its owner could make it writable, and open it so, while others read it. */
	if (acc != O_RDONLY || st.st_uid == geteuid() ||
		(r != -EACCES && r != -EROFS && r != -EPERM))
		return -ENOENT;
	r = ward_passthrough_open(tree, fd, tree->root_fd, ret);
	*ret_reads = r == 0;
	return r;
}

/* The id of the node that is there already; 0: none. One that is no good any more goes into
 * *ret_old. */
static int32_t known(struct ward_fs_tree *tree, struct ward_node *node, int acc, int32_t *ret_old)
{
	int32_t id;

	pthread_mutex_lock(&tree->nodes->lock);
	id = node->backing_id;
	if (id > 0 && node->id_reads && acc != O_RDONLY) {
		if (node->n_pass) {
			id = -ETXTBSY;
		} else {
			*ret_old = id;
			node->backing_id = id = 0;
			node->id_reads = false;
		}
	}
	pthread_mutex_unlock(&tree->nodes->lock);
	return id;
}

int32_t ward_backing_id(struct ward_fs_tree *tree, struct ward_node *node, int fd, int acc)
{
	int32_t id = 0, old = 0, there = known(tree, node, acc, &old);
	bool reads = false;
	int r;

	if (old)
		ward_passthrough_close(tree, old);
	if (there)
		return there;
	r = tree->fs->host ? by_host(tree, node, fd, acc, &reads, &id)
			   : by_root(tree, node, fd, acc, &id);
	if (r < 0) {
		/* Not for this process or this backing: the page cache serves as well. */
		if ((r == -EPERM && !tree->fs->host) || r == -EPIPE || r == -ELOOP ||
			r == -EOPNOTSUPP || r == -ENOTTY)
			tree->passthrough = false;
		return 0;
	}
	pthread_mutex_lock(&tree->nodes->lock);
	there = node->backing_id;
	if (!there) {
		node->backing_id = id;
		node->id_reads = reads;
	} else if (node->id_reads && acc != O_RDONLY) {
		there = -ETXTBSY;
	}
	pthread_mutex_unlock(&tree->nodes->lock);
	if (!there)
		return id;
	ward_passthrough_close(tree, id);
	return there;
}
