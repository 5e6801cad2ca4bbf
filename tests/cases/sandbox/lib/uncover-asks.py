# SPDX-License-Identifier: Apache-2.0
# Part of ../uncover.sh.
import ctypes, os, signal, sys
os.chdir("/workspace")
libc = ctypes.CDLL(None, use_errno=True)
def exchange(): # the one rename for which the kernel does not look at the other name again
    if libc.renameat2(-100, b"a", -100, b"b", 2) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
call = {"rmdir": lambda: os.rmdir("a"), "rename": exchange}[sys.argv[1]]
signal.signal(signal.SIGUSR2, lambda *_: None)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
signal.alarm(600)
def attempt(what):
    try:
        print(what(), flush=True)
    except OSError as e:
        print(e.strerror, flush=True)
def asked():
    # Nothing that waits for the guard is left to do, as it would be for a file: the host sees that
    # before its answer.
    print("up", flush=True)
    signal.sigwait([signal.SIGUSR1])
    if not os.fork():
        open("/proc/self/comm", "w").write("asks")
        attempt(call)
        os._exit(0)
    return os.wait()[1]
while asked() == signal.SIGKILL and os.stat("a").st_dev != os.stat("a/inner").st_dev:
    os.stat("b")
attempt(lambda: open("a/inner/covered").read())
attempt(lambda: open("a/inner/mine", "w").close())
attempt(lambda: os.listdir("a/inner"))
if os.stat("a").st_dev == os.stat("a/inner").st_dev:
    open("done", "w").close()
    signal.pause()
