# SPDX-License-Identifier: Apache-2.0
"""Part of ../format-edges.sh: WHAT STATE SESSION [N]: changes a session's files at an edge of the
format. The macs are made anew with the root key where the edge is that of a genuine line."""
import hashlib
import os
import sys

sys.path.insert(0, os.path.join(os.environ["WARD_SRC"], "tests", "support"))
import segments  # noqa: E402

what, state, session = sys.argv[1:4]
number = int(sys.argv[4]) if len(sys.argv) > 4 else 0
folder = os.path.join(state, "sessions", session)
trail = os.path.join(folder, "trail.jsonl")


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def keyed(key, data):
    return hashlib.blake2b(data, key=key, digest_size=32).digest()


def long_line():
    """Makes the last record of a trail a genuine line of `number` bytes."""
    lines = read(trail).splitlines()
    key = keyed(read(os.path.join(state, "key")), b"wardfs trail\0" + session.encode())
    before = bytes(32)
    for i, line in enumerate(lines):
        body = line[:line.rindex(b',"mac":"')]
        end = b',"mac":"' + 64 * b"0" + b'"}'
        if i == len(lines) - 1:
            pad = b',"text":"'
            body += pad + b"x" * (number - len(body + end + pad) - 1) + b'"'
        before = keyed(key, before + body)
        key = hashlib.blake2b(b"wardfs ratchet" + key, digest_size=32).digest()
        lines[i] = body + b',"mac":"' + before.hex().encode() + b'"}'
    assert len(lines[-1]) == number, len(lines[-1])
    write(trail, b"\n".join(lines) + b"\n")


def without_end():
    """The session has not ended: neither the ledger nor a checkpoint has more than its start."""
    ledger = os.path.join(state, "ledger.jsonl")
    write(ledger, b"".join(line for line in read(ledger).splitlines(True)
                           if not (b'"kind":"end"' in line and session.encode() in line)))
    os.remove(os.path.join(state, "ledger.checkpoints"))
    write(os.path.join(folder, "checkpoints"), b"")


def open_checkpoint():
    """Leaves the first two checkpoints, which are open, of a session without end."""
    text = read(os.path.join(folder, "checkpoints")).splitlines(True)
    write(os.path.join(folder, "checkpoints"), b"".join(text[:16]))


def claim():
    """Appends a line that claims this seq."""
    last = read(trail).splitlines()[-1]
    at = last.index(b'"seq":') + 6
    write(trail, read(trail) + last[:at] + str(number).encode() +
          last[last.index(b",", at):] + b"\n")


def descriptor():
    data = bytearray(read(trail + ".zst"))
    data[4] ^= 1 << number
    write(trail + ".zst", bytes(data))


def blocks():
    """Gives the first frame so many empty blocks that it has `number` bytes at most, and at least
    number - 2, from its magic number to the end of its last block."""
    data = read(trail + ".zst")
    size = segments.frame(data, 0)[0]
    text = segments.unpack(data[:size])
    head = b"\x28\xb5\x2f\xfd\xa4" + len(text).to_bytes(4, "little")
    empty = (number - len(head) - 3 - len(text)) // 3
    frame = head + (len(text) << 3).to_bytes(3, "little") + text + bytes(3 * (empty - 1))
    frame += b"\x01\0\0"
    assert number - 2 <= len(frame) <= number, len(frame)
    write(trail + ".zst", frame + data[size - 4:size] + data[size:])


{"long": long_line, "without-end": without_end, "open": open_checkpoint, "claim": claim,
 "descriptor": descriptor, "blocks": blocks}[what]()
