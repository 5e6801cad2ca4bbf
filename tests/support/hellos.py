# SPDX-License-Identifier: Apache-2.0
"""ClientHellos by hand, for tests: hello(NAME) and its relatives return bytes of a stream."""
import random
import struct

# What any server of today takes one of, for certificates of any kind.
CIPHERS = bytes.fromhex("c02bc02fc02cc030cca9cca8c009c013c00ac014009c009d002f0035")
CIPHERS_13 = bytes.fromhex("130113021303")


# The same in each run: a failure can be looked at again.
some = random.Random(0x16).randbytes


def vector(size, data):
    return len(data).to_bytes(size, "big") + data


def extension(kind, data):
    return struct.pack(">H", kind) + vector(2, data)


def server_name(name):
    return extension(0, vector(2, b"\0" + vector(2, name.encode())))


def record(kind, data, version=b"\3\1"):
    return bytes([kind]) + version + vector(2, data)


def message(name, tls13=False, share=True, extra=b"", session=None):
    """The handshake message; of TLS 1.3 without a share, a server asks for another hello."""
    exts = server_name(name) if name is not None else b""
    exts += extension(10, vector(2, bytes.fromhex("001d00170018")))
    exts += extension(11, b"\1\0")
    exts += extension(13, vector(2, bytes.fromhex("040308040401050308050501080606010201")))
    if tls13:
        exts += extension(43, b"\2\3\4")
        exts += extension(51, vector(2, b"\0\x1d" + vector(2, some(32)) if share else b""))
        exts += extension(45, b"\1\1")
    session = (some(32) if tls13 else b"") if session is None else session
    body = b"\3\3" + some(32) + vector(1, session)
    body += vector(2, CIPHERS_13 if tls13 else CIPHERS) + b"\1\0" + vector(2, exts + extra)
    return b"\1" + vector(3, body)


def hello(name, **how):
    return record(22, message(name, **how))


def old_hello(version=b"\3\3"):
    """In the format of SSLv2, which has no name (RFC 5246, E.2)."""
    ciphers = b"".join(b"\0" + CIPHERS[i:i + 2] for i in range(0, len(CIPHERS), 2))
    body = b"\1" + version + struct.pack(">HHH", len(ciphers), 0, 32) + ciphers + some(32)
    return struct.pack(">H", 0x8000 | len(body)) + body


def retried(first, second, between=b""):
    """Two hellos, the first of which makes a server of TLS 1.3 ask for the second."""
    session = some(32)
    nonce = some(32)
    # Early data is offered: what cannot be decrypted is skipped then (RFC 8446, 4.2.10).
    psk = extension(42, b"") + extension(41, vector(2, vector(2, b"ticket") + b"\0\0\0\0") +
                                         vector(2, vector(1, some(32))))
    out = []
    for name, share, extra in (first, False, psk), (second, True, b""):
        data = message(name, tls13=True, share=share, extra=extra, session=session)
        out.append(record(22, data[:6] + nonce + data[38:]))
    return out[0] + between + out[1]


ALERT = record(21, b"\1\x70")
EARLY_DATA = record(23, some(40), b"\3\3")
CHANGE = record(20, b"\1", b"\3\3")
