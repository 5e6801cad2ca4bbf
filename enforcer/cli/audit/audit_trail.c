/* SPDX-License-Identifier: Apache-2.0 */
/* One trail: found by the name of its session, opened, and verified. */
#include "enforcer/cli/audit/audit_trail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/query/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/cli/audit/audit_cmd.h"
#include "enforcer/cli/audit/audit_labels.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/here.h"

/* What is looked for in the first record of a trail. */
struct of_project {
	struct audit_cmd *c;
	const char *project;
	bool is;
};

static int first_record(void *user, const char *line, size_t len, const json_t *record)
{
	struct of_project *p = user;
	const char *of =
		json_string_value(json_object_get(json_object_get(record, "detail"), "project"));
	(void)line;
	(void)len;
	p->is = of && strcmp(of, p->project) == 0;
	return 1;
}

static bool is_of_project(void *user, const char *name)
{
	struct of_project *p = user;
	struct ward_err ignored = WARD_ERR_INIT;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	p->is = false;
	if (ward_store_open_log(p->c->store, name, &log, &ignored) == 0)
		(void)!ward_query_walk(log, true, first_record, p, &ignored);
	return p->is && audit_labels_match(p->c, name);
}

bool audit_trail_of_project(struct audit_cmd *c, const char *name, const char *project)
{
	struct of_project p = {.c = c, .project = project};
	return is_of_project(&p, name);
}

/* Of any project. */
static bool is_asked(void *user, const char *name)
{
	return audit_labels_match(user, name);
}

/* The answer is about another session than the last one, whose trail somebody took away. */
static void say_missing(struct audit_cmd *c, const char *missing, const char *name)
{
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	c->another = missing != NULL;
	if (missing)
		ward_sayf("session %s started later than %s, and its trail is missing: wardfs "
			  "audit verify %s",
			missing, name, ward_shell_quoted(&word, missing));
}

static int latest(struct audit_cmd *c, char **ret_name, struct ward_err *err)
{
	ward_cleanup(ward_here_clear) struct ward_here here = {0};
	ward_cleanup_free char *missing = NULL;
	ward_here_find(&here);
	struct of_project p = {.c = c, .project = here.project};
	const struct ward_store_wanted wanted = {.is = is_of_project, .user = &p};
	struct ward_err none = WARD_ERR_INIT;
	int r = here.project ? ward_store_find_last(c->store, &wanted, ret_name, &missing, &none)
			     : -ENOENT;
	if (r == 0)
		say_missing(c, missing, *ret_name);
	if (r != -ENOENT)
		return r < 0 ? ward_err_set(err, r, "%s", none.text) : r;
	const struct ward_store_wanted asked = {.is = is_asked, .user = c};
	const bool some = audit_labels_asked(c);
	r = ward_store_find_last(c->store, some ? &asked : NULL, ret_name, &missing, err);
	if (r == -ENOENT && some)
		return ward_err_set(err, r, "no session has these labels, or was of this login");
	if (r == 0 && here.marked) {
		free(ward_steal_ptr(ret_name));
		return ward_err_set(err, -ENOENT,
			"no session of this project (%s) has a trail; wardfs audit list --all lists "
			"those "
			"of others",
			here.project);
	}
	if (r == 0)
		ward_sayf("no session ran in this directory: 'latest' is %s", *ret_name);
	if (r == 0)
		say_missing(c, missing, *ret_name);
	return r;
}

int audit_trail_meant(struct audit_cmd *c, char **ret_name, struct ward_err *err)
{
	if (!c->session || strcmp(c->session, "latest") == 0)
		return latest(c, ret_name, err);
	int r = ward_store_find(c->store, c->session, ret_name, err);
	/* Not -ENOENT: its trail is there. */
	if (r == 0 && !audit_labels_match(c, *ret_name)) {
		r = ward_err_set(err, -ESRCH,
			"session %s has other labels, or was of another login", *ret_name);
		free(ward_steal_ptr(ret_name));
	}
	return r;
}

int audit_trail_known(struct audit_cmd *c, char **ret_name, struct ward_err *err)
{
	struct ward_err why = WARD_ERR_INIT;
	struct ward_ledger_view ledger = {0};
	uint8_t root[WARD_KEY_BYTES];
	int r = audit_trail_meant(c, ret_name, &why);
	if (r != -ENOENT || !c->session || strcmp(c->session, "latest") == 0)
		return r < 0 ? ward_err_set(err, r, "%s", why.text) : r;
	r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = audit_ledger_read(c, root, &ledger, err);
	ward_chain_wipe(root, sizeof(root));
	if (r == 0 && !ward_ledger_view_find(&ledger, c->session))
		r = ward_err_set(err, -ENOENT, "%s", why.text);
	ward_ledger_view_free(&ledger);
	if (r == 0 && !(*ret_name = strdup(c->session)))
		r = ward_err_sys(err, -ENOMEM, "session");
	return r;
}

int audit_trail_open(
	struct audit_cmd *c, char **ret_name, struct ward_log **ret, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	int r = audit_trail_meant(c, &name, err);
	if (r == 0)
		r = ward_store_open_log(c->store, name, ret, err);
	if (r < 0)
		return audit_ledger_explain_gone(c, name ? name : c->session, r, err);
	audit_ledger_note_read(c, name);
	*ret_name = ward_steal_ptr(&name);
	return 0;
}

void audit_trail_path(const char *path, struct ward_buf *ret)
{
	if (path[0] != '/')
		ward_buf_puts(ret, "/workspace/");
	ward_escape(ret, path, strlen(path));
}

int audit_trail_verify(struct audit_cmd *c, const char *session, struct ward_log *log,
	struct audit_verified *ret, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	uint8_t root[WARD_KEY_BYTES];
	/* The checkpoints first: they speak of no more than the log then has. */
	int r = ward_store_open_checkpoints(c->store, session, &fd, err);
	if (r == 0 && (r = ward_checkpoint_list_read(fd, &ret->notes)) < 0)
		return ward_err_sys(err, r, "checkpoints of %s", session);
	if (r == 0 || r == -ENOENT)
		r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = audit_ledger_read(c, root, &ret->ledger, err);
	if (r == 0)
		r = ward_verify_trail(log, session, root,
			ward_ledger_view_find(&ret->ledger, session), &ret->notes, &ret->result,
			err);
	ward_chain_wipe(root, sizeof(root));
	return r;
}

void audit_verified_clear(struct audit_verified *v)
{
	ward_checkpoint_list_clear(&v->notes);
	ward_ledger_view_free(&v->ledger);
}

/* Genuine records, whatever is missing by the trail's own word. */
static bool is_genuine(enum ward_verify_state state)
{
	return state == WARD_VERIFY_INTACT || state == WARD_VERIFY_INCOMPLETE ||
	       state == WARD_VERIFY_GAP || state == WARD_VERIFY_UNSTARTED;
}

int audit_trail_say(const struct ward_verify_result *res)
{
	if (res->state != WARD_VERIFY_INTACT && !res->running)
		ward_sayf("this trail is not intact: %s%s%s", ward_verify_state_name(res->state),
			res->text[0] ? ": " : "", res->text);
	return !is_genuine(res->state);
}

int audit_trail_warn(struct audit_cmd *c, const char *session, struct ward_log *log)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_ledger_view ledger = {0};
	struct ward_verify_result res = {0};
	ward_cleanup(ward_ledger_view_free) struct ward_ledger_view one = {0};
	const struct ward_ledger_seen_only only = {.names = &one};
	uint8_t root[WARD_KEY_BYTES];
	int r = ward_store_read_key(c->store, root, &err);
	bool may = r == 0;
	if (r == 0 && !ward_ledger_view_take(&one, session, strlen(session)))
		r = ward_err_sys(&err, -ENOMEM, "ledger");
	/* What an earlier reading of the ledger found is enough for a warning. */
	if (r == 0)
		r = c->verify ? audit_ledger_read(c, root, &ledger, &err)
			      : audit_ledger_list(c, root, &only, &ledger, &err);
	if (r == 0) {
		r = ward_verify_trail(log, session, root, ward_ledger_view_find(&ledger, session),
			NULL, &res, &err);
		ward_ledger_view_free(&ledger);
	}
	ward_chain_wipe(root, sizeof(root));
	if (r < 0) {
		ward_sayf("this trail was not verified: %s", err.text);
		return may;
	}
	return audit_trail_say(&res);
}

int audit_trail_open_segments(const char *path, int fd, struct ward_log **ret)
{
	const char *name = strrchr(path, '/') + 1;
	ward_cleanup_free char *dir = strndup(path, (size_t)(name - path));
	if (!dir)
		return -ENOMEM;
	if (strcmp(name, "trail.jsonl") != 0 && strcmp(name, "trail.jsonl.zst") != 0)
		return ward_log_open_file(fd, ret);
	ward_cleanup_fd int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir_fd < 0 ? -errno : ward_log_open(dir_fd, ret);
}
