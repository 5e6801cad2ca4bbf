#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154
# A container for each task (docs/tasks.md): the coordinator runs tasks side by side, each with its
# own tree, policy and session. With --long: 100 of them, 8 at a time.
# timeout: 900
set -eu
. "$WARD_SRC/tests/lib.sh"
command -v runc >/dev/null || skip 'no runc (Debian package runc)'
[ "$(id -u)" -eq 0 ] || skip 'needs root'
count=12
[ -z "${WARD_LONG-}" ] || count=100
mkdir base
echo secret >base/.env
echo readme >base/README
printf '[policy]\nversion = 1\nextends = medium\n[guard]\nread = /workspace\n' >fixed.policy

# Every third may only read; one fails; one tries to leave a mark in its neighbours' trees.
python3 "$WARD_SRC/tests/cases/run/lib/tasks-make.py" "$count" "$PWD" >tasks.json
expect 1 python3 "$WARD_SRC/deploy/tasks/coordinator.py" --at-once 8 --wardfs "$WARDFS" tasks.json results
has "$OUT" "$count tasks, 8 at a time"
has "$OUT" '2 failed: task-3 task-4'
python3 "$WARD_SRC/tests/cases/run/lib/tasks-check.py" "$count" results
expect 1 python3 "$WARD_SRC/deploy/tasks/coordinator.py" --wardfs "$WARDFS" tasks.json results
has "$ERR" 'File exists'
[ ! -e base/mine ] || fail 'a task changed the project'

# The page.
mkdir page
cd page
mkdir app
echo readme >app/README
cat >tasks.json <<TASKS
[{"name": "count", "project": "app", "command": ["wc", "-l", "README"]},
 {"name": "write", "project": "app", "command": ["sh", "-c", "date >result"], "policy": "medium"}]
TASKS
ln -s "$WARD_SRC/deploy/tasks/coordinator.py" coordinator.py
PATH=$WARD_BUILD:$PATH /usr/bin/python3 "$WARD_SRC/tests/support/console.py" "$WARD_SRC/docs/tasks.md" ||
	fail docs/tasks.md
