/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs doctor: the writer of the whole host, and what keeps checkpoints of one's own trails. */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "audit/store/store.h"
#include "audit/write/reserve.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/doctor/doctor.h"
#include "enforcer/ipc/system.h"
#include "enforcer/session/guard/anchor.h"
#include "enforcer/session/guard/helper.h"
#include "enforcer/session/guard/system_writer.h"

/* conf/systemd/sysusers.conf */
#define WRITER_USER "wardfs-audit"

void ward_check_audit_writer(struct ward_check *c)
{
	ward_cleanup_free char *program = NULL;
	struct ward_err err = WARD_ERR_INIT;
	struct stat st;
	if (ward_helper_program("wardfs-auditd", &program, &err) < 0)
		ward_check_say(c, WARD_CHECK_OPTIONAL, "install all of wardfs (meson install)",
			"%s", err.text);
	else if (stat(WARD_SYSTEM_SOCKET, &st) < 0 && !getpwnam(WRITER_USER))
		ward_check_say(c, WARD_CHECK_OPTIONAL,
			"if trails must also bind their owners, run as root: systemd-sysusers; systemd-tmpfiles --create; systemctl enable --now wardfs-audit.socket. Until then wardfs refuses [audit] writer = system",
			"wardfs-auditd is installed, but its socket does not exist, nor the user " WRITER_USER);
	else if (stat(WARD_SYSTEM_SOCKET, &st) < 0)
		ward_check_say(c, WARD_CHECK_OPTIONAL,
			"as root: systemctl enable --now wardfs-audit.socket. Until then wardfs refuses [audit] writer = system",
			"%s does not exist", WARD_SYSTEM_SOCKET);
	else if (ward_system_reach(&err) < 0)
		ward_check_say(c, WARD_CHECK_UNUSABLE,
			"as root: systemd-sysusers; systemctl restart wardfs-audit.socket; systemctl status wardfs-audit.service. Until then wardfs refuses [audit] writer = system",
			"%s", err.text);
	else
		ward_check_say(c, WARD_CHECK_OK, NULL, "%s is root's and takes connections",
			WARD_SYSTEM_SOCKET);
}

void ward_check_audit_disk(struct ward_check *c)
{
	ward_cleanup_free char *state = NULL;
	struct ward_err err = WARD_ERR_INIT;
	struct statvfs st;
	char room[32], need[32];
	int r = ward_store_default_path(
		geteuid(), secure_getenv("XDG_STATE_HOME"), secure_getenv("HOME"), &state, &err);
	if (r < 0) {
		ward_check_say(c, WARD_CHECK_UNUSABLE, NULL, "%s", err.text);
		return;
	}
	if (statvfs(state, &st) < 0) {
		ward_check_say(c, errno == ENOENT ? WARD_CHECK_OK : WARD_CHECK_UNUSABLE, NULL,
			errno == ENOENT ? "%s: no session has run yet" : "%s cannot be read",
			state);
		return;
	}
	const uint64_t left = (uint64_t)st.f_bavail * st.f_frsize;
	(void)ward_size_text(left, room, sizeof(room));
	(void)ward_size_text(WARD_RESERVE_BYTES, need, sizeof(need));
	if (left < WARD_RESERVE_BYTES)
		ward_check_say(c, WARD_CHECK_UNUSABLE,
			"remove files on that disk; wardfs audit prune removes trails whose time is over",
			"the disk of %s is full: %s left. A session sets %s aside there for its trail",
			state, room, need);
	else
		ward_check_say(c, WARD_CHECK_OK, NULL, "the disk of %s has %s left", state, room);
}

void ward_check_anchor(struct ward_check *c)
{
	static const struct ward_strings none = {.n = 0};
	if (ward_anchors_unasked(&none))
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"the journal gets the first and the last checkpoint of each session");
	else
		ward_check_say(c, WARD_CHECK_OPTIONAL,
			"[audit] anchor = file:PATH on a disk of somebody else, syslog, exec:PATH, or the system's writer. Without one, the owner of a trail can remove the last sessions unnoticed",
			"this host has no journal");
}
