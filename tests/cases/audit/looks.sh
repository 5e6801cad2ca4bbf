#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each look at a hidden name has a record, whoever looked before. A look at a hidden name takes
# the same work whether or not the name exists, so its time reveals nothing ([audit] sync =
# record).
set -eu
. "$WARD_SRC/tests/lib.sh"
cp "$WARD_SRC/tests/cases/audit/lib/looks-work.py" "$WARD_SRC/tests/cases/audit/lib/looks-records.py" "$WARD_TMP"
chmod 755 "$WARD_TMP"
cat >"$WARD_TMP/look" <<'EOS'
set -eu
mkdir -p p/hid p/den p/open && echo x >p/hid/s && echo x >p/den/s && echo x >p/there.hid && echo x >p/open/there.hid
cd p
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[audit]\nlog = denials\nexec = no\n[files]\nread = /workspace
hide = /workspace/hid\nhide = *.hid\ndeny = /workspace/den\n' >../policy
"$WARDFS" run --policy ../policy --session looks -- python3 -c "$(cat "$WARD_TMP/looks-work.py")"
"$WARDFS" audit verify looks >../verdict || { cat ../verdict; exit 1; }
"$WARDFS" audit show --json --kind deny looks >../records
python3 "$WARD_TMP/looks-records.py" ../records
EOS
mkdir root
(cd root && XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config sh "$WARD_TMP/look") || fail "as root"
as_user "$WARD_TMP/look" || fail "as an ordinary user"
