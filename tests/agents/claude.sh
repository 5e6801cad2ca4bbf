#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Claude Code from the npm registry starts under its profile, as root and as an ordinary user. The
# name of the program chooses the profile, the agent's state is kept, and its guards refuse
# writes. The other agents work a whole day against a scripted provider. This one is not open
# source, so the test goes no further than its start.
# timeout: 1200
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to become an ordinary user"
. "$WARD_SRC/tests/agents/lib/agents.sh"
agent_there claude
cat >start.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
. "$WARD_SRC/tests/agents/lib/agents.sh"
umask 022
WARD_TMP=$HOME
PATH=$(agent_path claude)
project "$HOME/p"
cd "$HOME/p" || exit 1
echo TOKEN=s3cret >.env
mkdir "$HOME/outside"
version=$(HOME=$HOME/outside claude --version) || fail "control: it does not start outside"
expect 0 "$WARDFS" run --session start -- claude --version
[ "$OUT" = "$version" ] || fail "it says $OUT, outside $version"
has "$ERR" "using the profile claude, by the name of the program"
hasnt "$ERR" refused
state=$HOME/.local/share/wardfs/agents/claude
# It asks for nothing that needs the network, and keeps what it writes where the profile says.
expect 0 "$WARDFS" run --session mcp -- claude mcp list
[ -n "$(ls -A "$state")" ] || fail "nothing is kept"
[ ! -e "$HOME/.claude" ] && [ ! -e "$HOME/.claude.json" ] || fail "it was in the home"
# What instructs it is not its own to change; the control is beside it.
expect 2 "$WARDFS" run --policy claude -- sh -c 'echo x >/var/agent/claude/note && echo x >/var/agent/claude/CLAUDE.md'
[ "$(cat "$state/note")" = x ] && [ ! -e "$state/CLAUDE.md" ] || fail "instructions: $(ls -A "$state")"
expect 1 "$WARDFS" run --policy claude -- cat .env
has "$ERR" "had looked for /workspace/.env, which exists, but is hidden as a secret"
expect 0 "$WARDFS" audit verify start
exit 0
S
cat >both.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
mkdir roots
(HOME=$WARD_TMP/roots; export HOME; sh "$WARD_TMP/start.sh") || fail "as root"
as_user "$WARD_TMP/start.sh" || fail "as an ordinary user"
S
with_agents "$WARD_TMP/both.sh"
exit
