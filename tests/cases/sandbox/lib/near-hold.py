# SPDX-License-Identifier: Apache-2.0
# Part of ../near.sh.
import os, sys, time
with open("/tmp/f", "wb") as f:
    f.write(bytes(int(sys.argv[1])))
keep = [open("/dev/null") for _ in range(int(sys.argv[2]))]
open("up", "w").close()
while os.path.exists("up"):
    time.sleep(0.05)
