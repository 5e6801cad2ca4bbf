/* SPDX-License-Identifier: Apache-2.0 */
/* Confines the writer: what it does beyond a loop over sockets. */
#include "audit/write/audit_confine.h"

#include <seccomp.h>

#include "enforcer/ipc/cage.h"

int ward_audit_confine(struct ward_err *err)
{
	/* On the log and the ledger, which are open. */
	static const int own[] = {SCMP_SYS(pread64), SCMP_SYS(pwrite64), SCMP_SYS(fdatasync),
		SCMP_SYS(fremovexattr), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(lseek),
		SCMP_SYS(ftruncate), SCMP_SYS(fallocate), SCMP_SYS(flock)};
	return ward_cage(own, sizeof(own) / sizeof(*own), err);
}
