# SPDX-License-Identifier: Apache-2.0
# Part of ../records.sh.
import ctypes, os, time
def burst(name):
    for _ in range(100):
        os.close(os.open("old", os.O_RDONLY))
    os.close(os.open(name, os.O_RDONLY))
for n in range(20):
    if os.fork() == 0:
        burst("ro")
        os.execv("/bin/cat", ["cat", "after-exec"])
    os.wait()
burst("ro")
ctypes.CDLL(None).prctl(15, ctypes.c_char_p(b"other name"), 0, 0, 0)
time.sleep(0.01)
burst("after-rename")
