#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a session must not reach stays out of reach where a bind mount shows a directory of the
# project as wardfs' state, runtime or policy directory, as the place of a policy or of an anchor.
# A policy that hides such a place lets a session start, and then no later policy and no grant opens
# it. The controls: the same directories by their own paths, and bind mounts of others.
# timeout: 120
# shellcheck disable=SC2016 # expanded by the inner shells
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root: mounts"
if [ $# -eq 0 ]; then
	exec unshare --mount --propagation private sh "$0" inside
fi
P=$WARD_TMP/p
project "$P"
cd "$P"
mkdir -m 700 own "$WARD_TMP/bound" "$WARD_TMP/aside"
mkdir "$WARD_TMP/pol"
B=$WARD_TMP/bound

# out_of_reach WHAT VARIABLE OPTION...: refused for a directory of the project, by its own path and
# by a bind mount of it or of the directory above; not for another directory.
out_of_reach() {
	what=$1 variable=$2
	shift 2
	expect 125 env "$variable=$P/own" "$WARDFS" run -- true
	has "$ERR" "the $what $P/own/wardfs lies in the tree /workspace"
	mount --bind "$P/own" "$B"
	expect 125 env "$variable=$B" "$WARDFS" run -- touch own/made
	has "$ERR" "the $what $B/wardfs lies in the tree /workspace"
	umount "$B"
	mount --bind "$P" "$B"
	expect 125 env "$variable=$B/own" "$WARDFS" run -- touch own/made
	has "$ERR" "the $what $B/own/wardfs lies in the tree /workspace"
	umount "$B"
	mount --bind "$WARD_TMP/aside" "$B"
	expect 0 env "$variable=$B" "$WARDFS" run -- true
	umount "$B"
	[ ! -e own/made ] || fail "$what: the session ran"
}
echo "--- directories of wardfs"
out_of_reach "state directory" XDG_STATE_HOME
out_of_reach "runtime directory" XDG_RUNTIME_DIR
mkdir -p own/wardfs "$WARD_TMP/aside/wardfs"
out_of_reach "policy directory" XDG_CONFIG_HOME
echo "--- the tree lies in one of them"
mkdir -p "$WARD_TMP/aside/wardfs/sub"
mkdir "$WARD_TMP/in"
mount --bind "$WARD_TMP/aside/wardfs/sub" "$WARD_TMP/in"
project "$WARD_TMP/in"
cd "$WARD_TMP/in"
expect 125 env XDG_STATE_HOME="$WARD_TMP/aside" "$WARDFS" run -- true
has "$ERR" "lies in the state directory $WARD_TMP/aside/wardfs"
cd "$P"
umount "$WARD_TMP/in"
rm -r "$WARD_TMP/aside/wardfs/sub"

echo "--- a policy, and what anchors run"
mkdir cfg
printf '[policy]\nversion = 1\nextends = medium\n' >cfg/p.policy
expect 1 "$WARDFS" run --policy "$P/cfg/p.policy" -- sh -c 'echo "; more" >>cfg/p.policy || exit 1'
mount --bind "$P/cfg" "$B"
expect 1 "$WARDFS" run --policy "$B/p.policy" -- sh -c 'echo "; more" >>cfg/p.policy || exit 1'
expect 1 "$WARDFS" run --policy "$B/p.policy" -- mv cfg cfg2
! grep -q more cfg/p.policy || fail "a session changed its policy"
umount "$B"
printf '#!/bin/sh\nexit 0\n' >cfg/anchor
chmod 755 cfg/anchor
anchored() {
	printf '[policy]\nversion = 1\nextends = medium\n[audit]\nanchor = exec:%s\n' "$1" \
		>"$WARD_TMP/anchor.policy"
	expect "$2" "$WARDFS" run --policy "$WARD_TMP/anchor.policy" -- true
}
anchored "$P/cfg/anchor" 125
mount --bind "$P/cfg" "$B"
anchored "$B/anchor" 125
has "$ERR" "$B/anchor lies in the tree /workspace, within the agent's reach"
umount "$B"
cp cfg/anchor "$WARD_TMP/aside"
mount --bind "$WARD_TMP/aside" "$B"
anchored "$B/anchor" 0
umount "$B"

echo "--- hidden at the start, and not given later"
export XDG_RUNTIME_DIR="$WARD_TMP/r"
mkdir -m 700 "$XDG_RUNTIME_DIR"
printf '[policy]\nversion = 1\nextends = medium\n' >"$WARD_TMP/gives.policy"
cp "$WARD_TMP/gives.policy" "$WARD_TMP/hides.policy"
printf '[files]\nhide = /workspace/own\nhide = /workspace/beside\n' >>"$WARD_TMP/hides.policy"
mkdir beside
run=
trap 'touch go; wait $run || :' EXIT
n=0
# given STATE CMD...: what a session with the state directory STATE is given by CMD while it runs.
given() {
	state=$1
	n=$((n + 1))
	rm -f made at
	XDG_STATE_HOME=$state "$WARDFS" run --policy "$WARD_TMP/hides.policy" --session "given$n" -- sh -c '
		touch at; while [ ! -e go ]; do sleep 0.1; done
		touch beside/made; ls own/wardfs; touch own/wardfs/made; true' >"$WARD_TMP/out" 2>&1 &
	run=$!
	wait_until 60 test -e at || fail "not started: $(cat "$WARD_TMP/out")"
	shift
	XDG_STATE_HOME=$state "$@"
	touch go
	wait "$run" || fail "ended badly: $(cat "$WARD_TMP/out")"
	[ ! -e own/wardfs/made ] || fail "the session wrote to the state directory"
	! grep -q ledger "$WARD_TMP/out" || fail "the session saw: $(cat "$WARD_TMP/out")"
	rm -f go
}
grants() {
	expect 0 "$WARDFS" grant "given$n" write '/workspace/beside/**' --for 1h
	expect 0 "$WARDFS" grant "given$n" write '/workspace/own/**' --for 1h
	"$WARDFS" grant "given$n" write '/workspace/own/wardfs/**' --for 1h >"$WARD_TMP/said" 2>&1 &&
		fail "granted: $(cat "$WARD_TMP/said")"
	grep -q guard "$WARD_TMP/said" || fail "not for the guard: $(cat "$WARD_TMP/said")"
}
reloads() {
	expect 0 "$WARDFS" policy reload "given$n" "$WARD_TMP/gives.policy"
}
given "$P/own" grants
[ -e beside/made ] || fail "control: a grant gives nothing: $(cat "$WARD_TMP/out")"
rm beside/made
given "$P/own" reloads
[ -e beside/made ] || fail "control: the new policy gives nothing: $(cat "$WARD_TMP/out")"
rm beside/made
mount --bind "$P/own" "$B"
given "$B" grants
[ -e beside/made ] || fail "control: a grant gives nothing: $(cat "$WARD_TMP/out")"
rm beside/made
given "$B" reloads
[ -e beside/made ] || fail "control: the new policy gives nothing: $(cat "$WARD_TMP/out")"
umount "$B"
