# SPDX-License-Identifier: Apache-2.0
# Part of ../names.sh.
import os
os.close(os.open("alone", os.O_WRONLY))
os.link("important", "innocent")
os.stat("innocent")
os.close(os.open("important", os.O_WRONLY))
os.chmod("important", 0o600)
os.link("important", "third")
os.stat("third")
os.close(os.open("innocent", os.O_RDONLY))
os.unlink("innocent")
os.unlink("third")
os.truncate("important", 0)
# deeper than a path is long
for i in range(25):
    n = "e" * 250
    os.mkdir(n)
    os.chdir(n)
os.close(os.open("deep", os.O_CREAT | os.O_WRONLY))
# the kernel announces a close without waiting: behind what waits, it has been heard
os.mkdir("behind")
