# SPDX-License-Identifier: Apache-2.0
# Part of ../review-full.sh, in a mount namespace of its own: the disk of what is staged is full, in
# a session, at a mark, at a step back; then that of the trail, too. What fails changes nothing, and
# succeeds when there is room.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review-steps.sh"
trap steps_end EXIT

STORE=$WARD_TMP/staged/wardfs/reviews
XDG_STATE_HOME=$WARD_TMP/staged
export XDG_STATE_HOME
# fill KIB: so much room is left in $STORE.
fill() {
	rm -f "$STORE/filler"
	! head -c 100M /dev/zero >"$STORE/filler" 2>/dev/null || fail "control: $STORE is not full"
	truncate -s "-${1}K" "$STORE/filler"
}
room() { rm "$STORE/filler"; }
# unchanged NAME WHAT: the session sees $had, the project has $before.
unchanged() {
	same "$2" "$had" "$(seen "$1")"
	[ "$(whole)" = "$before" ] || fail "$2: the project changed"
}
# holds NAME FILE: a program has it open for reading, so that a step back writes over it.
holds() {
	"$WARDFS" exec "$1" -- sh -c "exec sleep 901 <$2" &
	holder=$!
	wait_until 60 inside "$1" "ls -l /proc/[0-9]*/fd/0 2>/dev/null | grep -q '/$2\$'" || fail "control: $2 is not open"
}
lets_go() {
	inside "$1" 'pkill -f "[s]leep 901" || :' 2>/dev/null || :
	wait "$holder" || :
}

mkdir -p "$STORE"
mount -t tmpfs -o size=48M,mode=755 tmpfs "$STORE"
fresh
head -c 3M /dev/zero | tr '\0' b >big
own
before=$(whole)
steps_session one
inside one 'echo staged >changed; echo other >d/one; sync changed d/one'

echo "--- full while the session changes something"
had=$(seen one)
fill 0
refused "No space left on device" inside one 'echo more >>untouched'
refused "No space left on device" inside one 'echo more >>big'
unchanged one "a file that is changed for the first time"
# Names, until the journal has no room either.
refused "No space left on device" inside one 'for n in $(seq 3000); do mkdir "sub$n"; done'
made=$(inside one 'ls -d sub* | wc -l')
refused "No space left on device" inside one 'mv renamed moved'
inside one 'test -e renamed && ! test -e moved && test ! -e "sub$((1 + '"$made"'))"' || fail "half a rename"
[ "$(whole)" = "$before" ] || fail "the project changed"
had=$(seen one)
refused "No space left on device" "$WARDFS" review mark -s one full
unchanged one "a mark"
room
expect 0 "$WARDFS" review mark -s one full
inside one 'echo more >>untouched; mv renamed moved; grep -q more untouched' || fail "it does not go on"

echo "--- full at a mark that copies what is open"
"$WARDFS" exec one -- sh -c 'exec sleep 901 3<>big' &
holder=$!
wait_until 60 inside one "ls -l /proc/[0-9]*/fd/3 2>/dev/null | grep -q '/big\$'" || fail "control: big is not open"
expect 0 "$WARDFS" review mark -s one control
had=$(seen one)
fill 1000
refused "No space left on device" "$WARDFS" review mark -s one tight
unchanged one "a mark that copies"
expect 0 "$WARDFS" review log -s one
hasnt "$OUT" tight
inside one 'echo after >>changed; rmdir sub1' || fail "it does not go on"
room
expect 0 "$WARDFS" review mark -s one tight
lets_go one

echo "--- full at a step back"
expect 0 "$WARDFS" review mark -s one large
large=$(seen one)
inside one 'echo small >big; rm moved; mkdir later; echo x >d/two'
holds one big
had=$(seen one)
fill 1000
refused "No space left on device" "$WARDFS" review back -s one large
unchanged one "a step back"
inside one 'echo again >>d/two' || fail "it does not go on"
had=$(seen one)
refused "No space left on device" "$WARDFS" review back -s one large
unchanged one "another step back"
room
expect 0 "$WARDFS" review back -s one large
same "with room" "$large" "$(seen one)"
lets_go one
holds one big
inside one 'head -c 2M /dev/zero >>big; echo z >changed'
had=$(seen one)
fill 1000
refused "No space left on device" "$WARDFS" review back -s one large
unchanged one "a step back that keeps what is there"
room
expect 0 "$WARDFS" review back -s one large
same "with room, again" "$large" "$(seen one)"
lets_go one
steps_over one
[ "$(whole)" = "$before" ] || fail "the project changed"
expect 0 "$WARDFS" review apply -s one
same "what was applied" "$large" "$(listed)"
expect 0 "$WARDFS" audit verify one
umount "$STORE"

echo "--- the trail is on that disk, too"
STORE=$WARD_TMP/both
mkdir "$STORE"
mount -t tmpfs -o size=48M,mode=755 tmpfs "$STORE"
XDG_STATE_HOME=$STORE
fresh
before=$(whole)
steps_session two
inside two 'echo staged >changed; sync changed; echo other >untouched'
expect 0 "$WARDFS" review mark -s two first
inside two 'echo later >changed; rm removed'
had=$(seen two)
fill 0
# Until the trail has no room but for what removes something, and for the end.
"$WARDFS" exec two -- sh -c 'while mv renamed moved && mv moved renamed; do :; done' >"$WARD_TMP/moved" 2>&1 || :
refused "the step: No space left on device" "$WARDFS" review mark -s two second
refused "No space left on device" "$WARDFS" review back -s two first
room
wait_until 60 inside two 'if [ -e moved ]; then mv moved renamed; fi; mv renamed m && mv m renamed' || fail "it does not go on"
unchanged two "no room for the trail"
expect 0 "$WARDFS" review mark -s two second
expect 0 "$WARDFS" review back -s two first
[ "$(inside two 'cat changed removed')" = "staged
old removed" ] || fail "the step back"
steps_over two
[ "$(whole)" = "$before" ] || fail "the project changed"
expect 0 "$WARDFS" review apply -s two
[ "$(cat changed)" = staged ] || fail "not applied"
