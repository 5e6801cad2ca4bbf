#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A supervisor that root starts for somebody reads the list of `[approvals] revoked` with that
# person's rights. The control is the same list where that person may read it.
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
trap '"$WARDFS" kill tk >/dev/null 2>&1 || :' EXIT
mkdir -p project/docs closed
echo text >project/docs/a
chmod 755 .
chown -R nobody: project
chmod 700 closed
echo '# none' >closed/list
expect 0 "$WARDFS" token key k
cat >listed.policy <<EOF
[policy]
version = 1
[files]
write = /workspace
deny = docs
[approvals]
approver = $OUT
revoked = $PWD/closed/list
EOF
expect 0 "$WARDFS" token make --key k --session tk --for 1h -o token read '/workspace/docs/**'
cd project
"$WARDFS" run --user nobody --session tk --policy ../listed.policy -- sh -c 'echo up; exec sleep 600' >../up 2>../err &
wait_until 60 grep -q up ../up || fail "no session: $(cat ../err)"
expect 1 "$WARDFS" grant tk --token ../token
has "$ERR" 'is missing, cannot be read'
chmod 755 ../closed
expect 0 "$WARDFS" grant tk --token ../token
