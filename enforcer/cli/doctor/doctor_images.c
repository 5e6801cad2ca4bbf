/* SPDX-License-Identifier: Apache-2.0 */
/* What this host has of images: the store, and engines whose images can be taken. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/store/store.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/doctor/doctor.h"
#include "enforcer/image/image.h"
#include "enforcer/image/save.h"
#include "enforcer/session/guard/helper.h"

static int count(void *user, const struct ward_image *x)
{
	size_t *n = user;
	(void)x;
	(*n)++;
	return 0;
}

void ward_check_images(struct ward_check *c)
{
	ward_cleanup(ward_buf_clear) struct ward_buf engines = WARD_BUF_INIT;
	ward_cleanup_free char *state = NULL;
	ward_cleanup_free char *program = NULL;
	struct ward_err err = WARD_ERR_INIT;
	size_t n = 0;
	if (ward_helper_program("wardfs-image", &program, &err) < 0 || access(program, X_OK) < 0) {
		ward_check_say(c, WARD_CHECK_OPTIONAL, "install all of wardfs (meson install)",
			"wardfs-image is not installed, so only directories can be images");
		return;
	}
	int r = ward_store_default_path(
		geteuid(), secure_getenv("XDG_STATE_HOME"), secure_getenv("HOME"), &state, &err);
	if (r == 0)
		r = ward_image_each(state, count, &n, &err);
	ward_image_engines(true, &engines);
	if (r < 0)
		ward_check_say(c, WARD_CHECK_UNUSABLE,
			"wardfs image list says more; without it only directories can be images",
			"%s", err.text);
	else
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"the store has %zu image%s; wardfs image pull takes archives, OCI layouts%s%s",
			n, ward_s(n), engines.len ? ", and images of" : "; no engine is installed",
			engines.len ? ward_buf_str(&engines) : "");
}
