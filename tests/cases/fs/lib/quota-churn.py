# SPDX-License-Identifier: Apache-2.0
# Part of ../quota-churn.sh.
import errno, os, sys
how, want = sys.argv[1], int(sys.argv[2])
def unlink(f):
    os.unlink(f)
def encrypt(f):
    fd = os.open(f, os.O_RDWR)
    os.pwrite(fd, b"secret", 0)
    os.close(fd)
def replace(f):
    with open(f + ".enc", "w") as out:
        out.write("secret")
    os.rename(f + ".enc", f)
def cut(f):
    os.truncate(f, 0)
def cut_by_opening(f):
    os.close(os.open(f, os.O_WRONLY | os.O_TRUNC))
def cut_reading(f):
    os.close(os.open(f, os.O_RDONLY | os.O_TRUNC))
def away(f):
    os.rename(f, "grave")
    os.unlink("grave")
def exchange(f):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    with open("own", "w") as out:
        out.write("secret")
    if libc.renameat2(-100, b"own", -100, f.encode(), 2):
        raise OSError(ctypes.get_errno(), "exchange")
    os.unlink("own")
def remove_dir(f):
    os.rmdir("d%s" % f)
# what is its own costs nothing, however often
for i in range(15):
    with open("own", "w") as f:
        f.write("x")
    with open("own", "a") as f:
        f.write("x")
    os.truncate("own", 0)
    os.rename("own", "own2")
    os.mkdir("dir")
    os.rmdir("dir")
    os.unlink("own2")
# nor does reading, or making a further name
for f in range(40):
    with open(str(f)) as text:
        assert text.read() == "mine\n"
    os.link(str(f), "link")
    os.rename("link", "l%d" % f)
done = 0
for f in range(40):
    try:
        globals()[how](str(f))
        done += 1
    except OSError as e:
        if e.errno != errno.EDQUOT:
            raise SystemExit("FAIL: %s" % e)
if done != want:
    raise SystemExit("FAIL: %s: %d and not %d" % (how, done, want))
