/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells when the questions of sessions change, without asking them again and again. A supervisor
 * sets the times of its session's directory then (run_panel.c), which inotify(7) reports. Where
 * that is not at hand (-1), or something is missed, the caller looks from time to time as well.
 */
#pragma once

/* A descriptor for poll(2); -1: no more instances of inotify. The caller closes it. */
int ward_told_open(void);
/* Looks after all sessions that the runtime directory has now, and after those to come. */
void ward_told_watch(int fd, const char *runtime);
/* Takes what has been told so far. */
void ward_told_take(int fd);
