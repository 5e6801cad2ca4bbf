# SPDX-License-Identifier: Apache-2.0
"""Opens two files, waits for src/reload-go, and says to which of them it can still write."""
import os
import time

kept, lost = os.open("docs/held", os.O_RDWR), os.open("docs/a", os.O_RDWR)
open("src/reload-done", "w").close()
while not os.path.exists("src/reload-go"):
    time.sleep(0.05)
for name, fd in ("kept", kept), ("lost", lost):
    try:
        os.pwrite(fd, b"z", 0)
        print(name, "yes")
    except OSError as e:
        print(name, e.strerror)
