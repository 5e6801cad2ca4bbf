# SPDX-License-Identifier: Apache-2.0
# Part of ../ways.sh.
import os, sys
os.chdir(sys.argv[1])
os.mkdir("side")
for i in range(100):
    d = "%s/%d/" % (sys.argv[2], i)
    os.makedirs(d + "sub")
    os.mkdir(d + "empty")
    for name, text in (("sub/g", b"g"), ("f", b"o" * 8192)):
        with open(d + name, "wb") as f:
            f.write(text)
    os.setxattr(d + "f", "user.old", b"1")
