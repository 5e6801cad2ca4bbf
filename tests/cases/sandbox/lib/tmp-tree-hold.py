# SPDX-License-Identifier: Apache-2.0
# Part of ../tmp-tree.sh.
import os, time
open("/tmp/mine", "w").write("x")
with open("/dev/shm/f", "wb") as f:
    f.write(bytes(8000000))
open("up", "w").close()
import subprocess
sleeper = subprocess.Popen(["sleep", "600"])
while os.path.exists("up"):
    time.sleep(0.05)
sleeper.kill()
