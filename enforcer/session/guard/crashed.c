/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the trails of sessions that could not end them. */
#include "enforcer/session/guard/crashed.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/verify/verify.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
/* A start that failed waits no longer for others that have the ledger locked: five seconds. */
#define LOCK_TRIES 100
#define LOCK_NAP_US 50000

/* What each way to sync can lose when the host stops. */
static const struct {
	const char *name;
	const char *bound;
} syncs[] = {
	[WARD_SYNC_RECORD] = {"record", "sync = record: no operation that was answered is missing"},
	[WARD_SYNC_BATCH] = {"batch",
		"sync = batch: records of up to a second before the stop can be missing"},
	[WARD_SYNC_CLOSE] = {"close",
		"sync = close: records since the last checkpoint can be missing"},
};

static int read_boot(struct ward_buf *ret)
{
	ward_cleanup_fd int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : ward_fd_read_all(fd, 256, ret);
	while (r == 0 && ret->len > 0 && ret->data[ret->len - 1] == '\n')
		ret->data[--ret->len] = '\0';
	return r == 0 && ret->len == 0 ? -EIO : r;
}

int ward_crashed_mark(enum ward_audit_sync sync, struct ward_buf *ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf boot = WARD_BUF_INIT;
	int r = read_boot(&boot);
	if (r < 0)
		return ward_err_sys(err, r, BOOT_ID);
	ward_buf_printf(ret, "%s %s\n", syncs[sync].name, ward_buf_str(&boot));
	return 0;
}

/* The cause that the trail's last records give. mark: as ward_crashed_mark() wrote it. */
static void put_cause(struct ward_buf *b, const char *mark)
{
	ward_cleanup(ward_buf_clear) struct ward_buf boot = WARD_BUF_INIT;
	const char *bound = "how its records were brought to the disk is not known";
	const char *space = strchr(mark, ' ');
	size_t n = space ? (size_t)(space - mark) : 0;
	for (size_t i = 0; i < sizeof(syncs) / sizeof(*syncs); i++)
		if (n == strlen(syncs[i].name) && memcmp(syncs[i].name, mark, n) == 0)
			bound = syncs[i].bound;
	bool same = space && read_boot(&boot) == 0 &&
		    strncmp(space + 1, ward_buf_str(&boot), boot.len) == 0;
	if (same)
		ward_buf_puts(b, "all processes of the session were killed at once, or the disk "
				 "was full: records that were in memory still are missing");
	else
		ward_buf_printf(b, "the host stopped; %s", bound);
}

/* What the ledger has of a session. */
struct entries {
	bool start, end;
};

static struct entries look(struct ward_store *st, int ledger, const char *name)
{
	uint8_t root[WARD_KEY_BYTES];
	struct ward_ledger_view v = {0};
	struct entries found = {false, false};
	if (ward_store_read_key(st, root, NULL) < 0)
		return found;
	if (ward_verify_ledger(ledger, WARD_LEDGER_NOTES_UNSEEN, root, &v, NULL) == 0) {
		const struct ward_ledger_session *s = ward_ledger_view_find(&v, name);
		if (s)
			found = (struct entries){s->started, s->ended};
		ward_ledger_view_free(&v);
	}
	ward_chain_wipe(root, sizeof(root));
	return found;
}

bool ward_crashed_begun(struct ward_store *st, int ledger_fd, const char *name)
{
	int r = -1;
	for (int i = 0; i < LOCK_TRIES && (r = flock(ledger_fd, LOCK_SH | LOCK_NB)) < 0; i++)
		usleep(LOCK_NAP_US);
	if (r < 0)
		return true;
	struct entries e = look(st, ledger_fd, name);
	return e.start && !e.end;
}

static bool ended(struct ward_store *st, const char *name)
{
	ward_cleanup_fd int fd = -1;
	return ward_store_open_ledger(st, &fd, NULL) == 0 && look(st, fd, name).end;
}

static void sweep_one(struct ward_store *st, const char *name, ward_crashed_fn *end)
{
	ward_cleanup_fd int fd = -1;
	ward_cleanup(ward_buf_clear) struct ward_buf mark = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf cause = WARD_BUF_INIT;
	int r = ward_store_take_mark(st, name, &fd, &mark, NULL);
	/* Its trail was removed: there is nothing to end. */
	if (r == -ENOENT)
		(void)!ward_store_unmark(st, name);
	if (r < 0)
		return;
	bool over = ended(st, name);
	if (!over) {
		put_cause(&cause, ward_buf_str(&mark));
		over = end(st, name, ward_buf_str(&cause), NULL) == 0;
	}
	if (over)
		(void)!ward_store_unmark(st, name);
}

void ward_crashed_sweep(struct ward_store *st, ward_crashed_fn *end)
{
	struct ward_store_names names = {0};
	ward_store_sweep(st);
	if (ward_store_list_marks(st, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.n; i++)
		sweep_one(st, names.v[i], end);
	ward_store_names_free(&names);
}
