/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs attack: hands over to wardfs-attack, which is a static program of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/session/guard/helper.h"
#include "enforcer/session/owner/exit_status.h"

int ward_cmd_attack(int argc, char **argv)
{
	ward_cleanup_free char *program = NULL;
	char self[4096];
	struct ward_err err = WARD_ERR_INIT;
	char **words = calloc((size_t)argc + 3, sizeof(*words));
	char option[] = "--wardfs";

	if (!words)
		return WARD_EXIT_SETUP;
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n < 0 ? 0 : n] = '\0';
	if (ward_helper_program("wardfs-attack", &program, &err) < 0) {
		ward_say(err.text);
		free(words);
		return WARD_EXIT_SETUP;
	}
	words[0] = argv[0];
	words[1] = option;
	words[2] = self;
	for (int i = 1; i < argc; i++)
		words[i + 2] = argv[i];
	execv(program, words);
	ward_err_set(&err, errno, "cannot start %s: %s", program, strerror(errno));
	ward_say(err.text);
	free(words);
	return WARD_EXIT_SETUP;
}
