#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `ask` behind `write`: files stay readable, and no change succeeds without an answer. The control
# is the same policy without `ask`.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p
mkdir -p .github/workflows src

# The ways to a change of .github/workflows/ci. Each prints its name where it succeeds.
cat >ways.sh <<'END'
cd /workspace
ci=.github/workflows/ci
exchange='import ctypes, sys
sys.exit(ctypes.CDLL(None).renameat2(-100, b"src/again", -100, b".github/workflows/ci", 2) != 0)'
way() { name=$1; shift; if "$@" 2>/dev/null; then echo "$name"; fi; }
way append sh -c "echo x >>$ci"
way truncate sh -c ": >$ci"
way open-rw sh -c "exec 3<>$ci"
way chmod chmod 600 $ci
way touch touch -d 2001-01-01 $ci
way create sh -c "echo x >.github/new"
way mkdir mkdir .github/dir
way link ln $ci src/ci
way symlink ln -s /etc/passwd .github/link
way rename-in sh -c 'mv -n src/mine .github/mine && [ -e .github/mine ]'
way exchange python3 -c "$exchange"
way rename-over mv -f src/again $ci
way remove rm -f $ci
way parent mv .github src/away
END
ways() {
	rm -rf .github src
	mkdir -p .github/workflows src
	echo one >.github/workflows/ci
	echo mine >src/mine
	echo again >src/again
	expect 0 "$WARDFS" run --policy "$1" -- sh -c 'cat .github/workflows/ci && sh ways.sh'
}
printf '[policy]\nversion = 1\n[approvals]\ntimeout = 0s\n[files]\nwrite = /workspace\n' >../write.policy
cat ../write.policy - >../ask.policy <<'END'
ask = .github
[test]
expect = read /workspace/.github/x allow
expect = write /workspace/.github/x ask
expect = create /workspace/.github/x ask
expect = remove /workspace/.github/x ask
expect = rename /workspace/.github/x /workspace/y ask
expect = write /workspace/x allow
END

echo "--- control: without it, all of them"
ways ../write.policy
[ "$(echo "$OUT" | tr '\n' ' ')" = "one append truncate open-rw chmod touch create mkdir link symlink rename-in exchange rename-over remove parent " ] ||
	fail "$OUT"

echo "--- with it: reading alone"
ways ../ask.policy
[ "$(echo "$OUT" | tr '\n' ' ')" = "one " ] || fail "$OUT"
[ "$(cat .github/workflows/ci)" = one ] || fail "changed"
has "$ERR" "refused"
"$WARDFS" audit denials --json >../denials
grep -q '"verdict": "ask"' ../denials || fail "no record names the question: $(cat ../denials)"

echo "--- a name above the question takes no link"
mkdir src/evil
printf 'ask = /workspace/conf/hooks\n' | cat ../write.policy - >../above.policy
expect 0 "$WARDFS" run --policy ../write.policy -- ln -s src/evil conf
rm conf
expect 1 "$WARDFS" run --policy ../above.policy -- ln -s src/evil conf
[ ! -L conf ] || fail "a link leads past the question"

echo "--- the same answers without a session"
expect 0 "$WARDFS" policy test ../ask.policy
expect 1 "$WARDFS" policy explain --policy ../ask.policy write /workspace/.github/x
has "$OUT" "ask"
expect 0 "$WARDFS" policy explain --policy ../ask.policy read /workspace/.github/x

echo "--- the project's own file adds questions, and takes none away"
printf '[policy]\nversion = 1\n[files]\nask = /workspace/src\nwrite = .github\n' >.wardfs.policy
refused "Permission denied" "$WARDFS" run --policy ../write.policy -- sh -c 'echo x >src/mine'
expect 0 "$WARDFS" run --policy ../write.policy -- sh -c 'cat src/mine; echo x >.github/y'
refused "Permission denied" "$WARDFS" run --policy ../ask.policy -- sh -c 'echo x >.github/x'
