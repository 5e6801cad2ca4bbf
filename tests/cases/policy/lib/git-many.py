# SPDX-License-Identifier: Apache-2.0
# Part of ../git-many.sh. In the project:
#   make               4200 bare repositories in a/
#   spoil              most of them go, the others lose what makes them repositories
#   long               250 bare repositories at paths of 3.5 KiB, in long/
#   files DIR COUNT PLACE [BYTES]
#                      so many files of guards, each of so many, of projects beneath PLACE
import os
import shutil
import sys

what, *args = sys.argv[1:]
if what == "make":
    for i in range(4200):
        for name in "objects", "refs":
            os.makedirs(f"a/r{i}/{name}")
        open(f"a/r{i}/HEAD", "w", encoding="ascii").close()
elif what == "spoil":
    for i in range(4200):
        if i < 4000:
            shutil.rmtree(f"a/r{i}")
        else:
            os.unlink(f"a/r{i}/HEAD")
elif what == "long":
    os.mkdir("long")
    os.chdir("long")
    for i in range(13):
        os.mkdir("d" * 250)
        os.chdir("d" * 250)
    for i in range(250):
        for name in "objects", "refs":
            os.makedirs(f"r{i:03}{'x' * 240}/{name}")
        open(f"r{i:03}{'x' * 240}/HEAD", "w", encoding="ascii").close()
else:
    to, count, place, *size = args
    entry = ("/" + "y" * 200) * 17
    more = int(size[0]) // len(entry) if size else 0
    for i in range(int(count)):
        with open(f"{to}/{i}-{os.path.basename(place)}", "wb") as f:
            f.write(b"wardfs-guards 1\0t %s/%d\0g x\0" % (place.encode(), i))
            for k in range(more):
                f.write(b"g %d%s\0" % (k, entry.encode()))
