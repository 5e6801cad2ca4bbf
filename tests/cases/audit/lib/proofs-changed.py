# SPDX-License-Identifier: Apache-2.0
# Part of ../proofs.sh.
import random
rnd = random.Random(7)
for name in "p.12", "c.6", "bothgood":
    data = open(name, "rb").read()
    for i in range(25):
        b = bytearray(data)
        b[rnd.randrange(len(b))] ^= rnd.choice([1, 2, 32, 128])
        open(f"bad.{name}.{i}", "wb").write(b)
    for i in range(5):
        open(f"bad.{name}.cut{i}", "wb").write(data[:rnd.randrange(30, len(data))])
head, note = open("p.12", "rb").read().split(b"\n\n", 1)
open("bad.note", "wb").write(head + b"\n\n" + open("p.early", "rb").read().split(b"\n\n", 1)[1])
open("bad.index", "wb").write(head.replace(b"index 11", b"index 10") + b"\n\n" + note)
