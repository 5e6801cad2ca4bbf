# SPDX-License-Identifier: Apache-2.0
# Part of ../times.sh.
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
    # Longer than anything may rest, and never resting as long: by far, whatever else the machine
    # has to do.
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
