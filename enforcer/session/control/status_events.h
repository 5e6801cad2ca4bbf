/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wardfs run --status-fd N`: what happens to a session, for a program that started it. A line of
 * JSON each, at once:
 *
 *   {"event":"session","session":NAME,"pid":N}            it has a name and a trail
 *   {"event":"started","init_pid":N}                      the command runs
 *   {"event":"stopped","signal":N}                        it stopped; we stop with it
 *   {"event":"question","question":NAME,"digest":TEXT,"waits":BOOL,"left":N,…}   a person is asked:
 *       what `wardfs approve --json` lists of it, or, of what is too long for a line, these alone
 *   {"event":"answer","question":NAME,"result":TEXT,"scope":TEXT|null,"how":TEXT|null,"grant":
 *       TEXT|null}    it has ended: granted, refused, expired, ended
 *   {"event":"exited","status":N} or {"event":"signaled","signal":N}    the command's own end
 *   {"event":"ended","status":N,"cause":TEXT|null,"error":TEXT|null,"refused":N}    always the last
 */
#pragma once

#include <jansson.h>

/*
 * Writes o (whose reference is taken) as a line to fd; 0: nowhere. A reader that does not read for
 * a second, or is gone, loses it: the session does not wait for its observers.
 */
void ward_stream(int fd, json_t *o);
/*
 * The same of what the command can bring about as often as it likes: a reader who has no room for
 * it just now loses it. Of a line that would not be whole, the members `few` (a list that ends with
 * NULL) are left.
 */
void ward_stream_if_read(int fd, json_t *o, const char *const *few);
