#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A git directory stays guarded after its HEAD was moved away. Otherwise one session could hide
# it, the next one write its config and restore HEAD, and the host's next git command would run
# the agent's program.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
expect 0 "$WARDFS" run -- sh -c 'mv .git/HEAD .git/HEAD2'
[ ! -e .git/HEAD ] || fail "control: HEAD itself may be moved"
expect 1 "$WARDFS" run -- python3 -c 'open(".git/config", "a").write("[core]\n\tfsmonitor = /tmp/x\n")'
has "$ERR" ".git/config"
expect 1 "$WARDFS" run -- python3 -c 'open(".git/hooks/pre-commit", "w")'
expect 0 "$WARDFS" run -- sh -c 'mv .git/HEAD2 .git/HEAD && git status'
grep -q fsmonitor .git/config && fail "the config was written"
# Control: where there is no repository, git init makes one, config and all.
mkdir ../q
cd ../q || exit 1
expect 0 "$WARDFS" run -- sh -c 'git init -q && git config core.x y'
exit 0
