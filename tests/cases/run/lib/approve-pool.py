# SPDX-License-Identifier: Apache-2.0
"""Six threads open one file that is asked about. Says when four were refused; ends with the rest."""
import os
import threading
import time

refused = []


def one():
    try:
        os.open(".github/workflows/ci", os.O_WRONLY)
    except PermissionError:
        refused.append(1)


threads = [threading.Thread(target=one) for i in range(6)]
for t in threads:
    t.start()
while len(refused) < 4:
    time.sleep(0.05)
print("four are refused", flush=True)
for t in threads:
    t.join()
