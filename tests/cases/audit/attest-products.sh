#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The subjects of an attestation are the files that the session changed, each with the digest of
# its content, through renames. Files that it removed or only read, and the agent's home, are not
# subjects.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
export XDG_STATE_HOME="$PWD"
STATE=$PWD/wardfs
printf '[policy]\nversion = 1\nextends = medium\n[audit]\nhash = writes\n' >pol
mkdir work
cd work && git init -q . && echo before >kept && echo old >changed
"$WARDFS" run --policy ../pol --session made -- sh -c '
	cat kept >/dev/null
	echo new >changed
	echo a >saved.tmp && mv saved.tmp saved
	mkdir d && echo b >d/f && mv d e
	echo gone >removed && rm removed
	echo token >"$HOME/token"
	ln e/f linked' || fail "run"
cd ..
vkey=$(audit key show)
expect 0 audit attest --force -o statement made
hasnt "$ERR" "does not name"
both --attestation statement intact
python3 "$WARD_SRC/tests/cases/audit/lib/attest-products-of.py" work statement || fail "other subjects than what is there"
# The control: without digests in the records there are no subjects, and the statement says of how
# many.
(cd work && "$WARDFS" run --session plain -- sh -c 'echo x >changed') || fail "run"
expect 0 audit attest --force -o statement plain
has "$ERR" "does not name 1 of the 1 file that plain changed: the trail has no digest of it"
has "$ERR" "'[audit] hash = writes'"
expect 0 audit bundle -o plain.tar plain
has "$ERR" "does not name 1 of the 1 file"
python3 "$WARD_SRC/tests/cases/audit/lib/attest-products-none.py" statement || fail "without digests"
