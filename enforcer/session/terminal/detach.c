/* SPDX-License-Identifier: Apache-2.0 */
/* Lets the supervisor of a kept session leave the process that started it. */
#include "enforcer/session/terminal/detach.h"

#include <fcntl.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/session/owner/exit_status.h"

#define DRAIN_MS 1000

static void leave(int fd, int status)
{
	ward_cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3; i++)
		if (null >= 0)
			(void)!dup2(null, i);
	(void)!setsid();
	(void)!write(fd, &status, sizeof(status));
	close(fd);
}

void ward_keep_let_go(struct ward_relay *relay, const char *session, int fd, int status)
{
	ward_relay_drain(relay, DRAIN_MS);
	ward_relay_suspend(relay);
	const struct ward_err *lost = ward_relay_failed(relay);
	if (lost)
		ward_tellf("wardfs: %s\n", lost->text);
	if (lost)
		status = WARD_EXIT_SETUP;
	ward_tellf("wardfs: the session continues: wardfs exec %s CMD; wardfs kill %s\n", session,
		session);
	ward_relay_let_go(relay);
	leave(fd, status);
}

void ward_keep_detach(struct ward_relay *relay, const char *session, int fd)
{
	ward_relay_away(relay);
	ward_tellf("\nwardfs: detached; wardfs attach %s joins again; wardfs kill %s\n", session,
		session);
	leave(fd, 0);
}
