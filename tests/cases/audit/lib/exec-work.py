# SPDX-License-Identifier: Apache-2.0
# Part of ../exec.sh.
import os, subprocess, threading
hostile = b"a\xff\n\"b\\c\x1b[31m"
def child(run):
    pid = os.fork()
    if pid == 0:
        try:
            run()
        finally:
            os._exit(99)
    return os.waitpid(pid, 0)[1]
assert child(lambda: os.execv("/bin/true", [b"hostile", hostile, b""])) == 0
assert child(lambda: os.execv("/bin/true", [b"true"] + [b"x" * 500] * 40)) == 0
fd = os.open("/usr/bin/true", os.O_RDONLY)
assert child(lambda: os.execve(fd, [b"by-descriptor"], {})) == 0
t = threading.Thread(target=lambda: child(lambda: os.execv("/bin/true", [b"by-thread"])))
t.start()
t.join()
assert child(lambda: os.execv("nowhere", [b"n"])) == 99 << 8
subprocess.run(["./script", "one", "two words"], check=True)
print("pid", os.getpid(), "namespace")
