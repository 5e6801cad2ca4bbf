# SPDX-License-Identifier: Apache-2.0
# Part of ../node-ids.sh.
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def ids(names):
    fd = libc.inotify_init1(0)
    for name in names:
        # IN_CLOSE
        assert libc.inotify_add_watch(fd, name.encode(), 8) >= 0, name
    text = open("/proc/self/fdinfo/%d" % fd).read()
    os.close(fd)
    handles = [l.split("f_handle:")[1].strip() for l in text.splitlines() if "f_handle:" in l]
    # fuse_encode_fh() of the kernel: the upper half first
    return [struct.unpack("<II", bytes.fromhex(h)[:8]) for h in handles]
got = ids(["a", "b", "d"])
# control: this is where they show, and they are those of different files
assert len(got) == 3 and len(set(got)) == 3 and (0, 0) not in got, got
for upper, lower in got:
    if upper > 100 or lower > 10000:
        sys.exit("FAIL: %x %x" % (upper, lower))
