#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `audit denials` proposes lines that help: `exec =` for an unlisted program, and no line that a
# guard, the floor or the project file would override. The test tries each proposal.
# shellcheck disable=SC2016
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
project p
cd p
mkdir log other bin
cp /bin/true bin/tool
printf '[policy]\nversion = 1\n[guard]\nappend = /workspace/log\n[files]\nread = /workspace\n' >../a.policy
"$WARDFS" run --session a --policy ../a.policy -- sh -c 'echo x >log/x; echo x >other/x' 2>err || :
expect 0 "$WARDFS" audit denials --json a
permits() { printf '%s' "$OUT" | python3 "$WARD_SRC/tests/cases/audit/lib/proposals-of.py" "$@"; }
echo "--- a guard stands behind the rule that decided: control: the same beside it"
[ "$(permits /workspace/other/x)" = "write = /workspace/other/x" ] || fail "control: $OUT"
[ "$(permits /workspace/log/x)" = "by [guard] append = /workspace/log" ] || fail "refused by the guard: $OUT"
echo "--- so it is with the project file"
printf '[policy]\nversion = 1\n[files]\nread = /workspace/log\n' >.wardfs.policy
"$WARDFS" run --session b --policy ../a.policy -- sh -c 'echo x >log/y; echo x >other/x' 2>err || :
expect 0 "$WARDFS" audit denials --json b
[ "$(permits /workspace/other/x)" = "write = /workspace/other/x" ] || fail "control: $OUT"
[ "$(permits /workspace/log/y)" = "by read = /workspace/log" ] || fail "the project file: $OUT"
rm .wardfs.policy
echo "--- a program that is not listed: in the tree, by its second path, and of the host"
printf '[policy]\nversion = 1\nextends = medium\n[process]\nexec = /usr/bin/dash\nexec = /workspace/none\n' >../c.policy
"$WARDFS" run --session c --policy ../c.policy -- sh -c './bin/tool; /usr/bin/env; /tmp/x' 2>err || :
expect 0 "$WARDFS" audit denials c
has "$OUT" "to permit: exec = /workspace/bin/tool"
has "$OUT" "to permit: exec = /usr/bin/env"
has "$OUT" "[process] of"
# `policy add` would write another file than the one that this session had.
hasnt "$OUT" "wardfs policy add"
hasnt "$OUT" "read = "
printf 'exec = /workspace/bin/tool\nexec = /usr/bin/env\n' >>../c.policy
expect 0 "$WARDFS" run --policy ../c.policy -- sh -c './bin/tool && /usr/bin/env' </dev/null
