#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Questions at the terminal of the run and of wardfs attach: Ctrl-] opens a panel that only the
# person's own keys reach, and the command's screen comes back. Attacks: keys typed ahead, answers
# of the terminal, a panel that the command draws, keys that it types, a flood, a small window. The
# control is a policy that asks nothing, where the command has the key.
# timeout: 400
set -eu
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
asking_project
echo old >.github/one
cp .github/one .github/two
sed /^ask/d ../ask.policy >../quiet.policy
cp "$WARD_SRC/tests/cases/run/lib/approve-panel-program.py" program.py
trap 'for s in quiet full plain; do "$WARDFS" kill $s 2>/dev/null || :; done; wait' EXIT
python3 "$WARD_SRC/tests/cases/run/lib/approve-panel.py"
for s in full plain; do expect 0 "$WARDFS" audit verify "$s"; done
