#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Root reads, compresses and removes trails in another user's state directory and rotates the key
# there. The files belong to that user afterwards; otherwise that user could open no trail and
# start no session. The attack: the user hard-links a file of root's where root writes next.
# Nothing is written to that file.
# timeout: 300
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root: another user's directory"

run --session one --events 5
run --session two --events 5
chmod 755 "$WARD_TMP"
fresh() {
	rm -rf theirs
	mkdir theirs
	cp -a state theirs/state
	chown -hR 4711:4711 theirs
}
roots() { "$WARDFS" audit "$@" --state "$WARD_TMP/theirs/state"; }
users() {
	setpriv --reuid=4711 --regid=4711 --clear-groups \
		"$WARDFS" audit "$@" --state "$WARD_TMP/theirs/state"
}
# The user can use everything that is there.
all_theirs() {
	found=$(find theirs ! -user 4711 -o ! -group 4711)
	[ -z "$found" ] || fail "after $1, not the user's: $found"
	expect 0 users verify "$2"
	expect 0 users show "$2"
}

echo "--- control: a file of root's there is out of the user's reach"
fresh
expect 0 users show one
chown 0:0 theirs/state/sessions/one/trail.jsonl
expect 125 users show one
has "$ERR" "Permission denied"

echo "--- what root makes is the user's"
fresh
rm -f theirs/state/ledger.tree
expect 0 roots show one
[ -e theirs/state/ledger.tree ] || fail "no file was made"
all_theirs "audit show" one
expect 0 roots prune
[ -e theirs/state/sessions/one/trail.jsonl.zst ] || fail "nothing was compressed"
all_theirs "audit prune" one
cp theirs/state/signing.key before
expect 0 roots key rotate
! cmp -s theirs/state/signing.key before || fail "no key was made"
all_theirs "audit key rotate" one
expect 0 roots hold one --reason why
expect 0 roots release one --reason why
expect 0 roots remove two --force --reason why
all_theirs "audit remove" one

echo "--- a second name of a file of root's, where root writes the compressed trail"
fresh
echo precious >victim
chmod 600 victim
ln victim theirs/state/sessions/one/trail.jsonl.zst.new
expect 0 roots prune
[ "$(cat victim)" = precious ] || fail "root wrote into a file that the user named"
[ "$(stat -c '%u %h' victim)" = "0 1" ] || fail "$(stat -c '%u %h' victim)"
[ -e theirs/state/sessions/one/trail.jsonl.zst ] || fail "nothing was compressed"
all_theirs "audit prune" one

echo "--- a link or a pipe there holds nobody up"
for kind in link pipe; do
	fresh
	case $kind in
	link) ln -s "$WARD_TMP/victim" theirs/state/sessions/one/trail.jsonl.zst.new ;;
	pipe) mkfifo theirs/state/sessions/one/trail.jsonl.zst.new ;;
	esac
	expect 0 timeout 120 "$WARDFS" audit prune --state "$WARD_TMP/theirs/state"
	[ "$(cat victim)" = precious ] || fail "$kind: root wrote into a file that the user named"
	all_theirs "audit prune with a $kind" one
done
