/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-audit: writes the trail of one session. Started by the supervisor with the descriptors of
 * enforcer/ipc/helper.h.
 *
 *   supervisor --CONFIG--> receive, map the rings, read the key  (nothing of the agent's yet)
 *                          confine
 *                          ledger: start                         --READY-->
 *                          loop: rings -> log                    --AUDIT_BROKEN--> (log fails)
 *                          many refusals                       --AUDIT_BURST-->
 *                          the log is long enough              --AUDIT_SEGMENT-->
 *   supervisor --AUDIT_SEGMENT--> go on in the next file         --AUDIT_BEGUN-->
 *   supervisor --FINISH--> drain, end record, ledger: end        --AUDIT_SUMMARY-->
 *   end of file on the control socket: the supervisor died; the same, with that as the cause
 *
 * Exit: 0 the trail has its end, 1 it has not (stderr says why).
 *
 * With WARD_AUDIT_PACK it is another process that does another thing, in the same cage: it
 * compresses one finished segment. Exit: 0 done, 1 not.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/log/frames.h"
#include "audit/write/audit_confine.h"
#include "audit/write/writer.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/out.h"
#include "enforcer/base/sched.h"
#include "enforcer/ipc/early.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/msg.h"

/* While records flow: look at the rings this often instead of being woken for each. */
#define NAP_MS 10
/* Naps without a record before it sleeps for good. */
#define NAPS 3
/*
 * Longest turn on a processor that is asked for (sched(7)). Several times the usual one: from
 * Linux 6.12 on, a process that wakes with a shorter one goes first.
 */
#define TURN_NS UINT64_C(10000000)
/* While the log cannot be written: time between attempts, and how many at the end. */
#define RETRY_MS 100
#define RETRIES_AT_END 20

struct audit {
	char *session;
	char *cause;
	uint32_t flags;
	uint32_t sync; /* enum ward_audit_sync */
	uint64_t checkpoint_records, checkpoint_ms;
	uint64_t rotate, keep_s;
	struct ward_ring *rings[WARD_RINGS_MAX];
	size_t n_rings;
	struct ward_writer *writer;
	bool begun;  /* BEGIN came before the configuration */
	bool finish; /* FINISH came, or the supervisor is gone */
	bool alone;  /* the supervisor is gone */
	bool broken; /* it was told that the log fails */
	bool asked;  /* for the next segment */
	int idle;    /* naps in a row without a record */
	/* Refusals: when the window began, how many there were then and last time, and when told.
	 */
	uint64_t burst_at, burst_from, burst_last, burst_told;
};

static void send_text(uint32_t type, const char *text)
{
	struct ward_msg m;
	ward_msg_init(&m, type);
	ward_msg_put_str(&m, text);
	/* If the supervisor is gone the loop will see it. */
	if (ward_msg_send(WARD_FD_CONTROL, &m, NULL, 0) < 0)
		ward_tellf("wardfs-audit: %s\n", text);
	ward_msg_clear(&m);
}

/* The next message; *ret_buf is the caller's. -EPIPE: the supervisor is gone. */
static int receive(uint8_t **ret_buf, struct ward_msg_reader *ret)
{
	ward_cleanup_free uint8_t *buf = malloc(WARD_MSG_MAX);
	if (!buf)
		return -ENOMEM;
	ssize_t n = ward_msg_recv(WARD_FD_CONTROL, buf, WARD_MSG_MAX, NULL, NULL);
	if (n <= 0)
		return n < 0 ? (int)n : -EPIPE;
	ward_msg_reader_init(ret, buf, (size_t)n);
	*ret_buf = ward_steal_ptr(&buf);
	return 0;
}

/* Is it the word that the session is on disk? */
static bool is_begin(const struct ward_msg_reader *r)
{
	return r->type == WARD_MSG_AUDIT_BEGIN && ward_msg_done(r) == 0;
}

/* Returns when it may write. */
static int wait_to_begin(struct audit *a, struct ward_err *err)
{
	ward_cleanup_free uint8_t *buf = NULL;
	struct ward_msg_reader r;
	if (!(a->flags & WARD_AUDIT_WAIT) || a->begun)
		return 0;
	int e = receive(&buf, &r);
	/* The session was not made, and the trail has nothing. */
	if (e == -EPIPE)
		_exit(1);
	if (e == 0 && !is_begin(&r))
		e = -EBADMSG;
	return e < 0 ? ward_err_sys(err, e, "configuration") : 0;
}

static int receive_config(struct audit *a, struct ward_err *err)
{
	ward_cleanup_free uint8_t *buf = NULL;
	struct ward_msg_reader r;
	int e = receive(&buf, &r);
	if (e == 0 && is_begin(&r)) {
		a->begun = true;
		free(ward_steal_ptr(&buf));
		e = receive(&buf, &r);
	}
	if (e < 0)
		return ward_err_sys(err, e, "configuration");
	a->session = ward_msg_get_str(&r);
	a->n_rings = ward_msg_get_u32(&r);
	a->flags = ward_msg_get_u32(&r);
	a->cause = ward_msg_get_str(&r);
	a->sync = ward_msg_get_u32(&r);
	a->checkpoint_records = ward_msg_get_u64(&r);
	a->checkpoint_ms = ward_msg_get_u64(&r);
	a->rotate = ward_msg_get_u64(&r);
	a->keep_s = ward_msg_get_u64(&r);
	if (ward_msg_done(&r) < 0 || r.type != WARD_MSG_CONFIG || a->n_rings > WARD_RINGS_MAX ||
		(a->n_rings == 0) != (a->flags == WARD_AUDIT_PACK) ||
		a->flags & ~(uint32_t)(WARD_AUDIT_RECOVER | WARD_AUDIT_PACK | WARD_AUDIT_WAIT) ||
		a->sync > WARD_SYNC_CLOSE)
		return ward_err_set(err, -EBADMSG, "configuration: not understood");
	return 0;
}

/* Exactly a key from fd, which is closed. */
static int take_key(int fd, uint8_t ret[WARD_KEY_BYTES], const char *what, struct ward_err *err)
{
	ssize_t n = pread(fd, ret, WARD_KEY_BYTES, 0);
	close(fd);
	return n == (ssize_t)WARD_KEY_BYTES
		       ? 0
		       : ward_err_set(err, -EINVAL, "%s: cannot be read", what);
}

static int take_descriptors(struct audit *a, struct ward_err *err)
{
	for (size_t i = 0; i < a->n_rings; i++) {
		int fd = WARD_FD_AUDIT_RINGS + (int)i;
		int r = ward_ring_open(fd, WARD_FD_RING_WAKE, &a->rings[i], err);
		if (r < 0)
			return r;
		close(fd);
	}
	if (fcntl(WARD_FD_RING_WAKE, F_SETFL, O_NONBLOCK) < 0)
		return ward_err_sys(err, -errno, "wake-up descriptor");
	/*
	 * For those who read meanwhile: this log has a writer. The lock belongs to the open file,
	 * which the supervisor holds too, so it outlasts us until recovery is done.
	 */
	if (flock(WARD_FD_AUDIT_LOG, LOCK_EX | LOCK_NB) < 0)
		return ward_err_sys(err, -errno, "log: lock");
	return 0;
}

/* A finished segment into a fresh file; the process that started us names it. */
static int pack(struct ward_err *err)
{
	/* What the agent does comes first. Where it may not be, it is as urgent as that. */
	(void)setpriority(PRIO_PROCESS, 0, 19);
	int r = ward_audit_confine(err);
	return r < 0 ? r : ward_frames_pack(WARD_FD_AUDIT_LOG, WARD_FD_AUDIT_PACKED);
}

/*
 * The command and the daemon wait for each other many times a millisecond, and a batch of records
 * takes longer than that. So a process that wakes up need not wait for the end of the batch. The
 * writer keeps its share of the processor, because a producer that waits for room in a ring waits
 * for the writer.
 */
static void yield_to_wakers(void)
{
	ward_sched_turn(SCHED_BATCH, TURN_NS);
}

static int start(struct audit *a, int argc, char **argv, struct ward_err *err)
{
	/* First of all: from here on nobody of this uid can look into our memory. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return ward_err_sys(err, -errno, "not dumpable");
	/*
	 * Ctrl-C at the terminal reaches the whole process group, a shutdown everybody. The
	 * supervisor decides what they mean; the end of the control socket is our signal.
	 */
	static const int ignored[] = {SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP};
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		if (signal(ignored[i], SIG_IGN) == SIG_ERR)
			return ward_err_sys(err, -errno, "signals");
	int r = ward_chain_setup();
	if (r < 0)
		return ward_err_sys(err, r, "libsodium");
	/* What comes before takes its time, and can be done before it is known for whom. */
	r = ward_early_take(argc, argv);
	if (r < 0)
		_exit(ward_early_status(r));
	uint8_t key[WARD_KEY_BYTES];
	uint8_t seed[WARD_KEY_BYTES];
	r = receive_config(a, err);
	if (r == 0 && a->flags & WARD_AUDIT_PACK)
		_exit(pack(err) < 0 ? 1 : 0);
	/* With `record` every operation waits for the writer. */
	if (r == 0 && a->sync != WARD_SYNC_RECORD)
		yield_to_wakers();
	if (r == 0)
		r = take_key(WARD_FD_AUDIT_KEY, key, "root key", err);
	if (r == 0)
		r = take_key(WARD_FD_AUDIT_SIGN, seed, "signing key", err);
	if (r == 0)
		r = take_descriptors(a, err);
	if (r == 0)
		r = ward_audit_confine(err);
	if (r == 0)
		r = wait_to_begin(a, err);
	if (r == 0) {
		struct ward_writer_setup setup = {.session = a->session,
			.log_fd = WARD_FD_AUDIT_LOG,
			.ledger = {WARD_FD_AUDIT_LEDGER, WARD_FD_AUDIT_LEDGER_CHECKPOINTS,
				WARD_FD_AUDIT_LEDGER_TREE},
			.checkpoints_fd = WARD_FD_AUDIT_CHECKPOINTS,
			.root_key = key,
			.sign_seed = seed,
			.sync = (enum ward_audit_sync)a->sync,
			.checkpoint_records = a->checkpoint_records,
			.checkpoint_ms = a->checkpoint_ms,
			.rotate = a->rotate,
			.keep_s = a->keep_s,
			.rings = a->rings,
			.n_rings = a->n_rings,
			.recover = a->flags & WARD_AUDIT_RECOVER,
			.cause = a->cause};
		r = ward_writer_new(&setup, &a->writer, err);
	}
	ward_chain_wipe(key, sizeof(key));
	ward_chain_wipe(seed, sizeof(seed));
	return r;
}

/* The answer with the next segment, or without one. False: this is another message. */
static bool take_segment(struct audit *a, struct ward_msg_reader *r, int fd)
{
	if (r->type != WARD_MSG_AUDIT_SEGMENT || !a->asked)
		return false;
	uint32_t number = ward_msg_get_u32(r);
	if (ward_msg_done(r) < 0 || number < 2)
		return false;
	ward_writer_give_segment(a->writer, fd, number);
	a->asked = false;
	return true;
}

/* The log is as long as a segment shall be, or the next one was begun. */
static void tell_segment(struct audit *a)
{
	struct ward_msg m;
	unsigned begun = ward_writer_begun_segment(a->writer);
	if (begun) {
		ward_msg_init(&m, WARD_MSG_AUDIT_BEGUN);
		ward_msg_put_u32(&m, begun);
		/* If the supervisor is gone the loop will see it. */
		(void)!ward_msg_send(WARD_FD_CONTROL, &m, NULL, 0);
		ward_msg_clear(&m);
	}
	if (a->asked || !ward_writer_wants_segment(a->writer))
		return;
	ward_msg_init(&m, WARD_MSG_AUDIT_SEGMENT);
	a->asked = ward_msg_send(WARD_FD_CONTROL, &m, NULL, 0) == 0;
	ward_msg_clear(&m);
}

/* Something on the control socket: FINISH, the end, or nonsense, which ends the session too. */
static void take_control(struct audit *a)
{
	uint8_t buf[1024];
	int fd = -1;
	size_t n_fds = 1;
	ssize_t n = ward_msg_recv(WARD_FD_CONTROL, buf, sizeof(buf), &fd, &n_fds);
	struct ward_msg_reader r = {0};
	if (n > 0)
		ward_msg_reader_init(&r, buf, (size_t)n);
	if (n > 0 && take_segment(a, &r, n_fds ? fd : -1))
		return;
	if (n > 0 && n_fds)
		close(fd);
	a->finish = true;
	if (n <= 0) {
		a->alone = true;
		return;
	}
	if (r.type != WARD_MSG_AUDIT_FINISH || ward_msg_done(&r) < 0)
		a->alone = true;
}

/* Waits for control, for a producer's wake-up, or timeout_ms (-1: forever). */
static void wait_for(struct audit *a, int timeout_ms, bool rings)
{
	struct pollfd p[] = {{.fd = WARD_FD_CONTROL, .events = POLLIN},
		{.fd = rings ? WARD_FD_RING_WAKE : -1, .events = POLLIN}};
	if (poll(p, 2, timeout_ms) <= 0)
		return;
	if (p[1].revents) {
		uint64_t count = 0;
		(void)!read(WARD_FD_RING_WAKE, &count, sizeof(count));
	}
	if (p[0].revents)
		take_control(a);
}

/* The rings are empty: nap, or sleep after a few naps without a record. */
static void rest(struct audit *a)
{
	/* Who waits for the disk shall not wait for a nap before. */
	bool nap = a->idle < NAPS && a->sync != WARD_SYNC_RECORD;
	bool may = true;
	for (size_t i = 0; i < a->n_rings; i++)
		may &= nap ? ward_ring_may_nap(a->rings[i]) : ward_ring_may_sleep(a->rings[i]);
	int timeout = nap ? NAP_MS : ward_writer_sync_due_ms(a->writer);
	wait_for(a, may ? timeout : 0, true);
	if (nap)
		a->idle++;
}

/* This many refusals within this many seconds are a burst. No program meets rules at that rate by
 * chance. */
#define BURST 100
#define BURST_S 10

static void tell_burst(struct audit *a)
{
	uint64_t now = ward_clock_mono_ns();
	uint64_t total = ward_writer_summary(a->writer)->refusals;
	if (now - a->burst_at > BURST_S * WARD_NS_PER_SEC) {
		a->burst_at = now;
		a->burst_from = a->burst_last;
	}
	a->burst_last = total;
	if (total - a->burst_from < BURST || total < 2 * a->burst_told)
		return;
	a->burst_told = total;
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_AUDIT_BURST);
	ward_msg_put_u64(&m, total - a->burst_from);
	ward_msg_put_u64(&m, BURST_S);
	ward_msg_put_u64(&m, total);
	/* If the supervisor is gone the loop will see it. */
	(void)!ward_msg_send(WARD_FD_CONTROL, &m, NULL, 0);
	ward_msg_clear(&m);
}

static void loop(struct audit *a)
{
	while (!a->finish) {
		int n = ward_writer_step(a->writer);
		if (n >= 0) {
			int r = ward_writer_sync(a->writer, false);
			n = r < 0 ? r : n;
		}
		if (n < 0) {
			if (!a->broken)
				send_text(WARD_MSG_AUDIT_BROKEN, strerror(-n));
			a->broken = true;
			wait_for(a, RETRY_MS, false);
			continue;
		}
		a->broken = false;
		tell_segment(a);
		if (n > 0) {
			a->idle = 0;
			tell_burst(a);
			wait_for(a, 0, false);
		} else {
			rest(a);
		}
	}
}

static int finish(struct audit *a, struct ward_err *err)
{
	const char *cause = a->alone ? "the supervisor died" : "";
	int r = -EIO;
	ward_writer_close_rings(a->writer);
	for (int i = 0; i < RETRIES_AT_END; i++) {
		do {
			r = ward_writer_step(a->writer);
		} while (r > 0);
		if (r == 0)
			r = ward_writer_finish(a->writer, cause, err);
		else
			(void)ward_err_sys(err, r, "log");
		if (r == 0)
			return 0;
		(void)poll(NULL, 0, RETRY_MS);
	}
	return r;
}

static void send_summary(const struct ward_summary *s)
{
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_AUDIT_SUMMARY);
	ward_msg_put_u64(&m, s->records);
	ward_msg_put_u64(&m, s->refusals);
	ward_msg_put_u64(&m, s->expected);
	ward_msg_put_str(&m, s->hidden ? s->hidden : "");
	ward_msg_put_str(&m, s->unreached ? s->unreached : "");
	ward_msg_put_u32(&m, s->n);
	for (uint32_t i = 0; i < s->n; i++) {
		ward_msg_put_str(&m, s->first[i].verdict);
		ward_msg_put_str(&m, s->first[i].action);
		ward_msg_put_str(&m, s->first[i].path);
		ward_msg_put_str(&m, s->first[i].rule);
	}
	/* Nobody may be there to hear it; the ledger has it. */
	(void)!ward_msg_send(WARD_FD_CONTROL, &m, NULL, 0);
	ward_msg_clear(&m);
}

int main(int argc, char **argv)
{
	struct ward_err err = WARD_ERR_INIT;
	struct audit a = {0};
	if (start(&a, argc, argv, &err) < 0) {
		send_text(WARD_MSG_FAILED, err.text);
		_exit(1);
	}
	struct ward_msg ready;
	ward_msg_init(&ready, WARD_MSG_READY);
	if (ward_msg_send(WARD_FD_CONTROL, &ready, NULL, 0) < 0)
		a.finish = a.alone = true;
	ward_msg_clear(&ready);
	loop(&a);
	int r = finish(&a, &err);
	if (r < 0) {
		ward_tellf("wardfs-audit: %s\n", err.text);
		send_text(WARD_MSG_FAILED, err.text);
		_exit(1);
	}
	send_summary(ward_writer_summary(a.writer));
	_exit(0);
}
