/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manysessions STATE N [RECORDS]: a state directory with N sessions that have ended, for the
 * measurement of questions over many. Trails, checkpoints and ledger are genuine; no process wrote
 * them in turn, so this takes a minute instead of hours. Each has 8 records, or RECORDS; every
 * 750th has a label of its own, every 1000th a refusal, and every 900th lacked a boundary.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/log/note.h"
#include "audit/log/tlog.h"
#include "audit/store/store.h"
#include "audit/write/checkpoint.h"
#include "audit/write/ledger.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"

struct many {
	uint64_t records; /* of each session */
	uint8_t root[WARD_KEY_BYTES];
	uint8_t seed[WARD_KEY_BYTES];
	struct ward_tlog_key sign;
	struct ward_ledger_files ledger;
	int sessions; /* the directory */
};

/* One session as it is made. */
struct one {
	uint8_t key[WARD_KEY_BYTES], prev[WARD_MAC_BYTES];
	struct ward_checkpoints points;
	struct ward_buf text;
	uint64_t n, seq;
	char name[WARD_SESSION_NAME_MAX + 1];
};

static void check(int r, const char *what, const struct ward_err *err)
{
	if (r >= 0)
		return;
	fprintf(stderr, "manysessions: %s: %s %s\n", what, strerror(-r), err ? err->text : "");
	exit(1);
}

static void add(struct one *o, const char *kind, const char *rest)
{
	const size_t start = o->text.len;
	const uint64_t now = ward_clock_real_ns();
	ward_buf_printf(&o->text, "{\"v\":1,\"seq\":%" PRIu64 ",\"session\":\"%s\",\"kind\":\"%s\"",
		++o->seq, o->name, kind);
	ward_buf_puts(&o->text, ",\"time\":");
	ward_put_time(&o->text, now);
	ward_buf_printf(&o->text,
		",\"mono\":%" PRIu64 ",\"ring\":%d,\"pos\":%" PRIu64 ",\"lag\":1000%s",
		ward_clock_mono_ns(), strcmp(kind, "open") != 0 ? 0 : 1, 64 * o->seq, rest);
	ward_chain_seal(o->key, o->prev, &o->text, start);
	ward_checkpoints_add(&o->points, o->text.data + start, o->text.len - start - 1);
	ward_chain_ratchet(o->key);
}

static void add_records(struct one *o, uint64_t records)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b,
		",\"detail\":{\"mode\":\"restricted\",\"project\":\"/srv/work/project-%" PRIu64
		"\",\"argv\":[\"make\",\"-j%" PRIu64 "\",\"check\"],\"login_uid\":1000,"
		"\"audit_session\":%" PRIu64 "%s,\"sandbox\":{\"guarantees\":[\"files\","
		"\"processes\",\"network\",\"syscalls\",\"privileges\",\"end\",\"limit-tmp\"%s],"
		"\"network\":\"none\"%s}}",
		o->n % 40, o->n % 9, o->n, o->n % 750 ? "" : ",\"labels\":{\"ticket\":\"A-17\"}",
		o->n % 900 ? ",\"integrity\"" : "",
		o->n % 900 ? ""
			   : ",\"missing\":{\"integrity\":{\"why\":\"one user\",\"because\":"
			     "\"--allow-missing integrity\"}}");
	add(o, "session.start", ward_buf_str(&b));
	while (o->seq < records - 1) {
		b.len = 0;
		ward_buf_printf(&b,
			",\"pid\":%" PRIu64 ",\"comm\":\"cc\",\"path\":\"/workspace/src/f%" PRIu64
			".c\",\"verdict\":\"%s\"",
			4000 + o->seq, o->seq, o->n % 1000 == 0 && o->seq == 3 ? "deny" : "allow");
		add(o, o->n % 1000 == 0 && o->seq == 3 ? "deny" : "open", ward_buf_str(&b));
	}
	add(o, "session.end", ",\"status\":0");
}

static void put_file(int dir, const char *name, const struct ward_buf *b)
{
	ward_cleanup_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	check(fd < 0 ? -1 : ward_fd_write_all(fd, b->data, b->len), name, NULL);
}

static void make(struct many *m, uint64_t n)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_ledger_keys keys;
	struct one o = {.n = n};
	char key[WARD_VKEY_MAX];
	snprintf(o.name, sizeof(o.name), "s%06" PRIu64, n);
	check(mkdirat(m->sessions, o.name, 0700), o.name, NULL);
	ward_cleanup_fd int dir = openat(m->sessions, o.name, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	ward_cleanup_fd int points =
		openat(dir, "checkpoints", O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	check(points, "checkpoints", NULL);
	o.points = (struct ward_checkpoints){
		.fd = points, .session = o.name, .every = 1000, .every_ns = UINT64_MAX / 4};
	ward_signing_key_from_seed(m->seed, &o.points.key);
	ward_ledger_keys_derive(m->root, o.name, &keys);
	ward_chain_first_key(m->root, o.name, o.key);
	ward_public_key_print(&o.points.key.pub, key);
	ward_checkpoints_sign(&o.points, WARD_CHECKPOINT_OPEN);
	const struct ward_ledger_start start = {
		.key = key, .checkpoint = o.points.last, .keep_s = 17280000};
	check(ward_ledger_append(&m->ledger, &m->sign, o.name, &keys, &start, NULL, &err), "start",
		&err);
	add_records(&o, m->records);
	put_file(dir, "trail.jsonl", &o.text);
	ward_checkpoints_sign(&o.points, WARD_CHECKPOINT_COMPLETE);
	check(ward_checkpoints_flush(&o.points), "checkpoints", NULL);
	struct ward_ledger_end end = {.records = o.seq,
		.bytes = o.text.len,
		.verdict = "complete",
		.cause = "",
		.key = key,
		.checkpoint = o.points.last};
	memcpy(end.last, o.prev, sizeof(end.last));
	check(ward_ledger_append(&m->ledger, &m->sign, o.name, &keys, NULL, &end, &err), "end",
		&err);
	ward_checkpoints_clear(&o.points);
	ward_buf_clear(&o.text);
}

int main(int argc, char **argv)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_store *st = NULL;
	struct many m = {.records = 8, .ledger = WARD_LEDGER_FILES_INIT};
	if (argc == 4)
		m.records = strtoull(argv[3], NULL, 10);
	if (argc < 3 || argc > 4 || m.records < 2)
		return 2;
	check(ward_chain_setup(), "libsodium", NULL);
	check(ward_store_open(argv[1], true, &st, &err), argv[1], &err);
	check(ward_store_read_key(st, m.root, &err), "root key", &err);
	check(ward_store_read_seed(st, m.seed, &err), "signing key", &err);
	ward_tlog_key_derive(m.root, &m.sign);
	check(ward_store_extend_ledger(st, &m.ledger, &err), "ledger", &err);
	(void)mkdirat(ward_store_dir(st), "sessions", 0700);
	m.sessions = openat(ward_store_dir(st), "sessions", O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	check(m.sessions, "sessions", NULL);
	for (uint64_t n = 0; n < strtoull(argv[2], NULL, 10); n++)
		make(&m, n);
	close(m.sessions);
	ward_ledger_files_close(&m.ledger);
	ward_store_close(st);
	return 0;
}
