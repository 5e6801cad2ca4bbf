#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An ordinary user's limits where /proc shows no processes of others (hidepid=). wardfs' helpers,
# which nobody may trace, are hidden, too. They are still counted in the session's group.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to become an ordinary user"
cat >session.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/sandbox/lib/limits.sh"
WARD_TMP=$HOME
mkdir -p p
cd p || exit 1
[ "$1" = off ] || ! cat /proc/1/stat >/dev/null 2>&1 || fail "control: $1 hides nothing"
expect 0 limits 'memory = 400M' -- python3 -c "$hog"
[ -z "$ERR" ] || fail "$1: $ERR"
expect 137 limits 'memory = 64M' -- python3 -c "$hog"
has "$ERR" "the memory limit of 64M was met"
# All processes of the helpers are in the group: as many as without hidepid.
limits 'memory = 400M\n[network]\nmode = allowlist' -- sh -c 'touch ready; until [ -e end ]; do sleep 0.05; done' 2>err &
wait_until 120 test -e ready || fail "$1: $(cat err)"
# shellcheck disable=SC2086 # paths without blanks
find $made -path '*/guard/cgroup.procs' -exec cat {} + | sort -u | wc -l >../"$1"
touch end
wait $! || fail "$1: $(cat err)"
rm ready end
[ "$(cat ../off)" -ge 5 ] || fail "control: only $(cat ../off) helpers are in the group"
[ "$(cat ../"$1")" -eq "$(cat ../off)" ] || fail "$1: $(cat ../"$1") helpers are in the group, not $(cat ../off)"
S
chmod 644 session.sh
. "$WARD_SRC/tests/cases/sandbox/lib/delegated.sh"
export made
(
	enter_delegated
	for way in off noaccess invisible ptraceable; do
		unshare --mount --pid --fork --propagation private sh -euc '
			mount -t proc -o "hidepid=$1" proc /proc
			. "$WARD_SRC/tests/lib.sh"
			as_user "$WARD_TMP/session.sh" "$1"' sh $way || fail "$way"
	done
)
