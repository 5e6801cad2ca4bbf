# SPDX-License-Identifier: Apache-2.0
# Part of ../program-collide.sh: prints two programs in tools whose inode numbers fall together.
import os
seen = {}
for i in range(1025):  # one more than numbers modulo 1024
    path = f"tools/p{i}"
    with open(path, "w") as f:
        f.write(f"#!/bin/sh\n: {i}\n")
    os.chmod(path, 0o755)
    other = seen.setdefault(os.stat(path).st_ino % 1024, path)
    if other != path:
        print(other, path)
        break
