#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Limits where systemd has the controllers in version 1 of the control groups: with version 2 beside
# it (hybrid), or without. Root's limits are enforced. systemd delegates no controllers to ordinary
# users there, by the user's manager or its own. Such a user is told so.
# boot: hybrid
# boot: v1
# serial
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/machine/lib/machine.sh"
layout=v1
if [ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ]; then
	layout=v2
elif mountpoint -q /sys/fs/cgroup/unified; then
	layout=hybrid
fi
case $(cat /proc/cmdline) in
*legacy_systemd_cgroup_controller=1*) [ $layout = v1 ] ;;
*unified_cgroup_hierarchy=0*) [ $layout = hybrid ] ;;
*) false ;;
esac || fail "the machine has $layout"
manager
home "$WARD_TMP/user"

# All limits, each with its control.
cat >"$WARD_TMP/held.sh" <<'S'
set -eu
. "$WARD_SRC/tests/cases/sandbox/lib/limits.sh"
before=$(cat /proc/self/cgroup)
mkdir -p p
cd p || exit 1
expect 0 limits 'memory = 400M\ncpus = 0.5\ncpu-time = 10m\nprocesses = 50' -- python3 -c "$hog"
expect 137 limits 'memory = 64M' -- python3 -c "$hog"
has "$ERR" "the memory limit of 64M was met"
expect 124 limits 'cpu-time = 1s' -- python3 -c 'while True: pass'
expect 0 limits 'memory = 64M' -- cat /proc/self/cgroup
hasnt "$OUT" wardfs
[ "$(cat /proc/self/cgroup)" = "$before" ] || fail "moved from $before to $(cat /proc/self/cgroup)"
S
# What an ordinary user without a delegated group gets: an answer.
cat >"$WARD_TMP/told.sh" <<'S'
set -eu
. "$WARD_SRC/tests/cases/sandbox/lib/limits.sh"
mkdir -p p
cd p || exit 1
expect 125 limits 'memory = 64M' -- touch started
has "$ERR" "[limits] memory = 64M"
has "$ERR" "fix: "
has "$ERR" "--allow-missing limit-memory"
[ ! -e started ] || fail "it ran without its limit"
expect 0 limits 'memory = 400M\nrequire = where-available' -- python3 -c "$hog"
expect 1 limits 'memory = 64M\nrequire = where-available' -- python3 -c "$hog"
has "$ERR" MemoryError
S

(cd "$WARD_TMP" && sh ./held.sh) || fail "$layout: root"
echo "$layout: root"

# by SCRIPT SYSTEMD-RUN...: runs that script in a transient service whose group is delegated; the
# shell is directly in that group
by() {
	script=$1
	shift
	"$@" --quiet --wait --pipe --collect -p Delegate=yes -p "WorkingDirectory=$WARD_TMP/user" \
		--setenv=WARD_SRC="$WARD_SRC" --setenv=WARD_BUILD="$WARD_BUILD" \
		--setenv=WARD_TMP="$WARD_TMP/user" --setenv=HOME="$WARD_TMP/user" sh "$WARD_TMP/$script.sh"
}

by_users_manager() {
	by "$1" setpriv --reuid=1000 --regid=1000 --clear-groups env XDG_RUNTIME_DIR=/run/user/1000 \
		systemd-run --user
}

owner "$WARD_TMP/user" 'sh "$1"' "$WARD_TMP/told.sh" || fail "$layout: the user, without delegation"
by_users_manager told || fail "$layout: the user's manager has no controllers to give"
by told systemd-run --uid=1000 || fail "$layout: the system's manager delegates no controllers"
echo "$layout: the user"
loginctl disable-linger $OWNER
