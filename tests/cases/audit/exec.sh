#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# [audit] exec: each program that is started inside has a record, with its arguments and who started
# it, before it runs; under signals, from threads, by descriptor; and nobody inside can take the place
# of who listens.
. "$WARD_SRC/tests/cases/lib.sh"
XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config
export XDG_STATE_HOME XDG_CONFIG_HOME
project p
cd p || exit 1

# session NAME SETTINGS CMD…: its exec records go to ../NAME
session() {
	name=$1
	printf '[policy]\nversion = 1\nextends = medium\n[audit]\n%b\n' "$2" >../policy
	shift 2
	expect 0 "$WARDFS" run --policy ../policy --session "$name" -- "$@"
	"$WARDFS" audit verify "$name" >../verdict || fail "$name: $(cat ../verdict)"
	"$WARDFS" audit show --json "$name" | grep -E "\"kind\":\"(exec|program)\"" >"../$name"
	"$WARDFS" audit show --json --kind session.start "$name" >"../$name.start"
}

printf '#!/bin/sh\necho "script $*"\n' >script
chmod +x script
cat >work.py <<'END'
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
END
session yes 'exec = yes' python3 work.py
has "$OUT" "script one two words"
python3 - ../yes <<'END' || fail "the records"
import hashlib, json, os, sys
recs = [json.loads(line) for line in open(sys.argv[1])]
programs = [r for r in recs if r["kind"] == "program"]
recs = [r for r in recs if r["kind"] == "exec"]
by = {}
for r in recs:
    by.setdefault((r.get("argv") or ["?"])[0], []).append(r)
assert all(r["how"] == "observed" and r["action"] == "exec" and r["ring"] == 0 for r in recs)
main = [r for r in by["python3"] if r["argv"][1:] == ["work.py"]][-1]
assert main["path"].endswith("/python3") and main["comm"] == "wardfs-init", main
hostile = by["hostile"][0]
assert hostile["argv"] == ["hostile", 'a\\xff\\n"b\\\\c\\x1b[31m', ""], hostile
assert hostile["path"] == "/bin/true" and hostile["parent"] == main["pid"], hostile
assert hostile["comm"] == "python3" and "/python3" in hostile["exe"], hostile
assert hostile["cwd"] == main["cwd"] and hostile["started"] >= main["started"], hostile
long = by["true"][0]
assert long["cut"] and 6000 < sum(map(len, long["argv"])) <= 6144, "a long list of arguments"
assert by["by-descriptor"][0]["path"].endswith("/usr/bin/true"), by["by-descriptor"]
# which file it was, and once what is in it; not of what is in the tree, which the guard tells
python = [r for r in programs if "/python3" in r["path"]]
assert len(python) == 1 and python[0]["ino"] == main["ino"] and python[0]["dev"] == main["dev"], python
st = os.stat(python[0]["path"])
assert (st.st_dev, st.st_ino, st.st_size) == tuple(python[0][k] for k in ("dev", "ino", "size")), python
with open(python[0]["path"], "rb") as f:
    assert hashlib.sha256(f.read()).hexdigest() == python[0]["sha256"], python
trues = [r for r in programs if r["path"].endswith("/true")]
assert len(trues) == 1, trues
assert "ino" not in by["./script"][0] and "ino" not in by["n"][0]
assert by["by-thread"][0]["path"] == "/bin/true"
# asked for and refused by the kernel: that is why it says "observed"
assert by["n"][0]["path"].endswith("/p/nowhere"), by["n"]
script = by["./script"][0]
assert script["argv"] == ["./script", "one", "two words"] and script["path"].endswith("/p/script"), script
assert len({(r["pid"], r["started"]) for r in recs}) >= 6
END
# One file, however its path is written: inside, in the tree, as the host has it.
for path in script /workspace/script "$PWD/script"; do
	"$WARDFS" audit file --json "$path" yes >../found 2>../found.err || fail "audit file $path: $(cat ../found.err)"
	grep '"kind":"exec"' ../found | grep -q "\"path\":\"$PWD/script\"" || fail "audit file $path: no exec: $(cat ../found)"
	grep '"kind":"open"' ../found | grep -q '"path":"/workspace/script"' || fail "audit file $path: no open: $(cat ../found)"
	grep -q 'as well' ../found.err && fail "another name of the same place: $(cat ../found.err)"
	grep -q 'work.py"' ../found && fail "control: another file"
done
grep -q '"exec":true' ../yes.start || fail "session.start does not say that programs are recorded"
"$WARDFS" audit export --format csv yes | grep -q 'hostile' || fail "the export lacks arguments"

# The controls: without, and with arguments left out, there as in session.start.
session no 'exec = no' sh -c '/bin/true secretly'
[ -s ../no ] && fail "recorded without being asked: $(cat ../no)"
grep -q '"exec":false' ../no.start || fail "session.start: $(cat ../no.start)"
session redacted 'exec = yes\nredact = argv' sh -c '/bin/true secretly'
grep -q '"path":"/bin/true"' ../redacted || fail "nothing recorded: $(cat ../redacted)"
grep -q secretly ../redacted ../redacted.start && fail "arguments in spite of redact"
grep -q secretly ../no.start || fail "the control: session.start has the arguments"
# Beside what else stays out, named before or behind it.
for both in argv-sni sni-argv; do
	session "$both" "exec = yes\nredact = ${both%-*}\nredact = ${both#*-}" sh -c '/bin/true secretly'
	grep -q '"path":"/bin/true"' "../$both" || fail "nothing recorded: $(cat "../$both")"
	grep -q secretly "../$both" "../$both.start" && fail "arguments in spite of $both"
done

# Under a storm of signals, from several at once: each comes back, each has its record, once.
cat >storm.py <<'END'
import os, signal, sys
signal.signal(signal.SIGALRM, lambda *a: None)
kids = []
for k in range(4):
    pid = os.fork()
    if pid == 0:
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        for i in range(50):
            c = os.fork()
            if c == 0:
                signal.setitimer(signal.ITIMER_REAL, 0)
                os.execv("/bin/true", ["storm-%d-%d" % (k, i)])
            while True:
                try:
                    status = os.waitpid(c, 0)[1]
                    break
                except InterruptedError:
                    continue
            if status:
                os._exit(1)
        os._exit(0)
    kids.append(pid)
sys.exit(any(os.waitpid(k, 0)[1] for k in kids))
END
session storm 'exec = yes' python3 storm.py
[ "$(grep -o 'storm-[0-9]*-[0-9]*' ../storm | sort -u | wc -l)" -eq 200 ] || fail "a program without a record"
[ "$(grep -c 'storm-[0-9]*-[0-9]*' ../storm)" -eq 200 ] || fail "a program with two records"

# A listener of one's own: the kernel gives one to a tree of processes alone.
cat >listen.py <<'END'
import ctypes, errno, os, struct
libc = ctypes.CDLL(None, use_errno=True)
code = struct.pack("=HBBI", 6, 0, 0, 0x7fff0000) # BPF_RET: allow
buf = ctypes.create_string_buffer(code)
class Prog(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
prog = Prog(1, ctypes.addressof(buf))
number = {"x86_64": 317, "aarch64": 277}[os.uname().machine]
r = libc.syscall(number, 1, 8, ctypes.byref(prog)) # SET_MODE_FILTER, NEW_LISTENER
print("listener", errno.errorcode[ctypes.get_errno()] if r < 0 else "made")
END
session listen-no 'exec = no' python3 listen.py
has "$OUT" "listener made"
session listen-yes 'exec = yes' python3 listen.py
has "$OUT" "listener EBUSY"
