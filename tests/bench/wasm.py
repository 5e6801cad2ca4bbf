#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wasm.py BUILD DIR: what mode wasm costs beside restricted, and its engine beside node and native QuickJS.

Prints lines "NAME VALUE", times in milliseconds: the median of ROUNDS that take turns. What is not on this host, or
was not built, has no line.

  start-restricted, start-wasm   `run -- true`, `run --mode wasm -- -e 1`
  fib-NAME, json-NAME            of wasm, node, qjs: fib(27); 20,000 objects written once and read five times
"""
import os
import shutil
import statistics
import subprocess
import sys
import time

ROUNDS = 7
SCRIPT = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
let began = Date.now();
fib(27);
console.log('fib', Date.now() - began);
began = Date.now();
const text = JSON.stringify(Array.from({ length: 20000 }, (_, i) => ({ id: i, name: 'n' + i, v: [i, i / 2] })));
for (let i = 0; i < 5; i++) JSON.parse(text);
console.log('json', Date.now() - began);
"""


def main():
    build, where = sys.argv[1:]
    os.chdir(where)
    with open("bench.js", "w", encoding="ascii") as f:
        f.write(SCRIPT)
    wardfs, engine = f"{build}/wardfs", f"{build}/wardfs-quickjs"
    starts = {"restricted": [wardfs, "run", "--", "true"]}
    scripts = {name: [name, "bench.js"] for name in ("node", "qjs") if shutil.which(name)}
    if os.path.exists(engine):
        starts["wasm"] = [wardfs, "run", "--mode", "wasm", "--", "-e", "1"]
        scripts["wasm"] = [engine, "--tree", where, "bench.js"]
    times = {}
    for _ in range(ROUNDS):
        for name, argv in starts.items():
            began = time.monotonic()
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, check=False).returncode
            if done == 0:
                times.setdefault(f"start-{name}", []).append(1000 * (time.monotonic() - began))
        for name, argv in scripts.items():
            said = subprocess.run(argv, check=True, stdout=subprocess.PIPE, encoding="ascii").stdout
            for line in said.splitlines():
                what, ms = line.split()
                times.setdefault(f"{what}-{name}", []).append(float(ms))
    for name, values in times.items():
        print(name, statistics.median(values))


main()
