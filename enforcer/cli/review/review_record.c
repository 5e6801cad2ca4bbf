/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what is done with staged changes to the ledger, and beside the trail. */
#include "enforcer/cli/review/review_record.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/write/ledger.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/cli/base/say.h"

/* More applies and undos of one session are not recorded, and so not made. */
#define FILES_MAX 100000U

static const char *end_word(enum ward_apply_end end, const char *done)
{
	switch (end) {
	case WARD_APPLY_NONE:
		break;
	case WARD_APPLY_DONE:
		return done;
	case WARD_APPLY_ALREADY:
		return "already";
	case WARD_APPLY_CONFLICT:
		return "conflict";
	case WARD_APPLY_REFUSED:
		return "refused";
	case WARD_APPLY_FAILED:
		return "failed";
	}
	return "none";
}

static json_t *digest_or_null(const char *digest)
{
	return *digest && strcmp(digest, "-") != 0 ? json_string(digest) : json_null();
}

/* NULL: what is staged came whole. */
static const char *part_word(const struct ward_part *part)
{
	switch (part ? part->kind : WARD_PART_NONE) {
	case WARD_PART_NONE:
		break;
	case WARD_PART_HUNKS:
		return "hunks";
	case WARD_PART_MERGED:
		return "merged";
	}
	return NULL;
}

/* The project's own goes without saying. "": it is no tree of the policy's. */
static void put_tree(json_t *o, const char *name, const char *const trees[16], size_t root)
{
	const char *tree = root < 16 && trees[root] ? trees[root] : "";
	if (strcmp(tree, "/workspace") != 0)
		json_object_set_new(o, name, ward_json_text(tree));
}

void review_record_line(struct ward_buf *lines, const char *const trees[16],
	const struct ward_change *c, const struct ward_part *part, const char *before,
	const char *after, enum ward_apply_end end, const char *done, const char *why)
{
	char mode[16];
	snprintf(mode, sizeof(mode), "%06o", (unsigned)(c->type | c->mode));
	json_t *o = json_pack(
		"{s:s, s:o}", "change", ward_change_word(c->kind), "path", ward_json_text(c->path));
	put_tree(o, "tree", trees, c->root);
	if (c->from) {
		json_object_set_new(o, "from", ward_json_text(c->from));
		put_tree(o, "from_tree", trees, c->from_root);
	}
	json_object_set_new(o, "mode", json_string(mode));
	json_object_set_new(o, "before", digest_or_null(before));
	json_object_set_new(o, "after", digest_or_null(after));
	if (*c->attributes)
		json_object_set_new(o, "attributes", json_string(c->attributes));
	if (part_word(part))
		json_object_set_new(o, "part", json_string(part_word(part)));
	json_object_set_new(o, "end", json_string(end_word(end, done)));
	json_object_set_new(o, "why", ward_json_text(why));
	ward_cleanup_free char *text = json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(o);
	if (!text)
		lines->error = -ENOMEM;
	else
		ward_buf_printf(lines, "%s\n", text);
}

/* Writes it as the next review.N of the session. */
static int write_file(const struct ward_review_meant *m, const struct ward_buf *lines,
	unsigned *ret_n, struct ward_err *err)
{
	char name[24];
	ward_cleanup_fd int dir = -1, fd = -1;
	int r = ward_buf_error(lines);
	if (r < 0)
		return ward_err_sys(err, r, "the record of the review");
	r = ward_store_open_session(m->store, m->session, &dir, err);
	if (r < 0)
		return r;
	unsigned n = 0;
	do {
		snprintf(name, sizeof(name), "review.%u", ++n);
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	} while (fd < 0 && errno == EEXIST && n < FILES_MAX);
	r = fd < 0 ? -errno : ward_fd_write_all(fd, lines->data, lines->len);
	if (r == 0 && (fsync(fd) < 0 || fsync(dir) < 0))
		r = -errno;
	if (r < 0)
		return ward_err_sys(err, r, "%s of session %s", name, m->session);
	*ret_n = n;
	return 0;
}

int review_record(
	const struct ward_review_meant *m, const struct review_record *w, struct ward_err *err)
{
	ward_cleanup(ward_ledger_files_close) struct ward_ledger_files files =
		WARD_LEDGER_FILES_INIT;
	char digest[WARD_REVIEW_DIGEST_SIZE] = "";
	struct ward_ledger_review entry = {.verb = w->verb,
		.manifest = m->digest,
		.changes = w->changes,
		.left = w->left,
		.digest = digest};
	uint8_t root[WARD_KEY_BYTES];
	int r = w->lines ? write_file(m, w->lines, &entry.file, err) : 0;
	if (r < 0)
		return r;
	if (w->lines)
		ward_part_digest(w->lines, digest);
	r = ward_store_read_key(m->store, root, err);
	if (r == 0)
		r = ward_store_extend_ledger(m->store, &files, err);
	if (r == 0)
		r = ward_ledger_review(&files, root, m->session, &entry, getuid(), err);
	ward_chain_wipe(root, sizeof(root));
	return r;
}
