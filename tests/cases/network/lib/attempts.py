# SPDX-License-Identifier: Apache-2.0
# Part of ../attempts.sh.
# attempts.py MARK: one line for each: its name, what came of it.
import errno, fcntl, os, socket, ssl, struct, subprocess, sys
MARK = sys.argv[1].encode()
LINK = [n for n in ("wan", "eth0", "lo") if os.path.exists("/proc/sys/net/ipv4/conf/" + n)][0]

def stream(address, family=socket.AF_INET, before=None):
    s = socket.socket(family, socket.SOCK_STREAM)
    s.settimeout(60)
    if before:
        s.setsockopt(*before)
    s.connect(address)
    return "connected"

def own_server(family, address):
    s = socket.create_server((address, 0), family=family)
    return stream(s.getsockname()[:2], family)

def six(host, port, *more):
    return stream((host, port) + more, socket.AF_INET6)

def datagram(address, data, *options):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(60)
    for option in options:
        s.setsockopt(*option)
    s.connect(address)
    s.send(data)
    return s.recv(2000)[:4].decode('latin1')

def everybody(address):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF,
                 struct.pack("=4s4sI", b"", b"", socket.if_nametoindex(LINK)))
    s.sendto(MARK, address)
    return "sent"

def icmp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
    s.settimeout(60)
    s.sendto(struct.pack(">BBHHH", 8, 0, 0, 0, 1) + b"wardfs", ("203.0.113.10", 0))
    return "echoed" if s.recv(100).endswith(b"wardfs") else "?"

def fast_open():
    s = socket.socket()
    s.sendto(b"GET / HTTP/1.0\r\n\r\n", socket.MSG_FASTOPEN, ("203.0.113.10", 80))
    s.settimeout(60)
    return s.recv(100)[:12].decode()

def source_route():
    # By the end of the wire to 203.0.113.10 (RFC 791: LSRR, three bytes and the hops).
    hop = "192.0.2.2" if MARK == b"out" else "198.18.0.1"
    option = b"\x83\x0b\x04" + socket.inet_aton(hop) + socket.inet_aton("203.0.113.10") + b"\0"
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, option)
    s.settimeout(60)
    s.connect(("203.0.113.10", 3000))
    return "connected" if s.recv(100) else "?"

def unix(path):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    return s.recv(10).decode()

def web(sent):
    s = socket.create_connection(("web.example", 80))
    s.settimeout(60)
    s.sendall(sent)
    return s.recv(12).decode()

def hello(name):
    """A TLS client's first words for this name, and the rest of it."""
    context = ssl.create_default_context(cafile="ca.crt")
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(into, out, server_hostname=name)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return tls, into, out, out.read()

def tls(name, change=lambda first: [first]):
    t, into, out, first = hello(name)
    s = socket.create_connection(("web.example", 443))
    s.settimeout(60)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for piece in change(first):
        s.sendall(piece)
    while True:
        try:
            t.do_handshake()
            return "shaken"
        except ssl.SSLWantReadError:
            s.sendall(out.read())
            got = s.recv(65536)
            if not got:
                return "closed"
            into.write(got)

def bytewise(first):
    return [first[i:i + 1] for i in range(len(first))]

def records(first):
    """The same message in records of 50 bytes (RFC 8446, 5.1)."""
    body = first[5:]
    return [b"".join(first[:3] + struct.pack(">H", len(body[i:i + 50])) + body[i:i + 50]
                     for i in range(0, len(body), 50))]

def two_names(first):
    """A list of two names of one type, which RFC 6066 forbids: the allowed one, and another."""
    names = [b"web.example", b"other.example"]
    old = first.index(b"\0\0", first.index(b"web.example") - 9)
    entry = b"".join(b"\0" + struct.pack(">H", len(n)) + n for n in names)
    extension = b"\0\0" + struct.pack(">HH", len(entry) + 2, len(entry)) + entry
    length = struct.unpack(">H", first[old + 2:old + 4])[0]
    grown = len(extension) - 4 - length
    def more(at, size, data):
        return data[:at] + (int.from_bytes(data[at:at + size], "big") + grown).to_bytes(size, "big") + data[at + size:]
    at = 9 + 34
    at += 1 + first[at]
    at += 2 + struct.unpack(">H", first[at:at + 2])[0]
    at += 1 + first[at]
    new = first[:old] + extension + first[old + 4 + length:]
    return [more(at, 2, more(6, 3, more(3, 2, new)))]

def kind(family, type, protocol=0):
    socket.socket(family, type, protocol)
    return "made"

def crypto():
    s = socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)
    s.bind(("hash", "sha256"))
    return "made"

def tun():
    """An interface of one's own, whose packets one reads and writes."""
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, 0x400454ca, struct.pack("16sH22x", b"wtun%d", 0x1001))  # TUNSETIFF: IFF_TUN
    return "made"

def netlink(what, *argv):
    """By rtnetlink, as ip(8) does it; undone where it worked."""
    got = run("ip", *what, "add", *argv)
    if got == "done":
        run("ip", *what, "del", *argv)
    return got

def run(*argv):
    got = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return "done" if got.returncode == 0 else "failed"

A = "203.0.113.10"
QUIC = b"\xc3\0\0\0\1\x08" + b"c" * 8 + b"\0\0\x44\x9e" + b"x" * 1180
ATTEMPTS = {
    "address": lambda: stream((A, 80)),
    "mapped": lambda: six("::ffff:" + A, 80),
    "nat64": lambda: six("64:ff9b::cb00:710a", 80),
    "6to4": lambda: six("2002:cb00:710a::1", 80),
    "zone": lambda: six("fe80::53", 80, 0, socket.if_nametoindex(LINK)),
    "metadata": lambda: stream(("169.254.169.254", 80)),
    "metadata6": lambda: six("fd00:ec2::254", 80),
    "any": lambda: stream(("0.0.0.0", 4000)),
    "any6": lambda: six("::", 4000),
    "loopback6": lambda: six("::1", 4000),
    "own": lambda: stream(("192.0.2.1", 4000)),
    # What is bound to lo goes nowhere, and is not told so.
    "bound": lambda: "-" if LINK == "lo" else stream((A, 80), before=(socket.SOL_SOCKET, 25, LINK.encode())),
    "fast-open": fast_open,
    "source-route": source_route,
    "quic": lambda: datagram((A, 443), QUIC),
    "udp-dns": lambda: "answered" if datagram(("203.0.113.53", 53), b"\0\7\1\0\0\1" + bytes(6) + b"\3web\7example\0\0\1\0\1") is not None else "",
    "icmp": icmp,
    "mdns": lambda: everybody(("224.0.0.251", 5353)),
    "llmnr": lambda: everybody(("224.0.0.252", 5355)),
    "ssdp": lambda: everybody(("239.255.255.250", 1900)),
    "broadcast": lambda: everybody(("255.255.255.255", 9999)),
    "socket-in-tree": lambda: unix("led.sock"),
    "self": lambda: own_server(socket.AF_INET, "127.0.0.1"),
    "self6": lambda: own_server(socket.AF_INET6, "::1"),
    "packet": lambda: kind(socket.AF_PACKET, socket.SOCK_RAW, 0x300),
    "raw": lambda: kind(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    "raw6": lambda: kind(socket.AF_INET6, socket.SOCK_RAW, 255),
    "vsock": lambda: kind(socket.AF_VSOCK, socket.SOCK_STREAM),
    "alg": crypto,
    "netfilter": lambda: kind(socket.AF_NETLINK, socket.SOCK_RAW, 12),
    "xfrm": lambda: kind(socket.AF_NETLINK, socket.SOCK_RAW, 6),
    "tun": tun,
    "route-add": lambda: netlink(["route"], "198.51.100.0/24", "dev", LINK),
    "route6-add": lambda: netlink(["-6", "route"], "2001:db8:51::/64", "dev", LINK),
    "address-add": lambda: netlink(["addr"], "198.51.100.1/32", "dev", LINK),
    "neighbour": lambda: netlink(["neigh"], "198.51.100.2", "lladdr", "02:00:00:00:00:09", "dev", LINK),
    "rule-add": lambda: netlink(["rule"], "from", "198.51.100.9", "lookup", "local"),
    "link-add": lambda: netlink(["link"], "name", "wdummy", "type", "veth"),
    "namespace": lambda: run("unshare", "-Urn", "ip", "link", "set", "lo", "up"),
    "route": lambda: run("unshare", "-Urn", "sh", "-c", "ip link set lo up && ip route add 203.0.113.0/24 dev lo"),
    "http2": lambda: web(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"),
    "http-url": lambda: web(b"GET http://other.example/ HTTP/1.1\r\nHost: web.example\r\n\r\n"),
    "http-folded": lambda: web(b"GET / HTTP/1.1\r\nHost: web.example\r\nX: y\r\n Host: other.example\r\n\r\n"),
    "http-twice": lambda: web(b"GET / HTTP/1.1\r\nHost: web.example\r\nHost: other.example\r\n\r\n"),
    "tls-none": lambda: tls(None),
    "tls-other": lambda: tls("other.example"),
    "tls-bytewise": lambda: tls("other.example", bytewise),
    "tls-records": lambda: tls("other.example", records),
    "tls-two": lambda: tls("web.example", two_names),
    # The same where the name is the right one: not refused inside either.
    "good-upper": lambda: tls("WEB.eXample"),
    "good-bytewise": lambda: tls("web.example", bytewise),
    "good-records": lambda: tls("web.example", records),
}
for name, attempt in ATTEMPTS.items():
    try:
        said = attempt()
    except ssl.SSLError as e:
        said = "TLS " + str(e.reason)
    except socket.gaierror:
        said = "no-name"
    except TimeoutError:
        said = "TIMEOUT"
    except OSError as e:
        said = errno.errorcode.get(e.errno, str(e))
    print(name, said, flush=True)
