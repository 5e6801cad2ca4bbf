#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# As root and as an ordinary user, what must not wait for ever: servers that do not answer, hellos and
# heads that never end, connections on which nothing moves. None of them takes a look at a clock: each waits
# for its end, which without these keys comes after minutes, or an hour.
. "$WARD_SRC/tests/cases/lib.sh"
. "$WARD_SRC/tests/cases/network/lib.sh"
[ "$(id -u)" -eq 0 ] || { echo "needs root"; exit 77; }

cat >times.py <<'S'
import errno, re, socket, sys, threading
broker = re.search(r"nameserver (\S+)", open("/etc/resolv.conf").read()).group(1)
said = {}
def ends(what, host, port, data=b"", hear=b""):
    try:
        s = socket.create_connection((host, port))
        s.settimeout(100)
        s.sendall(data)
        got = b""
        while not got.endswith(hear):
            got += s.recv(1000) or sys.exit(f"{what}: {got}")
        said[what] = "closed" if not s.recv(100) else "answered"
    except OSError as e:
        said[what] = errno.errorcode.get(e.errno, str(e))
def talks(what):
    # Longer than anything may rest, and never resting as long: by far, whatever else the machine has to do.
    s = socket.create_connection(("echo.example", 3000))
    s.settimeout(100)
    s.recv(100)
    done = threading.Event()
    for _ in range(32):
        s.sendall(b"x")
        s.recv(1)
        done.wait(0.5)
    said[what] = "went on"
def datagrams(what):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(100)
    s.connect((socket.gethostbyname("echo.example"), 5000))
    got = []
    for pause in 24, 0:
        s.send(b"x")
        got.append(s.recv(100))
        threading.Event().wait(pause)
    said[what] = "twice" if got == [b"udp:x"] * 2 else str(got)
jobs = [
    (ends, "connect", "slow.example", 3000, b"x"),
    (ends, "hello", "web.example", 443, b"\x16\x03\x01\x02\x00\x01\x00"),
    (ends, "head", "web.example", 80, b"GET / HTTP/1.1\r\nHost: web.ex"),
    (ends, "second head", "web.example", 80, b"GET / HTTP/1.1\r\nHost: web.example\r\n\r\nGET / HT", b"example\n"),
    (ends, "proxy", broker, 3128, b"CONNECT web.exam"),
    (ends, "socks", broker, 3128, b"\x05\x01\x00\x05\x01", b"\x05\x00"),
    (ends, "dns", broker, 53, b"\0\x20half"),
    (ends, "idle", "echo.example", 3000, b"", b"FIRST\n"),
    (ends, "idle tunnel", broker, 3128, b"CONNECT echo.example:3000 HTTP/1.1\r\n\r\n", b"FIRST\n"),
    (ends, "forwarded", "127.0.0.1", 11434, b"x", b"x"),
    (talks, "busy"), (datagrams, "datagrams")]
threads = [threading.Thread(target=j[0], args=j[1:]) for j in jobs]
for t in threads:
    t.start()
for t in threads:
    t.join()
for j in jobs:
    print(j[1] + ":", said.get(j[1]))
S
cat >check.sh <<'S'
. "$WARD_SRC/tests/cases/lib.sh"
. "$WARD_SRC/tests/cases/network/lib.sh"
net_project
cp "$TOP/times.py" .
# Takes packets and answers none.
echo 'slow.example 203.0.113.99' >>"$NET/zone"
python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 11434))
open("listening", "w").close()
c = s.accept()[0]
c.send(c.recv(1))
print("ended", c.recv(1))' >forwarded 2>&1 &
server=$!
trap 'kill $server 2>/dev/null' EXIT
wait_until 60 test -e listening || fail "no server: $(cat forwarded)"
policy pol 'mode = allowlist' 'allow = slow.example:3000' 'allow = web.example' 'allow = echo.example:3000' \
	'allow = echo.example:5000/udp' 'forward = 11434' 'connect-time = 5s' 'handshake-time = 5s' 'idle = 12s'
expect 0 "$WARDFS" run --session times --policy pol -- python3 times.py
[ "$OUT" = 'connect: ECONNRESET
hello: ECONNRESET
head: ECONNRESET
second head: ECONNRESET
proxy: closed
socks: closed
dns: closed
idle: ECONNRESET
idle tunnel: ECONNRESET
forwarded: closed
busy: went on
datagrams: twice' ] || fail "ends: $OUT $ERR"
wait "$server"
[ "$(cat forwarded)" = "ended b''" ] || fail "the server of a forwarded port: $(cat forwarded)"
expect 0 "$WARDFS" audit show times
has "$OUT" 'host slow.example  addr 203.0.113.99  proto tcp  port 3000  no connection could be made'
# Twice over port 80, once over 443.
[ "$(echo "$OUT" | grep -c 'deny .*\[network\] handshake-time.*host web.example')" -eq 3 ] || fail "held: $OUT"
[ "$(echo "$OUT" | grep -c 'host echo.example .*nothing moved for as long as')" -eq 2 ] || fail "idle: $OUT"
# The second datagram is another flow: the first one had ended.
[ "$(echo "$OUT" | grep -c 'host echo.example .*proto udp .*sent 1 .*received 5')" -eq 2 ] || fail "flows: $OUT"
expect 0 "$WARDFS" audit verify times
exit 0
S
in_host_both "$WARD_TMP/check.sh"
