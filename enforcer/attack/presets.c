/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/attack/presets.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"

const struct ward_preset ward_presets[] = {
	{"wardfs", NULL, "", "wardfs run"},
	{"none", NULL, "", "no sandbox: every attempt succeeds that the caller may make"},
	/* The example of bubblewrap's README, with the workspace writable. */
	{"bwrap", "bwrap",
		"bwrap --ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/bin /bin"
		" --proc /proc --dev /dev --tmpfs /tmp --bind {work} {work} --chdir {work} --unshare-all"
		" --new-session --die-with-parent --clearenv --",
		"bubblewrap as its README shows it, with the workspace writable"},
	{"firejail", "firejail",
		"firejail --quiet --noprofile --whitelist={work} --private-tmp --private-dev --net=none"
		" --caps.drop=all --nonewprivs --noroot --seccomp --",
		"firejail with the options of its man page for an untrusted program"},
	{"docker", "docker",
		"docker run --rm -i --network none --cap-drop ALL --security-opt no-new-privileges --read-only"
		" --tmpfs /tmp --user {user} -v {work}:{work} -w {work} {image}",
		"docker with the options of its security guide; needs --image"},
	{"podman", "podman",
		"podman run --rm -i --network none --cap-drop ALL --security-opt no-new-privileges --read-only"
		" --tmpfs /tmp -v {work}:{work} -w {work} {image}",
		"podman with the same options; needs --image"},
	{"gvisor", "docker",
		"docker run --runtime=runsc --rm -i --network none --cap-drop ALL --security-opt no-new-privileges"
		" --read-only --tmpfs /tmp --user {user} -v {work}:{work} -w {work} {image}",
		"docker with gVisor; needs --image"},
	{"srt", "srt", "srt --settings {settings} --",
		"Anthropic's sandbox runtime, from npm, with the settings of its README"},
	{"codex", "codex", "codex sandbox -c sandbox_mode=\"workspace-write\" --",
		"the sandbox of codex, from npm, with a writable workspace"},
};
const size_t ward_n_presets = sizeof(ward_presets) / sizeof(*ward_presets);

const struct ward_preset *ward_preset_find(const char *name)
{
	for (size_t i = 0; i < ward_n_presets; i++)
		if (strcmp(ward_presets[i].name, name) == 0)
			return &ward_presets[i];
	return NULL;
}

static char *fill_in(const char *word, size_t len, const struct ward_world *w, const char *image)
{
	char user[32], settings[PATH_MAX];
	const struct {
		const char *name, *value;
	} known[] = {{"{work}", w->facts.work}, {"{image}", image}, {"{user}", user},
		{"{settings}", settings}};
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;

	/* Root of the host is nobody of a container's. */
	snprintf(user, sizeof(user), "%u:%u", getuid() ? (unsigned)getuid() : 65534U,
		getuid() ? (unsigned)getgid() : 65534U);
	snprintf(settings, sizeof(settings), "%s/srt-settings.json", w->base ? w->base : "");
	for (size_t at = 0; at < len;) {
		size_t i = 0;
		for (; i < sizeof(known) / sizeof(*known); i++)
			if (known[i].value &&
				strncmp(word + at, known[i].name, strlen(known[i].name)) == 0)
				break;
		if (i < sizeof(known) / sizeof(*known)) {
			ward_buf_puts(&b, known[i].value);
			at += strlen(known[i].name);
		} else {
			ward_buf_putc(&b, word[at++]);
		}
	}
	return ward_buf_steal(&b);
}

char **ward_words_split(const char *words, const struct ward_world *w, const char *image)
{
	char **v = calloc(strlen(words) / 2 + 2, sizeof(*v));
	size_t n = 0;

	while (v && *(words += strspn(words, " ")) != '\0') {
		const size_t len = strcspn(words, " ");
		v[n] = fill_in(words, len, w, image);
		if (!v[n++]) {
			ward_words_free(v);
			return NULL;
		}
		words += len;
	}
	return v;
}

char **ward_words_wardfs(
	const char *wardfs, const char *policy, const char *mode, const char *session)
{
	const char *const words[] = {wardfs, "run", "--session", session,
		policy ? "--policy" : NULL, policy, mode ? "--mode" : NULL, mode, "--"};
	const size_t n_words = sizeof(words) / sizeof(*words);
	char **v = calloc(n_words + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; v && i < n_words; i++) {
		if (!words[i])
			continue;
		v[n] = strdup(words[i]);
		if (!v[n++]) {
			ward_words_free(v);
			return NULL;
		}
	}
	return v;
}

void ward_words_free(char **v)
{
	for (char **a = v; a && *a; a++)
		free(*a);
	free(v);
}
