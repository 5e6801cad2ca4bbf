/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/attack/matrix.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "enforcer/attack/knock.h"
#include "enforcer/attack/presets.h"
#include "enforcer/base/out.h"

/* What the lack of one layer does. */
struct lack {
	const struct ward_knock_layer *layer;
	bool starts;
	json_t *named, *others; /* names of attempts that it breaks */
};

static bool listed(const char *list, const char *word)
{
	const size_t n = strlen(word);
	if (strcmp(list, "all") == 0)
		return true;
	for (const char *at = list; at; at = strchr(at, ','), at = at ? at + 1 : NULL)
		if (strncmp(at, word, n) == 0 && (at[n] == ',' || !at[n]))
			return true;
	return false;
}

static void clear(struct ward_attack_outcome *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		v[i] = (struct ward_attack_outcome){.attempt = v[i].attempt, .group = v[i].group};
}

static void names(const json_t *all, const char *mark)
{
	const json_t *name;
	size_t i;
	json_array_foreach(all, i, name)
		ward_outf("%s%s%s", i ? ", " : "", mark, json_string_value(name));
}

static void print(const struct lack *l)
{
	const size_t named = json_array_size(l->named), others = json_array_size(l->others);

	ward_outf("%-18s ", l->layer->name);
	if (!l->starts)
		ward_outf("wardfs does not start without it");
	else if (named + others == 0)
		ward_outf("nothing changes%s%s", l->layer->behind ? ": it stands behind " : "",
			l->layer->behind ? l->layer->behind : "");
	names(l->named, "");
	if (named && others)
		ward_outf("; ");
	if (others)
		ward_outf("also: ");
	names(l->others, "");
	ward_outf("\n");
}

static json_t *of_lack(const struct lack *l)
{
	return json_pack("{ss sb ss? sO sO}", "layer", l->layer->name, "starts", l->starts,
		"behind", l->layer->behind, "named", l->named, "others", l->others);
}

static void compare(
	struct lack *l, const struct ward_attack_outcome *v, const bool *before, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].verdict == WARD_ATTACK_BROKEN && !before[i])
			json_array_append_new(
				ward_knock_named(l->layer, v[i].attempt) ? l->named : l->others,
				json_string(v[i].attempt->name));
}

/* One run, without the layer (NULL: with all): 0, 1: it did not start, or -1. */
static int once(const struct ward_matrix_of *of, const char *layer, struct ward_attack_outcome *v,
	size_t n, char *why, size_t size)
{
	struct ward_world w;
	char *program = NULL, **words = NULL;
	int e, r = ward_world_make(&w, why, size);

	clear(v, n);
	if (r < 0)
		return -1;
	r = ward_knock_make(&w, of->wardfs, &program);
	if (r == 0 && layer)
		r = ward_knock_choose(&w, layer);
	e = errno;
	if (r < 0)
		snprintf(why, size, "programs without a layer: %s", strerror(e));
	w.wardfs = program;
	if (r == 0 && (words = ward_words_wardfs(program, of->policy, of->mode, w.session)))
		r = ward_observe(&w, words, false, v, n, why, size) < 0;
	ward_words_free(words);
	free(program);
	ward_world_clear(&w);
	errno = e;
	return r;
}

struct mounts {
	int was, here; /* a namespace and the current directory in it; -1: not left */
};

/* wardfs without its mount namespace changes the mounts of the one that it is started in: a new one
   for that run, or -1. An ordinary user's wardfs changes none without one. */
static int own_mounts(struct mounts *ret)
{
	if (getuid() != 0)
		return 0;
	ret->was = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	ret->here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return ret->was < 0 || ret->here < 0 || unshare(CLONE_NEWNS) < 0 ||
			       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0
		       ? -1
		       : 0;
}

/* Back, and with the last process of the other one its mounts are gone. */
static int leave_mounts(struct mounts *m)
{
	const int r = m->was < 0					      ? 0
		      : setns(m->was, CLONE_NEWNS) < 0 || fchdir(m->here) < 0 ? -1
									      : 0;
	if (m->was >= 0)
		close(m->was);
	if (m->here >= 0)
		close(m->here);
	return r;
}

/* 0, 1: nothing that names it finds it, or -1. */
static int without(const struct ward_matrix_of *of, struct lack *l, const bool *before,
	struct ward_attack_outcome *v, size_t n, char *why, size_t size)
{
	struct mounts mounts = {-1, -1};
	int r = -1;

	if (strcmp(l->layer->name, "mount-namespace") == 0 && own_mounts(&mounts) < 0)
		snprintf(why, size, "a mount namespace for the run: %s", strerror(errno));
	else
		r = once(of, l->layer->name, v, n, why, size);
	if (leave_mounts(&mounts) < 0 || r < 0)
		return -1;
	l->starts = r == 0;
	if (l->starts)
		compare(l, v, before, n);
	return l->starts && !json_array_size(l->named) && !l->layer->behind;
}

int ward_matrix(const struct ward_matrix_of *of, struct ward_attack_outcome *v, size_t n, char *why,
	size_t size)
{
	bool *before = calloc(n + 1, sizeof(*before));
	json_t *all = json_array();
	/* With all layers it has to start. */
	const int first = before ? once(of, NULL, v, n, why, size) : -1;
	int result = first == 0 ? 0 : -1;

	if (first == 1)
		errno = 0;

	for (size_t i = 0; result == 0 && i < n; i++)
		before[i] = v[i].verdict == WARD_ATTACK_BROKEN;
	for (size_t i = 0; result >= 0 && i < ward_n_knock_layers; i++) {
		struct lack l = {&ward_knock_layers[i], false, json_array(), json_array()};
		const int r = listed(of->layers, l.layer->name)
				      ? without(of, &l, before, v, n, why, size)
				      : 2;
		if (r == 0 || r == 1)
			json_array_append_new(all, of_lack(&l));
		if ((r == 0 || r == 1) && !of->json)
			print(&l);
		result = r < 0 ? r : r == 1 ? 1 : result;
		json_decref(l.named);
		json_decref(l.others);
	}
	char *text = of->json && result >= 0 ? json_dumps(all, JSON_INDENT(1) | JSON_ENSURE_ASCII)
					     : NULL;
	if (text)
		ward_outf("%s\n", text);
	free(text);
	json_decref(all);
	free(before);
	return result;
}
