/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of a review session: `journal` in the session's place. Version 3; version 2 has no
 * `P`, version 1 no steps either.
 *
 * Text. Each line is one change that happened as a whole: entries, each ended by ";", and a line
 * feed. What stands behind the last line feed did not happen: if the host stops, that can be zeros.
 * The fields of an entry are divided by
 * one space. Bytes of names and paths up to 0x20, from 0x7f on, "%" and ";" are written as %XX;
 * an empty one is ".".
 *
 *   J 3                    the first entry: the version
 *   R ROOT PATH            tree number ROOT is this directory of the host
 *   F FILE TYPE ROOT PATH BASE
 *                          the host has FILE at this path beneath ROOT, and it is as BASE says
 *   P FILE ROOT PATH       the host has FILE at this path, too: it was found when all paths known
 *                          before led elsewhere, or to nothing
 *   W FILE TYPE            the session made FILE
 *   S FILE BASE            FILE has an object, objects/FILE, that was copied from BASE; for one
 *                          that the session made BASE is "-"
 *   N DIR NAME FILE WAS    NAME in the directory DIR leads to FILE, where the host has WAS; "-" is
 *                          nothing. Where both are one the name is as on the host again.
 *
 *   M STEP TIME KIND UID NAME
 *                          a step: TIME in ns, KIND a letter (steps.h), NAME "." where it has none
 *   X STEP                 the step is given up: steps before it need what was kept for it
 *   B STEP                 a step back; the rest of the line is what it changes:
 *   C FILE STEP            until the next D, the content of FILE is steps/STEP/FILE; of a
 *                          directory with STEP 0, attributes are those of BASE
 *   U FILE                 FILE is not staged any more
 *   D                      contents are in objects/ again
 *
 * The content of FILE at a step is that of the first steps/LATER/FILE from the step on, else
 * objects/FILE. A FILE for which `U` was written, and no `S` or `C` since, is the host's.
 *
 * FILE, DIR and WAS are decimal numbers, TYPE the octal bits of S_IFMT. BASE is
 * DEV:INO:BTIME:MODE:NLINK:UID:GID:SIZE:MTIME:CTIME, times in ns, MODE octal.
 */
#pragma once

/*
 * `branch`, which a session begins with that goes on where another one was (run --from): the same
 * entries J, R, F, P, W, S and N, with the numbers of that one. R has the other one's trees. Its
 * objects are further names of files in the store of that session.
 */
#define WARD_REVIEW_BRANCH "branch"
/* Bytes of it. */
#define WARD_REVIEW_BRANCH_MAX (64U << 20)

#define WARD_REVIEW_JOURNAL "journal"
#define WARD_REVIEW_OBJECTS "objects"
/*
 * bases/FILE: what FILE of the host's had in it before the session wrote to it or renamed another
 * one over it, of files up to a size in bytes. It can be missing, and after a power cut be cut.
 */
#define WARD_REVIEW_BASES "bases"
#define WARD_REVIEW_BASE_MAX (1 << 20)
#define WARD_REVIEW_STEPS "steps"
