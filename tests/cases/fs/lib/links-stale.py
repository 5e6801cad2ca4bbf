# SPDX-License-Identifier: Apache-2.0
# Part of ../links.sh.
import os, sys
def write(path):
    os.close(os.open(path, os.O_WRONLY | os.O_APPEND))
# Open files stay in the kernel's caches, even if memory is short.
keep = [os.open(path, os.O_PATH) for path in ("outside", "inside")]
for i in range(60):
    for path in ("outside", "inside"):
        names = ["%s-%d-%d" % (path, i, k) for k in range(20 if i % 4 == 3 else 2 + i % 3)]
        for n in names:
            os.link(path, n)
            assert os.stat(n).st_nlink > 1
        write(names[0]) if path == "inside" else None
        os.unlink(sys.argv[1] + "/" + names[0])
        for k in range(i % 7 + 1):
            try:
                write(path)
                if path == "outside":
                    sys.exit("FAIL: opened for writing, %d" % i)
            except PermissionError:
                if path == "inside":
                    sys.exit("FAIL: control")
            try:
                os.truncate(path, 0)
                if path == "outside":
                    sys.exit("FAIL: cut, %d" % i)
            except PermissionError:
                if path == "inside":
                    sys.exit("FAIL: control, truncate")
        for n in names[1:]:
            os.unlink(n)
