#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Under review, `ask` on changes neither waits nor refuses: the change is staged, and applied only
# where it is named itself. Reading is asked about as ever, and no guard gives way. The control is
# the same command without review.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"
POLICY='[policy]
version = 1
[files]
ask = asked
[guard]
ask = guarded
deny = secret.*
read = fixed'
prepare() {
	fresh
	mkdir -p asked/sub guarded fixed
	for f in asked/old asked/gone asked/moved asked/sub/x guarded/old fixed/f secret.x; do echo "old $f" >"$f"; done
	printf '%s\n' "$POLICY" >.wardfs.policy
	own
}
DO='echo new >asked/new; echo more >>asked/old; rm asked/gone; mv asked/moved asked/there; chmod 600 asked/sub/x
	mkdir asked/dir; ln asked/sub/x asked/second; ln -s old asked/link; mv asked/there out; mv changed asked/in
	echo more >>guarded/old; : >asked/old2; truncate -s 1 asked/old2; echo free >free'

echo "--- control: without review it is asked, and refused at once or when nobody answers"
prepare
printf '[policy]\nversion = 1\nextends = medium\n[approvals]\ntimeout = 1s\n' >../ask.policy
n=0
for d in 'echo new >asked/new' 'echo more >>asked/old' 'rm asked/gone' 'mv changed asked/in' 'echo more >>guarded/old'; do
	before=$(whole)
	n=$((n + 1))
	control=control$n
	if "$WARDFS" run --policy ../ask.policy -s $control -- sh -euc "$d" >../out 2>../err; then fail "control: $d is not asked"; fi
	[ "$(whole)" = "$before" ] || fail "control: $d: $(cat ../err)"
	"$WARDFS" audit show --json --kind ask $control | grep -q . || fail "control: $d: no question: $(cat ../err)"
done

echo "--- under review all of it is staged without a question, and the trail verifies"
before=$(whole)
expect 0 "$WARDFS" run --review -s asked -- sh -euc "$DO"
[ "$(whole)" = "$before" ] || fail "the project changed"
if "$WARDFS" audit show --json --kind ask asked | grep -q .; then fail "it was asked"; fi
expect 0 "$WARDFS" audit verify asked
python3 "$WARD_SRC/tests/support/verify.py" "${XDG_STATE_HOME:-$HOME/.local/state}/wardfs" asked >../theirs || fail "the second verifier: $(cat ../theirs)"

echo "--- each is flagged, and applied where it is named"
expect 0 "$WARDFS" review asked
for line in 'A asked/new' 'M asked/old' 'D asked/gone' 'A asked/dir/' 'R asked/moved -> out' 'R changed -> asked/in' 'M guarded/old'; do
	has "$OUT" "! $line   (the policy asks about it)"
done
has "$OUT" "  A free"
expect 1 "$WARDFS" review apply
has "$ERR" "asked/new: not applied: the policy asks about it"
[ "$(cat free)" = free ] || fail "control: what nothing asks about is not applied"
[ ! -e asked/new ] && [ -e asked/gone ] && [ ! -e out ] && [ ! -e asked/in ] || fail "applied without a yes of its own"
[ "$(cat guarded/old)" = "old guarded/old" ] || fail "a guard's question was passed over"
expect 0 "$WARDFS" review apply asked/new asked/gone out
[ "$(cat asked/new)" = new ] && [ ! -e asked/gone ] && [ "$(cat out)" = "old asked/moved" ] || fail "named: $ERR"
[ "$(cat asked/old)" = "old asked/old" ] || fail "another one was applied, too"

echo "--- policy explain says what becomes of it. The controls: without staging, reading, and a guard"
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\nchanges = review\n[files]\nwrite = /workspace\nask = asked\n' >../staged.policy
for what in 'write asked/old' 'append asked/old' 'remove asked/gone' 'create asked/x' 'rename asked/moved free2' 'chmod asked/old'; do
	# shellcheck disable=SC2086
	expect 0 "$WARDFS" policy explain --policy ../staged.policy $what
	has "$OUT" ": allow (staged, flagged)"
	has "$OUT" "[files] ask = asked"
	has "$OUT" "'wardfs review apply PATH' applies it if PATH names it"
	# shellcheck disable=SC2086
	expect 0 "$WARDFS" policy explain --json --policy ../staged.policy $what
	has "$OUT" '"staged": true'
	has "$OUT" '"verdict": "allow"'
done
for what in 'read asked/old' 'write free'; do
	# shellcheck disable=SC2086
	expect 0 "$WARDFS" policy explain --json --policy ../staged.policy $what
	has "$OUT" '"staged": false'
done
expect 1 "$WARDFS" policy explain --policy ../staged.policy write secret.x
has "$OUT" ": deny"
sed '/^changes/d' ../staged.policy >../direct.policy
expect 1 "$WARDFS" policy explain --policy ../direct.policy write asked/old
has "$OUT" ": ask (EACCES)"
sed 's/^write = /read = /; s/^ask = asked/hide = asked\nask = asked/' ../staged.policy >../hidden.policy
expect 1 "$WARDFS" policy explain --policy ../hidden.policy read asked/old
has "$OUT" ": ask (EACCES)"

echo "--- attack: by a hard link to where nothing asks, and a write through that"
prepare
expect 0 "$WARDFS" run --review -s link -- sh -euc 'ln asked/old b; echo more >>b; mv asked/sub/x c; echo more >>c; mkdir d2; mv asked/gone d2/g; chmod 755 d2/g'
before=$(digest)
expect 0 "$WARDFS" review link
expect 1 "$WARDFS" review apply
for f in b c d2/g; do
	[ ! -e $f ] || fail "$f was applied without a yes of its own: $ERR"
done
[ "$(digest)" = "$before" ] || fail "changed: $(digest)"

echo "--- attacks: a guard that denies, a tree that is read alone, and what only a read shows"
prepare
for d in 'echo x >>secret.x' 'cat secret.x' 'echo x >>fixed/f' 'mv secret.x asked/s' 'ln secret.x asked/s' 'mv asked/old fixed/o'; do
	if "$WARDFS" run --review -s none -- sh -euc "$d" >../out 2>../err; then fail "$d is allowed"; fi
	"$WARDFS" review discard none >/dev/null 2>&1 || :
done
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace/src\nask = /workspace/private\n[approvals]\ntimeout = 1s\n' >../read.policy
mkdir -p src private
echo mine >private/f
own
if "$WARDFS" run --review --policy ../read.policy -s read -- cat private/f >../out 2>../err; then fail "read without a question"; fi
"$WARDFS" audit show --json --kind ask read | grep -q '"asked":\["read"\]' || fail "reading was not asked about: $(cat ../err)"
[ ! -s ../out ] || fail "read: $(cat ../out)"
"$WARDFS" review discard read >/dev/null 2>&1 || :

echo "--- a home that is kept, and a tree in memory, are not staged: there it is asked"
printf '[policy]\nversion = 1\n[tree /mem]\nsource = tmpfs:1M\n[files]\nwrite = /workspace\nwrite = /mem\nask = /mem/a\n' >../mem.policy
if "$WARDFS" run --review --policy ../mem.policy -s mem -- sh -euc ': >/mem/a' >../out 2>../err; then fail "changed in memory without a question"; fi
expect 0 "$WARDFS" run --review --policy ../mem.policy -s mem2 -- sh -euc ': >/mem/b'
