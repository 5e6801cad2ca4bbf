/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the rules of a session that starts with those of sessions that run. */
#include "enforcer/session/control/beside.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/session/control/control.h"

/*
 * A supervisor that runs answers as soon as it gets a CPU, however late that is: all of them
 * together have so long. One that is stopped must not hold up a start: it is looked at in between.
 */
#define ALL_NS (5 * WARD_NS_PER_SEC)
#define LOOK_MS 100

/* Both absolute and without "." and "..". Escaping keeps '/' and the order of bytes. */
static bool is_within(const char *path, const char *dir)
{
	const size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);
	return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* Is a tree of ours the same directory, above it or beneath it, and has other rules? NULL: any
 * rules do. */
static bool differs_from(const struct ward_run_plan *p, const char *theirs, const char *rules)
{
	for (size_t i = 0; theirs && i < p->n_trees; i++) {
		char own[WARD_POLICY_DIGEST_MAX];
		json_t *text = p->trees[i].source ? ward_control_text(p->trees[i].source) : NULL;
		const char *ours = json_string_value(text);
		const bool same = ours && (is_within(ours, theirs) || is_within(theirs, ours));
		json_decref(text);
		if (same && (!rules || (ward_policy_rules_digest(
						p->policy, p->trees[i].path, own) == 0 &&
					       strcmp(own, rules) != 0)))
			return true;
	}
	return false;
}

/* The directory of theirs that is ours as well, borrowed; NULL: there is none, or, unless `any`,
 * the same rules hold. */
static const char *differs(const struct ward_run_plan *p, const json_t *status, bool any)
{
	const json_t *tree = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(status, "trees"), i, tree)
	{
		const char *source = json_string_value(json_object_get(tree, "source"));
		const char *rules = json_string_value(json_object_get(tree, "rules"));
		if ((any || rules) && differs_from(p, source, any ? NULL : rules))
			return source;
	}
	return NULL;
}

static bool is_stopped(int sock)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	char path[32], state = '\0';
	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || peer.pid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)peer.pid);
	FILE *f = fopen(path, "re");
	/* The name in brackets can be any text without a slash, and has 15 bytes at most. */
	if (f && fscanf(f, "%*d (%*15[^)]) %c", &state) != 1)
		state = '\0';
	if (f)
		fclose(f);
	return state == 'T' || state == 't';
}

/* The status of a session, the caller's. -ETIMEDOUT: it runs and gives none; else it ends. */
static int ask(const char *runtime, const char *session, uint64_t until_ns, json_t **ret)
{
	struct ward_err unused = WARD_ERR_INIT;
	ward_cleanup_fd int sock = -1;
	int fd = -1;
	int r = ward_control_connect(runtime, session, &sock, &unused);
	if (r == 0)
		r = ward_control_send(sock, "{\"verb\":\"status\"}", NULL, 0);
	if (r < 0)
		return r == -EAGAIN ? -ETIMEDOUT : r;
	struct pollfd p = {.fd = sock, .events = POLLIN};
	while (poll(&p, 1, LOOK_MS) <= 0)
		if (ward_clock_mono_ns() >= until_ns || is_stopped(sock))
			return -ETIMEDOUT;
	r = ward_control_answer(sock, ret, &fd);
	if (fd >= 0)
		close(fd);
	return r;
}

/* Has a status of a session what the start of another one is told? *ret: the text, the caller's. */
static bool tells(const struct ward_run_plan *p, const char *moves, const char *session,
	const json_t *status, char **ret)
{
	/* One that is prepared does nothing, and the run that takes it tells by itself. */
	if (json_is_true(json_object_get(status, "prepared")))
		return false;
	const char *dir = differs(p, status, false);
	const char *file = json_string_value(json_object_get(status, "moves"));
	int n = -1;
	if (dir)
		n = asprintf(ret,
			"session %s is running with other rules for %s: together they can do what neither may do alone; run one at a time",
			session, dir);
	else if (file && *file && strcmp(file, moves) != 0 && (dir = differs(p, status, true)))
		n = asprintf(ret,
			"session %s, with another owner, HOME or state directory, also serves %s: the two do not wait for each other when they rename; run one at a time",
			session, dir);
	return n >= 0;
}

/* True: it was said of this one. */
static bool say_of(const struct ward_run_plan *p, const char *moves, const char *session,
	uint64_t until_ns, void (*say)(const char *text))
{
	ward_cleanup_free char *text = NULL;
	json_t *status = NULL;
	int r = ask(p->runtime, session, until_ns, &status);
	bool said = r == 0 && tells(p, moves, session, status, &text);
	if (r == -ETIMEDOUT &&
		asprintf(&text,
			"session %s does not answer: it may run with other rules for the same files",
			session) < 0)
		text = NULL;
	if (text)
		say(text);
	json_decref(status);
	return said;
}

void ward_beside_say(
	const struct ward_run_plan *p, const char *moves, void (*say)(const char *text))
{
	const uint64_t until = ward_clock_mono_ns() + ALL_NS;
	ward_cleanup_dir DIR *d = opendir(p->runtime);
	const struct dirent *e = NULL;
	while (d && say && (e = readdir(d)))
		if (ward_session_name_ok(e->d_name) && say_of(p, moves, e->d_name, until, say))
			return;
}
