/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the places that links make the host execute. */
#include "enforcer/cli/review/review_behind.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/tree/executed.h"

/* Directories below each other that are entered; each round sees more, until names run out. */
static const unsigned rounds[] = {1, 2, 4, 8, 16, 48};

/* Names of one link; a link that has more counts as one that the host executes. */
#define NAMES_MAX 4U

/*
 * A session can make links that all lead to all others. Beyond this many looks at one everything
 * counts as executed. Following a way, and comparing a name with the list, cost as many as this. A
 * project with 10,000 links of such names takes a quarter of it; all of it takes some seconds.
 */
#define LOOKS_MAX 20000000U
#define WAY_COST 500U
#define NAME_COST 300U

struct link {
	size_t root;
	char *path, *to;	/* owned */
	char *names[NAMES_MAX]; /* owned: by which names it is known, "": the host executes it */
	unsigned n_names;
};

/* Where a link leads, or what it leads by. */
struct place {
	size_t root;
	char *path; /* owned */
	char *name; /* owned: as what the host knows it; "": it executes all of it; NULL: on the way
		     */
};

struct ward_behind {
	struct link *links; /* owned; by path once all are there */
	size_t n_links, cap_links;
	void *places;		/* owned: struct place (tsearch(3)) */
	const struct place **v; /* owned: the same in their order, once all are there */
	size_t n;
};

struct look {
	const struct ward_after *after;
	struct ward_after was; /* without any change */
	struct ward_behind *b;
	ward_behind_git_fn *repository;
	void *arg;
	size_t root;
	size_t *todo; /* owned: link and name, NAMES_MAX for each link */
	size_t n_todo, n_done, looks;
	bool failed; /* no memory */
};

static int order(size_t root, const char *path, size_t with_root, const char *with)
{
	return root != with_root ? (root < with_root ? -1 : 1) : strcmp(path, with);
}

static int by_link(const void *a, const void *b)
{
	const struct link *x = a, *y = b;
	return order(x->root, x->path, y->root, y->path);
}

/* Of one path, what the host executes all of comes first, and what lies on a way last. */
static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	const int r = order(x->root, x->path, y->root, y->path);
	if (r || !x->name || !y->name)
		return r ? r : !x->name - !y->name;
	return strcmp(x->name, y->name);
}

static void free_place(void *v)
{
	struct place *p = v;
	if (!p)
		return;
	free(p->path);
	free(p->name);
	free(p);
}

/* Room for one more. */
static void *grow(void *v, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return v;
	*cap = *cap ? *cap * 2 : 64;
	return reallocarray(v, *cap, size);
}

/* --- links --- */

static void add_link(struct look *l, size_t root, const char *path, const char *to)
{
	struct ward_behind *b = l->b;
	struct link *v = grow(b->links, b->n_links, &b->cap_links, sizeof(*v));
	struct link link = {.root = root, .path = strdup(path), .to = strdup(to)};
	if (v)
		b->links = v;
	if (!v || !link.path || !link.to) {
		free(link.path);
		free(link.to);
		l->failed = true;
		return;
	}
	b->links[b->n_links++] = link;
}

/* A link of the project; and where it comes to be if a directory above it is renamed. */
static bool note_link(void *arg, const char *path, mode_t type, const char *to)
{
	struct look *l = arg;
	char up[PATH_MAX], now[PATH_MAX];
	if (!S_ISLNK(type))
		return true;
	add_link(l, l->root, path, to);
	snprintf(up, sizeof(up), "%s", path);
	while (ward_after_up(up) && *up) {
		const struct ward_change *c = ward_after_moved(l->after, l->root, up);
		if (c && (size_t)snprintf(now, sizeof(now), "%s%s", c->path, path + strlen(up)) <
				 sizeof(now))
			add_link(l, c->root, now, to);
	}
	return !l->failed;
}

static void find_links(struct look *l)
{
	const struct ward_after *a = l->after;
	char to[PATH_MAX];
	for (l->root = 0; l->root < 16; l->root++) {
		if (a->m->roots[l->root] < 0)
			continue;
		int r = -E2BIG;
		size_t round = 0, last, left = 0;
		const size_t had = l->b->n_links;
		do {
			last = left;
			left = WARD_BEHIND_NAMES_MAX;
			/* This round sees again what the last one saw. */
			for (; l->b->n_links > had; l->b->n_links--) {
				free(l->b->links[l->b->n_links - 1].path);
				free(l->b->links[l->b->n_links - 1].to);
			}
			r = ward_review_host_beneath(
				a->m->roots[l->root], "", rounds[round], &left, note_link, l);
		} while (r == 0 && left != last && ++round < sizeof(rounds) / sizeof(*rounds));
	}
	for (size_t i = 0; i < a->changes->n; i++) {
		const struct ward_change *c = &a->changes->v[i];
		if (c->kind == WARD_CHANGE_REMOVED || c->kind == WARD_CHANGE_MODE ||
			!S_ISLNK(c->type) || a->m->roots[c->root] < 0 ||
			(c->from && a->m->roots[c->from_root] < 0))
			continue;
		if (ward_after_of(a, c, to) == WARD_AFTER_LINK)
			add_link(l, c->root, c->path, to);
	}
	if (l->b->n_links)
		qsort(l->b->links, l->b->n_links, sizeof(*l->b->links), by_link);
}

/* --- names --- */

/* What of a path can matter; "": the host executes it; NULL: nothing does. */
static const char *telling(const char *path)
{
	if (ward_executed_named(path))
		return "";
	const size_t n = ward_executed_tail(path);
	return n ? path + strlen(path) - n : NULL;
}

/* A name of the link: all that follows from it is looked for later. */
static void add_name(struct look *l, size_t i, const char *name)
{
	struct link *k = &l->b->links[i];
	for (unsigned n = 0; n < k->n_names; n++)
		if (strcmp(k->names[n], name) == 0 || !*k->names[n])
			return;
	if (k->n_names == NAMES_MAX)
		return;
	/* The last one stands for all further ones. */
	k->names[k->n_names] = strdup(k->n_names + 1 == NAMES_MAX ? "" : name);
	if (!k->names[k->n_names]) {
		l->failed = true;
		return;
	}
	l->todo[l->n_todo++] = i * NAMES_MAX + k->n_names++;
}

/* Is it what git executes of a repository that is not called .git? */
static bool of_repository(struct look *l, const struct link *k)
{
	char up[PATH_MAX], name[NAME_MAX + 8];
	const char *slash = strrchr(k->path, '/');
	const char *last = slash ? slash + 1 : k->path;
	snprintf(name, sizeof(name), ".git/%s", last);
	if (!ward_executed_named(name) && strcmp(last, "info") != 0)
		return false;
	snprintf(up, sizeof(up), "%s", k->path);
	return ward_after_up(up) && l->repository(l->arg, k->root, up);
}

/* --- places --- */

/* False: it is there already, or there is no memory. */
static bool add_place(struct look *l, size_t root, const char *path, const char *name)
{
	struct place *p = calloc(1, sizeof(*p));
	if (p)
		*p = (struct place){root, strdup(path), name ? strdup(name) : NULL};
	struct place *const *found =
		p && p->path && (p->name || !name) ? tsearch(p, &l->b->places, by_place) : NULL;
	if (found && *found == p)
		return true;
	l->failed = l->failed || !found;
	free_place(p);
	return false;
}

static void visit(void *arg, const char *path)
{
	struct look *l = arg;
	(void)add_place(l, l->root, path, NULL);
}

/* Links in the place are known by another name there. */
static void follow(struct look *l, size_t root, const char *place, const char *name)
{
	struct ward_behind *b = l->b;
	size_t low = 0, high = b->n_links;
	char other[2 * PATH_MAX];
	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		if (order(b->links[mid].root, b->links[mid].path, root, place) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	/* What sorts behind the place starts with it, for as long as there is any of it. */
	for (; low < b->n_links && b->links[low].root == root &&
		!strncmp(b->links[low].path, place, strlen(place));
		low++) {
		l->looks += *name ? NAME_COST : 1;
		if (l->looks > LOOKS_MAX)
			return;
		const char *rest = b->links[low].path + strlen(place);
		if (!ward_after_beneath(b->links[low].path, place) || !*rest)
			continue;
		snprintf(other, sizeof(other), "%s%s%s", name, *place ? "" : "/", rest);
		const char *as = *name ? telling(other) : "";
		if (as)
			add_name(l, low, as);
	}
}

/* Where a link leads by its name, with all changes and with none. */
static void lead(struct look *l, const struct link *k, const char *name)
{
	const struct ward_after *worlds[] = {l->after, &l->was};
	char place[PATH_MAX], first[PATH_MAX];
	bool seen = false;
	for (size_t i = 0; i < 2; i++) {
		struct ward_after a = *worlds[i];
		a.root = l->root = k->root;
		if (!ward_after_go(&a, k->path, k->to, place, visit, l) ||
			(seen && strcmp(first, place) == 0))
			continue;
		if (!seen)
			memcpy(first, place, sizeof(first));
		seen = true;
		if (!add_place(l, k->root, place, name))
			continue;
		follow(l, k->root, place, name);
	}
}

static void count_place(const void *node, VISIT which, void *arg)
{
	struct ward_behind *b = arg;
	(void)node;
	b->n += which == postorder || which == leaf;
}

static void list_place(const void *node, VISIT which, void *arg)
{
	struct ward_behind *b = arg;
	if (which == postorder || which == leaf)
		b->v[b->n++] = *(const struct place *const *)node;
}

static void list_places(struct look *l)
{
	struct ward_behind *b = l->b;
	twalk_r(b->places, count_place, b);
	b->v = calloc(b->n + 1, sizeof(*b->v));
	b->n = 0;
	l->failed = !b->v;
	if (b->v)
		twalk_r(b->places, list_place, b);
}

int ward_behind_find(const struct ward_after *a, ward_behind_git_fn *repository, void *arg,
	struct ward_behind **ret)
{
	static const struct ward_review_changes none = {.v = NULL};
	struct look l = {.after = a,
		.was = {.m = a->m, .changes = &none},
		.b = calloc(1, sizeof(*l.b)),
		.repository = repository,
		.arg = arg};
	if (!l.b)
		return -ENOMEM;
	find_links(&l);
	l.todo = l.failed ? NULL : calloc(l.b->n_links + 1, NAMES_MAX * sizeof(*l.todo));
	l.failed = !l.todo;
	for (size_t i = 0; !l.failed && i < l.b->n_links; i++) {
		const char *name = telling(l.b->links[i].path);
		if ((!name || *name) && of_repository(&l, &l.b->links[i]))
			name = "";
		if (name)
			add_name(&l, i, name);
	}
	while (!l.failed && l.n_done < l.n_todo && l.looks <= LOOKS_MAX) {
		l.looks += WAY_COST;
		const size_t at = l.todo[l.n_done++];
		const struct link *k = &l.b->links[at / NAMES_MAX];
		lead(&l, k, k->names[at % NAMES_MAX]);
	}
	for (size_t i = 0; l.looks > LOOKS_MAX && i < 16; i++)
		(void)add_place(&l, i, "", "");
	free(l.todo);
	if (!l.failed)
		list_places(&l);
	if (l.failed) {
		ward_behind_free(l.b);
		return -ENOMEM;
	}
	*ret = l.b;
	return 0;
}

void ward_behind_free(struct ward_behind *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->n_links; i++) {
		free(b->links[i].path);
		free(b->links[i].to);
		for (unsigned n = 0; n < b->links[i].n_names; n++)
			free(b->links[i].names[n]);
	}
	tdestroy(b->places, free_place);
	free(b->links);
	free(b->v);
	free(b);
}

/* --- what was found --- */

/* The first place that does not sort before path. */
static size_t first_place(const struct ward_behind *b, size_t root, const char *path)
{
	size_t low = 0, high = b->n;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		if (order(b->v[mid]->root, b->v[mid]->path, root, path) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The change lies at the place, or (rest not empty) beneath it. */
static bool executes(const struct place *p, const struct ward_change *c, const char *rest)
{
	char name[2 * PATH_MAX];
	if (!p->name)
		return !*rest;
	snprintf(name, sizeof(name), "%s%s%s", p->name, *p->path || !*rest ? "" : "/", rest);
	return !*p->name || ward_executed_named(name) ||
	       ((S_ISLNK(c->type) || c->from) && *rest && ward_executed_beneath(name, NULL, NULL));
}

bool ward_behind_has(const struct ward_behind *b, const struct ward_change *c)
{
	char up[PATH_MAX];
	snprintf(up, sizeof(up), "%s", c->path);
	do {
		const char *rest = c->path + strlen(up);
		for (size_t i = first_place(b, c->root, up); i < b->n; i++) {
			if (order(b->v[i]->root, b->v[i]->path, c->root, up) != 0)
				break;
			if (executes(b->v[i], c, rest))
				return true;
		}
	} while (ward_after_up(up));
	/* A directory that comes to stand above such a place counts as well. */
	if (c->kind != WARD_CHANGE_RENAMED)
		return false;
	snprintf(up, sizeof(up), "%s/", c->path);
	const size_t i = first_place(b, c->root, up);
	return i < b->n && b->v[i]->root == c->root && !strncmp(b->v[i]->path, up, strlen(up));
}
