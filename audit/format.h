/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trail of a session and the ledger of the host: the formats. docs/audit-format.md tells the
 * same at length, with the rules of verification; both change with WARD_FORMAT_VERSION.
 *
 * Files, below the state directory (0700, owned by whom wardfs runs as):
 *
 *   key                          32 random bytes, 0600: the root key
 *   signing.key                  32 random bytes, 0600: the seed of the key of checkpoints
 *   ledger.jsonl                 starts and ends of all sessions
 *   ledger.checkpoints           its signed checkpoints (audit/log/tlog.h)
 *   ledger.cosigned              those that witnesses cosigned
 *   ledger.tree                  its tree as it was at the last append (write/ledger_tree.h)
 *   ledger.seen                  what a listing read of it (verify/ledger_seen.h)
 *   sessions/SESSION/trail.jsonl the trail, or its first segment (audit/log/segments.h)
 *   sessions/SESSION/checkpoints signed checkpoints (audit/log/note.h)
 *   sessions/SESSION/policy      the policy's text as it was in force
 *   sessions/SESSION/policy.N    the one of the N-th reload
 *
 * Both logs are lines, each one JSON object without spaces, its members in a fixed order, ended by
 * '\n'. A line of the trail ("record"):
 *
 *   {"v":1,"seq":N,"session":"S","kind":"K","time":"T","mono":N,"ring":N,"pos":N,
 *    "lag":N, …fields…, "cut":true,"mac":"M"}
 *
 *   seq    1, 2, 3 …: the order in which the writer took the records. Within a ring that is the
 *          order of the operations; between rings the times say what is known.
 *   time   CLOCK_REALTIME of the operation, RFC 3339 in UTC with nanoseconds; mono CLOCK_MONOTONIC
 *   ring   which producer: 0 the supervisor, 1… the filesystems, the network, -1 the writer itself
 *   pos    position in that ring behind the record, 0 for ring -1: where a recovery writer goes on
 *   lag    nanoseconds from mono to when the writer took the record
 *   fields in the order of record_members.def, only those that the event has. Bytes are strings
 *          in the escaped form of enforcer/base/escape.h, sets of rights are arrays of names,
 *          unknown counts are null.
 *   cut    only when a field did not fit
 *   mac    64 hexadecimal digits
 *
 * A line of the ledger ("entry"):
 *
 *   {"v":1,"seq":N,"session":"S","kind":"start","time":"T","key":"K","checkpoint":"C",
 *    "keep":SECONDS,"mac":"M"}
 *   {"v":1,"seq":N,"session":"S","kind":"end","time":"T","records":N,"bytes":N,"last":"M",
 *    "verdict":"complete|incomplete","cause":"text","key":"K","checkpoint":"C","mac":"M"}
 *   {"v":1,"seq":N,"session":"S","kind":"torn","time":"T","bytes":N,"mac":"M"}
 *   {"v":1,"seq":N,"session":"host","kind":"rotate","time":"T","from":"K","to":"K",
 *    "signature":"B","mac":"M"}
 *   {"v":1,"seq":N,"session":"host","kind":"enroll|revoke","time":"T","key":"K","by":UID,"mac":"M"}
 *   {"v":1,"seq":N,"session":"S","kind":"read","time":"T","verb":"V","by":UID,"mac":"M"}
 *   {"v":1,"seq":N,"session":"S","kind":"removed","time":"T","records":N,"reason":"text",
 *    "by":UID,"key":"K","signature":"B","mac":"M"}
 *   {"v":1,"seq":N,"session":"S","kind":"hold|release","time":"T","reason":"text","by":UID,
 *    "mac":"M"}
 *   {"v":1,"seq":N,"session":"S","kind":"review","time":"T","verb":"V","manifest":"D",
 *    "changes":N,"left":N,"file":N,"digest":"D","by":UID,"mac":"M"}
 *   {"v":1,"seq":N,"session":"S","kind":"expired","time":"T","records":N,"key":"K",
 *    "signature":"B","mac":"M"}
 *
 *   Behind "time" each can have "covered":N: the ledger's last checkpoint covered N entries then.
 *   records, bytes, last: number of records, size of the trail and mac of its last record at the
 *   end of the session. Of several ends of a session the last counts (a writer that died after its
 *   own end, then recovery). torn: this writer found that many bytes of a line without end behind
 *   the last whole one, and removed them. key, checkpoint: the public key of the session's
 *   checkpoints, and the first or last of them. rotate: the host has another signing key, and
 *   the one before signs that; enroll, revoke: keys of other hosts, keys that are nobody's any
 * more. read: who looked at the trail; question: who asked all of them, and what; removed, expired:
 * it was deleted, signed (ledger.h) by the key; expired because `keep` seconds had gone by. hold:
 * it is not to be deleted until release. review: what was done with the changes that the session
 * staged; file, digest: the file review.N beside the trail, and its SHA-256.
 *
 * Keys and macs. H(k, m) is BLAKE2b (RFC 7693) with 32 bytes of output and key k, or none:
 *
 *   mac_i    = H(key_i, mac_{i-1} || the bytes of line i before `,"mac":"`), mac_0 = 32 zero bytes
 *
 *   trail:   key_1 = H(root, "wardfs trail" || 0x00 || session)
 *            key_{i+1} = H(none, "wardfs ratchet" || key_i), and key_i is wiped: who takes over the
 *            writer later cannot change what it wrote before
 *   ledger:  key of an entry = H(root, "wardfs ledger KIND" || 0x00 || session): a writer holds
 *            those of its own session alone
 */
#pragma once

#include <stddef.h>

#define WARD_FORMAT_VERSION 1

#define WARD_KEY_BYTES 32U
#define WARD_MAC_BYTES 32U
#define WARD_MAC_HEX ((size_t)2 * WARD_MAC_BYTES)

/*
 * Longest line: an event of WARD_EVENT_MAX bytes, each escaped as "\\xNN" (5 characters), and
 * room. A reader takes anything longer for damage.
 */
#define WARD_LINE_MAX (128U << 10)

/* A session's name: letters, digits, '.', '_', '-', not beginning with '.' or '-'. */
#define WARD_SESSION_NAME_MAX 80U
