#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wasm-mutants.py MODULE OUT N: writes N modules OUT-I.wasm that differ from MODULE in a few bytes, the same each time."""
import random
import sys

module, out, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(module, "rb") as f:
    whole = f.read()
chance = random.Random(19)
for i in range(number):
    mutant = bytearray(whole)
    for _ in range(1 + i):
        mutant[chance.randrange(8, len(mutant))] = chance.randrange(256)
    with open(f"{out}-{i}.wasm", "wb") as f:
        f.write(mutant)
