# SPDX-License-Identifier: Apache-2.0
# Part of ../big-directory.sh.
import os, sys
n = int(sys.argv[2])
os.mkdir(sys.argv[1])
os.chdir(sys.argv[1])
for i in range(n):
    os.close(os.open("entry-%06d-%s" % (i, "x" * (i % 50)), os.O_CREAT | os.O_WRONLY, 0o644))
    if i % 10 == 0:
        os.mkdir("hidden-%d.pem" % i)
