# SPDX-License-Identifier: Apache-2.0
"""Moves and links that would bring a secret to a path whose guard is lifted, and the controls."""
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def move(a, b, flags=0):
    if libc.renameat2(-100, a.encode(), -100, b.encode(), flags):
        return os.strerror(ctypes.get_errno())
    return "moved"


# The control: what has no secret in it may stand there, and a directory with one elsewhere.
os.mkdir("plain")
assert move("app", "was") == "moved"
assert move("plain", "app") == "moved" and move("app", "plain") == "moved"
assert move("other", "there") == "moved" and move("there", "other") == "moved"
print(move("other", "app"), move("other", "up"), sep=", ")
assert not os.path.exists("app/.env") and not os.path.exists("up/deep/.env")
os.mkdir("app")
print(move("other", "app", 2))
with open("plain/.env", "w") as f:
    f.write("made inside")
for to in "plain/other.env", "app/.env":
    try:
        os.link("plain/.env", to)
        print(to, "linked")
    except OSError as e:
        print(to, os.strerror(e.errno))
# The control: a second name under the same rule.
os.mkdir("same")
os.link("plain/.env", "same/.env")
