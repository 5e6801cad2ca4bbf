# SPDX-License-Identifier: Apache-2.0
# Part of ../setuid.sh: three ways to a setuid program. Prints the name of each one's error.
import errno
import mmap
import os

with open("/bin/true", "rb") as f:
    content = f.read()


def made():
    fd = os.open("made", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    os.write(fd, content)
    os.fchmod(fd, 0o4755)


def mapped():
    fd = os.open("mapped", os.O_RDWR)
    with mmap.mmap(fd, len(content)) as m:
        m[:] = content
        m.flush()


def tried(act):
    try:
        act()
    except OSError as e:
        return errno.errorcode[e.errno]
    return None


print([tried(act) for act in (lambda: os.chmod("set", 0o4755), made, mapped)])
