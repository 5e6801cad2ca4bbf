/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the memory of a process that executes something, but for pages that would have to be
 * fetched. */
#include "enforcer/session/run/exec_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/run/exec_path.h"

/* Memory is read up to the next boundary: what lies behind may not be there. */
#define PAGE 4096U
/* Documentation/admin-guide/mm/pagemap.rst: present, or swapped out. */
#define PAGE_THERE (3ULL << 62)

void ward_exec_memory_open(struct ward_exec_memory *m, const struct ward_run_plan *plan, pid_t tid)
{
	char name[64];
	*m = (struct ward_exec_memory){.tid = tid, .plan = plan, .pagemap = -1, .mem = -1};
	if (plan->settings->log != WARD_LOG_IO)
		return;
	snprintf(name, sizeof(name), "/proc/%d/pagemap", (int)tid);
	m->pagemap = open(name, O_RDONLY | O_CLOEXEC);
}

void ward_exec_memory_close(struct ward_exec_memory *m)
{
	if (m->pagemap >= 0)
		close(m->pagemap);
	if (m->mem >= 0)
		close(m->mem);
	m->pagemap = m->mem = -1;
}

/* Is a file of a tree mapped at addr? proc(5), /proc/PID/maps. True where that is unknown. */
static bool of_tree(const struct ward_exec_memory *m, uint64_t addr)
{
	char name[64];
	ward_cleanup_free char *line = NULL;
	size_t size = 0;
	bool is = false;
	snprintf(name, sizeof(name), "/proc/%d/maps", (int)m->tid);
	FILE *f = fopen(name, "re");
	if (!f)
		return true;
	while (getline(&line, &size, f) > 0) {
		uint64_t from = 0, to = 0;
		int path = 0;
		if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &from, &to, &path) != 2)
			continue;
		if (addr < from || addr >= to)
			continue;
		is = path > 0 && line[path] == '/' && ward_exec_path_in_tree(m->plan, line + path);
		break;
	}
	fclose(f);
	return is;
}

/* May the page at addr be read without somebody having to fetch it for us? */
static bool there(const struct ward_exec_memory *m, uint64_t addr)
{
	uint64_t entry = 0;
	const uint64_t page = addr / (uint64_t)sysconf(_SC_PAGESIZE);
	if (m->plan->settings->log != WARD_LOG_IO)
		return true;
	return (pread(m->pagemap, &entry, sizeof(entry), (off_t)(page * sizeof(entry))) ==
			       (ssize_t)sizeof(entry) &&
		       entry & PAGE_THERE) ||
	       !of_tree(m, addr);
}

/*
 * execve(2) reads what is mapped for writing or for execution alone, process_vm_readv(2) does not.
 * /proc/PID/mem does, as debuggers need it (proc_mem.force_override= of the kernel's command line).
 */
static ssize_t read_some(struct ward_exec_memory *m, uint64_t addr, void *to, size_t len)
{
	char name[64];
	struct iovec local = {to, len};
	struct iovec remote = {(void *)(uintptr_t)addr, len};
	ssize_t r = process_vm_readv(m->tid, &local, 1, &remote, 1, 0);
	if (r > 0)
		return r;
	m->closed = errno == EPERM;
	if (m->mem < 0) {
		snprintf(name, sizeof(name), "/proc/%d/mem", (int)m->tid);
		m->mem = open(name, O_RDONLY | O_CLOEXEC);
	}
	return m->mem < 0 ? -1 : pread(m->mem, to, len, (off_t)addr);
}

size_t ward_exec_memory_read(struct ward_exec_memory *m, uint64_t addr, void *to, size_t len)
{
	size_t have = 0;
	while (have < len) {
		size_t n = PAGE - (size_t)((addr + have) % PAGE);
		n = n < len - have ? n : len - have;
		if (!there(m, addr + have)) {
			m->left = true;
			break;
		}
		ssize_t r = read_some(m, addr + have, (char *)to + have, n);
		if (r <= 0)
			break;
		have += (size_t)r;
	}
	return have;
}

size_t ward_exec_memory_string(
	struct ward_exec_memory *m, uint64_t addr, char *to, size_t size, size_t *ret_have)
{
	size_t have = 0;
	while (have < size) {
		/* Most are short: not a whole page for each. */
		size_t n = 256 - (size_t)((addr + have) % 256);
		n = n < size - have ? n : size - have;
		size_t got = ward_exec_memory_read(m, addr + have, to + have, n);
		const char *end = memchr(to + have, '\0', got);
		have += got;
		if (end) {
			*ret_have = (size_t)(end - to) + 1;
			return *ret_have;
		}
		if (got < n)
			break;
	}
	*ret_have = have;
	return 0;
}
