# SPDX-License-Identifier: Apache-2.0
# Part of ../io.sh.
import os, time
fds = [os.open("mnt/two", os.O_RDONLY) for _ in range(700)]
open("held", "w").close()
for _ in range(6000):
    if os.path.exists("let-go"): break
    time.sleep(0.05)
