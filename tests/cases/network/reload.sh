#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# wardfs policy reload: what is allowed changes while the session runs; a connection that lost its
# right is closed, the others stay.
. "$WARD_SRC/tests/cases/lib.sh"
. "$WARD_SRC/tests/cases/network/lib.sh"
[ "$(id -u)" -eq 0 ] || { echo "needs root"; exit 77; }

cat >check.sh <<'S'
. "$WARD_SRC/tests/cases/lib.sh"
. "$WARD_SRC/tests/cases/network/lib.sh"
net_project
cat >two.py <<'P'
import os, socket, time
def wait(name):
    for i in range(1200):
        if os.path.exists(name):
            return
        time.sleep(0.05)
    raise SystemExit("no " + name)
def alive(s):
    try:
        s.sendall(b"ping")
        return bool(s.recv(100))
    except OSError:
        return False
def connect(name):
    try:
        s = socket.create_connection((name, 3000)); s.settimeout(60); s.recv(100)
        return s
    except OSError:
        return None
a, b = connect("echo.example"), connect("a.wild.example")
print(alive(a), alive(b), connect("web.example"))
open("first", "w").close()
wait("second")
print(alive(a), alive(b), connect("a.wild.example"), connect("web.example") is not None)
P
policy "$HOME/pol" 'mode = allowlist' 'allow = echo.example:3000' 'allow = *.wild.example:3000'
"$WARDFS" run --policy "$HOME/pol" --session live -- python3 two.py >out 2>err &
run=$!
trap 'kill $run 2>/dev/null' EXIT
wait_until 60 test -e first || fail "not begun: $(cat out err)"
policy "$HOME/pol" 'mode = allowlist' 'allow = echo.example:3000' 'allow = web.example:3000'
expect 0 "$WARDFS" policy reload live "$HOME/pol"
touch second
wait "$run" || fail "$(cat out err)"
run=
[ "$(cat out)" = "True True None
True False None True" ] || fail "$(cat out err)"
"$WARDFS" audit show live --kind deny | grep -q 'host a.wild.example .*another policy' || fail "not recorded"
expect 0 "$WARDFS" audit verify live
exit 0
S
in_host "$WARD_TMP/check.sh"
