/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A supervisor reduced to what the writer sees: makes a session, starts wardfs-audit, produces
 * records from threads, and says on stdout which were acknowledged, one path a line.
 *
 *   auditrun --program PATH --state DIR [--session NAME] [--events N] [--threads N]
 *            [--kill-ms N]    SIGKILL for the writer after N ms, then a recovery writer
 *            [--die]          exits without FINISH, as a killed supervisor does
 *            [--free FILE]    when the log fails: removes FILE (the disk has room again), goes on
 *            [--every]        first two records of each kind: one without members, one with all
 * that the kind has
 *            [--asked]        first three questions to a person, and how each was answered
 *            [--granted N]    first a grant and what was done under it; N: what is wrong, 0:
 * nothing
 *            [--script FILE]  first the records of this file (scripted.h)
 *            [--name PATH]    one more access, to this path, by a program of this name
 *            [--checkpoint N] one after so many records
 *            [--sync MODE]  record, batch (default), close
 *            [--rotate N]     segments of about so many bytes; [--pack]: compressed, but the last
 *            [--keep S]       seconds to keep the trail
 *            [--start JSON]   the detail of session.start
 *            [--end TEXT]     what session.end says of the reason
 *            [--hold]         after the events: waits until stdin ends, then finishes
 *
 * Exit: 0 the writers did what they owe, 1 they did not. stderr tells the session's name first, and
 * the processor time of the (last) writer at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/log/frames.h"
#include "audit/log/segments.h"
#include "audit/ring.h"
#include "audit/store/store.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/policy/policy.h"
#include "tests/support/scripted.h"

#define THREADS_MAX 8
#define RINGS 2

struct run {
	const char *program, *state, *session, *free_file, *name, *script;
	unsigned long events, threads, kill_ms, checkpoint, rotate, keep;
	const char *begin; /* NULL: the detail that all have */
	const char *end;   /* NULL: it says nothing */
	bool die, hold, every, asked, pack;
	int granted; /* -1: nothing is */
	int next_fd;
	_Atomic unsigned long producing;
	enum ward_audit_sync sync;
	struct ward_store_session st;
	int ring_fd[RINGS];
	int wake;
	struct ward_ring *ring[RINGS];
	int control;
	pid_t pid;
	_Atomic bool failed_seen;
	uint8_t *acked[THREADS_MAX];
};

struct producer {
	struct run *run;
	unsigned long thread;
};

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fputs("auditrun: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

static void start_writer(struct run *r, const char *cause)
{
	int sock[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) < 0)
		die("socketpair: %m");
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int from[] = {sock[1], r->wake, r->st.log_fd, r->st.ledger.fd, r->st.key_fd,
		r->ring_fd[0], r->ring_fd[1], r->st.sign_fd, r->st.checkpoints_fd,
		r->st.ledger.notes_fd, r->st.ledger.tree_fd};
	const int to[] = {WARD_FD_CONTROL, WARD_FD_RING_WAKE, WARD_FD_AUDIT_LOG,
		WARD_FD_AUDIT_LEDGER, WARD_FD_AUDIT_KEY, WARD_FD_AUDIT_RINGS,
		WARD_FD_AUDIT_RINGS + 1, WARD_FD_AUDIT_SIGN, WARD_FD_AUDIT_CHECKPOINTS,
		WARD_FD_AUDIT_LEDGER_CHECKPOINTS, WARD_FD_AUDIT_LEDGER_TREE};
	r->pid = fork();
	if (r->pid < 0)
		die("fork: %m");
	if (r->pid == 0) {
		dup2(null, 0);
		dup2(2, 1);
		if (ward_fd_inherit(from, to, sizeof(from) / sizeof(*from)) < 0)
			_exit(125);
		execl(r->program, r->program, (char *)NULL);
		_exit(127);
	}
	close(sock[1]);
	close(null);
	r->control = sock[0];
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_CONFIG);
	ward_msg_put_str(&m, r->st.name);
	ward_msg_put_u32(&m, RINGS);
	ward_msg_put_u32(&m, cause ? WARD_AUDIT_RECOVER : 0);
	ward_msg_put_str(&m, cause);
	ward_msg_put_u32(&m, r->sync);
	ward_msg_put_u64(&m, r->checkpoint);
	ward_msg_put_u64(&m, 0);
	ward_msg_put_u64(&m, r->rotate);
	ward_msg_put_u64(&m, r->keep);
	if (ward_msg_send(r->control, &m, NULL, 0) < 0)
		die("send CONFIG");
	ward_msg_clear(&m);
}

/* Receives one message; its type, with the reader behind the head. 0: end of file. */
static uint32_t receive(struct run *r, struct ward_msg_reader *reader)
{
	static uint8_t buf[WARD_MSG_MAX];
	ssize_t n = ward_msg_recv(r->control, buf, sizeof(buf), NULL, NULL);
	if (n <= 0)
		return 0;
	ward_msg_reader_init(reader, buf, (size_t)n);
	if (reader->type == WARD_MSG_FAILED) {
		ward_cleanup_free char *text = ward_msg_get_str(reader);
		die("the writer failed: %s", text ? text : "?");
	}
	return reader->type;
}

/* The next segment, as the supervisor gives it; then the one before can be compressed. */
static bool segment_message(struct run *r, struct ward_msg_reader *reader)
{
	struct ward_msg m;
	unsigned number = r->st.segment + 1;
	int from = -1;
	int to = -1;
	if (reader->type == WARD_MSG_AUDIT_SEGMENT) {
		if (ward_segment_create(r->st.dir_fd, number, &r->next_fd) < 0)
			die("segment %u", number);
		ward_msg_init(&m, WARD_MSG_AUDIT_SEGMENT);
		ward_msg_put_u32(&m, number);
		if (ward_msg_send(r->control, &m, &r->next_fd, 1) < 0)
			die("send SEGMENT");
		ward_msg_clear(&m);
		return true;
	}
	if (reader->type != WARD_MSG_AUDIT_BEGUN)
		return reader->type == WARD_MSG_AUDIT_BURST;
	close(r->st.log_fd);
	r->st.log_fd = r->next_fd;
	r->next_fd = -1;
	r->st.segment = number;
	if (!r->pack)
		return true;
	if (ward_segment_pack_begin(r->st.dir_fd, number - 1, &from, &to) < 0 ||
		ward_frames_pack(from, to) < 0 ||
		ward_segment_pack_end(r->st.dir_fd, number - 1) < 0)
		die("segment %u cannot be compressed", number - 1);
	close(from);
	close(to);
	return true;
}

/* Answers the writer for so long. False: it is gone, or says something else. */
static bool serve_ms(struct run *r, int ms)
{
	struct ward_msg_reader reader;
	struct pollfd p = {.fd = r->control, .events = POLLIN};
	for (uint64_t end = ward_clock_mono_ns() + (uint64_t)ms * 1000000;;) {
		uint64_t now = ward_clock_mono_ns();
		if (now >= end)
			return true;
		if (poll(&p, 1, (int)((end - now) / 1000000) + 1) != 1)
			continue;
		/* Every tenth event is a refusal: told, and nothing to answer. */
		uint32_t type = receive(r, &reader);
		if (type == 0 || (type != WARD_MSG_AUDIT_BURST && !segment_message(r, &reader)))
			return false;
	}
}

/* Until the producers have nothing more to say. */
static void serve(struct run *r)
{
	while (r->rotate && atomic_load(&r->producing) > 0)
		if (!serve_ms(r, 10))
			return;
}

static void put_note(struct run *r, enum ward_event_kind kind, const char *json)
{
	struct ward_event ev;
	ward_event_begin(&ev, kind);
	if (kind == WARD_EVENT_SESSION_END)
		ward_event_text(&ev, WARD_TAG_TEXT, r->end);
	ward_event_text(&ev, WARD_TAG_JSON, json);
	if (ward_ring_put(r->ring[0], &ev) < 0)
		die("ring 0 fails");
}

/* Once: makes room on the disk again. */
static void log_failed(struct run *r)
{
	if (!r->free_file)
		die("the log failed");
	if (!atomic_exchange(&r->failed_seen, true)) {
		fputs("log failed\n", stderr);
		if (unlink(r->free_file) < 0)
			die("%s: %m", r->free_file);
	}
	usleep(20000);
}

static void put_named(struct run *r)
{
	struct ward_event ev;
	ward_event_begin(&ev, WARD_EVENT_RENAME);
	ward_event_text(&ev, WARD_TAG_COMM, r->name);
	ward_event_text(&ev, WARD_TAG_ACTION, "rename");
	ward_event_text(&ev, WARD_TAG_PATH, r->name);
	ward_event_text(&ev, WARD_TAG_PATH2, r->name);
	ward_event_text(&ev, WARD_TAG_RULE, r->name);
	ward_event_text(&ev, WARD_TAG_RULE_TEXT, r->name);
	if (ward_ring_put(r->ring[1], &ev) < 0)
		die("ring 1 fails");
}

/* Something of the tag's type; 3 is a number that every number, name and errno can be. */
static void put_any(struct ward_event *ev, enum ward_event_kind kind, enum ward_event_tag tag)
{
	static const uint8_t digest[32] = {0xab, 0xcd};
	/* A question's is that of its detail: of the two bytes {}. */
	static const uint8_t of_none[32] = {0x44, 0x13, 0x6f, 0xa3, 0x55, 0xb3, 0x67, 0x8a, 0x11,
		0x46, 0xad, 0x16, 0xf7, 0xe8, 0x64, 0x9e, 0x94, 0xfb, 0x4f, 0xc2, 0x1f, 0xe7, 0x7e,
		0x83, 0x10, 0xc0, 0x60, 0xf6, 0x1c, 0xaa, 0xff, 0x8a};
	switch (ward_event_tag_type(tag)) {
	case WARD_TYPE_U64:
	case WARD_TYPE_COUNT:
	case WARD_TYPE_OCTAL:
	case WARD_TYPE_RIGHTS:
	case WARD_TYPE_VERDICT:
	case WARD_TYPE_SOURCE:
	case WARD_TYPE_ERRNO:
	case WARD_TYPE_TIME:
		/* An inode can have all 64 bits; a grant must not have ended at its use. */
		ward_event_u64(ev, tag,
			tag == WARD_TAG_INO    ? UINT64_MAX - 1
			: tag == WARD_TAG_ENDS ? INT64_MAX
					       : 3);
		return;
	case WARD_TYPE_I64:
		ward_event_i64(ev, tag, -3);
		return;
	case WARD_TYPE_DIGEST:
		ward_event_digest(ev, tag, tag == WARD_TAG_SHOWN ? of_none : digest);
		return;
	case WARD_TYPE_LIST:
		ward_event_list(ev, tag, "sh\0-c\0a \"b\"\\\n\xff\0\0", 16);
		return;
	case WARD_TYPE_JSON:
		ward_event_text(ev, tag, "{}");
		return;
	case WARD_TYPE_BYTES:
		/* The grant leads where the record `use` says. */
		ward_event_text(ev, tag,
			tag == WARD_TAG_HOST && kind == WARD_EVENT_GRANT ? "text:3" : "text");
		return;
	case WARD_TYPE_NONE:
		break;
	}
	die("a tag without a type");
}

static void put_full(struct run *r, enum ward_event_kind kind)
{
	struct ward_event ev;
	ward_event_begin(&ev, kind);
	for (unsigned t = WARD_TAG_NONE + 1; t < WARD_TAG_COUNT_; t++)
		if (ward_member_set_has(&ward_record_kinds[kind].has, (enum ward_event_tag)t))
			put_any(&ev, kind, (enum ward_event_tag)t);
	if (ward_ring_put(r->ring[0], &ev) < 0)
		die("ring 0 fails");
}

static void put_every(struct run *r)
{
	struct ward_event ev;
	for (unsigned k = WARD_EVENT_NONE + 1; k < WARD_EVENT_SESSION_END; k++) {
		ward_event_begin(&ev, (enum ward_event_kind)k);
		if (ward_ring_put(r->ring[0], &ev) < 0)
			die("ring 0 fails");
		put_full(r, (enum ward_event_kind)k);
	}
}

/* One question and its answer, as docs/audit-format.md says; host NULL: of a path. */
static void put_question(struct run *r, const char *request, const char *path, const char *host,
	const char *result, const char *scope)
{
	struct ward_event ev;
	for (int answer = 0; answer < 2; answer++) {
		ward_event_begin(&ev, answer ? WARD_EVENT_GRANT : WARD_EVENT_ASK);
		ward_event_u64(&ev, WARD_TAG_PID, answer ? 900 : 700);
		ward_event_u64(&ev, WARD_TAG_UID, answer ? 1001 : 1000);
		ward_event_text(&ev, WARD_TAG_COMM, answer ? "wardfs" : "agent");
		ward_event_text(&ev, WARD_TAG_REQUEST, request);
		ward_event_text(&ev, WARD_TAG_ACTION, path ? "open" : "connect");
		if (path)
			ward_event_text(&ev, WARD_TAG_PATH, path);
		if (host)
			ward_event_text(&ev, WARD_TAG_HOST, host);
		if (host)
			ward_event_u64(&ev, WARD_TAG_PORT, 443);
		if (path)
			ward_event_u64(&ev, WARD_TAG_ASKED, WARD_RIGHT_READ | WARD_RIGHT_WRITE);
		if (!answer) {
			ward_event_u64(&ev, WARD_TAG_VERDICT, WARD_VERDICT_ASK);
			ward_event_text(&ev, WARD_TAG_RULE, "some.policy:9");
			ward_event_text(
				&ev, WARD_TAG_RULE_TEXT, path ? "ask = .github" : "ask = *");
		} else {
			ward_event_text(&ev, WARD_TAG_RESULT, result);
			ward_event_text(&ev, WARD_TAG_BY, "uid 1001");
			ward_event_text(&ev, WARD_TAG_SCOPE, scope);
			ward_event_u64(&ev, WARD_TAG_UNTIL, UINT64_C(1893456000000000000));
		}
		if (ward_ring_put(r->ring[0], &ev) < 0)
			die("ring 0 fails");
	}
}

static void put_asked(struct run *r)
{
	struct ward_event ev;
	put_question(r, "q1", "/workspace/.github/ci.yml", NULL, "granted", "session");
	put_question(r, "q2", NULL, "upload.example.org", "refused", "once");
	put_question(r, "q3", "/workspace/.github/x|=\\y", NULL, "expired", "once");
	/* Nobody answers their own question: from another ring it is left out. */
	ward_event_begin(&ev, WARD_EVENT_GRANT);
	ward_event_text(&ev, WARD_TAG_REQUEST, "q3");
	ward_event_text(&ev, WARD_TAG_RESULT, "granted");
	if (ward_ring_put(r->ring[1], &ev) < 0)
		die("ring 1 fails");
}

#define GRANT "g0123456789ab"

static void put_end(struct run *r, enum ward_event_kind kind, const char *result)
{
	struct ward_event ev;
	ward_event_begin(&ev, kind);
	ward_event_text(&ev, WARD_TAG_GRANT, GRANT);
	ward_event_text(&ev, WARD_TAG_RESULT, result);
	if (ward_ring_put(r->ring[0], &ev) < 0)
		die("ring 0 fails");
}

static void put_use(struct run *r, const char *id, uint32_t asked, uint64_t used)
{
	struct ward_event ev;
	ward_event_begin(&ev, WARD_EVENT_USE);
	ward_event_text(&ev, WARD_TAG_ACTION, "open");
	ward_event_text(&ev, WARD_TAG_PATH, "/workspace/docs/a");
	ward_event_u64(&ev, WARD_TAG_ASKED, asked);
	ward_event_text(&ev, WARD_TAG_GRANT, id);
	ward_event_u64(&ev, WARD_TAG_USED, used);
	if (ward_ring_put(r->ring[1], &ev) < 0)
		die("ring 1 fails");
}

static void put_open(struct run *r, const char *rule)
{
	struct ward_event ev;
	ward_event_begin(&ev, WARD_EVENT_OPEN);
	ward_event_text(&ev, WARD_TAG_ACTION, "open");
	ward_event_text(&ev, WARD_TAG_PATH, "/workspace/docs/a");
	ward_event_u64(&ev, WARD_TAG_VERDICT, WARD_VERDICT_ALLOW);
	ward_event_text(&ev, WARD_TAG_RULE, rule);
	ward_event_u64(&ev, WARD_TAG_SOURCE, WARD_SOURCE_GRANT);
	if (ward_ring_put(r->ring[1], &ev) < 0)
		die("ring 1 fails");
}

/* Each number above 0 is one thing that wardfs does not do. */
static void put_granted(struct run *r)
{
	const uint32_t rights = WARD_RIGHT_READ | WARD_RIGHT_APPEND;
	const int wrong = r->granted;
	struct ward_event ev;
	if (wrong == 1)
		put_use(r, GRANT, WARD_RIGHT_READ, 1); /* before it is given */
	ward_event_begin(&ev, WARD_EVENT_GRANT);
	ward_event_text(&ev, WARD_TAG_GRANT, GRANT);
	ward_event_text(&ev, WARD_TAG_PATH, "/workspace/docs/**");
	ward_event_u64(&ev, WARD_TAG_ASKED, rights);
	ward_event_u64(&ev, WARD_TAG_USES, 2);
	/* Far off, or over at once. */
	ward_event_u64(&ev, WARD_TAG_ENDS, wrong == 2 ? ev.head.mono_ns + 1 : INT64_MAX);
	if (ward_ring_put(r->ring[0], &ev) < 0)
		die("ring 0 fails");
	if (wrong == 3)
		put_open(r, "grant " GRANT); /* no use of it before */
	put_use(r, wrong == 4 ? "g000000000000" : GRANT,
		wrong == 5 ? WARD_RIGHT_WRITE : WARD_RIGHT_READ, wrong == 6 ? 3 : 1);
	put_open(r, wrong == 7 ? "grant g000000000000" : "grant " GRANT);
	if (wrong >= 8)
		put_end(r, wrong == 8 ? WARD_EVENT_REVOKE : WARD_EVENT_EXPIRE,
			wrong == 8   ? "revoked"
			: wrong == 9 ? "expired"
				     : "spent");
	/* Of 10 the end was no end of what had been counted before. */
	if (wrong != 10)
		put_use(r, GRANT, WARD_RIGHT_APPEND, 2);
}

static int put_access(struct run *r, unsigned long thread, unsigned long i)
{
	struct ward_event ev;
	char path[64];
	bool denied = i % 10 == 0;
	snprintf(path, sizeof(path), "/workspace/t%lu-%lu", thread, i);
	ward_event_begin(&ev, denied ? WARD_EVENT_DENY : WARD_EVENT_OPEN);
	ward_event_u64(&ev, WARD_TAG_PID, (uint64_t)getpid());
	ward_event_u64(&ev, WARD_TAG_UID, 1000);
	ward_event_text(&ev, WARD_TAG_COMM, "cat");
	ward_event_text(&ev, WARD_TAG_ACTION, "open");
	ward_event_text(&ev, WARD_TAG_PATH, denied ? "/workspace/.env" : path);
	if (!denied)
		ward_event_u64(&ev, WARD_TAG_INO, 11117511 + i);
	ward_event_u64(&ev, WARD_TAG_ASKED, WARD_RIGHT_READ);
	if (denied)
		ward_event_u64(&ev, WARD_TAG_GIVEN, WARD_RIGHT_STAT);
	ward_event_u64(&ev, WARD_TAG_VERDICT, denied ? WARD_VERDICT_DENY : WARD_VERDICT_ALLOW);
	ward_event_text(&ev, WARD_TAG_RULE, denied ? "medium:12" : "medium:5");
	if (denied)
		ward_event_text(&ev, WARD_TAG_RULE_TEXT, "deny = .env");
	ward_event_u64(&ev, WARD_TAG_SOURCE, WARD_SOURCE_PROFILE);
	if (denied)
		ward_event_u64(&ev, WARD_TAG_ERRNO, EACCES);
	else
		ward_event_text(&ev, WARD_TAG_IO, "passthrough");
	if (denied)
		ward_event_text(&ev, WARD_TAG_TEXT, path);
	return ward_ring_put(r->ring[1], &ev);
}

static void *produce(void *arg)
{
	struct producer *p = arg;
	struct run *r = p->run;
	for (unsigned long i = 0; i < r->events; i++) {
		int e = put_access(r, p->thread, i);
		if (e == 0)
			r->acked[p->thread][i] = 1;
		else
			log_failed(r);
	}
	atomic_fetch_sub(&r->producing, 1);
	return NULL;
}

static void kill_and_recover(struct run *r)
{
	serve_ms(r, (int)r->kill_ms);
	kill(r->pid, SIGKILL);
	int status = 0;
	waitpid(r->pid, &status, 0);
	close(r->control);
	struct ward_err err = WARD_ERR_INIT;
	if (r->next_fd >= 0)
		close(r->next_fd);
	r->next_fd = -1;
	if (ward_store_last_segment(&r->st, &err) < 0)
		die("%s", err.text);
	start_writer(r, "the writer was killed by signal 9");
	struct ward_msg_reader reader;
	if (receive(r, &reader) != WARD_MSG_READY)
		die("the recovery writer is not ready");
}

static int finish(struct run *r)
{
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_AUDIT_FINISH);
	if (ward_msg_send(r->control, &m, NULL, 0) < 0)
		die("send FINISH");
	ward_msg_clear(&m);
	struct ward_msg_reader reader;
	uint32_t type = 0;
	do {
		type = receive(r, &reader);
	} while (type == WARD_MSG_AUDIT_BROKEN || type == WARD_MSG_AUDIT_BURST ||
		 type == WARD_MSG_AUDIT_SEGMENT ||
		 (type == WARD_MSG_AUDIT_BEGUN && segment_message(r, &reader)));
	if (type != WARD_MSG_AUDIT_SUMMARY)
		die("no summary");
	uint64_t records = ward_msg_get_u64(&reader);
	uint64_t refusals = ward_msg_get_u64(&reader);
	uint64_t expected = ward_msg_get_u64(&reader);
	if (expected > refusals)
		die("more expected refusals than refusals");
	ward_cleanup_free char *hidden = ward_msg_get_str(&reader);
	ward_cleanup_free char *unreached = ward_msg_get_str(&reader);
	uint32_t n = ward_msg_get_u32(&reader);
	fprintf(stderr, "summary %llu records %llu refusals\n", (unsigned long long)records,
		(unsigned long long)refusals);
	for (uint32_t i = 0; i < n * 4; i++) {
		ward_cleanup_free char *text = ward_msg_get_str(&reader);
		fprintf(stderr, "%s%c", text ? text : "?", i % 4 == 3 ? '\n' : ' ');
	}
	if (ward_msg_done(&reader) < 0)
		die("bad summary");
	int status = 0;
	struct rusage used;
	if (wait4(r->pid, &status, 0, &used) != r->pid || status != 0)
		die("the writer ended with status %d", status);
	fprintf(stderr, "writer %ld us\n",
		(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000L + used.ru_utime.tv_usec +
			used.ru_stime.tv_usec);
	return 0;
}

static const struct option options[] = {{"program", 1, NULL, 'p'}, {"state", 1, NULL, 's'},
	{"session", 1, NULL, 'n'}, {"events", 1, NULL, 'e'}, {"threads", 1, NULL, 't'},
	{"kill-ms", 1, NULL, 'k'}, {"die", 0, NULL, 'd'}, {"free", 1, NULL, 'f'},
	{"hold", 0, NULL, 'h'}, {"name", 1, NULL, 'x'}, {"checkpoint", 1, NULL, 'c'},
	{"sync", 1, NULL, 'y'}, {"every", 0, NULL, 'v'}, {"asked", 0, NULL, 'A'},
	{"granted", 1, NULL, 'G'}, {"rotate", 1, NULL, 'r'}, {"keep", 1, NULL, 'K'},
	{"pack", 0, NULL, 'P'}, {"end", 1, NULL, 'E'}, {"script", 1, NULL, 'C'},
	{"start", 1, NULL, 'S'}, {0}};

static void parse(struct run *r, int argc, char **argv)
{
	for (int c = 0; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		switch (c) {
		case 'p':
			r->program = optarg;
			break;
		case 's':
			r->state = optarg;
			break;
		case 'n':
			r->session = optarg;
			break;
		case 'e':
			r->events = strtoul(optarg, NULL, 10);
			break;
		case 't':
			r->threads = strtoul(optarg, NULL, 10);
			break;
		case 'k':
			r->kill_ms = strtoul(optarg, NULL, 10);
			break;
		case 'd':
			r->die = true;
			break;
		case 'f':
			r->free_file = optarg;
			break;
		case 'x':
			r->name = optarg;
			break;
		case 'c':
			r->checkpoint = strtoul(optarg, NULL, 10);
			break;
		case 'y':
			r->sync = strcmp(optarg, "record") == 0	 ? WARD_SYNC_RECORD
				  : strcmp(optarg, "close") == 0 ? WARD_SYNC_CLOSE
								 : WARD_SYNC_BATCH;
			break;
		case 'v':
			r->every = true;
			break;
		case 'A':
			r->asked = true;
			break;
		case 'G':
			r->granted = atoi(optarg);
			break;
		case 'r':
			r->rotate = strtoul(optarg, NULL, 10);
			break;
		case 'K':
			r->keep = strtoul(optarg, NULL, 10);
			break;
		case 'E':
			r->end = optarg;
			break;
		case 'C':
			r->script = optarg;
			break;
		case 'S':
			r->begin = optarg;
			break;
		case 'P':
			r->pack = true;
			break;
		case 'h':
			r->hold = true;
			break;
		default:
			exit(2);
		}
	}
	if (!r->program || !r->state || r->threads < 1 || r->threads > THREADS_MAX)
		die("usage: see the head of auditrun.c");
}

static void prepare(struct run *r)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_store *store = NULL;
	if (ward_chain_setup() < 0 || ward_store_open(r->state, true, &store, &err) < 0 ||
		ward_store_create_session(store, r->session, "[policy]\n", 9, &r->st, &err) < 0)
		die("%s", err.text);
	ward_store_close(store);
	fprintf(stderr, "%s\n", r->st.name);
	r->wake = eventfd(0, EFD_CLOEXEC);
	for (int i = 0; i < RINGS; i++)
		if (ward_ring_create(WARD_RING_BYTES, &r->ring_fd[i], &err) < 0 ||
			ward_ring_open(r->ring_fd[i], r->wake, &r->ring[i], &err) < 0)
			die("%s", err.text);
	ward_ring_sync(r->ring[1], r->sync == WARD_SYNC_RECORD);
	for (unsigned long t = 0; t < r->threads; t++)
		r->acked[t] = calloc(r->events + 1, 1);
}

int main(int argc, char **argv)
{
	static struct run r = {
		.events = 10, .threads = 1, .sync = WARD_SYNC_BATCH, .next_fd = -1, .granted = -1};
	pthread_t id[THREADS_MAX];
	struct producer producers[THREADS_MAX];
	parse(&r, argc, argv);
	prepare(&r);
	start_writer(&r, NULL);
	struct ward_msg_reader reader;
	if (receive(&r, &reader) != WARD_MSG_READY)
		die("the writer is not ready");
	put_note(&r, WARD_EVENT_SESSION_START,
		r.begin ? r.begin
			: "{\"owner_policy_file\":\"/srv/owner/.config/wardfs/projects/p.policy\"}");
	if (r.every)
		put_every(&r);
	if (r.asked)
		put_asked(&r);
	if (r.granted >= 0)
		put_granted(&r);
	if (r.script)
		scripted_put(r.script, r.ring);
	r.producing = r.threads;
	for (unsigned long t = 0; t < r.threads; t++) {
		producers[t] = (struct producer){.run = &r, .thread = t};
		if (pthread_create(&id[t], NULL, produce, &producers[t]) != 0)
			die("thread");
	}
	if (r.kill_ms)
		kill_and_recover(&r);
	serve(&r);
	for (unsigned long t = 0; t < r.threads; t++)
		pthread_join(id[t], NULL);
	if (r.name)
		put_named(&r);
	if (r.hold) {
		puts("ready");
		(void)fflush(stdout);
		char c;
		while (read(0, &c, 1) > 0)
			;
	}
	for (unsigned long t = 0; t < r.threads; t++)
		for (unsigned long i = 0; i < r.events; i++)
			if (r.acked[t][i])
				printf("/workspace/t%lu-%lu\n", t, i);
	(void)fflush(stdout);
	if (r.die)
		_exit(0);
	put_note(&r, WARD_EVENT_SESSION_END, "{}");
	return finish(&r);
}
