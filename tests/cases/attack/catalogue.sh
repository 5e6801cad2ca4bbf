#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The catalogue in docs/attack.md is generated from `wardfs attack --list`. --explain says of each
# attempt what would stop it, with references in the form that CWE, CVE, ATT&CK and ATLAS give them.
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"

python3 "$WARD_SRC/tests/support/attempts.py" "$WARD_BUILD/wardfs" >complaints || fail "$(cat complaints)"

echo "--- a page with another catalogue is noticed"
mkdir -p other/tests/support other/docs
cp "$WARD_SRC/tests/support/attempts.py" other/tests/support/
sed 's/| `read-dots` | Reads/| `read-dots` | Sees/' "$WARD_SRC/docs/attack.md" >other/docs/attack.md
! python3 other/tests/support/attempts.py "$WARD_BUILD/wardfs" >complaints || fail "another page passed"
grep -q 'writes the catalogue' complaints || fail "$(cat complaints)"
python3 other/tests/support/attempts.py --write "$WARD_BUILD/wardfs"
cmp other/docs/attack.md "$WARD_SRC/docs/attack.md" || fail "--write writes another page"

echo "--- what is wrong is said"
expect 2 "$WARD_BUILD/wardfs" attack --explain nothing
echo "$ERR" | grep -q "no attempt is called 'nothing'" || fail "$ERR"
expect 2 "$WARD_BUILD/wardfs" attack --only read-path,nothing
echo "$ERR" | grep -q "no attempt is called 'nothing'" || fail "$ERR"
expect 2 "$WARD_BUILD/wardfs" attack --preset nothing
echo "$ERR" | grep -q "no preset is called 'nothing'" || fail "$ERR"
expect 2 "$WARD_BUILD/wardfs" attack --preset docker
echo "$ERR" | grep -q 'needs --image' || fail "$ERR"
