# SPDX-License-Identifier: Apache-2.0
# Part of ../setuid.sh.
# Puts other content under a file's name by a shared mapping.
import mmap, sys
with open(sys.argv[1], "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
    m[0:5] = b"AGENT"
