# SPDX-License-Identifier: Apache-2.0
# Opens small files to read them, holds one open, and makes new ones.
import os, time
for i in range(2000):
    with open("f%d" % (i % 10)) as f:
        assert f.read() == "%d\n" % (i % 10)
# Longer than the writer lets a record lie.
held = os.open("f0", os.O_RDONLY)
time.sleep(0.5)
os.close(held)
for i in range(100):
    with open("new%d" % i, "w") as f:
        f.write("x")
# Makes a file, and can only read it.
os.close(os.open("made", os.O_CREAT | os.O_EXCL | os.O_RDONLY))
