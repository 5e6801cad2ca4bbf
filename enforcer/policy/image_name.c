/* SPDX-License-Identifier: Apache-2.0 */
/* Tells paths from references, and checks references. */
#include "enforcer/policy/image_name.h"

#include <errno.h>
#include <string.h>

#define DIGEST "sha256:"
#define HEX_LEN 64

bool ward_image_name_is_path(const char *value)
{
	return value[0] == '/' || strncmp(value, "~/", 2) == 0 || strncmp(value, "./", 2) == 0 ||
	       strncmp(value, "../", 3) == 0;
}

bool ward_image_name_is_digest(const char *value)
{
	const size_t n = strlen(DIGEST);
	return strncmp(value, DIGEST, n) == 0 && strlen(value) == n + HEX_LEN &&
	       strspn(value + n, "0123456789abcdef") == HEX_LEN;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Words, each joined to the next one by one separator, or by "__". */
static bool is_reference(const char *s, size_t len)
{
	if (len == 0 || !is_word(s[0]) || !is_word(s[len - 1]))
		return false;
	for (size_t i = 1; i < len; i++) {
		bool joined = s[i] == '_' && s[i - 1] == '_';
		if (!is_word(s[i]) && (!strchr("._-/:", s[i]) || (!is_word(s[i - 1]) && !joined)))
			return false;
	}
	return true;
}

int ward_image_name_check(const char *value, struct ward_err *err)
{
	if (strlen(value) > (ward_image_name_is_path(value) ? 4095 : WARD_IMAGE_NAME_MAX))
		return ward_err_set(err, -EINVAL, "the name of an image is too long");
	if (ward_image_name_is_path(value) || ward_image_name_is_digest(value))
		return 0;
	const size_t len = strcspn(value, "@");
	if (is_reference(value, len) &&
		(value[len] == '\0' || ward_image_name_is_digest(value + len + 1)))
		return 0;
	return ward_err_set(err, -EINVAL,
		"'%s' names no image: write NAME[:TAG], sha256:DIGEST, or a path that begins with "
		"/, ~/ or ./",
		value);
}
