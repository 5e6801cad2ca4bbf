# SPDX-License-Identifier: Apache-2.0
"""A program that has files open while the session is put back to a step, for review-steps-inside."""
import mmap
import os
import time

r = open("open")
w = open("open", "r+")
m = mmap.mmap(w.fileno(), 0)
g = open("gone-soon")
os.unlink("gone-soon")
m[0:3] = b"two"
m.flush()
print("held", flush=True)
while not os.path.exists("go"):
    time.sleep(0.05)
print(r.read().strip(), bytes(m[0:3]).decode(), g.read().strip(), open("gone-soon").read().strip())
m[0:3] = b"six"
m.flush()
print(open("open").read().strip())
