# SPDX-License-Identifier: Apache-2.0
# Part of ../uring.sh.
import os, sys, threading
def client(n):
    name = "c%d" % n
    data = os.urandom(1 << 20) + bytes(n)
    for i in range(6):
        with open(name, "wb", buffering=0) as f:
            at = 0
            # below and above what is copied, and what goes to the pool
            for size in (1, 4096, 8192, 8193, 100000, 262144, 262145, len(data)):
                at += f.write(data[at:at + size])
            while at < len(data):
                at += f.write(data[at:])
            os.fsync(f.fileno())
            os.posix_fallocate(f.fileno(), 0, len(data))
        with open(name, "rb", buffering=0) as f:
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            got = b""
            while part := f.read(1 << 20):
                got += part
        assert got == data, (n, i, len(got), len(data))
        os.setxattr(name, "user.a", data[:60000 if sys.argv[1] == "big" else 3000])
        assert os.getxattr(name, "user.a") == data[:60000 if sys.argv[1] == "big" else 3000]
        os.mkdir(name + ".d")
        for k in range(50):
            os.close(os.open(name + ".d/%d" % k, os.O_CREAT | os.O_WRONLY))
        assert len(os.listdir(name + ".d")) == 50
        for k in range(50):
            os.unlink(name + ".d/%d" % k)
        os.rmdir(name + ".d")
        os.statvfs(".")
errors = []
def guarded(n):
    try:
        client(n)
    except BaseException as e:
        errors.append((n, repr(e)))
threads = [threading.Thread(target=guarded, args=(n,)) for n in range(12)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert not errors, errors
