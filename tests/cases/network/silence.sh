#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plain
# shellcheck disable=SC2016
# As root and as an ordinary user, a server that answers after a long silence: the kernel asks
# meanwhile whether the other end of the wire is still there (some eight seconds, neigh/default/delay_first_probe_time and three questions).
. "$WARD_SRC/tests/cases/lib.sh"
. "$WARD_SRC/tests/cases/network/lib.sh"
[ "$(id -u)" -eq 0 ] || { echo "needs root"; exit 77; }

cat >late.py <<'S'
import socket, threading, time
def answer(c):
    c.recv(10)
    time.sleep(12)
    c.sendall(b"late")
    c.close()
s = socket.create_server(("203.0.113.10", 80 + 2000))
while True:
    threading.Thread(target=answer, args=(s.accept()[0],), daemon=True).start()
S
cat >ask.py <<'S'
import socket, threading
def ask(family, said):
    address = socket.getaddrinfo("web.example", 2080, family, socket.SOCK_STREAM)[0][4]
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(60)
        s.connect(address)
        s.sendall(b"?")
        try:
            said[family] = s.recv(10).decode()
        except OSError as e:
            said[family] = str(e)
families, said = (socket.AF_INET, socket.AF_INET6), {}
threads = [threading.Thread(target=ask, args=(f, said)) for f in families]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(*[said.get(f) for f in families])
S
cat >servers.sh <<'S'
ip netns exec internet python3 "$TOP/late.py" &
late=$!
trap 'kill $late' EXIT
S
cat >check.sh <<'S'
. "$WARD_SRC/tests/cases/lib.sh"
. "$WARD_SRC/tests/cases/network/lib.sh"
net_project
cp "$TOP/ask.py" .
wait_until 60 python3 n.py tcp 203.0.113.10 2080 || fail "control: no server"
policy pol 'mode = allowlist' 'allow = web.example:2080'
expect 0 "$WARDFS" run --policy pol -- python3 ask.py
[ "$OUT" = 'late late' ] || fail "after a silence, by IPv4 and IPv6: $OUT"
exit 0
S
in_host_both "$WARD_TMP/check.sh"
