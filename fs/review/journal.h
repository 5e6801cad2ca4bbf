/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of a review session: `review/journal` beside the session's trail. Version 1.
 *
 * Text. Each line is one change that happened as a whole: entries, each ended by ";", and a line
 * feed. What stands behind the last line feed did not happen. The fields of an entry are divided by
 * one space. Bytes of names and paths up to 0x20, from 0x7f on, "%" and ";" are written as %XX;
 * an empty one is ".".
 *
 *   J 1                    the first entry: the version
 *   R ROOT PATH            tree number ROOT is this directory of the host
 *   F FILE TYPE ROOT PATH BASE
 *                          the host has FILE at this path beneath ROOT, and it is as BASE says
 *   W FILE TYPE            the session made FILE
 *   S FILE BASE            FILE has an object, objects/FILE, that was copied from BASE; for one
 *                          that the session made BASE is "-"
 *   N DIR NAME FILE WAS    NAME in the directory DIR leads to FILE, where the host has WAS; "-" is
 *                          nothing. Where both are one the name is as on the host again.
 *
 * FILE, DIR and WAS are decimal numbers, TYPE the octal bits of S_IFMT. BASE is
 * DEV:INO:BTIME:MODE:NLINK:UID:GID:SIZE:MTIME:CTIME, times in ns, MODE octal.
 */
#pragma once

#define WARD_REVIEW_JOURNAL "journal"
#define WARD_REVIEW_OBJECTS "objects"
