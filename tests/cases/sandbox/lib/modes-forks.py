# SPDX-License-Identifier: Apache-2.0
# Part of ../modes.sh.
import os
n = 0
try:
    for i in range(40):
        if os.fork() == 0:
            os.read(0, 1)
            os._exit(0)
        n += 1
except OSError as e:
    print(n, e.strerror)
