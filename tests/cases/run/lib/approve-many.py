# SPDX-License-Identifier: Apache-2.0
"""approve-many.py LENGTH [DIR]: asks for 10,500 directories with names of that length, twice, each time after
a file go.N has come; then once more for the first one."""
import os
import sys
import time


def wait(name):
    while not os.path.exists(name):
        time.sleep(0.05)


def ask(name):
    try:
        os.mkdir(f".github/{name}")
    except PermissionError:
        return False
    return True


ask("first")
for n in (1, 2):
    wait(f"go.{n}")
    # Who asks without a pause fills the socket. Such a question is lost, so it is asked again.
    for i in list(range(10500)) * (4 - n):
        ask("/".join(sys.argv[2:] + [f"{n}:{i}:".ljust(int(sys.argv[1]), "x")]))
        if i % 50 == 0:
            time.sleep(0.02)
    print(f"done {n}", flush=True)
wait("go.3")
if ask("first"):
    print("made first", flush=True)
ask("last")
print("done 3", flush=True)
sys.exit(0)
