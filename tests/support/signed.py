#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""For run/signed.

signed.py flip FILE                            changes one bit of a signature
signed.py swapped TRAIL PATH SHA256 WAS NOW    the trail has the file that was checked (digest and
                                               inode WAS), and the file that ran (inode NOW)
signed.py once DRY-RUN                         no flag of Deno names a value twice
"""
import base64
import json
import sys


def flip(name):
    with open(name, encoding="utf-8") as f:
        lines = f.read().split("\n")
    data = bytearray(base64.b64decode(lines[1]))
    data[40] ^= 1
    lines[1] = base64.b64encode(data).decode()
    with open(name, "w", encoding="utf-8") as f:
        f.write("\n".join(lines))


def swapped(trail, path, digest, was, now):
    with open(trail, encoding="utf-8") as f:
        records = [json.loads(line) for line in f]
    checked = records[0]["detail"]["risk"]["program"]
    assert checked["signature"]["state"] == "good", checked
    assert checked["sha256"] == digest and str(checked["ino"]) == was, checked
    ran = [r for r in records
           if r["kind"] == "open" and r["action"] == "exec" and r["path"] == path]
    assert [str(r["ino"]) for r in ran] == [now] and was != now, ran


def once(name):
    with open(name, encoding="utf-8") as f:
        flags = [x["flag"] for x in json.load(f)["runtime"]["flags"]]
    assert any(x.startswith("--allow-read=") and "/agent-home" in x for x in flags), flags
    for flag in flags:
        values = flag.partition("=")[2].split(",")
        assert len(values) == len(set(values)), flag


{"flip": flip, "swapped": swapped, "once": once}[sys.argv[1]](*sys.argv[2:])
