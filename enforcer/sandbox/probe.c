/* SPDX-License-Identifier: Apache-2.0 */
/* Judges what the start-up probes answered. */
#include "enforcer/sandbox/probe.h"

#include <errno.h>
#include <string.h>

#include "enforcer/modes/table/mode.h"

struct kind {
	const char *name, *layer, *what, *control_what, *why_skipped;
	int32_t refusal; /* what the layer, and no other, answers */
	int32_t control; /* what the control answers: 0 where it is allowed */
};

/*
 * Why the answers are those of the layer alone:
 *
 * capabilities  No filter and no Landlock yet. may_mount() is asked before anything about the
 * arguments. userns        Nor here. create_user_ns() counts against user.max_user_namespaces
 * first: ENOSPC. (EPERM, as some hosts answer to all users, would be another layer's.) landlock pid
 * 1 has our uid: without a domain kill(1, 0) succeeds. ptrace, mount The kernel itself answers
 * ESRCH (process 0 is nobody) and EFAULT (the type is read first); EPERM can only be the filter's.
 * The control is the same call before it. outside       The name does not exist. If it did, its
 * mode bits would answer EACCES. readonly      mkdir(2) reports EROFS before it asks for
 * permission, so do Landlock's rules. connect       The kernel looks the name up in our network
 * namespace before it asks Landlock. hidden        The host has the file; only the guard can make
 * it absent. write The owner may write to that directory on the host.
 */
static const struct kind kinds[WARD_PROBE_COUNT_] = {
	[WARD_PROBE_CAPABILITIES] = {"capabilities", "capabilities", "mount a file system",
		"pid 1 mounted one before it gave its capabilities up", "", EPERM, 0},
	[WARD_PROBE_USERNS] = {"userns", "closed user namespaces", "make a user namespace",
		"pid 1 made one before they were closed", "", ENOSPC, 0},
	[WARD_PROBE_LANDLOCK] = {"landlock", "Landlock", "signal pid 1", "signal itself",
		"the kernel's Landlock does not scope signals (ABI 6)", EPERM, 0},
	[WARD_PROBE_PTRACE] = {"ptrace", "seccomp", "trace a process",
		"the same before the filter reached the kernel", "", EPERM, ESRCH},
	[WARD_PROBE_MOUNT] = {"mount", "seccomp", "call mount(2)",
		"the same before the filter reached the kernel", "", EPERM, EFAULT},
	[WARD_PROBE_OUTSIDE] = {"outside", "mount namespace", "open a directory of the host",
		"the same before the view was there", "no directory was given", ENOENT, 0},
	[WARD_PROBE_READONLY] = {"read-only", "read-only mounts", "make a directory in /usr",
		"make one in /tmp", "", EROFS, 0},
	[WARD_PROBE_CONNECT] = {"connect", "network namespace", "connect to a socket of the host",
		"connect to a socket of its own", "the network is the host's", ECONNREFUSED, 0},
	[WARD_PROBE_HIDDEN] = {"hidden", "guard", "look at a file that the policy hides",
		"look at the tree that it is in",
		"the policy hides nothing that is at the top of a tree", ENOENT, 0},
	[WARD_PROBE_WRITE] = {"write", "guard", "make a directory against the policy",
		"look at the directory that it would be in",
		"the policy refuses nothing that the owner could make at the top of a tree", EACCES,
		0},
};

static const struct kind *kind_of(enum ward_probe p)
{
	static const struct kind unknown = {"?", "?", "?", "?", "?", 0, 0};
	return p > WARD_PROBE_NONE && p < WARD_PROBE_COUNT_ ? &kinds[p] : &unknown;
}

bool ward_probe_applies(enum ward_probe p, uint32_t layers)
{
	/* The guard's probes need none: every mode has it. */
	static const uint32_t needs[WARD_PROBE_COUNT_] = {
		[WARD_PROBE_CAPABILITIES] = WARD_LAYER_PID, /* whose /proc is its control */
		[WARD_PROBE_USERNS] = WARD_LAYER_HOST,
		[WARD_PROBE_LANDLOCK] = WARD_LAYER_LANDLOCK,
		[WARD_PROBE_PTRACE] = WARD_LAYER_SECCOMP,
		[WARD_PROBE_MOUNT] = WARD_LAYER_SECCOMP,
		[WARD_PROBE_OUTSIDE] = WARD_LAYER_VIEW,
		[WARD_PROBE_READONLY] = WARD_LAYER_VIEW,
		[WARD_PROBE_CONNECT] = WARD_LAYER_NET,
	};
	return p > WARD_PROBE_NONE && p < WARD_PROBE_COUNT_ && (needs[p] & ~layers) == 0;
}

enum ward_probe_verdict ward_probe_judge(const struct ward_probe_result *r)
{
	const struct kind *k = kind_of(r->probe);
	if (k->refusal == 0)
		return WARD_PROBE_FAILED;
	/* Layers that every session has, and every session can show. */
	if (!r->made)
		return k->why_skipped[0] != '\0' ? WARD_PROBE_SKIPPED : WARD_PROBE_FAILED;
	if (r->attempt != k->refusal)
		return WARD_PROBE_FAILED;
	return r->control == k->control ? WARD_PROBE_HELD : WARD_PROBE_NO_CONTROL;
}

static const char *answer(int32_t code)
{
	return code == 0 ? "success" : code < 0 ? "nothing" : strerrorname_np(code);
}

int ward_probe_explain(const struct ward_probe_result *r, struct ward_err *err)
{
	const struct kind *k = kind_of(r->probe);
	if (!r->made)
		return ward_err_set(
			err, -EPERM, "probe %s: wardfs did not make the attempt", k->name);
	if (r->attempt == 0)
		return ward_err_set(err, -EPERM,
			"probe %s: the layer \"%s\" does not work: inside, it was possible to %s",
			k->name, k->layer, k->what);
	if (r->attempt != k->refusal)
		return ward_err_set(err, -EPERM,
			"probe %s: cannot show that the layer \"%s\" works: the attempt to %s got the answer %s, but this layer answers %s",
			k->name, k->layer, k->what, answer(r->attempt), answer(k->refusal));
	return ward_err_set(err, -EPERM,
		"probe %s: cannot show that the layer \"%s\" works: its control (%s) got the answer %s instead of %s",
		k->name, k->layer, k->control_what, answer(r->control), answer(k->control));
}

const char *ward_probe_name(enum ward_probe p)
{
	return kind_of(p)->name;
}

const char *ward_probe_layer(enum ward_probe p)
{
	return kind_of(p)->layer;
}

const char *ward_probe_what(enum ward_probe p)
{
	return kind_of(p)->what;
}

const char *ward_probe_control(enum ward_probe p)
{
	return kind_of(p)->control_what;
}

const char *ward_probe_why_skipped(enum ward_probe p)
{
	return kind_of(p)->why_skipped;
}

const char *ward_probe_verdict_name(enum ward_probe_verdict v)
{
	switch (v) {
	case WARD_PROBE_FAILED:
	case WARD_PROBE_NO_CONTROL:
		return "failed";
	case WARD_PROBE_HELD:
		return "held";
	case WARD_PROBE_SKIPPED:
		return "skipped";
	}
	return "?";
}
