# SPDX-License-Identifier: Apache-2.0
# Part of ../million.sh.
import os, sys
pid, files, dirs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def memory():
    with open("/proc/%s/status" % pid) as f:
        return sum(int(line.split()[1]) * 1024 for line in f if line.startswith("RssAnon"))
def descriptors():
    return len(os.listdir("/proc/%s/fd" % pid))
os.stat("directory-0")
before, fds = memory(), 0
for d in range(dirs):
    for f in range(d, files, dirs):
        os.lstat("directory-%d/file-%07d.c" % (d, f))
    if d % 100 == 0:
        fds = max(fds, descriptors())
def failed(error):
    raise error
listed = {where: len(names) for where, folders, names in os.walk(".", onerror=failed)}
assert len(listed) == dirs + 1, len(listed)
assert sum(listed.values()) == files, sorted(listed.items(), key=lambda at: at[1])[:5]
print((memory() - before) // files, max(fds, descriptors()))
