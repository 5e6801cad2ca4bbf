#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of the writer, wardfs-fs, wardfs-net, pid 1 and the supervisor, at random moments of a
# working session. The trail has everything that the command saw succeed or fail, and no such
# trail is intact. With --long, 1,000 times each.
# plain
# timeout: 14400
set -eu
. "$WARD_SRC/tests/cases/audit/lib/session.sh"
mkdir denied
printf '[policy]\nversion = 1\nextends = medium\n[files]\nread = /workspace/denied\n' >../policy
rounds=${WARD_ROUNDS:-${WARD_LONG:+1000}}
python3 "$WARD_SRC/tests/support/kill-sessions.py" "$WARDFS" ../policy "${rounds:-2}" ||
	fail "an operation without a record"
# The next start clears up after the killed ones.
expect 0 "$WARDFS" run -- true
