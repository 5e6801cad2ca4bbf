# SPDX-License-Identifier: Apache-2.0
# Part of ../short.sh.
import os, sys, time
what, much = sys.argv[1], int(sys.argv[2])
def work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
work(0.1)
if what == "bytes":
    with open(sys.argv[3] + "/f", "wb") as f:
        f.write(bytes(much))
    work(0.3)
    os.unlink(sys.argv[3] + "/f")
elif what == "names":
    os.mkdir(sys.argv[3] + "/d")
    for i in range(much):
        open(f"{sys.argv[3]}/d/{i}", "w").close()
    work(0.3)
    for i in range(much):
        os.unlink(f"{sys.argv[3]}/d/{i}")
elif what == "files":
    # Counted less often, and a sanitized supervisor counts slowly.
    keep = [open("/dev/null") for _ in range(much)]
    work(1.5)
    keep = None
elif what == "processes":
    children = []
    for _ in range(much):
        pid = os.fork()
        if pid == 0:
            time.sleep(60)
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.kill(pid, 9)
    for pid in children:
        os.waitpid(pid, 0)
work(0.1)
