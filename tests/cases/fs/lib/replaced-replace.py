# SPDX-License-Identifier: Apache-2.0
# Part of ../replaced.sh.
import os, sys
where, stop = sys.argv[1:3]
os.chdir(where)
me = os.path.basename(stop)
n = 0
while not os.path.exists(stop):
    t = "new-%s-%d" % (me, os.getpid())
    with open(t, "w") as f:
        f.write("%s %d\n" % (me, n))
    os.chmod(t, 0o755)
    os.rename(t, "f")
    os.symlink("%s-%d" % (me, n), t)
    os.rename(t, "l")
    n += 1
    if n == 60:
        open(stop + ".enough", "w").close()
with open(stop + ".n", "w") as f:
    f.write(str(n))
