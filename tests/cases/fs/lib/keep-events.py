# SPDX-License-Identifier: Apache-2.0
# Part of ../keep.sh.
import os, sys
os.chdir(sys.argv[1])
for i in range(1, 20000):
    os.link("many/0", f"many/{i}")
os.unlink("f")
open("absent", "w").close()
os.truncate("d/e/f", 3)
