/* SPDX-License-Identifier: Apache-2.0 */
/* What quota.c and quota_file.c share. Everything is protected by q->lock. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "fs/quota/quota.h"

/* Parts into which the time of churn is cut: one more than fit, so that no time has too many. */
#define WARD_QUOTA_SLOTS 61
/* Files that share a lock: as many as threads could ever need, and more. */
#define WARD_QUOTA_LOCKS 64

struct ward_quota_domain {
	struct ward_quota_domain *next;	 /* of all */
	struct ward_quota_domain *above; /* NULL: the outermost */
	char *path;
	struct ward_quota_limit limits[WARD_QUOTA_KEYS_]; /* texts are copies */
	atomic_uint wants;				  /* of it and all above */
	uint64_t bytes, files;				  /* in use */
	uint64_t refused[WARD_QUOTA_KEYS_];		  /* rate: delayed */
	uint64_t paid_ns; /* rate: when all that was written is paid for */
	uint64_t slot;	  /* churn: number of the newest part of time */
	uint64_t slots[WARD_QUOTA_SLOTS];
};

struct ward_quota_place {
	struct ward_quota_place *next;	   /* of its parent */
	struct ward_quota_place *children; /* further names of paths */
	struct ward_quota_domain *domain;  /* here or above; NULL: none */
	size_t len;
	char name[];
};

struct ward_quota_file {
	struct ward_quota_file *next; /* of its chain */
	struct ward_quota_id id;
	struct ward_quota_domain *domain;
	uint64_t baseline; /* bytes that are not the session's */
	uint64_t size;	   /* as last seen, or taken for what is under way */
	uint64_t kept;	   /* space is kept up to here; 0: not beyond the size */
	uint64_t extra;	   /* extended attributes, inherited ACLs, target of a link */
	uint64_t bytes;	   /* charged */
	uint32_t names;	   /* charged */
	uint32_t refs;
	bool known;    /* baseline and size are right */
	bool made;     /* by the session */
	bool holes;    /* were looked at */
	bool gone;     /* has no name */
	bool held;     /* may be mapped: wait for ward_quota_unhold() */
	bool mappable; /* once had a handle that can be mapped past us */
};

struct ward_quotas {
	pthread_mutex_t lock;
	struct ward_quota_domain *domains;
	struct ward_quota_place *root;
	atomic_bool any;
	struct ward_quota_limit staged; /* [review] size; texts are copies */
	atomic_bool any_staged;
	uint64_t staged_bytes, staged_refused;
	struct ward_quota_file **files;
	size_t n_files, mask;
	pthread_rwlock_t locks[WARD_QUOTA_LOCKS];
	pthread_rwlock_t inherit; /* default ACLs */
};

static inline uint64_t ward_quota_left(uint64_t limit, uint64_t used)
{
	return limit == WARD_UNLIMITED ? WARD_UNLIMITED : used < limit ? limit - used : 0;
}

/* Locked. The domain at or above d that has least left of a key; *ret_left. NULL: none limits it.
 */
struct ward_quota_domain *ward_quota_tightest(
	struct ward_quota_domain *d, enum ward_quota_key key, uint64_t *ret_left);
/* Locked. Takes (or, negative, gives back) in d and all above. */
void ward_quota_charge(struct ward_quota_domain *d, int64_t bytes, int64_t files);
/* Locked. Counts and words a refusal; returns the negative errno. */
int ward_quota_refuse(struct ward_quota_domain *d, enum ward_quota_key key, int error,
	struct ward_quota_hit *hit) ward_must_check;

/* Locked. How many there were within the time of churn. */
uint64_t ward_quota_churned(struct ward_quota_domain *d, uint64_t now_ns);

/* Frees all files (quota_file.c). */
void ward_quota_files_clear(struct ward_quotas *q);
