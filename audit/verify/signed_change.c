/* SPDX-License-Identifier: Apache-2.0 */
/* Makes what an approver signs of a staged change, and reads it. */
#include "audit/verify/signed_change.h"

#include <errno.h>
#include <string.h>

#include "enforcer/base/cleanup.h"

#define HEAD "wardfs-change 1\n"
/* A signature: also an armored one of a token. */
#define SIGNATURE_ROOM 768U

void ward_signed_change_clear(struct ward_signed_change *c)
{
	json_decref(c->says);
	*c = (struct ward_signed_change){.says = NULL};
}

static const char *text_of(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

/* All that a check has to have, and nothing else. */
static bool is_check(const json_t *o)
{
	const json_t *command = json_object_get(o, "command"), *word = NULL;
	size_t i;
	json_array_foreach(command, i, word) if (!json_is_string(word)) return false;
	return json_array_size(command) > 0 && json_is_integer(json_object_get(o, "result")) &&
	       text_of(o, "session") && text_of(o, "trail") && json_object_size(o) == 4;
}

static bool complete(const json_t *o)
{
	const json_t *checks = json_object_get(o, "checks"), *one = NULL;
	size_t i;
	json_array_foreach(checks, i, one) if (!is_check(one)) return false;
	return json_is_array(checks) && text_of(o, "session") && text_of(o, "manifest") &&
	       json_object_size(o) == 3;
}

static const struct ward_signed_kind kind = {.head = HEAD,
	.space = WARD_SIGNED_CHANGE_SPACE,
	.what = "change",
	.max = WARD_SIGNED_CHANGE_MAX,
	.complete = complete};

int ward_signed_change_text(const char *session, const char *manifest, const json_t *checks,
	struct ward_buf *ret, struct ward_err *err)
{
	json_t *o = json_pack(
		"{s:s, s:s, s:O}", "session", session, "manifest", manifest, "checks", checks);
	ward_cleanup_free char *line = o ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	const bool whole = o && complete(o);
	json_decref(o);
	if (!line)
		return ward_err_sys(err, -ENOMEM, "change");
	if (!whole)
		return ward_err_set(err, -EBADMSG, "a check of this change cannot be understood");
	if (sizeof(HEAD) + strlen(line) > WARD_SIGNED_CHANGE_MAX - SIGNATURE_ROOM)
		return ward_err_set(err, -E2BIG, "the commands of the checks are too long to sign");
	ward_buf_printf(ret, HEAD "%s\n", line);
	return ward_buf_error(ret) < 0 ? ward_err_sys(err, -ENOMEM, "change") : 0;
}

int ward_signed_change_read(
	const char *text, size_t len, struct ward_signed_change *ret, struct ward_err *err)
{
	struct ward_approver_key key;
	json_t *o = NULL;
	int r = ward_signed_text_read(&kind, text, len, &o, &key, err);
	if (r == 0)
		*ret = (struct ward_signed_change){.says = o, .key = key};
	return r;
}

int ward_signed_change_fits(const struct ward_signed_change *c, const char *session,
	const char *manifest, const struct ward_settings *s, struct ward_err *err)
{
	if (strcmp(text_of(c->says, "session"), session) != 0)
		return ward_err_set(err, -EPERM, "the signature is to another session");
	if (strcmp(text_of(c->says, "manifest"), manifest) != 0)
		return ward_err_set(err, -EPERM,
			"the signature is to other changes: this session's manifest is %s",
			manifest);
	return ward_signed_text_known(&kind, &c->key, s, err);
}
