#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A command that stops and continues itself all the time keeps nobody from ending its session: not
# wardfs kill, no signal and no clock; not at a terminal, and not with a status descriptor that
# nobody reads. The control is the same without either.
# timeout: 300
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
cp "$WARD_SRC/tests/cases/run/lib/stopped-often-work.py" work.py
printf '[policy]\nversion = 1\nextends = medium\n[limits]\ngrace = 1s\n' >../long.policy
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nwall = 5s\ngrace = 1s\n' >../wall.policy
for how in plain unread terminal; do
	for end in kill term wall; do
		echo "--- $how, ended by $end"
		python3 "$WARD_SRC/tests/cases/run/lib/stopped-often.py" $how $end || exit 1
	done
done
