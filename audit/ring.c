/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of events in shared memory: both sides of it. */
#include "audit/ring.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

#define RING_MIN ((size_t)64 << 10) /* four records of the largest size */
#define RING_MAX ((size_t)1 << 30)
#define RING_MAGIC UINT64_C(0x33676e6972647277) /* "wrdring3" */
/*
 * So much more of the memory is made sure of at a time; 64 records of a common size, and more.
 * madvise(2) wants whole pages, of up to 64 KiB.
 */
#define MEMORY_STEP ((size_t)64 << 10)
static_assert(MEMORY_STEP % WARD_RING_HEADER_BYTES == 0 && RING_MIN % MEMORY_STEP == 0, "pages");
/* A waiting producer looks again after this long even if no wake-up reached it. */
#define WAIT_NS 200000000L

/* What the reader told the producers before it went to sleep. */
enum reader_state { READER_AWAKE = 0, READER_SLEEPS, READER_NAPS };

/* The first page. Each side's words have a cache line of their own: padding is the point. */
struct shared { // NOLINT(clang-analyzer-optin.performance.Padding)
	uint64_t magic;
	uint64_t bytes; /* of the data area; the file's size decides, not this */
	/* written by the producer */
	_Alignas(64) _Atomic uint64_t write_pos; /* end of the last committed record */
	/* written by the reader */
	_Alignas(64) _Atomic uint64_t read_pos; /* everything before is free */
	_Atomic uint32_t failed;
	_Atomic uint32_t room;	      /* futex: changes when room was made or failed changed */
	_Atomic uint64_t durable_pos; /* everything before is on disk */
	_Atomic uint64_t lost_pos;    /* everything before that was not is not known to be */
	_Atomic uint32_t durable;     /* futex: changes with durable_pos or failed */
	_Atomic uint32_t low;	      /* the log has little room (ward_ring_low()) */
	/* written by the supervisor */
	_Atomic uint32_t probing;
	/* written by both */
	_Alignas(64) _Atomic uint32_t reader; /* enum reader_state */
	_Atomic uint32_t waiters;	      /* producers that wait for room */
	_Atomic uint32_t durable_waiters;     /* and for the disk */
};
static_assert(sizeof(struct shared) <= WARD_RING_HEADER_BYTES, "the header");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2, "shared with a process");

/* Of an event with WARD_EVENT_ENDS. The first to exchange OPEN settles it. */
enum record_end {
	RING_OPEN = 0,
	RING_TAKEN, /* by the reader: what the last two fields say does not count */
	RING_ENDED, /* by the producer: they count, whenever the record is read */
};

struct record {
	_Atomic uint64_t commit;
	uint32_t size;
	_Atomic uint32_t end; /* enum record_end */
	uint8_t event[];
};
static_assert(sizeof(struct record) == 16, "the layout in ring.h");

struct ward_ring {
	struct shared *sh;
	uint8_t *data; /* the data area, twice */
	size_t bytes;
	size_t mask;
	int wake_fd; /* borrowed */
	size_t sure; /* bytes of the data area that are there; by reader, or producer under lock */
	uint64_t read_pos; /* reader only */
	uint64_t released; /* reader only: in the log up to here */
	bool given_up;	   /* reader only: spoiled beyond recovery */

	pthread_mutex_t lock; /* serialises the producer's threads; a leaf */
	uint64_t write_pos;   /* protected by lock */
	bool sync;	      /* producer only, set before its threads start */
};

static int futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	return (int)syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

int ward_ring_create(size_t bytes, int *ret_fd, struct ward_err *err)
{
	if (bytes < RING_MIN || bytes > RING_MAX || (bytes & (bytes - 1)) != 0)
		return ward_err_set(err, -EINVAL, "ring of %zu bytes: not a power of two", bytes);
	ward_cleanup_fd int fd = memfd_create("wardfs-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return ward_err_sys(err, -errno, "ring: memfd_create");
	/* The data area comes as it is used (make_sure()): most sessions use a little of it. */
	if (ftruncate(fd, (off_t)(WARD_RING_HEADER_BYTES + bytes)) < 0)
		return ward_err_sys(err, -errno, "ring of %zu bytes", bytes);
	struct shared sh = {.magic = RING_MAGIC, .bytes = bytes};
	if (pwrite(fd, &sh, sizeof(sh), 0) != (ssize_t)sizeof(sh))
		return ward_err_sys(err, -EIO, "ring");
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return ward_err_sys(err, -errno, "ring: F_ADD_SEALS");
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

/* Maps the header and the data area twice behind it. */
static int map(int fd, size_t bytes, uint8_t **ret)
{
	uint8_t *base = mmap(NULL, WARD_RING_HEADER_BYTES + 2 * bytes, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return -errno;
	const int prot = PROT_READ | PROT_WRITE;
	const int flags = MAP_SHARED | MAP_FIXED;
	if (mmap(base, WARD_RING_HEADER_BYTES + bytes, prot, flags, fd, 0) == MAP_FAILED ||
		mmap(base + WARD_RING_HEADER_BYTES + bytes, bytes, prot, flags, fd,
			WARD_RING_HEADER_BYTES) == MAP_FAILED) {
		int r = -errno;
		munmap(base, WARD_RING_HEADER_BYTES + 2 * bytes);
		return r;
	}
	*ret = base;
	return 0;
}

int ward_ring_open(int fd, int wake_fd, struct ward_ring **ret, struct ward_err *err)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW;
	struct stat st;
	if (fstat(fd, &st) < 0)
		return ward_err_sys(err, -errno, "ring: fstat");
	int have = fcntl(fd, F_GET_SEALS);
	size_t bytes = (size_t)st.st_size - WARD_RING_HEADER_BYTES;
	if (have < 0 || (have & seals) != seals || st.st_size <= WARD_RING_HEADER_BYTES ||
		bytes < RING_MIN || bytes > RING_MAX || (bytes & (bytes - 1)) != 0)
		return ward_err_set(err, -EINVAL, "ring: not a sealed ring");
	struct ward_ring *r = calloc(1, sizeof(*r));
	if (!r)
		return ward_err_sys(err, -ENOMEM, "ring");
	uint8_t *base = NULL;
	int e = map(fd, bytes, &base);
	if (e < 0) {
		free(r);
		return ward_err_sys(err, e, "ring: mmap");
	}
	r->sh = (struct shared *)base;
	r->data = base + WARD_RING_HEADER_BYTES;
	r->bytes = bytes;
	r->mask = bytes - 1;
	r->wake_fd = wake_fd;
	r->read_pos = atomic_load(&r->sh->read_pos);
	r->released = r->read_pos;
	r->write_pos = atomic_load(&r->sh->write_pos);
	pthread_mutex_init(&r->lock, NULL);
	if (r->sh->magic != RING_MAGIC || r->read_pos % 8 != 0 || r->write_pos % 8 != 0) {
		ward_ring_close(r);
		return ward_err_set(err, -EINVAL, "ring: not a ring of this version");
	}
	*ret = r;
	return 0;
}

void ward_ring_close(struct ward_ring *r)
{
	if (!r)
		return;
	pthread_mutex_destroy(&r->lock);
	munmap(r->sh, WARD_RING_HEADER_BYTES + 2 * r->bytes);
	free(r);
}

uint64_t ward_ring_written(const struct ward_ring *r)
{
	return atomic_load(&r->sh->write_pos);
}

static struct record *record_at(const struct ward_ring *r, uint64_t pos)
{
	return (struct record *)(r->data + (pos & r->mask));
}

/*
 * There is memory for `len` bytes at pos and for the commit word behind: missing memory fails here,
 * not by SIGBUS (MADV_POPULATE_WRITE, Linux 5.14). -errno.
 */
static int make_sure(struct ward_ring *r, uint64_t pos, uint64_t len)
{
	if (r->sure == r->bytes)
		return 0;
	/* What goes beyond the end lies at the start; a second round has been everywhere. */
	len += sizeof(struct record);
	size_t need = r->bytes;
	if (pos < r->bytes && len < r->bytes - pos)
		need = (pos + len + MEMORY_STEP - 1) & ~(MEMORY_STEP - 1);
	if (need > r->sure && madvise(r->data + r->sure, need - r->sure, MADV_POPULATE_WRITE) < 0)
		return -errno;
	if (need > r->sure)
		r->sure = need;
	return 0;
}

static uint64_t record_bytes(size_t event_size)
{
	return sizeof(struct record) + ((event_size + 7) & ~(size_t)7);
}

/* --- producer --- */

static void wake_reader(struct ward_ring *r)
{
	/* Only one producer pays for the wake-up. */
	if (atomic_exchange(&r->sh->reader, READER_AWAKE) == READER_AWAKE)
		return;
	uint64_t one = 1;
	/* EAGAIN: the counter is full, so the reader is awake. */
	while (write(r->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

void ward_ring_set_probing(struct ward_ring *r, bool on)
{
	atomic_store(&r->sh->probing, on ? 1 : 0);
}

bool ward_ring_probing(const struct ward_ring *r)
{
	return atomic_load_explicit(&r->sh->probing, memory_order_acquire);
}

bool ward_ring_failed(const struct ward_ring *r)
{
	return atomic_load_explicit(&r->sh->failed, memory_order_relaxed);
}

/* 0 if `need` bytes are free, -EAGAIN if not yet, -EIO if the log failed. */
static int check_room(struct ward_ring *r, uint64_t need)
{
	if (ward_ring_failed(r))
		return -EIO;
	uint64_t used = r->write_pos - atomic_load_explicit(&r->sh->read_pos, memory_order_acquire);
	if (used > r->bytes)
		return -EIO;
	/* Room also for the commit word behind, which is cleared. */
	return used + need + sizeof(uint64_t) <= r->bytes ? 0 : -EAGAIN;
}

static int wait_for_room(struct ward_ring *r, uint64_t need)
{
	int e = 0;
	atomic_fetch_add(&r->sh->waiters, 1);
	for (;;) {
		uint32_t seen = atomic_load(&r->sh->room);
		e = check_room(r, need);
		if (e != -EAGAIN)
			break;
		wake_reader(r);
		struct timespec ts = {.tv_nsec = WAIT_NS};
		(void)futex(&r->sh->room, FUTEX_WAIT, seen, &ts);
	}
	atomic_fetch_sub(&r->sh->waiters, 1);
	return e;
}

static void append(struct ward_ring *r, const struct ward_event *ev, uint64_t need)
{
	struct record *rec = record_at(r, r->write_pos);
	uint64_t next = r->write_pos + need;
	size_t size = ward_event_size(ev);
	atomic_store_explicit(&record_at(r, next)->commit, 0, memory_order_relaxed);
	rec->size = (uint32_t)size;
	atomic_store_explicit(&rec->end, RING_OPEN, memory_order_relaxed);
	memcpy(rec->event, ev, size);
	atomic_store_explicit(&rec->commit, r->write_pos + 1, memory_order_release);
	r->write_pos = next;
	atomic_store_explicit(&r->sh->write_pos, next, memory_order_release);
	/* Pairs with the fence in may_rest(): either the reader sees the record or we its state. */
	atomic_thread_fence(memory_order_seq_cst);
	uint32_t state = atomic_load_explicit(&r->sh->reader, memory_order_relaxed);
	uint64_t used = next - atomic_load_explicit(&r->sh->read_pos, memory_order_relaxed);
	if (state == READER_SLEEPS || (state != READER_AWAKE && used >= r->bytes / 2))
		wake_reader(r);
}

/* Until everything before pos is on disk, or the log failed. Holds no lock: many wait at once. */
static int wait_durable(struct ward_ring *r, uint64_t pos)
{
	int e = -EAGAIN;
	atomic_fetch_add(&r->sh->durable_waiters, 1);
	for (;;) {
		uint32_t seen = atomic_load(&r->sh->durable);
		/* First: a sync that works after one that failed says nothing of what that lost. */
		if (atomic_load(&r->sh->lost_pos) >= pos)
			e = -EIO;
		else if (atomic_load(&r->sh->durable_pos) >= pos)
			e = 0;
		else if (ward_ring_failed(r))
			e = -EIO;
		if (e != -EAGAIN)
			break;
		wake_reader(r);
		struct timespec ts = {.tv_nsec = WAIT_NS};
		(void)futex(&r->sh->durable, FUTEX_WAIT, seen, &ts);
	}
	atomic_fetch_sub(&r->sh->durable_waiters, 1);
	return e;
}

void ward_ring_sync(struct ward_ring *r, bool on)
{
	r->sync = on;
}

bool ward_ring_syncs(const struct ward_ring *r)
{
	return r->sync;
}

/* Makes room on the disk, or ends what has its record; or somebody else does it in any case. */
static bool goes_on(uint32_t kind)
{
	return kind == WARD_EVENT_REMOVE || kind == WARD_EVENT_CLOSE ||
	       kind == WARD_EVENT_EXTERNAL || kind == WARD_EVENT_EXPIRE ||
	       kind == WARD_EVENT_CONNECT;
}

static int put_locked(struct ward_ring *r, const struct ward_event *ev)
{
	uint64_t need = record_bytes(ward_event_size(ev));
	if (atomic_load_explicit(&r->sh->low, memory_order_relaxed) && !goes_on(ev->head.kind))
		return -EIO;
	int e = check_room(r, need);
	if (e == -EAGAIN)
		e = wait_for_room(r, need);
	if (e == 0)
		e = make_sure(r, r->write_pos, need);
	if (e == 0)
		append(r, ev, need);
	/* Behind the fence there: who says that the log failed and then looks has seen the record,
	 * or we see that it was said. */
	return e == 0 && ward_ring_failed(r) ? -EIO : e;
}

int ward_ring_put_ends(struct ward_ring *r, const struct ward_event *ev, uint64_t *ret_pos)
{
	if (ward_event_size(ev) > WARD_EVENT_MAX)
		return -EINVAL;
	pthread_mutex_lock(&r->lock);
	*ret_pos = r->write_pos;
	int e = put_locked(r, ev);
	uint64_t pos = r->write_pos;
	pthread_mutex_unlock(&r->lock);
	return e == 0 && r->sync ? wait_durable(r, pos) : e;
}

int ward_ring_put(struct ward_ring *r, const struct ward_event *ev)
{
	uint64_t pos = 0;
	return ward_ring_put_ends(r, ev, &pos);
}

bool ward_ring_end(struct ward_ring *r, uint64_t pos, uint64_t duration_ns, uint64_t read)
{
	bool ended = false;
	/* Under the lock nobody can use the record's room again. */
	pthread_mutex_lock(&r->lock);
	if (pos >= atomic_load_explicit(&r->sh->read_pos, memory_order_acquire) &&
		pos < r->write_pos) {
		struct record *rec = record_at(r, pos);
		const uint32_t size = rec->size;
		uint8_t *end = rec->event + size;
		uint32_t open = RING_OPEN;
		if (atomic_load_explicit(&rec->end, memory_order_relaxed) == open &&
			size > sizeof(struct ward_event_head) && size <= WARD_EVENT_MAX) {
			memcpy(WARD_EVENT_READ_AT(end), &read, sizeof(read));
			memcpy(WARD_EVENT_DURATION_AT(end), &duration_ns, sizeof(duration_ns));
			ended = atomic_compare_exchange_strong(&rec->end, &open, RING_ENDED);
		}
	}
	pthread_mutex_unlock(&r->lock);
	return ended;
}

/* --- reader --- */

/* A record at the reader's position is not what it should be: go on behind it, or give up. */
static int spoiled(struct ward_ring *r)
{
	uint64_t to = atomic_load_explicit(&r->sh->write_pos, memory_order_acquire);
	if (to % 8 == 0 && to > r->read_pos && to - r->read_pos <= r->bytes) {
		r->read_pos = to;
	} else {
		r->given_up = true;
		ward_ring_fail(r, true);
	}
	return -EBADMSG;
}

/*
 * Before the event is copied: true if the producer has ended it. From now on it cannot. A reader
 * that comes again, after the death of the one before, finds what was settled then.
 */
static bool settle(struct record *rec)
{
	const struct ward_event_head *head = (const struct ward_event_head *)rec->event;
	uint32_t end = RING_OPEN;
	/* Believed by nobody: the copy is looked at again. */
	if (!(*(const volatile uint32_t *)&head->flags & WARD_EVENT_ENDS))
		return false;
	atomic_compare_exchange_strong(&rec->end, &end, RING_TAKEN);
	return end == RING_ENDED;
}

/* Fields that nobody has filled say nothing. */
static void leave_open(struct ward_event_fields *f)
{
	static const enum ward_event_tag tags[] = {WARD_TAG_READ, WARD_TAG_DURATION};
	for (size_t i = 0; i < 2; i++) {
		ward_member_set_remove(&f->members, tags[i]);
		f->of[tags[i]] = (struct ward_event_field){0};
	}
}

int ward_ring_get(
	struct ward_ring *r, struct ward_event *ret_ev, struct ward_event_fields *ret_fields)
{
	if (r->given_up)
		return 0;
	/* Also where nothing is yet: a producer could say that there was. */
	if (make_sure(r, r->read_pos, record_bytes(WARD_EVENT_MAX)) < 0)
		return 0;
	struct record *rec = record_at(r, r->read_pos);
	uint64_t commit = atomic_load_explicit(&rec->commit, memory_order_acquire);
	if (commit == 0)
		return 0;
	/* One read: the producer may change it between check and use. */
	uint32_t size = *(volatile uint32_t *)&rec->size;
	if (commit != r->read_pos + 1 || size < sizeof(struct ward_event_head) ||
		size > WARD_EVENT_MAX)
		return spoiled(r);
	const bool ended = settle(rec);
	memcpy(ret_ev, rec->event, size);
	if (ward_event_decode(ret_ev, size, ret_fields) < 0)
		return spoiled(r);
	if (ret_ev->head.flags & WARD_EVENT_ENDS && !ended)
		leave_open(ret_fields);
	r->read_pos += record_bytes(size);
	return 1;
}

uint64_t ward_ring_reach(const struct ward_ring *r)
{
	const uint64_t to = atomic_load_explicit(&r->sh->write_pos, memory_order_seq_cst);
	if (to > r->read_pos || r->given_up)
		return to;
	/* Of a producer that died between the commit and the position. */
	return atomic_load_explicit(&record_at(r, r->read_pos)->commit, memory_order_acquire) == 0
		       ? r->read_pos
		       : r->read_pos + 1;
}

uint64_t ward_ring_pos(const struct ward_ring *r)
{
	return r->read_pos;
}

int ward_ring_seek(struct ward_ring *r, uint64_t pos)
{
	if (pos % 8 != 0)
		return -EINVAL;
	r->read_pos = pos;
	r->released = pos;
	return 0;
}

static void wake_producers(struct ward_ring *r)
{
	atomic_fetch_add(&r->sh->room, 1);
	if (atomic_load(&r->sh->waiters) > 0)
		(void)futex(&r->sh->room, FUTEX_WAKE, INT_MAX, NULL);
}

void ward_ring_release(struct ward_ring *r)
{
	r->released = r->read_pos;
	if (atomic_load_explicit(&r->sh->read_pos, memory_order_relaxed) == r->read_pos)
		return;
	atomic_store(&r->sh->read_pos, r->read_pos);
	wake_producers(r);
}

static void wake_durable(struct ward_ring *r)
{
	atomic_fetch_add(&r->sh->durable, 1);
	if (atomic_load(&r->sh->durable_waiters) > 0)
		(void)futex(&r->sh->durable, FUTEX_WAKE, INT_MAX, NULL);
}

void ward_ring_durable(struct ward_ring *r)
{
	if (atomic_load_explicit(&r->sh->durable_pos, memory_order_relaxed) == r->released)
		return;
	atomic_store(&r->sh->durable_pos, r->released);
	wake_durable(r);
}

/* Tells the producers how the reader rests; takes it back where there is work already. */
static bool may_rest(struct ward_ring *r, enum reader_state state)
{
	atomic_store_explicit(&r->sh->reader, state, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	bool rest = true;
	if (r->given_up)
		return true;
	if (state == READER_SLEEPS) {
		rest = atomic_load_explicit(
			       &record_at(r, r->read_pos)->commit, memory_order_acquire) == 0;
	} else {
		uint64_t to = atomic_load_explicit(&r->sh->write_pos, memory_order_acquire);
		rest = to - r->read_pos < r->bytes / 2;
	}
	if (!rest)
		atomic_store_explicit(&r->sh->reader, READER_AWAKE, memory_order_relaxed);
	return rest;
}

bool ward_ring_may_sleep(struct ward_ring *r)
{
	return may_rest(r, READER_SLEEPS);
}

bool ward_ring_may_nap(struct ward_ring *r)
{
	return may_rest(r, READER_NAPS);
}

void ward_ring_low(struct ward_ring *r, bool on)
{
	atomic_store(&r->sh->low, on ? 1 : 0);
}

void ward_ring_fail(struct ward_ring *r, bool on)
{
	if (r->given_up)
		on = true;
	if (on && atomic_load(&r->sh->lost_pos) < r->released)
		atomic_store(&r->sh->lost_pos, r->released);
	atomic_store(&r->sh->failed, on ? 1 : 0);
	atomic_thread_fence(memory_order_seq_cst);
	wake_producers(r);
	wake_durable(r);
}
