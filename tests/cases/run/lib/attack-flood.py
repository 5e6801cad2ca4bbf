# SPDX-License-Identifier: Apache-2.0
"""attack-flood.py N: asks for N directories in a loop, and two threads wait for a file each, which is
asked about too. Meanwhile another process opens a file that nothing asks about, and prints the
median time of an open in microseconds. N 0: it opens it without all that."""
import os
import statistics
import sys
import threading
import time

OPENS = 2000
count = int(sys.argv[1])


def opens():
    times = []
    for _ in range(OPENS):
        began = time.monotonic()
        os.close(os.open("src/plain", os.O_RDONLY))
        times.append(time.monotonic() - began)
    print("opens", round(1e6 * statistics.median(times)), flush=True)


def ask():
    n = 0
    while not os.path.exists("stop"):
        name = f".github/{n % count}"
        try:
            os.mkdir(name)
            print("made", name, flush=True)
            os.rmdir(name)
        except PermissionError:
            pass
        n += 1
        if n == count:
            print("asked", n, flush=True)
    os._exit(0)


def wait():
    try:
        os.close(os.open(".github/workflows/ci", os.O_WRONLY | os.O_APPEND))
    except OSError:
        pass


if count:
    if os.fork() == 0:
        ask()
    for _ in range(4):
        threading.Thread(target=wait, daemon=True).start()
    time.sleep(1)
opens()
while count and not os.path.exists("stop"):
    time.sleep(0.1)
if count:
    os.wait()
os._exit(0)
