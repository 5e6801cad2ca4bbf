/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a policy in force in running sessions. */
#include "enforcer/cli/policy/policy_now.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/sessions.h"
#include "enforcer/cli/place/owner_file.h"
#include "enforcer/policy/load.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/reload/reload.h"

/* The policy as its file has it, readable by the session even where the file is not. */
static int read_base(const char *name, const char *stand_in, int *ret_fd, struct ward_err *err)
{
	ward_cleanup(ward_base_clear) struct ward_base base = WARD_BASE_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	int r = ward_base_find_as(name, stand_in, &base, err);
	if (r < 0)
		return r;
	r = ward_base_encode(&base, &blob);
	if (r < 0)
		return ward_err_sys(err, r, "%s", name);
	return ward_fd_sealed("wardfs-base", blob.data, blob.len, ret_fd, err);
}

static int ask(const char *runtime, const char *session, int fd, json_t **ret, struct ward_err *err)
{
	ward_cleanup_free char *answer = NULL;
	int r = ward_control_ask_with(
		runtime, session, "{\"verb\":\"reload\"}", fd, WARD_RELOAD_ANSWER_MS, &answer, err);
	json_t *o = r == 0 ? json_loads(answer, 0, NULL) : NULL;
	if (r == 0 && !o)
		return ward_err_set(err, -EBADMSG, "session %s: the answer is not valid", session);
	*ret = o;
	return r == -EINVAL ? -EIO : r;
}

int policy_now_ask(const char *runtime, const char *session, const char *base, const char *stand_in,
	json_t **ret, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	int r = read_base(base, stand_in, &fd, err);
	return r < 0 ? -EINVAL : ask(runtime, session, fd, ret, err);
}

static long long number(const json_t *o, const char *name)
{
	return (long long)json_integer_value(json_object_get(o, name));
}

void policy_now_say_left(const char *session, const json_t *o)
{
	const char *why = json_string_value(json_object_get(o, "why_left"));
	size_t i = 0;
	const json_t *note = NULL;
	json_array_foreach(json_object_get(o, "notes"), i, note)
		ward_say(json_string_value(note) ? json_string_value(note) : "?");
	if (number(o, "passthrough") > 0)
		ward_sayf("the kernel itself serves %lld open files that lost a right "
			  "(passthrough). Reading and writing them fails; mappings, mmap, sendfile "
			  "and splice work until they are closed. 'wardfs ps --io %s' names them, "
			  "'wardfs kill %s' ends them",
			number(o, "passthrough"), session, session);
	if (number(o, "left") > 0)
		ward_sayf("%lld of them could not be taken back at all (%s): they can be read and "
			  "written until they are closed",
			number(o, "left"), why ? why : "the kernel was not asked");
	if (!json_is_true(json_object_get(o, "forgotten")))
		ward_say("the kernel has not forgotten everything yet: names and attributes may "
			 "show "
			 "as before for a moment");
}

/* Only where no --policy was given does a session follow the owner's file (control/status.h). */
static bool follows(const json_t *session, const struct ward_buf *file)
{
	const char *theirs = json_string_value(json_object_get(session, "follows"));
	return theirs && strcmp(theirs, ward_buf_str(file)) == 0;
}

/* As the owner's file has it, or as a project without one. With the owner's rights. */
static int read_owners(const struct ward_policy_place *place, const char *stand_in, int *ret_fd,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	struct ward_as_owner owner;
	int r = ward_owner_file_get(place->owner_file, &place->id, &text, err);
	const bool there = r == 1;
	if (r >= 0)
		r = ward_as_owner_begin(&place->id, &owner, err);
	if (r < 0)
		return r;
	r = read_base(there	 ? place->owner_file
		      : stand_in ? stand_in
				 : "medium",
		stand_in, ret_fd, err);
	ward_as_owner_end(&owner);
	return r;
}

/* Returns 1 where the session stays as it is. */
static int change(const struct ward_policy_place *place, const char *runtime, const json_t *session)
{
	const char *name = json_string_value(json_object_get(session, "session"));
	const char *stand_in = json_string_value(json_object_get(session, "stand_in"));
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup_fd int fd = -1;
	json_t *o = NULL;
	size_t len = 0;
	if (!name)
		return 0;
	/* a name of a shipped profile: the session that answers is not trusted with a path */
	if (stand_in && !ward_profile_text(stand_in, &len))
		stand_in = NULL;
	int r = read_owners(place, stand_in, &fd, &err);
	if (r == 0)
		r = ask(runtime, name, fd, &o, &err);
	const char *error = json_string_value(json_object_get(o, "error"));
	const bool ok = r == 0 && json_is_true(json_object_get(o, "ok"));
	if (ok) {
		ward_outf("session %s: changed\n", name);
		policy_now_say_left(name, o);
	} else {
		ward_cleanup(ward_buf_clear) struct ward_buf before = WARD_BUF_INIT;
		ward_buf_printf(&before, "session %s keeps its policy: ", name);
		ward_say_lines(ward_buf_str(&before), r < 0   ? err.text
						      : error ? error
							      : "the answer is not valid");
		ward_sayf("session %s: its next start has the new policy", name);
	}
	json_decref(o);
	return ok ? 0 : 1;
}

int policy_now(const struct ward_policy_place *place)
{
	ward_cleanup_free char *runtime = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf file = WARD_BUF_INIT;
	struct ward_err err = WARD_ERR_INIT;
	int r = ward_control_runtime(&runtime, &err);
	ward_escape(&file, place->owner_file, strlen(place->owner_file));
	if (r == 0)
		r = ward_buf_error(&file);
	if (r < 0) {
		ward_sayf(
			"the running sessions cannot be found: %s", err.code ? err.text : "memory");
		return 1;
	}
	json_t *all = ward_sessions_running(runtime), *s = NULL;
	size_t i = 0, n = 0;
	int failed = 0;
	json_array_foreach(all, i, s)
	{
		if (!follows(s, &file))
			continue;
		n++;
		failed |= change(place, runtime, s);
	}
	json_decref(all);
	if (n == 0)
		ward_outf("none of your running sessions uses this file\n");
	return failed;
}
