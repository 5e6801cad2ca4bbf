# SPDX-License-Identifier: Apache-2.0
# Part of ../hidden-counts.sh: numbers in file handles.
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def number(name):
    buf = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
    mount = ctypes.c_int()
    if libc.name_to_handle_at(-100, name.encode(), buf, ctypes.byref(mount), 0) < 0:
        sys.exit("name_to_handle_at: %s" % os.strerror(ctypes.get_errno()))
    high, low = struct.unpack_from("II", buf.raw, 8)
    return high << 32 | low
def make(name):
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o644))
    return number(name)
def same(got, want, what):
    if got != want:
        sys.exit("FAIL: %s: %d is not %d" % (what, got, want))
back = sys.argv[1]
os.mkdir("handles")
number("handles")
first = make("handles/a")
same(make("handles/b"), first + 1, "the next file")
make("handles/c")
same(make("handles/d"), first + 3, "control: a file in between")
for i in range(20):
    os.mkdir(back + "/handles/%d.pem" % i)
    open(back + "/handles/%d.pem/key" % i, "w").close()
    for path in "handles/%d.pem" % i, "handles/%d.pem/key" % i:
        if os.path.lexists(path):
            sys.exit("FAIL: %s is seen" % path)
same(len(os.listdir("handles")), 4, "listed")
list(os.scandir("handles"))
same(make("handles/e"), first + 4, "what is hidden in between")
