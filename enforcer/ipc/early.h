/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A helper that is started early: executed and loaded beside the supervisor, which plans the
 * session meanwhile. Of the numbers of helper.h it has CONTROL, LIFELINE and EARLY; the others come
 * by WARD_MSG_FDS on EARLY, before the configuration is read.
 */
#pragma once

/* Its argv[1]. */
#define WARD_EARLY "early"

/*
 * Waits for them, and puts each on its number, close-on-exec. To be called before anything is
 * opened. Not started early: nothing is done. 0; -EPIPE where nobody needs us any more, -EBADMSG,
 * or another error of recvmsg(2), dup(2): then the program ends, with ward_early_status() of it.
 */
int ward_early_take(int argc, char **argv);
/* Never 0, by which a helper says that what was owed is done. */
int ward_early_status(int r);
