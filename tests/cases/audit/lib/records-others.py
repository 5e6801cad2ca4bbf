# SPDX-License-Identifier: Apache-2.0
# Part of ../records.sh.
import os, time
def wait(name):
    for _ in range(6000):
        if os.path.exists(name):
            return
        time.sleep(0.05)
    raise SystemExit("nobody made " + name)
os.listdir(".")
for i in range(60):
    for name in "mine", "mine.tmp":
        with open(name, "w") as f:
            f.write(str(i) * 5000)
    os.rename("mine.tmp", "mine")
os.unlink("mine")
open("ready", "w").close()
wait("go")
for i in range(60):
    with open("later", "w") as f:
        f.write(str(i))
wait("end")
