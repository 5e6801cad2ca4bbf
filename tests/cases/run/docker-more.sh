#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mode docker with runc: the rest of a session works in a container too. Denials, top, attach,
# limits of memory and idle time, labels, an engine by path, the broker.
# plain
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip 'needs root'
command -v runc >/dev/null || skip 'no runc (Debian package runc)'
work=$WARD_TMP/work
project "$work"
cd "$work"
echo secret >.env
trap '"$WARDFS" kill held >/dev/null 2>&1 || :' EXIT

# Denials: told at the end, counted by top, found in the trail.
expect 1 "$WARDFS" run --engine runc --session held --keep --label team=blue -- cat .env
expect 1 "$WARDFS" exec held mkdir .vscode
refusals() { [ "$("$WARDFS" top --json held | python3 -c '
import json, sys
(o,) = json.load(sys.stdin)
print(o["refused"], o["last_refused"][0]["path"])')" = '1 /workspace/.vscode' ]; }
wait_until 60 refusals || fail "top: $("$WARDFS" top --json held)"
expect 1 "$WARDFS" exec held cat .env
expect 0 "$WARDFS" exec held cat /proc/self/status
has "$OUT" 'Seccomp_filters:	3'
# A session without a terminal has none to attach to, and says so.
expect 2 "$WARDFS" attach held
has "$ERR" 'needs a terminal'
expect 0 "$WARDFS" kill held
expect 0 "$WARDFS" audit denials held
has "$OUT" .vscode
# Labels are the session's in the trail.
expect 0 "$WARDFS" audit show held --json
has "$OUT" '"team":"blue"'
has "$OUT" '"engine":"runc"'

# attach: somebody else sees what the command in the container writes, and types to it.
export PYTHONPATH="$WARD_SRC/tests/cases/run/lib"
python3 "$WARD_SRC/tests/cases/run/lib/docker-more-attach.py" || exit 1

# Memory: what goes over the limit is killed. Control: what stays below it is not.
limited() { # limited LINE CMD...
	printf '[policy]\nversion = 1\nextends = medium\n[limits]\n%s\n' "$1" >"$WARD_TMP/p.policy"
	shift
	"$WARDFS" run -p "$WARD_TMP/p.policy" --engine runc --session limited -- "$@"
}
eat='b = bytearray(int(__import__("sys").argv[1]) << 20)
for i in range(0, len(b), 4096): b[i] = 1'
if limited 'memory = 512M' true; then
	expect 0 limited 'memory = 128M' python3 -c "$eat" 16
	expect 137 limited 'memory = 128M' python3 -c "$eat" 400
else
	echo 'no control group for memory on this host: not tried'
fi
# Idle: ends who does nothing. Control: who writes goes on for longer than that.
expect 124 limited 'idle = 2s' sleep 600
expect 0 limited 'idle = 30s' sh -c 'for i in 1 2 3; do echo "$i"; sleep 1; done'

# An engine by its path; and none that others can change.
expect 0 "$WARDFS" run --engine "$(command -v runc)" --session by-path -- true
"$WARDFS" audit show by-path --json | grep -q '"engine":"runc"' || fail 'no engine in the trail'
mkdir "$WARD_TMP/bin"
cp "$(command -v runc)" "$WARD_TMP/bin/runc"
chmod 777 "$WARD_TMP/bin"
expect 125 "$WARDFS" run --engine "$WARD_TMP/bin/runc" -- true
has "$ERR" 'others than its owner can change'

# Network: the container is in the session's namespace, behind wardfs-net.
cat >"$WARD_TMP/net.sh" <<'END'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
policy p.policy 'mode = allowlist' 'allow = web.example:80'
expect 0 "$WARDFS" run -p p.policy --engine runc --session net -- python3 n.py tcp web.example 80
expect 0 "$WARDFS" run -p p.policy --engine runc -- sh -c '. ./says.sh
unset http_proxy https_proxy all_proxy no_proxy
says "hello from web.example" fetch http://web.example/
says NONAME python3 n.py tcp other.example 80
says ECONNREFUSED python3 n.py tcp 203.0.113.10 443
says ECONNREFUSED python3 n.py tcp 192.0.2.1 80'
# Control: on the host all of these answer.
python3 n.py tcp other.example 80
END
in_host "$WARD_TMP/net.sh"
