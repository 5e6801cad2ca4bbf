#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Start-up probes: the trail has their verdicts, and a failed probe refuses the run.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
echo secret >key.pem
printf '[policy]\nversion = 1\nextends = medium\n[files]\nhide = *.pem\n' >"$WARD_TMP/hide.policy"

# All of them hold, and say what answered. Their refusals are no refusals of the session's.
expect 0 "$WARDFS" run --policy "$WARD_TMP/hide.policy" --session whole -- true
[ -z "$ERR" ] || fail "$ERR"
expect 0 "$WARDFS" audit show --kind probe --json whole
for p in capabilities userns ptrace mount outside read-only connect hidden write; do
	printf '%s\n' "$OUT" | grep '"name":"'$p'"' | grep -q '"result":"held"' || fail "$p: $OUT"
done
# The guard says itself which rule it was.
printf '%s\n' "$OUT" | grep '"action":"lookup"' | grep key.pem | grep -q 'hide = \*.pem' || fail "$OUT"
expect 0 "$WARDFS" audit show --kind probe whole
has "$OUT" "attempt ECONNREFUSED  connect to a socket of the host"
expect 0 "$WARDFS" audit denials whole
hasnt "$OUT" key.pem
expect 0 "$WARDFS" audit attest whole
expect 0 "$WARDFS" audit report --format md whole
has "$OUT" "ECONNREFUSED"
# The control of that: what the command looks at is refused and told, though a probe looked before
# it.
expect 1 "$WARDFS" run --policy "$WARD_TMP/hide.policy" --session looked -- cat key.pem
has "$ERR" "1 refused: lookup /workspace/key.pem"

# Nothing of the owner's changes by it.
[ ! -e .git/hooks/.wardfs-probe ] || fail "a probe left something"
# Nothing hidden: not made, and told so.
rm key.pem
expect 0 "$WARDFS" run --policy "$WARD_TMP/hide.policy" --session bare -- true
expect 0 "$WARDFS" audit show --kind probe bare
has "$OUT" "the policy hides nothing"

# A sandbox without its filter: refused by name, before the command, and the trail says why.
mkdir "$WARD_TMP/swap"
for program in wardfs wardfs-fs wardfs-audit; do
	cp "$WARD_BUILD/$program" "$WARD_TMP/swap"
done
cp "$WARD_BUILD/tests/support/blueprint_edit" "$WARD_TMP/swap/wardfs-init"
cp "$WARD_BUILD/wardfs-init" "$WARD_TMP/swap/wardfs-init.real"
: >"$WARD_TMP/swap/wardfs-init.edit"
expect 0 "$WARD_TMP/swap/wardfs" run -- touch control
[ -e control ] || fail "control: the blueprint as it is"
echo no-filter >"$WARD_TMP/swap/wardfs-init.edit"
expect 125 "$WARD_TMP/swap/wardfs" run --session bad -- touch started
has "$ERR" 'probe ptrace: cannot show that the layer "seccomp" works'
[ ! -e started ] || fail "the command was started"
expect 0 "$WARDFS" audit show --json bad
printf '%s\n' "$OUT" | grep '"name":"ptrace"' | grep -q '"result":"failed"' || fail "$OUT"
printf '%s\n' "$OUT" | grep '"name":"outside"' | grep -q '"result":"held"' || fail "$OUT"
has "$OUT" "the command was not started"
expect 0 "$WARDFS" audit verify bad
# Without Landlock it runs: a second layer, whose absence is told.
echo no-landlock >"$WARD_TMP/swap/wardfs-init.edit"
expect 0 "$WARD_TMP/swap/wardfs" run --session second -- true
expect 0 "$WARDFS" audit show --json second
printf '%s\n' "$OUT" | grep '"name":"landlock"' | grep -q '"result":"skipped"' || fail "$OUT"
has "$OUT" '"landlock_abi":0'
exit 0
