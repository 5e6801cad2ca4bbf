# SPDX-License-Identifier: Apache-2.0
# Reads an open file until it is refused.
import time
f = open(".env", "rb", buffering=0)
print(f.read(), flush=True)
while True:
    f.seek(0)
    try:
        f.read()
    except PermissionError:
        print("over")
        break
    time.sleep(0.1)
