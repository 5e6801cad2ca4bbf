# SPDX-License-Identifier: Apache-2.0
# Part of ../view.sh.
import os
names = [b"new\nline", b"ctl\x1b[31m", b"\xff\xfe bad", b"x" * 255, b" lead", b"q\"uote\\"]
for n in names:
    fd = os.open(n, os.O_CREAT | os.O_WRONLY)
    os.write(fd, n)
    os.close(fd)
assert set(names) <= set(os.listdir(b".")), os.listdir(b".")
for n in names:
    assert open(n, "rb").read() == n
    os.rename(n, n[:200] + b".2")
    os.unlink(n[:200] + b".2")
