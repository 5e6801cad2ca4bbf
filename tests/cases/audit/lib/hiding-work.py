# SPDX-License-Identifier: Apache-2.0
# Part of ../hiding.sh.
import os, threading
def flood(n):
    for i in range(400):
        try:
            os.open(".env", os.O_RDONLY)
        except FileNotFoundError:
            pass
        if i == 200:
            open(f"needle-{n}", "w").close()
threads = [threading.Thread(target=flood, args=(n,)) for n in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
# By a handle that was given no rights, then without a name.
handle = os.open("victim", os.O_PATH)
fd = os.open(f"/proc/self/fd/{handle}", os.O_RDWR)
os.write(fd, b"by handle")
os.unlink("victim")
os.pwrite(fd, b"nameless", 100)
os.ftruncate(fd, 3)
os.close(fd)
fd = os.open(".", os.O_TMPFILE | os.O_RDWR)
os.write(fd, b"no name at all")
os.close(fd)
for byte in range(1, 256):
    if byte != ord("/"):
        open(b"name" + bytes([byte]), "w").close()
open('x","mac":"' + "0" * 64 + '"}', "w").close()
open('{"v":1,"seq":3,"session":"a","kind":"gap"', "w").close()
# Two files that differ where no record has room left, one of which replaces the other.
for i in range(30):
    os.mkdir("d" * 250)
    os.chdir("d" * 250)
for name in "left", "right":
    with open(name, "w") as f:
        print("deep", name, os.fstat(f.fileno()).st_ino)
os.rename("left", "right")
