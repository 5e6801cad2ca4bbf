#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds sni = require against real servers: servers.py INSPECT DIR COUNT [SEED]

Each server has the hosts a.test, others, and one for requests and hellos without a name. Requests and
hellos are made up by chance, from parts that servers differ in. What INSPECT (tests/support/inspect.c)
lets pass on the way to a.test goes to the server; an answer for anybody but a.test is a hole. What it
refuses goes there as well: how many of these the server answers for somebody else shows that the parts
are worth something. DIR is for configurations and logs. Servers that are missing are named. In a network
namespace of its own: the ports are fixed.
"""
import http.server
import os
import random
import re
import shutil
import socket
import socketserver
import ssl
import subprocess
import sys
import threading
import time

import hellos

INSPECT, DIR, COUNT = (*map(os.path.abspath, sys.argv[1:3]), int(sys.argv[3]))
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else random.SystemRandom().randrange(1 << 32)
HERE = os.path.dirname(os.path.abspath(__file__))
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
QUIET = 0.1  # seconds without a byte: the answer is over (a hole may be missed, none is made up)
LONGEST = 2.0
STARTED = []


def place(name):
    return os.path.join(DIR, name)


def put(name, text):
    with open(place(name), "w") as f:
        f.write(text)
    return place(name)


# ---- the servers

class Lax(http.server.BaseHTTPRequestHandler):
    """Python's own server with any method; it does not read bodies, as many handlers do not."""
    protocol_version = "HTTP/1.1"
    timeout = 5

    def answer(self):
        text = f"vhost={self.headers.get('Host')};\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.answer
        raise AttributeError(name)

    def log_message(self, *args):
        pass


class Tcp(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 100

    def handle_error(self, request, client_address):
        pass


class Shake(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.settimeout(2)
        CONTEXT.wrap_socket(self.request, server_side=True)


def python():
    global CONTEXT
    CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    CONTEXT.minimum_version = ssl.TLSVersion.TLSv1_2
    CONTEXT.load_cert_chain(place("default.test.crt"), place("default.test.key"))
    # Whoever asks for a.test is refused: a ServerHello is one for somebody else.
    CONTEXT.sni_callback = lambda sock, name, ctx: (
        ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME if (name or "").lower() == "a.test" else None)
    for port, handler in (8001, Lax), (8401, Shake):
        threading.Thread(target=Tcp(("127.0.0.1", port), handler).serve_forever, daemon=True).start()


def start(name, *argv, stdin=subprocess.DEVNULL):
    with open(place(name + ".log"), "w") as log:
        STARTED.append(subprocess.Popen(argv, stdin=stdin, stdout=log, stderr=log, cwd=DIR,
                                        env={"PATH": PATH, "HOME": DIR}))


def openssl():
    # It ends with its input.
    start("openssl", "openssl", "s_server", "-accept", "127.0.0.1:8402", "-quiet", "-key", place("default.test.key"),
          "-cert", place("default.test.crt"), "-servername", "a.test", "-cert2", place("a.test.crt"),
          "-key2", place("a.test.key"), stdin=subprocess.PIPE)


def gnutls():
    names = "default.test", "a.test", "b.test"
    start("gnutls", "gnutls-serv", "--port=8403", "--http", "--quiet",
          *(f"--x509keyfile={place(n)}.key" for n in names), *(f"--x509certfile={place(n)}.crt" for n in names))


def node():
    put("node.js", """
const fs = require('fs'), http = require('http'), tls = require('tls');
const read = (n) => ({key: fs.readFileSync(n + '.key'), cert: fs.readFileSync(n + '.crt')});
http.createServer((q, r) => r.end('vhost=' + q.headers.host + ';\\n')).listen(8004, '127.0.0.1');
const s = tls.createServer(read('default.test'), (c) => { c.on('error', () => {}); c.end(); });
s.addContext('a.test', read('a.test'));
s.addContext('b.test', read('b.test'));
s.on('tlsClientError', () => {});
s.listen(8404, '127.0.0.1');
""")
    start("node", "node", place("node.js"))


def nginx():
    hosts = "".join(f"""
    server {{
        listen 127.0.0.1:8005{how}; listen 127.0.0.1:8405 ssl{how}; server_name {n};
        ssl_certificate {n}.crt; ssl_certificate_key {n}.key;
        location / {{ return 200 "vhost={n};"; }}
    }}""" for n, how in (("default.test", " default_server"), ("a.test", ""), ("b.test", "")))
    temps = "".join(f"{k}_temp_path {place('tmp')}; " for k in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    conf = put("nginx.conf", f"""
daemon off; master_process off; pid {place('nginx.pid')}; error_log {place('nginx.err')};
events {{ worker_connections 500; }}
http {{ access_log off; {temps} {hosts} }}
""")
    start("nginx", "nginx", "-c", conf, "-p", DIR, "-e", place("nginx.err"))


def apache():
    hosts = "".join(f"""
<VirtualHost 127.0.0.1:{port}>
ServerName {n}
{f'SSLEngine on' + chr(10) + f'SSLCertificateFile {place(n)}.crt' + chr(10) + f'SSLCertificateKeyFile {place(n)}.key' if port == 8406 else ''}
{chr(10).join(f'ErrorDocument {code} "vhost={n};"' for code in (403, 404, 405, 501))}
</VirtualHost>""" for n in ("default.test", "a.test", "b.test") for port in (8006, 8406))
    os.makedirs(place("empty"), exist_ok=True)
    conf = put("apache.conf", f"""
ServerRoot {DIR}
ServerName default.test
DefaultRuntimeDir {DIR}
Mutex fcntl
PidFile {place('apache.pid')}
ErrorLog {place('apache.err')}
Listen 127.0.0.1:8006
Listen 127.0.0.1:8406
DocumentRoot {place('empty')}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule ssl_module /usr/lib/apache2/modules/mod_ssl.so
SSLSessionCache none
{hosts}
""")
    start("apache", "apache2", "-X", "-f", conf)


def java():
    subprocess.run(["openssl", "pkcs12", "-export", "-in", place("default.test.crt"), "-inkey",
                    place("default.test.key"), "-out", place("keys.p12"), "-passout", "pass:secret"], check=True)
    start("java", "java", "-Xmx128m", "-Djdk.tls.namedGroups=x25519,secp256r1",
          os.path.join(HERE, "Servers.java"), "8007", "8407", place("keys.p12"))


# name, what it takes to start it, how, the ports of HTTP and TLS (0: none)
SERVERS = [
    ("python", "python3", python, 8001, 8401),
    ("openssl", "openssl", openssl, 0, 8402),
    ("gnutls", "gnutls-serv", gnutls, 0, 8403),
    ("node", "node", node, 8004, 8404),
    ("nginx", "nginx", nginx, 8005, 8405),
    ("apache", "apache2", apache, 8006, 8406),
    ("java", "javac", java, 8007, 8407),
]
# These do not tell by their certificate.
REFUSE_A = 8401, 8407


# ---- what is sent

BLANKS = [b" ", b"\t", b"\x0b", b"\x0c", b"\r", b"\x1c", b"\x1f", b"\x85", b"\xa0", b"  ", b" \t"]
METHODS = [b"GET", b"POST", b"HEAD", b"OPTIONS", b"get", b"X" * 26, b"M-SEARCH", b"SOURCE", b"X" * 300, b"X" * 9000,
           b"EHLO\n", b"\x01", b"\xe9", b"", b"G\0", b"DESCRIBE", b"A\r\r\n", b"PRI", b"PUT", b"BAD\r\n\r\nGET"]
TARGETS = [b"/", b"/x", b"*", b"http://b.test/", b"http://a.test/", b"http://a.test:81/", b"http://a.test./", b"any://b.test/", b"//b.test/", b"x", b"a:/x",
           b"HTTP://B.TEST/", b"http://a.test@b.test/", b"/\xe9", b"/x y", b"?x"]
VERSIONS = [b"HTTP/1.1", b"HTTP/1.0", b"HTTP/0.9", b"http/1.1", b"RTSP/1.0", b"ICE/1.0", b"x", b"", b"HTTP/1.1 x",
            b"HTTP/1.01", b"HTTP/2.0", b"HTTP/11.1"]
ENDS = [b"\n", b"\r\r\n", b"\r", b" \r\n", b"\n\r", b"\0\r\n"]
FRONTS = [b"\r\n", b"\n", b" ", b"\x1c", b"\xa0", b"\r\n\r\n\r\n", b"PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n",
          b"EHLO x\r\n", b"\0", b"\r\n\r\n\0\r\nQUIT\n"]
HOSTS = [b"Host: b.test", b"host:b.test", b"Host : b.test", b" Host: b.test", b"Host:\tb.test", b"Host: a.test:80",
         b"Host: b.test\r\nHost: a.test", b"Host: a.test\r\nHost: b.test", b"X: y\rHost: b.test", b"Host: a.test.", b"Host: a.test:81",
         b"Host:", b"Host: a.test@b.test", b"X: y\nHost: b.test", b"Host: a.test, b.test", b"X: y\r\n Host: b.test", b""]
FIELDS = [b"Connection: close", b"Connection: keep-alive", b"Upgrade: websocket", b"Upgrade: h2c", b"Expect: 100-continue",
          b"Transfer-Encoding : chunked", b"Content-Length: 0", b"Content-Length: +5", b"X-Y: z", b"Content-Length: 5, 5",
          b"Transfer-Encoding: x, chunked", b"Transfer-Encoding:\x0bchunked"]


def pick(rng, plain, others, odds=0.25):
    return rng.choice(others) if rng.random() < odds else plain


def request(rng, host, depth=0):
    end = pick(rng, b"\r\n", ENDS, 0.12)
    words = [pick(rng, b"GET", METHODS), pick(rng, b"/", TARGETS), pick(rng, b"HTTP/1.1", VERSIONS)]
    line = words[0] + pick(rng, b" ", BLANKS, 0.12) + words[1]
    if rng.random() < 0.9:
        line += pick(rng, b" ", BLANKS, 0.12) + words[2]
    fields = [pick(rng, b"Host: " + host, HOSTS, 0.2)]
    while rng.random() < 0.2:
        fields.insert(rng.randrange(2), rng.choice(FIELDS))
    body = b""
    if rng.random() < 0.2 and depth == 0:
        body = request(rng, b"b.test", 1)
        if rng.random() < 0.4:
            fields.append(b"Transfer-Encoding: chunked")
            body = b"%x%b\r\n%b\r\n0\r\n\r\n" % (len(body), rng.choice([b"", b";x", b";x / HTTP/1.1"]), body)
        else:
            fields.append(b"Content-Length: %d" % (len(body) + rng.choice([0, 0, 0, 1, -1])))
    return pick(rng, b"", FRONTS, 0.1) + end.join([line, *filter(None, fields)]) + end + end + body


def http_stream(rng):
    data = b"".join(request(rng, rng.choice([b"a.test", b"a.test", b"b.test"])) for _ in range(rng.randrange(1, 4)))
    return flip(rng, data), rng.random() < 0.5


def flip(rng, data):
    if rng.random() < 0.15:
        at = rng.randrange(min(len(data), 200))
        data = data[:at] + rng.choice([b"", bytes([rng.randrange(256)])]) + data[at + rng.randrange(2):]
    return data[:rng.randrange(len(data)) + 1] if rng.random() < 0.05 else data


def split(rng, data):
    """The same message in more records."""
    kind, version, message = data[0], data[1:3], data[5:]
    at = rng.choice([0, 1, 3, 5, 40, len(message) - 1])
    between = rng.choice([b"", b"", hellos.ALERT, hellos.CHANGE])
    return hellos.record(kind, message[:at], version) + between + hellos.record(kind, message[at:], version)


def tls_stream(rng):
    # Not A.Test: case does not count in a name, but some servers give their default host for it.
    name = rng.choice(["a.test", "b.test", None, "a.test.", "b.test"])
    extra = rng.choice([b"", b"", b"", hellos.server_name("b.test"), hellos.extension(0, b""), hellos.extension(21, bytes(9)),
                        hellos.extension(0, b"\0\x0e\1\0\x06x.test\0\0\x06b.test"), hellos.extension(16, b"\0\3\2h2")])
    tls13 = rng.random() < 0.3
    data = hellos.hello(name, extra=extra, tls13=tls13)
    how = rng.random()
    if how < 0.15:
        data = split(rng, data)
    elif how < 0.25:
        data = hellos.old_hello(rng.choice([b"\3\3", b"\3\1", b"\0\2"]))
    elif how < 0.5:
        between = b"".join(rng.choice([hellos.ALERT, hellos.EARLY_DATA, hellos.CHANGE]) for _ in range(rng.randrange(3)))
        data = hellos.retried("a.test", rng.choice(["a.test", "b.test"]), between)
    elif how < 0.6:
        data = bytes([rng.choice([22, 21, 23, 24, 128, rng.randrange(256)]), rng.choice([3, 4, 15, 16, 2, 0, 255])]) + data[2:]
    while rng.random() < 0.2:
        front = rng.choice([hellos.ALERT, hellos.CHANGE, hellos.EARLY_DATA, b"\r\n", b"\x15\x04\x01\0\2\1\x70",
                            hellos.record(22, b"\0\0\0\0"), hellos.record(22, b""), b"PROXY UNKNOWN\r\n"])
        data = front + data
    return flip(rng, data), False


# ---- what comes back

def ask(port, data, end):
    got = b""
    limit = time.monotonic() + LONGEST
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.settimeout(QUIET)
        try:
            s.sendall(data)
            if end:
                s.shutdown(socket.SHUT_WR)
            while time.monotonic() < limit:
                more = s.recv(65536)
                if not more:
                    break
                got += more
        except OSError:
            pass
    return got


def server_hello(got):
    """A ServerHello that is no HelloRetryRequest, among whole records."""
    while len(got) > 5 and len(got) >= 5 + int.from_bytes(got[3:5], "big"):
        size = int.from_bytes(got[3:5], "big")
        if got[0] == 22 and got[5] == 2 and got[11:19] != bytes.fromhex("cf21ad74e59a6111"):
            return True
        got = got[5 + size:]
    return False


def for_others(port, got):
    """For whom else than a.test it is, or None."""
    if port in REFUSE_A:
        return "somebody else" if server_hello(got) else None
    if port >= 8400:
        return next((n for n in ("default.test", "b.test") if n.encode() in got), None)
    for host in re.findall(rb"vhost=([^;]*);", got):
        if host.strip().lower() not in (b"a.test", b"a.test:80"):
            return host.decode("latin1")
    return None


class Judge:
    def __init__(self):
        self.proc = subprocess.Popen([INSPECT, "a.test", "80"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, data, end):
        self.proc.stdin.write(data.hex() + ("!\n" if end else "\n"))
        self.proc.stdin.flush()
        whole, pieces, verdict = self.proc.stdout.readline().split()
        return int(whole), int(pieces), verdict

    def close(self):
        self.proc.stdin.close()
        self.proc.wait()


def compare(name, port, make, results):
    rng = random.Random(f"{SEED} {name} {port}")
    judge = Judge()
    count = dict(name=name, port=port, passed=0, refused=0, answered=0, attacks=0, holes=[])
    for _ in range(COUNT):
        data, end = make(rng)
        whole, pieces, verdict = judge.ask(data, end)
        refused = verdict != "passed"
        sent = {data if refused else data[:whole]}
        if not refused:
            count["passed"] += 1
        else:
            count["refused"] += 1
        if verdict == "differs":
            count["holes"].append(f"in pieces another verdict: {data!r}")
        for one in sent:
            got = ask(port, one, end)
            count["answered"] += bool(got)
            other = for_others(port, got)
            count["attacks"] += bool(refused and other)
            if other and not refused:
                count["holes"].append(f"for {other}: {one!r}{' and its end' if end else ''}")
        # What has passed of it before it was refused: no end, as the connection is reset.
        if refused and pieces and rng.random() < 0.2:
            other = for_others(port, ask(port, data[:pieces], False))
            if other:
                count["holes"].append(f"for {other}, though refused later: {data[:pieces]!r}")
    judge.close()
    results.append(count)


GOOD = b"GET / HTTP/1.1\r\nHost: %b\r\nConnection: close\r\n\r\n"


def right(port, name):
    """The control: it tells a.test and others apart."""
    data = GOOD % name.encode() if port < 8400 else hellos.hello(name)
    got = ask(port, data, False)
    other = for_others(port, got)
    if name != "a.test":
        return other is not None
    return other is None and (port in REFUSE_A or b"a.test" in got)


def wait_for(port, name):
    for _ in range(600):
        try:
            if right(port, "a.test") and right(port, "b.test"):
                return
        except OSError:
            pass
        time.sleep(0.1)
    sys.exit(f"{name} does not tell hosts apart on port {port}: {open(place(name + '.log')).read() if os.path.exists(place(name + '.log')) else ''}")


def main():
    print(f"seed {SEED}")
    os.makedirs(place("tmp"), exist_ok=True)
    for name in "default.test", "a.test", "b.test":
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", f"/CN={name}",
                        "-addext", f"subjectAltName=DNS:{name}", "-keyout", place(name + ".key"),
                        "-out", place(name + ".crt")], check=True, stderr=subprocess.DEVNULL)
    threads, results = [], []
    print("left out: go (there is no server of its here)")
    for name, program, begin, http_port, tls_port in SERVERS:
        if not shutil.which(program, path=PATH):
            print(f"left out: {name} ({program} is not installed)")
            continue
        begin()
        for port, make in (http_port, http_stream), (tls_port, tls_stream):
            if port:
                threads.append((name, port, make))
    for name, port, _ in threads:
        wait_for(port, name)
    threads = [threading.Thread(target=compare, args=(*t, results)) for t in threads]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    bad = False
    if len(results) != len(threads):
        bad = True
    for c in sorted(results, key=lambda c: c["port"]):
        print("{name:8} {what:5} passed {passed:5}  refused {refused:5}  answered {answered:5}  refused, and answered for another "
              "{attacks:5}  holes {n}".format(what="http" if c["port"] < 8400 else "tls", n=len(c["holes"]), **c))
        # Nothing is shown where nothing could be attacked, or nothing passes.
        bad = bad or bool(c["holes"]) or not c["attacks"] or not c["passed"]
        for hole in c["holes"][:10]:
            print("  " + hole[:1000])
    return 1 if bad else 0


status = 1
try:
    status = main()
finally:
    for p in STARTED:
        p.terminate()
    for p in STARTED:
        try:
            p.wait(20)
        except subprocess.TimeoutExpired:
            p.kill()
sys.stdout.flush()
os._exit(status)
