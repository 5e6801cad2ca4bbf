#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unread data in a session's netlink sockets counts against [limits] memory. wardfs ends the
# session, and the end record has the figure. The controls: programs that ask for interfaces and
# read the answers, and programs that keep little.
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to make a control group"
project p
cd p || exit 1
cp "$WARD_SRC/tests/cases/sandbox/lib/netlink-keep.py" keep.py
printf '[policy]\nversion = 1\nextends = medium\n[home]\nmode = tmpfs\n[limits]\nmemory = 200M\n' >../m.policy
cat >ask.py <<'P'
import socket
for _ in range(2000):
    socket.if_nameindex()
    socket.getaddrinfo("localhost", 80)
print("asked")
P
expect 0 "$WARDFS" run --policy ../m.policy -- python3 ask.py
has "$OUT" "asked"
# more than WAIT_MIN_NS, so that it is looked at while it keeps them
expect 0 "$WARDFS" run --policy ../m.policy -- python3 keep.py 2 4 600 0.5
[ "$(echo "$OUT" | tail -n 1)" -ge 1 ] || fail "control: nothing was kept: $OUT"

expect 124 "$WARDFS" run --session nl --policy ../m.policy -- python3 keep.py 3 100 600 60
has "$ERR" "memory limit of 200M was met: netlink sockets kept"
"$WARDFS" audit show --no-index --json --kind session.end nl >end
python3 - end <<'P'
import json, sys
use = json.loads(open(sys.argv[1]).readlines()[-1])["detail"]["use"]
sys.exit(0 if use["memory_peak"] > 50 << 20 else f"memory_peak: {use}")
P
has "$("$WARDFS" audit show --no-index --json --kind limit nl)" '"ended"'
