#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A person starts real agents in a terminal for the first time, as an ordinary user: sign in with
# a key, no other dialog, one task with one refused act, quit, second start. The agents print
# nothing about settings that they could not write. The exit line names the refused act and
# nothing else.
# timeout: 1200
# plain
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
. "$WARD_SRC/tests/agents/lib/agents.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to make an internet"
for agent in codex gemini opencode claude; do
	agent_there "$agent"
done
mkdir -p "$NET/talk"
chmod 777 "$NET/talk"
cat >"$WARD_TMP/main.sh" <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
umask 0
ip netns exec internet python3 "$WARD_SRC/tests/agents/lib/provider.py" "$NET/talk" 203.0.113.10 8090 &
provider=$!
umask 022
trap 'kill $provider || :; wait $provider 2>/dev/null || :' EXIT
wait_until 60 test -e "$NET/talk/ready" || fail "no provider"
as_user "$WARD_SRC/tests/agents/lib/interactive.sh" || fail "as an ordinary user"
S
cat >"$WARD_TMP/top.sh" <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
in_host "$WARD_TMP/main.sh"
S
with_agents "$WARD_TMP/top.sh"
exit
