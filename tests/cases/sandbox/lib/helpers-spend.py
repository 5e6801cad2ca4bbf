# SPDX-License-Identifier: Apache-2.0
# Part of ../helpers.sh: little CPU time here, more in the guard.
import os, sys, time

MINE = 0.7  # of a second, which is the limit


def used():
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


os.mkdir("a")
print("spent", flush=True)
while used() < MINE:
    for _ in range(100):
        os.rename("a", "b")
        os.rename("b", "a")
os.rmdir("a")
if sys.argv[1] == "wait":
    # Only a hang ends here.
    time.sleep(300)
    raise SystemExit("it goes on")
