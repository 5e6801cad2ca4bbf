#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs keeps the size of a kept home beside it, so that not every start counts it. It counts
# again whenever the figure could be too small: after a killed session, beside another session,
# after a crash, when less than half is left, and now and then. The test puts files there from the
# host to see which of the two happened.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"

cat >used.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
state=${XDG_STATE_HOME:-$HOME/.local/state}/wardfs
[ -n "${XDG_STATE_HOME-}" ] || [ "$(id -u)" -ne 0 ] || state=/var/lib/wardfs
mkdir -p ~/used
cd ~/used || exit 1
git init -q .
size=1048576
printf '[policy]\nversion = 1\nextends = medium\n[home]\nsize = 1M\n' >../used.policy
runs=0
# run CMD...: a session, and what it was told of the home in $held
run() {
	runs=$((runs + 1))
	expect 0 "$WARDFS" run --policy ../used.policy --session "used-$runs" -- "$@"
	seen "used-$runs"
}
seen() {
	left=$(grep -a -o 'growth = [0-9]*$' "$state/sessions/$1/policy")
	held=$((size - ${left#growth = }))
}
is() {
	[ "$held" = "$1" ] || fail "$2: counts $held, not $1; $(cat "$dir/used")"
}
run sh -c 'head -c 1000 /dev/zero >~/a'
is 0 "a new home"
home=$("$WARDFS" home list --json | python3 -c 'import json, sys
print(next(h["path"] for h in json.load(sys.stdin) if h["project"] == sys.argv[1]))' "$PWD")
dir=${home%/home}
[ "$(stat -c '%a %u' "$dir/used")" = "600 $(id -u)" ] || fail "$(ls -l "$dir/used")"
# outside BYTES: the host puts a file there; only counting sees it.
outside() {
	head -c "$1" /dev/zero >"$home/outside"
	chown --reference="$home" "$home/outside"
}
outside 7
run true
is 1000 "kept"
# Never less than there is: what is removed gives nothing, what is added counts.
run sh -c 'rm ~/a; head -c 500 /dev/zero >~/b'
is 1000 "nothing was added"
run true
is 1500 "kept, with what was added"
# A reader inside has no way to it.
expect 0 "$WARDFS" run -- sh -c '! ls /agent-home/../used ~/used "$1" 2>/dev/null' sh "$dir/used"

# Killed: what it had added is known to nobody.
"$WARDFS" run --policy ../used.policy --session killed -- sh -c 'head -c 4000 /dev/zero >~/k; touch up; exec sleep 600' 2>err &
sup=$!
wait_until 60 test -e up || fail "not started: $(cat err)"
kill -9 $sup
expect 137 wait $sup
rm up
away() {
	! "$WARDFS" ps | grep -q '^killed '
}
wait_until 60 away || fail "the killed session is there"
free() {
	flock -n "$dir/lock" true
}
wait_until 60 free || fail "the home is still held"
run true
is 4507 "after a kill"

# Two at once: neither knows what the other adds, and each counts. The one that began alone writes
# nothing either.
"$WARDFS" run --policy ../used.policy --session first -- sh -c 'touch up; while [ ! -e go ]; do sleep 0.05; done; head -c 100 /dev/zero >~/first' 2>err &
first=$!
wait_until 60 test -e up || fail "not started: $(cat err)"
run sh -c 'head -c 200 /dev/zero >~/second'
touch go
wait $first || fail "$(cat err)"
rm up go
outside 8
run true
is 4808 "after two at once"

# The one that joined ends last.
"$WARDFS" run --policy ../used.policy --session first -- sh -c 'touch up; while [ ! -e go ]; do sleep 0.05; done; head -c 10 /dev/zero >~/third' 2>err &
first=$!
wait_until 60 test -e up || fail "not started: $(cat err)"
"$WARDFS" run --policy ../used.policy --session joined -- sh -c 'touch up2; while [ ! -e go2 ]; do sleep 0.05; done' 2>err2 &
joined=$!
wait_until 60 test -e up2 || fail "not started: $(cat err2)"
touch go
wait $first || fail "$(cat err)"
touch go2
wait $joined || fail "$(cat err2)"
rm up up2 go go2
run true
is 4818 "after two, the second one longer"

# Another boot of the host: what it lost on the way is not known.
outside 9
run true
is 4818 "control: kept"
sed -i 's/-/0/' "$dir/used"
run true
is 4819 "after a stop of the host"

# Half of a line, and lines of others' making.
for line in 'used 5' 'used 5 0' 'used -5 0 x y' 'nonsense' ''; do
	outside 10
	printf '%s' "$line" >"$dir/used"
	run true
	is 4820 "'$line'"
done
cut -d' ' -f1-3 "$dir/used" | tr -d '\n' >half
printf ' ' >>half
outside 11
cat half >"$dir/used"
run true
is 4821 "half a line"

# Not for ever: the host may have put something there.
outside 12
n=0
while run true && [ "$held" = 4821 ]; do
	n=$((n + 1))
	[ $n -lt 50 ] || fail "never counted again"
done
is 4822 "counted again"
[ $n -gt 3 ] || fail "counted after $n starts"

# Where it leaves less than half, counting may find more room.
run sh -c 'head -c 600000 /dev/zero >~/big; rm ~/b'
is 4822 "kept, before"
run sh -c 'rm ~/big'
is $((4822 - 500 + 600000)) "counted: more than half is used"
run true
is $((4822 - 500)) "counted: it was more than half, and is not"
run true
is $((4822 - 500)) "kept once more"
expect 0 "$WARDFS" home clear
[ ! -e "$dir" ] || fail "left: $(ls -A "$dir")"
exit 0
S
mkdir -p "$WARD_TMP/roots"
HOME=$WARD_TMP/roots sh "$WARD_TMP/used.sh" || fail "as $(id -un)"
[ "$(id -u)" -eq 0 ] || exit 0
chmod 644 used.sh
as_user "$WARD_TMP/used.sh" || fail "as an ordinary user"
exit 0
