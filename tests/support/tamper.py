#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does something to a state directory: tamper.py STATE SEED. Prints what it did.

Never touches sessions that were incomplete before, so that each change can be told.
"""
import os
import random
import shutil
import sys

state, seed = sys.argv[1], int(sys.argv[2])
rnd = random.Random(seed)
TRAILS = ["one", "two", "three"]


def path_of(name):
    if name == "ledger":
        return os.path.join(state, "ledger.jsonl")
    if name.startswith("checkpoints "):
        return os.path.join(state, "sessions", name.split()[1], "checkpoints")
    return os.path.join(state, "sessions", name, "trail.jsonl")


def read(name):
    with open(path_of(name), "rb") as f:
        return f.read()


def write(name, data):
    with open(path_of(name), "wb") as f:
        f.write(data)


def flip(name):
    data = bytearray(read(name))
    at = rnd.randrange(len(data))
    data[at] ^= rnd.choice([1, 2, 16, 128])
    write(name, data)
    return f"byte {at}"


def lines_of(name):
    return read(name).splitlines(keepends=True)


def delete(name):
    lines = lines_of(name)
    at = rnd.randrange(len(lines) - 1)
    count = rnd.randint(1, min(3, len(lines) - 1 - at))
    write(name, b"".join(lines[:at] + lines[at + count:]))
    return f"{count} lines from {at}"


def move(name):
    lines = lines_of(name)
    at, to = rnd.sample(range(len(lines)), 2)
    lines.insert(to, lines.pop(at))
    write(name, b"".join(lines))
    return f"line {at} to {to}"


def copy(name):
    lines = lines_of(name)
    at, to = rnd.randrange(len(lines)), rnd.randrange(len(lines))
    lines.insert(to, lines[at])
    write(name, b"".join(lines))
    return f"line {at} to {to}"


def cut(name):
    data = read(name)
    at = rnd.randrange(len(data))
    write(name, data[:at])
    return f"at {at}"


def splice(name):
    other = rnd.choice([t for t in TRAILS if t != name])
    mine, theirs = lines_of(name), lines_of(other)
    at = rnd.randrange(min(len(mine), len(theirs)))
    write(name, b"".join(mine[:at] + theirs[at:]))
    return f"{other} from line {at}"


def several(name):
    return ", ".join(rnd.choice([flip, delete, move, copy])(name) for _ in range(2))


def remove(name):
    shutil.rmtree(os.path.join(state, "sessions", name))
    return ""


def swap_key(name):
    with open(os.path.join(state, "key"), "r+b") as f:
        f.write(bytes([rnd.randrange(256) for _ in range(32)]))
    return ""


def notes_of(name):
    lines = lines_of(name)
    return [b"".join(lines[i:i + 8]) for i in range(0, len(lines), 8)]


def note_gone(name):
    notes = notes_of(name)
    at = rnd.randrange(len(notes))
    write(name, b"".join(notes[:at] + notes[at + 1:]))
    return f"number {at + 1}"


def notes_swapped(name):
    notes = notes_of(name)
    a, b = rnd.sample(range(len(notes)), 2)
    notes[a], notes[b] = notes[b], notes[a]
    write(name, b"".join(notes))
    return f"{a + 1} and {b + 1}"


def note_copied(name):
    notes = notes_of(name)
    notes.insert(rnd.randrange(len(notes)), rnd.choice(notes))
    write(name, b"".join(notes))
    return ""


def notes_of_another(name):
    other = rnd.choice([t for t in TRAILS if t != name.split()[1]])
    write(name, read("checkpoints " + other))
    return other


if seed % 5 == 4:
    what, name = rnd.choice([flip, flip, cut, note_gone, notes_swapped, note_copied,
                             notes_of_another]), "checkpoints " + rnd.choice(TRAILS)
elif seed % 10 == 7:
    what, name = swap_key, "key"
elif seed % 10 == 8:
    what, name = rnd.choice([flip, delete, move]), "ledger"
else:
    what = [flip, delete, move, copy, cut, splice, several, remove][seed % 8]
    name = rnd.choice(TRAILS)
print(what.__name__, name, what(name))
