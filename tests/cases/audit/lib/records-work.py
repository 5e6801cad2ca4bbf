# SPDX-License-Identifier: Apache-2.0
# Part of ../records.sh.
import errno, fcntl, os, threading
os.rename("new", "old")
os.truncate("old", 2)
fd = os.open("old", os.O_WRONLY | os.O_APPEND)
os.write(fd, b"xyz")
os.close(fd)
for path in "ro", "hidden":
    try:
        os.open(path, os.O_WRONLY)
    except OSError as e:
        print(path, errno.errorcode[e.errno])
os.open("ro", os.O_RDONLY)
os.unlink("gone")
t = threading.Thread(target=lambda: open("by-thread", "w").close())
t.start()
t.join()
# Locks: taken, refused, given back; POSIX with a range, flock without.
a, b = os.open("lock", os.O_RDWR | os.O_CREAT, 0o600), os.open("lock", os.O_RDWR)
fcntl.lockf(a, fcntl.LOCK_EX, 10, 5)
if os.fork() == 0:
    try:
        fcntl.lockf(b, fcntl.LOCK_SH | fcntl.LOCK_NB, 2, 6)
    except OSError as e:
        print("lock", errno.errorcode[e.errno])
    os._exit(0)
os.wait()
fcntl.lockf(a, fcntl.LOCK_UN, 10, 5)
fcntl.flock(a, fcntl.LOCK_SH)
try:
    fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError as e:
    print("flock", errno.errorcode[e.errno])
print("pid", open("/proc/self/status").read().split("NSpid:")[1].split()[0])
