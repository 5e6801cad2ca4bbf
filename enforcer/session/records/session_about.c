/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out who started a session, for what, and how good the host's clock is. */
#include "enforcer/session/records/session_about.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/quantity.h"

/* Variables that choose the model, by the agents' own documentation. */
static const struct {
	const char *agent;
	const char *variable;
} models[] = {{"claude", "ANTHROPIC_MODEL"}, {"gemini", "GEMINI_MODEL"}, {"aider", "AIDER_MODEL"}};

bool ward_label_valid(const char *label)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	const size_t key = strspn(label, "abcdefghijklmnopqrstuvwxyz0123456789._-");
	return label[key] == '=' && key >= 1 && key <= WARD_LABEL_KEY_MAX &&
	       strchr(letters, label[0]) && label[key + 1] &&
	       strlen(label + key + 1) <= WARD_LABEL_VALUE_MAX;
}

/* The environment's values stay out of the trail, because a value that is no name of a model may be
 * a secret. */
static bool is_model(const char *value)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._:/@[]-";
	const size_t n = strspn(value, letters);
	return n > 0 && n <= 64 && !value[n];
}

static void set(json_t *o, const char *key, const char *value)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_escape(&b, value, strnlen(value, WARD_LABEL_VALUE_MAX));
	json_object_set_new(o, key, json_string(ward_buf_str(&b)));
}

json_t *ward_labels_json(const char *const *labels, size_t n, const char *agent)
{
	json_t *o = json_object();
	if (!o)
		return NULL;
	if (agent)
		set(o, "agent", agent);
	for (size_t i = 0; agent && i < sizeof(models) / sizeof(*models); i++) {
		const char *model =
			strcmp(models[i].agent, agent) == 0 ? getenv(models[i].variable) : NULL;
		if (model && is_model(model))
			set(o, "model", model);
	}
	for (size_t i = 0; i < n; i++) {
		char key[WARD_LABEL_KEY_MAX + 1] = "";
		const size_t len = strcspn(labels[i], "=");
		memcpy(key, labels[i], len < WARD_LABEL_KEY_MAX ? len : WARD_LABEL_KEY_MAX);
		set(o, key, labels[i] + len + 1);
	}
	return o;
}

/* One line of a small file of the kernel's; "" where it cannot be read. */
static void read_line(const char *path, char *ret, size_t size)
{
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, ret, size - 1);
	ret[n > 0 ? n : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

static void add_number(json_t *o, const char *name, const char *path)
{
	char text[32];
	uint64_t n = 0;
	read_line(path, text, sizeof(text));
	/* (uid_t)-1: nobody logged in, this was started by the host. */
	if (ward_quantity_whole(text, 0, UINT32_MAX - 1, &n, NULL) == 0)
		json_object_set_new(o, name, json_integer((json_int_t)n));
}

void ward_login_json(json_t *o)
{
	add_number(o, "login_uid", "/proc/self/loginuid");
	add_number(o, "audit_session", "/proc/self/sessionid");
}

json_t *ward_clock_json(void)
{
	struct timex t = {.modes = 0};
	char source[64];
	read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
		sizeof(source));
	json_t *o = json_pack("{s:s?}", "source", source[0] ? source : NULL);
	const int state = adjtimex(&t);
	const bool known = state >= 0;
	json_object_set_new(o, "synchronised",
		known ? json_boolean(state != TIME_ERROR && !(t.status & STA_UNSYNC))
		      : json_null());
	json_object_set_new(o, "max_error_us", known ? json_integer(t.maxerror) : json_null());
	json_object_set_new(o, "est_error_us", known ? json_integer(t.esterror) : json_null());
	return o;
}
