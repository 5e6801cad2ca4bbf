# SPDX-License-Identifier: Apache-2.0
"""export-collector.py KIND [--tls CERT] [--client-ca FILE]: a collector for the cases of exports.

KIND is syslog (RFC 5425 frames) or otlp (POST /v1/logs). Writes its port to ./port. What each
connection does stands in the first line of ./behave, which it takes away; without one it does what a
collector should. Each record that it took is a line "SESSION SEQ" of ./got, each connection a line
of ./log.
"""
import argparse, json, os, re, socket, ssl, struct, threading, time

options = argparse.ArgumentParser()
options.add_argument("kind", choices=["syslog", "otlp"])
options.add_argument("--tls")
options.add_argument("--client-ca")
options = options.parse_args()


def behaviour():
    try:
        lines = open("behave").read().splitlines()
    except FileNotFoundError:
        return "good"
    with open("behave", "w") as f:
        f.writelines(line + "\n" for line in lines[1:])
    return lines[0] if lines else "good"


def note(name, text):
    with open(name, "a") as f:
        f.write(text + "\n")


def reset(raw):
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raw.close()


def take_frames(data):
    """The whole frames at the beginning of data, and what is left."""
    found = []
    while True:
        m = re.match(rb"([1-9][0-9]*) ", data)
        if not m:
            assert re.fullmatch(rb"[0-9]*", data[:9]), data[:40]
            return found, data
        n = int(m[1])
        if len(data) < m.end() + n:
            return found, data
        found.append(data[m.end():m.end() + n].decode())
        data = data[m.end() + n:]


MESSAGE = re.compile(r'<(?:108|110)>1 (\S+Z) \S+ wardfs \d+ (\S+) '
                     r'\[wardfs@32473 session="([^"]+)" seq="(\d+)" mac="([0-9a-f]{64})"\] (.*)', re.S)


def syslog(c, raw, what):
    data = b""
    while True:
        if what == "never":
            time.sleep(600)
        if what in ("slowly", "halting"):
            time.sleep(0.02)
        try:
            piece = c.recv(4096)
        except (ConnectionError, ssl.SSLError) as e:
            return note("log", f"cut {e}")
        if not piece:
            break
        data += piece
        if what.startswith("cut") and len(data) > int(what.split()[1]):
            # In the middle of a frame; what was whole before it was read by this program.
            frames, left = take_frames(data)
            assert left, "not in the middle of a frame"
            for f in frames:
                note("got", " ".join(MESSAGE.fullmatch(f).group(3, 4)))
            return raw.close() if what.startswith("cutfin") else reset(raw)
    if what == "open":
        time.sleep(600)
    frames, left = take_frames(data)
    # Whoever sends was killed: a ragged end of TLS is read as an end.
    assert not left or what == "halting", left[:80]
    for f in frames:
        m = MESSAGE.fullmatch(f)
        assert m, f
        note("got", f"{m[3]} {m[4]}")
        if m[6].startswith('{"v":'):
            assert json.loads(m[6])["mac"] == m[5]
    note("log", f"took {len(frames)}")
    if options.tls and what != "rsyslog":
        c.unwrap()


def attributes(o):
    return {a["key"]: a["value"] for a in o}


def check_request(body):
    """What OTLP says of an ExportLogsServiceRequest in JSON; (session, seq) of each record."""
    o = json.loads(body)
    assert set(o) == {"resourceLogs"}, o.keys()
    for r in o["resourceLogs"]:
        resource = attributes(r["resource"]["attributes"])
        assert resource["service.name"] == {"stringValue": "wardfs"} and resource["host.name"]["stringValue"]
        for s in r["scopeLogs"]:
            assert s["scope"]["name"] == "wardfs.audit"
            for log in s["logRecords"]:
                a = attributes(log["attributes"])
                line = json.loads(log["body"]["stringValue"])
                assert log["timeUnixNano"].isdigit() and log["severityNumber"] in (9, 13)
                assert log["eventName"] == "wardfs." + line["kind"]
                assert a["wardfs.mac"]["stringValue"] == line["mac"]
                assert a["log.record.uid"] == {"stringValue": f"{line['session']}:{line['seq']}"}
                yield line["session"], line["seq"]


def read_request(c):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = c.recv(65536)
        if not piece:
            return None, None, b""
        data += piece
    head, body = data.split(b"\r\n\r\n", 1)
    first, *lines = head.decode().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines)
    return first, {k.lower(): v for k, v in fields.items()}, body


def answer(c, status, text, *fields):
    c.sendall("\r\n".join([f"HTTP/1.1 {status} Words", "Content-Type: application/json", *fields,
                           f"Content-Length: {len(text)}", "", text]).encode())


def otlp(c, raw, what):
    first, fields, body = read_request(c)
    if first is None:
        return note("log", "nothing")
    length = int(fields["content-length"])
    if what == "early":
        # Refused before it was read.
        answer(c, 413, '{"code":3,"message":"too large"}')
        return
    if what == "eager":
        # Taken, it says, before it was read.
        answer(c, 200, "{}")
        time.sleep(600)
    while len(body) < length:
        piece = c.recv(65536)
        if not piece:
            return note("log", "cut")
        body += piece
        if what == "reset":
            return reset(raw)
    assert first == "POST /v1/logs HTTP/1.1" and fields["content-type"] == "application/json", first
    assert fields["host"].endswith(":" + str(port)) and len(body) == length
    if os.path.exists("token"):
        assert fields["authorization"] == open("token").read().strip(), fields
    records = list(check_request(body))
    note("log", f"{what} {len(records)}")
    # As many bytes as a request may have.
    if os.path.exists("limited") and length > int(open("limited").read()):
        return answer(c, 413, '{"code":3,"message":"request too large"}')
    if what == "never":
        time.sleep(600)
    if what == "drip":
        c.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        while True:
            c.sendall(b"x")
            time.sleep(0.2)
    if what.split()[0].isdigit():
        status, *wait = what.split()
        return answer(c, int(status), '{"code":14,"message":"come \\u001b[31mback"}',
                      *(f"Retry-After: {w}" for w in [" ".join(wait)] if w))
    if what == "page":
        return answer(c, 200, "<html>welcome to the hotel</html>")
    if what == "garbage":
        return c.sendall(b"SSH-2.0-OpenSSH\r\n\r\n")
    if what == "long":
        return c.sendall(b"HTTP/1.1 200 OK\r\n" + b"X: " + b"x" * 3000000 + b"\r\n\r\n")
    if what == "partial":
        return answer(c, 200, '{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"no"}}')
    if what.startswith("rejected "):
        return answer(c, 200, '{"partialSuccess":{"rejectedLogRecords":%s}}' % what.split()[1])
    if what == "odd":
        return answer(c, 200, '{"partialSuccess":"2"}')
    for session, seq in records:
        note("got", f"{session} {seq}")
    if what == "lost":  # taken, and the answer is lost on the way
        return reset(raw)
    if what == "half":
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{")
        return reset(raw)
    if what == "noend":
        # A body whose end nobody vouches for.
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{}")
        return raw.close()
    if what == "chunked":
        return c.sendall(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                         b'1\r\n{\r\n12;x=y\r\n"partialSuccess":{\r\n2\r\n}}\r\n0\r\nT: 1\r\n\r\n')
    if what == "warns":
        return answer(c, 200, '{"partialSuccess":{"errorMessage":"use gzip"}}')
    if what == "nothing":
        return c.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
    answer(c, 200, "{}")


def serve(raw):
    what = behaviour()
    if what == "eager":
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    try:
        if what == "mute":
            time.sleep(600)
        c = raw
        if options.tls:
            c = context.wrap_socket(raw, server_side=True)
            if options.client_ca:
                note("log", "client " + dict(x[0] for x in c.getpeercert()["subject"])["commonName"])
        (syslog if options.kind == "syslog" else otlp)(c, raw, what)
        c.close()
    except (ssl.SSLError, OSError) as e:
        note("log", f"error {what} {e}")
    except Exception as e:
        note("wrong", f"{what}: {e!r}")


if options.tls:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.tls + ".pem", options.tls + ".key")
    if options.client_ca:
        context.load_verify_locations(options.client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
port = listener.getsockname()[1]
with open("port.new", "w") as f:
    f.write(str(port))
os.rename("port.new", "port")
while True:
    connection, _ = listener.accept()
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
