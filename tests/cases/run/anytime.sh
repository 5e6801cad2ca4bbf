#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of any of our processes at any moment, also during set-up, leaves no process, mount,
# control group, runtime directory or temporary file. As root and as an ordinary user, also with a
# network.
# shellcheck disable=SC2016
# timeout: 3600
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to become an ordinary user"
kills=6
[ -z "${WARD_LONG-}" ] || kills=300
seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')

cat >kill.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
mkdir -p anytime/p anytime/run anytime/state anytime/tmp
chmod 700 anytime/run
cd anytime/p || exit 1
printf '[policy]\nversion = 1\nextends = medium\n' >../plain.policy
printf '[policy]\nversion = 1\nextends = medium\n[network]\nmode = allowlist\nallow = example.org:443\n' >../net.policy
export XDG_RUNTIME_DIR="$PWD/../run" XDG_STATE_HOME="$PWD/../state" TMPDIR="$PWD/../tmp"
exec python3 "$WARD_SRC/tests/cases/run/lib/anytime.py" "$1" "$2"
S
sh kill.sh "$kills" "$seed" || fail "as root: seed $seed"
as_user "$WARD_TMP/kill.sh" "$kills" "$seed" || fail "as an ordinary user: seed $seed"
