#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs writes -o files beside the target and renames them. Links, pipes and hard links that an
# agent planted there lead nowhere. A failed write leaves the old file as it was.
set -eu
. "$WARD_SRC/tests/lib.sh"

project "$WARD_TMP/p"
cd "$WARD_TMP/p"
expect 0 "$WARDFS" run -- true
victim=$WARD_TMP/victim
reset() {
	rm -rf out there
	echo precious >"$victim"
}

# The verbs that write a file: its name follows.
writers='audit report --force -o
audit bundle --force -o
audit attest --force -o
profile export medium --force -o
learn --force --write'
echo x >.gitignore

# turned_away NAME TEXT: no verb writes to it, for the reason; the victim stays.
turned_away() {
	printf '%s\n' "$writers" | while read -r words; do
		case $words in
		learn*) words="$words=$1 -- cat .gitignore" ;;
		*) words="$words $1" ;;
		esac
		got=0
		# shellcheck disable=SC2086
		timeout 120 "$WARDFS" $words </dev/null >"$WARD_TMP/.out" 2>"$WARD_TMP/.err" || got=$?
		[ "$got" -eq 2 ] || [ "$got" -eq 125 ] || fail "$words: exit $got: $(cat "$WARD_TMP/.err")"
		has "$(cat "$WARD_TMP/.err")" "$2"
	done
	[ "$(cat "$victim")" = precious ] || fail "$1: written through"
	[ -z "$(find . -name '.wardfs-*')" ] || fail "something was left: $(find . -name '.wardfs-*')"
}

# works NAME: every verb writes a regular file there.
works() {
	printf '%s\n' "$writers" | while read -r words; do
		case $words in
		learn*) words="$words=$1 -- cat .gitignore" ;;
		*) words="$words $1" ;;
		esac
		# shellcheck disable=SC2086
		expect 0 "$WARDFS" $words
		[ -f "$1" ] && [ ! -L "$1" ] && [ -s "$1" ] || fail "$words: nothing was written"
	done
}

echo "--- control: where nothing is, and over a file, whose mode and owner stay"
reset
works there
chown 4711:4711 there
chmod 640 there
expect 0 "$WARDFS" audit report --force -o there
[ "$(stat -c %u:%g:%a there)" = 4711:4711:640 ] || fail "$(stat -c %u:%g:%a there)"
chmod 666 there
expect 0 "$WARDFS" audit bundle --force -o there
[ "$(stat -c %u:%g:%a there)" = 4711:4711:600 ] || fail "a bundle that others can read: $(stat -c %a there)"

echo "--- a file that another user left where everybody can write"
mkdir shared
chmod 1777 shared
echo mine >shared/there
chmod 644 shared/there
works shared/there
rm shared/there
echo planted >shared/there
chown 4711:4711 shared/there
chmod 666 shared/there
turned_away "$PWD/shared/there" "belongs to another user"
[ "$(cat shared/there)" = planted ] || fail "replaced"
rm -r shared

echo "--- a link"
reset
ln -s "$victim" there
echo through >there
[ "$(cat "$victim")" = through ] || fail "control: the link does not lead there"
echo precious >"$victim"
turned_away there "there is a symbolic link"
rm there
ln -s "$WARD_TMP/new" there
turned_away there "there is a symbolic link"
[ ! -e "$WARD_TMP/new" ] || fail "made through a link"

echo "--- a second name of another file"
reset
ln "$victim" there
works there
[ "$(cat "$victim")" = precious ] || fail "written through a second name"

echo "--- a pipe, a device"
reset
mkfifo there
turned_away there "not a regular file"
turned_away /dev/null "not a regular file"

echo "--- a directory on the way: a link of the agent's, of root's, and of the system's (control)"
reset
mkdir "$WARD_TMP/elsewhere"
link=/var/.wardfs-test-$$
trap 'rm -f "$link"' EXIT
ln -s "$WARD_TMP/elsewhere" "$link"
works "$link/there"
rm "$WARD_TMP/elsewhere/there"
ln -s "$WARD_TMP/elsewhere" out
turned_away out/there "a symbolic link is on the way"
chown -h 4711:4711 out
turned_away out/there "a symbolic link is on the way"
turned_away "$PWD/out/there" "a symbolic link is on the way"
[ -z "$(ls "$WARD_TMP/elsewhere")" ] || fail "written through a directory"

echo "--- a disk that is full: what was there stays"
reset
mkdir small
mount -t tmpfs -o size=64k tmpfs small
echo old >small/there
dd if=/dev/zero of=small/fill bs=1k count=200 2>/dev/null || :
got=0
"$WARDFS" audit bundle --force -o small/there 2>"$WARD_TMP/.err" || got=$?
text=$(cat small/there)
left=$(find small -name '.wardfs-*')
umount small
[ "$got" -ne 0 ] || fail "control: the disk is not full"
[ "$text" = old ] || fail "what was there is gone"
[ -z "$left" ] || fail "left: $left"
