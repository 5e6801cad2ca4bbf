#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An agent tries to keep something out of its trail or to disguise it: in a flood, by handles
# without a path, in a file without a name, beneath a path longer than a record, under names that
# look like records.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/session.sh"
printf '[policy]\nversion = 1\nextends = medium\n[audit]\nlog = io\n' >../policy
echo S=1 >.env
echo before >victim
cp "$WARD_SRC/tests/cases/audit/lib/hiding-work.py" work.py
inode=$(stat -c %i victim)
expect 0 "$WARDFS" run --policy ../policy --session hiding -- python3 work.py
echo "$OUT" >../told
"$WARDFS" audit verify hiding >../verdict || fail "$(cat ../verdict)"
state=$XDG_STATE_HOME/wardfs
"$WARDFS" audit key show hiding >../vkey
"$WARDFS" audit verify --key ../vkey "$state/sessions/hiding/trail.jsonl" >../verdict || fail "public: $(cat ../verdict)"
python3 "$WARD_SRC/tests/support/verify.py" "$state" hiding >../verdict || fail "the second verifier: $(cat ../verdict)"
python3 "$WARD_SRC/tests/cases/audit/lib/hiding-records.py" "$state/sessions/hiding/trail.jsonl" "$inode" ../told || fail "see above"
