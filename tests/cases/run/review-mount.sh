#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs mount with staged changes: seen in the mount, not in the project; steps while it is
# mounted; looked at and applied once it has ended, however it ended.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"

MNT=$WARD_TMP/mnt
mkdir -p "$MNT"
mounted() { grep -q " $MNT .* fuse.wardfs " /proc/self/mountinfo; }
over() {
	! mounted || "$WARDFS" umount --lazy "$MNT" || :
	"$WARDFS" ps --json | sed -n 's/.*"session": "\(.*\)".*/\1/p' | xargs -rn1 "$WARDFS" kill || :
}
trap over EXIT
ends() { wait_until 60 sh -c '[ "$("$WARDFS" ps --json 2>&1)" = "[]" ]' || fail "it goes on: $("$WARDFS" ps)"; }
no_store() {
	! find "${XDG_STATE_HOME:-$HOME/.local/state}" "$WARD_TMP" -path "*/reviews/$1" 2>/dev/null | grep -q . ||
		fail "reviews/$1 is left"
}
# changes DIR: of each kind.
changes() {
	(cd "$1" && echo new >>changed && rm removed && mv renamed moved && mv d e && echo more >>e/two &&
		rm -r gone && mkdir sub && echo z >sub/z && ln -s changed link && chmod 600 untouched)
}
# applies NAME: what the session staged is not in the project, and can be.
applies() {
	[ "$(whole)" = "$before" ] || fail "$1: the project changed"
	expect 0 "$WARDFS" review apply -s "$1"
	[ "$(whole)" = "$after" ] || fail "$1: applied is something else"
	expect 0 "$WARDFS" review undo -s "$1"
	[ "$(whole)" = "$before" ] || fail "$1: undone is something else"
}
# seen DIR: all that is in it, as whole() has it.
seen() { (cd "$1" && whole); }

echo "--- control: without review the changes are in the project"
fresh
expect 0 "$WARDFS" mount -s direct . "$MNT"
before=$(whole)
changes "$MNT"
[ "$(whole)" != "$before" ] || fail "control: nothing changed"
expect 0 "$WARDFS" umount "$MNT"
hasnt "$ERR" "in the project yet"
expect 1 "$WARDFS" review mark -s direct

echo "--- staged: seen in the mount alone, and applied after its end"
fresh
before=$(whole)
expect 0 "$WARDFS" mount --review -s one . "$MNT"
[ "$(seen "$MNT")" = "$before" ] || fail "the mount shows something else"
changes "$MNT"
after=$(seen "$MNT")
[ "$after" != "$before" ] || fail "control: nothing changed in the mount"
[ "$(whole)" = "$before" ] || fail "the project changed"
for verb in "" diff apply discard; do
	# shellcheck disable=SC2086
	expect 125 "$WARDFS" review $verb -s one
	has "$ERR" "session one still runs"
done
[ "$(whole)" = "$before" ] || fail "applied while mounted"
(cd / && expect 0 "$WARDFS" umount "$MNT" && printf '%s' "$ERR") >"$WARD_TMP/said"
has "$(cat "$WARD_TMP/said")" "nothing is in the project yet: cd $PROJECT && wardfs review one"
[ "$(whole)" = "$before" ] || fail "the project changed at the end"
expect 0 "$WARDFS" review
has "$OUT" "session one: "
has "$OUT" "moved"
applies one
no_rest
expect 0 "$WARDFS" audit verify one
expect 0 "$WARDFS" audit show one --json --kind session.start
has "$OUT" '"staged":true'

echo "--- steps while it is mounted"
expect 0 "$WARDFS" mount --review -s steps . "$MNT"
expect 0 "$WARDFS" review mark begin
first=$(seen "$MNT")
changes "$MNT"
python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.wardfs.mark", b"inside")' "$MNT"
second=$(seen "$MNT")
expect 0 "$WARDFS" review log
has "$OUT" "inside"
expect 0 "$WARDFS" review back -s steps begin
[ "$(seen "$MNT")" = "$first" ] || fail "back at the first step"
expect 0 "$WARDFS" review back inside
[ "$(seen "$MNT")" = "$second" ] || fail "back at the second step"
expect 1 "$WARDFS" review back nowhere
has "$ERR" "there is no step 'nowhere'"
[ "$(whole)" = "$before" ] || fail "a step back changed the project"
expect 0 "$WARDFS" umount "$MNT"

echo "--- a mount and a run that go on from it"
expect 0 "$WARDFS" mount --from steps -s further . "$MNT"
[ "$(seen "$MNT")" = "$second" ] || fail "--from"
echo further >"$MNT/further"
expect 0 "$WARDFS" umount "$MNT"
expect 0 "$WARDFS" run --from further -s run -- cat further
has "$OUT" further
expect 0 "$WARDFS" mount --from steps@begin -s first . "$MNT"
[ "$(seen "$MNT")" = "$first" ] || fail "--from a step"
expect 0 "$WARDFS" umount "$MNT"
[ "$(whole)" = "$before" ] || fail "the project changed"
expect 125 "$WARDFS" mount --from nowhere -s nothing . "$MNT"
has "$ERR" "session nowhere has no staged changes"
no_store nothing

echo "--- the policy says it, and discard"
printf '[policy]\nversion = 1\nextends = medium\n[tree /workspace]\nsource = .\nchanges = review\n[files]\nwrite = /workspace\n' >"$WARD_TMP/review.policy"
sed 's/= review/= discard/' "$WARD_TMP/review.policy" >"$WARD_TMP/discard.policy"
expect 0 "$WARDFS" mount -p "$WARD_TMP/review.policy" -s by-policy . "$MNT"
changes "$MNT"
expect 0 "$WARDFS" umount "$MNT"
has "$ERR" "wardfs review by-policy"
expect 0 "$WARDFS" mount --review -p "$WARD_TMP/discard.policy" -s thrown . "$MNT"
changes "$MNT"
[ "$(seen "$MNT")" = "$after" ] || fail "control: discard shows other changes"
expect 0 "$WARDFS" umount "$MNT"
hasnt "$ERR" "wardfs review"
[ "$(whole)" = "$before" ] || fail "the project changed"
expect 125 "$WARDFS" review -s thrown
has "$ERR" "session thrown has no staged changes"
no_store thrown

echo "--- however it ends, what was staged is there"
expect 0 "$WARDFS" mount --review -s lazy . "$MNT"
(cd "$MNT" && exec sleep 600) &
holder=$!
holds() { [ "$(readlink "/proc/$holder/cwd")" = "$MNT" ]; }
wait_until 60 holds || fail "control: nobody is in the mount"
changes "$MNT"
expect 1 "$WARDFS" umount "$MNT"
has "$ERR" "is in use"
expect 0 "$WARDFS" umount --lazy "$MNT"
has "$ERR" "session lazy ends when the last process has left"
expect 125 "$WARDFS" review apply -s lazy
has "$ERR" "session lazy still runs"
kill "$holder"
expect 143 wait "$holder"
ends
applies lazy
for how in kill signal fs supervisor; do
	expect 0 "$WARDFS" mount --review -s "$how" . "$MNT"
	changes "$MNT"
	python3 -c 'import os, sys; d = os.open(sys.argv[1], os.O_RDONLY); os.fsync(d)' "$MNT/changed"
	case $how in
	kill) expect 0 "$WARDFS" kill kill ;;
	signal) kill -TERM "$(status_of "$how" pid)" ;;
	fs) kill -KILL "$(status_of "$how" fs_pid)" ;;
	supervisor) kill -KILL "$(status_of "$how" pid)" ;;
	esac
	ends
	! mounted || expect 0 "$WARDFS" umount --lazy "$MNT"
	applies "$how"
done

echo "--- in the foreground, over the project itself"
"$WARDFS" mount --review -f -s over . . 2>"$WARD_TMP/said" &
foreground=$!
wait_until 60 grep -q " $PROJECT .* fuse.wardfs " /proc/self/mountinfo || fail "not mounted: $(cat "$WARD_TMP/said")"
(cd "$PROJECT" && echo over >changed)
cd "$WARD_TMP"
expect 0 "$WARDFS" umount "$PROJECT"
expect 0 wait "$foreground"
has "$(cat "$WARD_TMP/said")" "1 file changed"
cd "$PROJECT"
[ "$(whole)" = "$before" ] || fail "the project changed"
expect 0 "$WARDFS" review apply -s over
[ "$(cat changed)" = over ] || fail "not applied"

echo "--- what is refused"
expect 2 "$WARDFS" mount --review "$PROJECT/d" "$MNT"
has "$ERR" "is a part of the project $PROJECT"
expect 0 "$WARDFS" mount "$PROJECT/d" "$MNT"
expect 0 "$WARDFS" umount "$MNT"
printf '[policy]\nversion = 1\n[tree /agent-home]\nsource = .\n[files]\nwrite = /agent-home\n' >"$WARD_TMP/home.policy"
expect 2 "$WARDFS" mount --review -p "$WARD_TMP/home.policy" --tree /agent-home . "$MNT"
has "$ERR" "changes = review: --tree /agent-home"
if [ "$(id -u)" = 0 ]; then
	expect 2 "$WARDFS" mount --review --allow-other . "$MNT"
	has "$ERR" "a mount for all users (--allow-other) cannot stage changes"
	mkdir "$WARD_TMP/theirs"
	chown 4711:4711 "$WARD_TMP/theirs"
	expect 2 "$WARDFS" mount --review "$WARD_TMP/theirs" "$MNT"
	has "$ERR" "theirs belongs to "
	expect 0 "$WARDFS" mount "$WARD_TMP/theirs" "$MNT"
	expect 0 "$WARDFS" umount "$MNT"
fi
