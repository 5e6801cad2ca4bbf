#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [process] seccomp: which list is in force, what it refuses, and what explain says about it.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
for list in default strict no-exec; do
	printf '[policy]\nversion = 1\nextends = medium\n[process]\nseccomp = %s\n' $list >"../$list.policy"
done
# System V shared memory, another program, and a program that computes.
shm='import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
n = libc.shmget(0, 4096, 0o600)
print("shmget", os.strerror(ctypes.get_errno()) if n < 0 else "fine")'
another='import os
try:
    os.execv("/bin/true", ["true"])
except OSError as e:
    print("execv", e.strerror)'
fork='import os
pid = os.fork()
if pid == 0:
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))'

expect 0 "$WARDFS" run --policy ../default.policy -- /usr/bin/python3 -c "$shm"
has "$OUT" "shmget fine"
expect 0 "$WARDFS" run --policy ../strict.policy --session strict -- /usr/bin/python3 -c "$shm"
has "$OUT" "shmget Function not "
expect 0 "$WARDFS" audit show -v --kind session.start strict
has "$OUT" '"seccomp":"strict"'
expect 0 "$WARDFS" run --policy ../strict.policy -- /usr/bin/python3 -c "$another"
[ -z "$OUT" ] || fail "$OUT"
# Work goes on under strict.
cat >hello.c <<'C'
#include <stdio.h>
int main(void) { puts("built"); return 0; }
C
printf 'hello: hello.c\n\tcc -o hello hello.c\n' >Makefile
expect 0 "$WARDFS" run --policy ../strict.policy -- sh -c 'make -s && ./hello && git add hello.c && git status --short'
has "$OUT" built
has "$OUT" "A  hello.c"

# no-exec: the command itself is executed, by any path that leads to it, and nothing after it.
expect 0 "$WARDFS" run --policy ../no-exec.policy -- /usr/bin/python3 -c "$another"
has "$OUT" "execv Function not "
expect 0 "$WARDFS" run --policy ../no-exec.policy -- python3 -c "$fork"
has "$OUT" 7
printf '#!/bin/sh\necho script\n' >script
chmod +x script
expect 0 "$WARDFS" run --policy ../no-exec.policy -- ./script
has "$OUT" script
expect 126 "$WARDFS" run --policy ../no-exec.policy -- sh -c /bin/true
expect 127 "$WARDFS" run --policy ../no-exec.policy -- no-such-program
expect 126 "$WARDFS" run --policy ../no-exec.policy -- /etc/hosts
# A child of the command, and one that asks at once, are refused as well.
expect 0 "$WARDFS" run --policy ../no-exec.policy -- /usr/bin/python3 -c "$(cat "$WARD_SRC/tests/cases/run/lib/seccomp-children.py")"
has "$OUT" none

# explain: what decides, in which line, and what no list names.
expect 0 "$WARDFS" seccomp explain ioctl
has "$OUT" "EPERM if argument 2 is 0x5412   # TIOCSTI"
expect 0 "$WARDFS" seccomp explain --list no-exec execve
has "$OUT" "allowed once"
hasnt "$OUT" default
expect 0 "$WARDFS" seccomp explain semget
has "$OUT" "default  allowed"
has "$OUT" "strict   ENOSYS"
# Each answer with its reason, whatever the call is asked for.
expect 0 "$WARDFS" seccomp explain read openat ptrace clone mount shmget futex
hasnt "$(printf '%s\n' "$OUT" | grep '\.list:' | grep -v '#')" "list:"
has "$OUT" "EPERM   # nothing is added to the view"
expect 1 "$WARDFS" seccomp explain not_a_call
has "$OUT" "ENOSYS   # not in the list"
expect 2 "$WARDFS" seccomp explain --list tight read
has "$ERR" "default, strict or no-exec"
expect 2 "$WARDFS" seccomp explain
exit 0
