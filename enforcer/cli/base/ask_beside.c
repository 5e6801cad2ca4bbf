/* SPDX-License-Identifier: Apache-2.0 */
/* Asks several sessions at once. */
#include "enforcer/cli/base/ask_beside.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/session/control/control.h"

static bool add(struct ward_beside **v, size_t *n, const char *name)
{
	struct ward_beside *more = reallocarray(*v, *n + 1, sizeof(**v));
	char *own = more ? strdup(name) : NULL;
	if (more)
		*v = more;
	if (!own)
		return false;
	more[(*n)++] = (struct ward_beside){.session = own, .fd = -1};
	return true;
}

struct ward_beside *ward_beside_all(const char *runtime, size_t *ret_n)
{
	struct ward_beside *v = NULL;
	size_t n = 0;
	ward_cleanup_dir DIR *d = opendir(runtime);
	const struct dirent *e = NULL;
	while (d && (e = readdir(d)))
		if (ward_session_name_ok(e->d_name) && !add(&v, &n, e->d_name))
			break;
	*ret_n = n;
	return v;
}

struct ward_beside *ward_beside_one(const char *session)
{
	struct ward_beside *v = NULL;
	size_t n = 0;
	(void)!add(&v, &n, session);
	return v;
}

void ward_beside_free(struct ward_beside *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].session);
		json_decref(v[i].answer);
	}
	free(v);
}

static void begin(const char *runtime, struct ward_beside *b, const char *request)
{
	struct ward_err err = WARD_ERR_INIT;
	const int r = ward_control_try(runtime, b->session, &b->fd, &err);
	/* The queue of a supervisor that is stopped is full. */
	b->silent = r == -EAGAIN;
	if (r == 0 && ward_control_send(b->fd, request, NULL, 0) < 0) {
		close(b->fd);
		b->fd = -1;
	}
}

static void end(struct ward_beside *b)
{
	json_t *o = NULL;
	int with = -1;
	const int r = ward_control_answer(b->fd, &o, &with);
	if (r == -EAGAIN)
		return;
	if (r == 0)
		b->answer = o;
	if (with >= 0)
		close(with);
	close(b->fd);
	b->fd = -1;
}

void ward_beside_ask(
	const char *runtime, struct ward_beside *v, size_t n, const char *request, int ms)
{
	ward_cleanup_free struct pollfd *fds = calloc(n ? n : 1, sizeof(*fds));
	const uint64_t until = ward_clock_mono_ns() + (uint64_t)ms * 1000000;
	for (size_t i = 0; fds && i < n; i++)
		if (!v[i].skip)
			begin(runtime, &v[i], request);
	for (bool left = fds != NULL; left;) {
		const uint64_t now = ward_clock_mono_ns();
		left = false;
		for (size_t i = 0; i < n; i++) {
			fds[i] = (struct pollfd){.fd = v[i].fd, .events = POLLIN};
			left = left || v[i].fd >= 0;
		}
		if (!left || now >= until || poll(fds, n, (int)((until - now) / 1000000) + 1) < 0)
			break;
		for (size_t i = 0; i < n; i++)
			if (fds[i].revents && v[i].fd >= 0)
				end(&v[i]);
	}
	for (size_t i = 0; i < n; i++) {
		if (v[i].fd < 0)
			continue;
		v[i].silent = true;
		close(v[i].fd);
		v[i].fd = -1;
	}
}
