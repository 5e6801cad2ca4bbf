/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the events of `--status-fd`. */
#include "enforcer/session/control/status_events.h"

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"

#define READER_MS 1000

static void put(int fd, json_t *o, int ms)
{
	ward_cleanup_free char *text =
		fd > 0 && o ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	json_decref(o);
	if (!text)
		return;
	ward_buf_puts(&b, text);
	ward_buf_putc(&b, '\n');
	/* Less than PIPE_BUF: once there is room, a write is whole and does not wait (pipe(7)). */
	if (ward_buf_error(&b) == 0 && poll(&p, 1, ms) == 1 && p.revents & POLLOUT)
		(void)!write(fd, b.data, b.len);
}

void ward_stream(int fd, json_t *o)
{
	put(fd, o, READER_MS);
}

static bool fits(const json_t *o)
{
	return json_dumpb(o, NULL, 0, JSON_COMPACT | JSON_ENSURE_ASCII) < PIPE_BUF;
}

void ward_stream_if_read(int fd, json_t *o, const char *const *few)
{
	if (fd <= 0 || !o || fits(o)) {
		put(fd, o, 0);
		return;
	}
	json_t *less = json_object();
	for (; *few; few++)
		json_object_set(less, *few, json_object_get(o, *few));
	json_decref(o);
	put(fd, less, 0);
}
