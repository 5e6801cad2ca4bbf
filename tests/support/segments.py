# SPDX-License-Identifier: Apache-2.0
"""The text of a trail, from the segments that it lies in: a part of verify.py, from
docs/audit-format.md alone. Compressed ones are read by the command zstd."""
import os
import re
import subprocess

FRAME_MAX = 2 << 20
SEGMENT = re.compile(r"trail(?:\.([2-9]|[1-9][0-9]{1,5}))?\.jsonl(\.zst)?")


def frame(data, at):
    """(end, size of its text) of the frame of zstd (RFC 8878) there; None: the file ends within it;
    False: there is none."""
    if len(data) - at < 5:
        return None
    descriptor = data[at + 4]
    single = descriptor >> 5 & 1
    count = (0, 2, 4, 8)[descriptor >> 6] or single
    if data[at:at + 4] != b"\x28\xb5\x2f\xfd" or not descriptor & 4 or descriptor & 11 or not count:
        return False
    end = at + 6 - single + count
    if end > len(data):
        return None
    size = int.from_bytes(data[end - count:end], "little") + (256 if count == 2 else 0)
    if not 1 <= size <= FRAME_MAX:
        return False
    last = 0
    while not last:
        if end + 3 > len(data):
            return None
        block = int.from_bytes(data[end:end + 3], "little")
        last, kind, length = block & 1, block >> 1 & 3, block >> 3
        if kind == 3 or length > 128 << 10:
            return False
        end += 3 + (1 if kind == 1 else length)
        if end > len(data):
            return None
        if end - at > 2 * FRAME_MAX:
            return False
    return (end + 4, size) if end + 4 <= len(data) else None


def unpack(data):
    out = subprocess.run(["zstd", "-dcq", "--long=31"], input=data, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=False)
    return out.stdout if out.returncode == 0 else None


def unpacked(data):
    """The text of a compressed segment."""
    texts, at = [], 0
    while at < len(data):
        found = frame(data, at) if len(texts) < 1 << 20 else False
        if not found:
            texts += [b"?\n"] if found is False else []
            break
        end, size = found
        text = unpack(data[at:end])
        texts.append(text if text is not None and len(text) == size else b"?" * (size - 1) + b"\n")
        at = end
    return b"".join(texts)


def segments(directory):
    """Paths in order; of a plain and a compressed one the plain one."""
    found = {}
    for name in os.listdir(directory) if os.path.isdir(directory) else []:
        match = SEGMENT.fullmatch(name)
        if match and not (match[2] and int(match[1] or 1) in found):
            found[int(match[1] or 1)] = os.path.join(directory, name)
    return [found[n] for n in sorted(found)]


def read_text(path):
    with open(path, "rb") as f:
        data = f.read()
    return unpacked(data) if path.endswith(".zst") else data


def read_trail(path):
    """The text of all segments beside a first one; else of the file."""
    paths = [path]
    if os.path.basename(path) in ("trail.jsonl", "trail.jsonl.zst"):
        paths = segments(os.path.dirname(path) or ".")
    return b"".join(read_text(p) for p in paths)
