#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Questions at the terminal of the run and of wardfs attach: Ctrl-] opens a panel that only the
# person's own keys reach, and the command's screen comes back. Attacks: keys typed ahead, answers
# of the terminal, a panel that the command draws, keys that it types, a flood, a small window. The
# control is a policy that asks nothing, where the command has the key. Where approvers have to
# sign, the panel says so and takes no other answer than no.
# timeout: 400
set -eu
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
asking_project
echo old >.github/one
for name in two three four; do cp .github/one .github/$name; done
mkdir conf
echo old >conf/x
ln -s ../conf/x .github/link
"$WARDFS" policy add ask /workspace/conf
"$WARDFS" token key ../ann >../ann.pub
{
	cat ../ask.policy
	printf '[approvals]\napprovers = 1\napprover = %s\n' "$(cat ../ann.pub)"
} >../signed.policy
sed /^ask/d ../ask.policy >../quiet.policy
cp "$WARD_SRC/tests/cases/run/lib/approve-panel-program.py" program.py
trap 'for s in quiet full other slow plain signed always blind; do "$WARDFS" kill $s 2>/dev/null || :; done; wait' EXIT
python3 "$WARD_SRC/tests/cases/run/lib/approve-panel.py"
for s in full plain signed always blind; do expect 0 "$WARDFS" audit verify "$s"; done
