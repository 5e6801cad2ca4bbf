#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A terminal or pipe takes output and is not read any more (a hung connection, Ctrl-S). The clock
# still ends the session and its background processes.
set -eu
. "$WARD_SRC/tests/lib.sh"
mkdir sessions
cd sessions || exit 1
# Long enough for a session to begin its work on a machine with much else to do; all of them at
# once.
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nwall = 30s\ngrace = 1s\n' >wall.policy
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nwall = 30s\ngrace = 1s\nidle = 10m\n' >idle.policy
cp "$WARD_SRC/tests/cases/run/lib/stalled.py" stalled.py
exec /usr/bin/python3 stalled.py
