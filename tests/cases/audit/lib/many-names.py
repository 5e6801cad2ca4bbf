# SPDX-License-Identifier: Apache-2.0
# Part of ../many-names.sh.
# Gives a file one name after the other, and its own again at the end.
import os, sys
open("main.c", "a").close()
last = "main.c"
for i in range(int(sys.argv[1])):
    os.rename(last, f"t{i}")
    last = f"t{i}"
os.rename(last, "main.c")
