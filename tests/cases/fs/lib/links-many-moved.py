# SPDX-License-Identifier: Apache-2.0
# Part of ../links-many.sh.
import os, sys, time
back, away = sys.argv[1:]
def write():
    os.close(os.open("a/f", os.O_WRONLY))
def allowed(what):
    try:
        write()
    except PermissionError:
        sys.exit("FAIL: control: " + what)
def refused(what):
    try:
        write()
    except PermissionError:
        return
    sys.exit("FAIL: opened for writing: " + what)
# What the host made is known once the kernel has asked for it: not before it heard that something
# changed.
def soon(what, *paths):
    for _ in range(1200):
        try:
            for p in paths:
                os.stat(p)
            return write()
        except (PermissionError, FileNotFoundError):
            time.sleep(0.05)
    sys.exit("FAIL: control: never " + what)
names = ["%s/l%d" % (d, i) for d in "abc" for i in range(10)]
for d in "abc":
    os.mkdir(d)
open("a/f", "w").close()
# Open files stay in the kernel's caches, even if memory is short.
keep = [os.open(p, os.O_PATH) for p in ("a/f", "b", "c")]
for n in names:
    os.link("a/f", n)
for r in range(40):
    for k in range(r % 4 + 1):
        allowed("all names are known, %d" % r)
    # one name: to another place in the tree, then out of it, and back
    n = names[r % len(names)]
    os.rename(back + "/" + n, back + "/b/new")
    soon("moved inside, %d" % r, "b/new")
    os.rename(back + "/b/new", away + "/new")
    refused("a name moved out, %d" % r)
    refused("a name moved out, again, %d" % r)
    if r % 2:
        os.link("a/f", "c/more")
        refused("and another made, %d" % r)
        os.unlink("c/more")
    os.unlink(away + "/new")
    allowed("the link outside is gone, %d" % r)
    os.link("a/f", n)
    # While the word of what the host did to that name before is on its way, the answer may still be
    # no.
    soon("a name made again, %d" % r, n)
    # a link outside, and a name less
    os.link(back + "/a/f", away + "/x")
    os.unlink(back + "/" + n)
    refused("as many links as names, %d" % r)
    os.rename(away + "/x", back + "/" + n)
    soon("back again, %d" % r, n)
    # with its directory, for which another one comes
    if r % 4 == 0:
        os.rename(back + "/c", away + "/c")
        if r % 8 == 0:
            os.mkdir(back + "/c")
        refused("a directory moved out, %d" % r)
        if r % 8 == 0:
            os.rmdir(back + "/c")
        os.rename(away + "/c", back + "/c")
        soon("a directory back again, %d" % r, *("c/l%d" % i for i in range(10)))
