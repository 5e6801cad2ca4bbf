#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes of a good bundle those that are none (bad-*.tar), and one whose trail was edited."""
import io
import sys
import tarfile

with tarfile.open(sys.argv[1]) as tar:
    good = [(m, tar.extractfile(m).read()) for m in tar.getmembers()]
data = open(sys.argv[1], "rb").read()


def write(name, members):
    with tarfile.open(name, "w", format=tarfile.USTAR_FORMAT) as out:
        for info, text in members:
            info.size = len(text)
            out.addfile(info, io.BytesIO(text))


def member(name, kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def changed(old, new):
    return [(info, text.replace(old, new, 1) if info.name.endswith("trail.jsonl") else text)
            for info, text in good]


write("bad-up.tar", good + [(member("one/../../escaped"), b"x")])
write("bad-absolute.tar", good + [(member("/escaped"), b"x")])
write("bad-other.tar", good + [(member("one/escaped"), b"x")])
write("bad-link.tar", good[:2] + [(member("one/trail.jsonl", tarfile.SYMTYPE, "/etc/passwd"), b"")])
write("bad-hard.tar", good[:2] + [(member("one/trail.jsonl", tarfile.LNKTYPE, "/etc/passwd"), b"")])
write("bad-device.tar", good + [(member("one/policy", tarfile.CHRTYPE), b"")])
write("bad-twice.tar", good + [g for g in good if g[0].name.endswith("trail.jsonl")])
write("bad-two-directories.tar", good + [(member("two/policy"), b"x")])
write("bad-number.tar", good + [(member("one/trail.1.jsonl"), b"x")])
for twice in ("README", "public.keys", "policy"):
    write(f"bad-{twice}-twice.tar", good + [g for g in good if g[0].name == "one/" + twice])
# What stands behind the end, where some archivers read on.
open("bad-two.tar", "wb").write(data + data)
open("bad-behind.tar", "wb").write(data + b"x")
open("bad-long-end.tar", "wb").write(data + bytes(1 << 20))
open("bad-cut.tar", "wb").write(data[:3000])
open("bad-no-end.tar", "wb").write(data[:-1024])
# A size beyond the file, its sum right.
at = 512 * (1 + (good[0][0].size + 511) // 512)
head = bytearray(data[at:at + 512])
head[124:136] = b"77777777777\0"
head[148:156] = b" " * 8
head[148:156] = b"%06o\0 " % sum(head)
open("bad-size.tar", "wb").write(data[:at] + bytes(head) + data[at + 512:])
# A sum that is wrong.
open("bad-sum.tar", "wb").write(data[:148] + b"000001" + data[154:])
write("edited.tar", changed(b'"cat"', b'"dog"'))
