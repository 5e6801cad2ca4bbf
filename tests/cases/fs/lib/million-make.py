# SPDX-License-Identifier: Apache-2.0
# Part of ../million.sh.
import os, sys
files, dirs = int(sys.argv[1]), int(sys.argv[2])
for d in range(dirs):
    os.mkdir("directory-%d" % d)
    for f in range(d, files, dirs):
        os.close(os.open("directory-%d/file-%07d.c" % (d, f), os.O_CREAT | os.O_WRONLY, 0o644))
