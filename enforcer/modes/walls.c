/* SPDX-License-Identifier: Apache-2.0 */
/* The walls that every mode stands in: a sandbox with the layers of the mode's row. */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/kernel.h"
#include "enforcer/modes/operations.h"

/* namespaces(7): each kind that the kernel has is a file there. */
#define NAMESPACES "/proc/self/ns"

static int check_namespaces(uint32_t layers, struct ward_err *err)
{
	static const struct {
		const char *name, *option;
		uint32_t layer; /* 0: of every sandbox */
	} kinds[] = {{"user", "CONFIG_USER_NS", 0}, {"mnt", "CONFIG_NAMESPACES", 0},
		{"pid", "CONFIG_PID_NS", WARD_LAYER_PID}, {"net", "CONFIG_NET_NS", WARD_LAYER_NET},
		{"ipc", "CONFIG_IPC_NS", WARD_LAYER_HOST},
		{"uts", "CONFIG_UTS_NS", WARD_LAYER_HOST},
		{"cgroup", "CONFIG_CGROUPS", WARD_LAYER_HOST}};
	struct stat st;
	if (stat(NAMESPACES, &st) < 0)
		return ward_err_set(
			err, -ENOTSUP, "cannot look at " NAMESPACES "; fix: mount /proc");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char path[64];
		if (kinds[i].layer && !(layers & kinds[i].layer))
			continue;
		snprintf(path, sizeof(path), NAMESPACES "/%s", kinds[i].name);
		if (lstat(path, &st) < 0)
			return ward_err_set(err, -ENOTSUP,
				"this kernel has no %s namespaces; fix: a kernel with %s",
				kinds[i].name, kinds[i].option);
	}
	return 0;
}

/* seccomp(2): which answers a filter may give. Another error than these says nothing. */
static int check_filters(struct ward_err *err)
{
	const uint32_t action = SECCOMP_RET_ERRNO;
	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0 ||
		(errno != ENOSYS && errno != EINVAL && errno != EOPNOTSUPP))
		return 0;
	return ward_err_set(err, -ENOTSUP,
		"this kernel has no filters of system calls; fix: a kernel with "
		"CONFIG_SECCOMP_FILTER");
}

int ward_walls_usable(const struct ward_mode *m, struct ward_err *err)
{
	int r = ward_kernel_check(err);
	if (r == 0)
		r = check_namespaces(m->layers, err);
	if (r == 0 && m->layers & WARD_LAYER_SECCOMP)
		r = check_filters(err);
	return r;
}

int ward_walls_prepare(
	struct ward_confined *c, struct ward_sandbox_spec *spec, struct ward_err *err)
{
	(void)c;
	(void)spec;
	(void)err;
	return 0;
}

int ward_walls_begin(
	struct ward_confined *c, const struct ward_sandbox_spec *spec, struct ward_err *err)
{
	return ward_sandbox_begin(spec, &c->sandbox, err);
}

int ward_walls_reach(struct ward_confined *c, enum ward_stage stage, struct ward_err *err)
{
	switch (stage) {
	case WARD_STAGE_STAGED:
		return ward_sandbox_staged(c->sandbox, err);
	case WARD_STAGE_MAPPED:
		return ward_sandbox_mapped(c->sandbox, err);
	case WARD_STAGE_READY:
		return ward_sandbox_ready(c->sandbox, err);
	}
	return ward_err_set(err, -EINVAL, "no such stage");
}

int ward_walls_probe(struct ward_confined *c, struct ward_probe_result ret[WARD_PROBE_COUNT_],
	enum ward_probe_verdict ret_verdicts[WARD_PROBE_COUNT_], struct ward_err *err)
{
	return ward_sandbox_probe(c->sandbox, ret, ret_verdicts, err);
}

int ward_walls_start(struct ward_confined *c, struct ward_err *err)
{
	return ward_sandbox_start(c->sandbox, err);
}

int ward_walls_next(struct ward_confined *c, struct ward_sandbox_event *ret)
{
	return ward_sandbox_next(c->sandbox, ret);
}

int ward_walls_exec(struct ward_confined *c, uint32_t id, const struct ward_sandbox_exec *e,
	struct ward_err *err)
{
	return ward_sandbox_exec(c->sandbox, id, e, err);
}

int ward_walls_signal(struct ward_confined *c, uint32_t id, int sig)
{
	return id ? ward_sandbox_exec_signal(c->sandbox, id, sig)
		  : ward_sandbox_signal(c->sandbox, sig);
}

void ward_walls_stop(struct ward_confined *c)
{
	ward_sandbox_kill(c->sandbox);
}

void ward_walls_free(struct ward_confined *c)
{
	ward_sandbox_free(c->sandbox);
	c->sandbox = NULL;
}
