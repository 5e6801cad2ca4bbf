/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/attack/script.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/embedded.h"

/* attack.mjs. */
extern const struct ward_embedded ward_embedded_attack[];

/* An absolute directory of PATH that is not in the project, where a session can write. */
static bool trusted(const char *dir)
{
	char here[PATH_MAX], real[PATH_MAX];

	if (*dir != '/' || !realpath(dir, real) || !getcwd(here, sizeof(here)))
		return false;
	const size_t n = strlen(here);
	return strncmp(real, here, n) != 0 || (real[n] && real[n] != '/' && n > 1);
}

/* Where the caller has this program, or NULL. The caller frees it. */
static char *find(const char *program)
{
	const char *path = getenv("PATH");
	char *all = strdup(path ? path : "/usr/local/bin:/usr/bin:/bin"), *rest = all, *ret = NULL;

	for (char *dir; all && !ret && (dir = strsep(&rest, ":"));) {
		struct stat st;
		char *at = NULL;
		if (!trusted(dir) || asprintf(&at, "%s/%s", dir, program) < 0)
			continue;
		if (stat(at, &st) == 0 && S_ISREG(st.st_mode) && access(at, X_OK) == 0)
			ret = at;
		else
			free(at);
	}
	free(all);
	return ret;
}

/* Modules that imports from outside reach: the secret of the file beside them. */
static int put_modules(const struct ward_world *w)
{
	char text[2 * WARD_PROOF_SIZE];

	snprintf(text, sizeof(text), "export default '%s';\n", w->secrets[0]);
	if (ward_tree_put(w->base_fd, "outside/module.mjs", text, 0644) < 0)
		return -1;
	snprintf(text, sizeof(text), "\"%s\"\n", w->secrets[0]);
	return ward_tree_put(w->base_fd, "outside/data.json", text, 0644);
}

/* Links that were there before, for engines that let a script make none. */
static int put_links(const struct ward_world *w)
{
	const struct ward_facts *f = &w->facts;
	char at[64], to[PATH_MAX], stays[16];
	const struct {
		const char *name, *dir, *rest;
	} links[] = {{"read-symlink", f->secret, ""}, {"read-symlink-above", f->outside, ""},
		{"write-symlink", f->outside, "/write-symlink"},
		{"script-import-link.mjs", f->outside, "/module.mjs"}, {stays, "/bin/sleep", ""}};

	snprintf(stays, sizeof(stays), "%.8s-st1", f->token);
	if (ward_tree_dir(w->work_fd, "links", 0755) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		snprintf(at, sizeof(at), "links/%s", links[i].name);
		snprintf(to, sizeof(to), "%s%s", links[i].dir, links[i].rest);
		if (ward_tree_link(w->work_fd, at, to) < 0)
			return -1;
	}
	return 0;
}

int ward_script_use(struct ward_world *w, char *why, size_t size)
{
	static const char name[] = "attack.mjs";
	const struct ward_embedded *e = ward_embedded_attack;
	char *own = NULL;

	free(w->program);
	if (asprintf(&w->program, "%s/%s", w->facts.work, name) < 0)
		w->program = NULL;
	if (!w->program || asprintf(&own, "%s/%s", w->base, name) < 0 ||
		ward_tree_put(w->work_fd, name, e->data, 0644) < 0 ||
		ward_tree_put(w->base_fd, name, e->data, 0600) < 0 || put_modules(w) < 0 ||
		put_links(w) < 0) {
		snprintf(why, size, "the script: %s", strerror(errno));
		free(own);
		return -1;
	}
	w->own_script = own;
	w->engine = find("deno");
	w->deno = w->engine != NULL;
	if (!w->engine)
		w->engine = find("node");
	return 0;
}
