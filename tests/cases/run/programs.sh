#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [process] exec: only listed programs are executed, whatever way the command uses. Each attempt
# first succeeds without a list.
set -eu
. "$WARD_SRC/tests/lib.sh"
KNOCKOUT=$WARD_BUILD/tests/support/knockout
loader=$(readelf -l /usr/bin/id | sed -n 's/.*interpreter: \(.*\)]/\1/p')
[ -x "$loader" ] || fail "no loader: $loader"
python=$(readlink -f /usr/bin/python3)
project p
cd p || exit 1
mkdir bin out
cp /usr/bin/id id-copy
cp /usr/bin/id bin/tool
printf '#!/bin/sh\necho from-a-script\n' >script
chmod +x script
ln -s /usr/bin/id id-link
head='[policy]
version = 1
[files]
write = /workspace
[process]'
printf '%s\nseccomp = default\n' "$head" >../any.policy
printf '%s\nexec = /bin/sh\nexec = /bin/cat\nexec = %s\nexec = /usr/bin/chmod\nexec = /usr/bin/ln\n' \
	"$head" "$python" >../list.policy
printf '%s\nexec = /bin/sh\nexec = %s\nexec = /workspace/bin\n' "$head" "$python" >../tree.policy

any() {
	expect "$1" "$WARDFS" run --policy ../any.policy -- sh -c "$2"
}
list() {
	expect "$1" "$WARDFS" run --policy ../list.policy --session list -- sh -c "$2"
}
# both SCRIPT TEXT WHY: succeeds and says TEXT without a list; with it fails and says WHY.
both() {
	any 0 "$1"
	has "$OUT" "$2"
	"$WARDFS" run --policy ../list.policy -- sh -c "$1" >../out 2>../err &&
		grep -q "$2" ../out && fail "with the list it works: $1: $(cat ../out)"
	hasnt "$(cat ../out)" "$2"
	has "$(cat ../err)" "$3"
}

# A listed program works: by a link's name, by the name behind it, as a link of one's own.
list 0 'cat /etc/hostname && /usr/bin/cat /etc/hostname && exec /bin/cat /etc/hostname'
[ "$(printf '%s\n' "$OUT" | grep -c wardfs)" = 3 ] || fail "$OUT"
# Unlisted: by path, PATH, symbolic link; a copy in the tree, in /tmp, in the home, in /dev/shm.
both '/usr/bin/id >&2 && echo ran' ran 'Permission denied'
both 'id >&2 && echo ran' ran 'Permission denied'
both './id-link >&2 && echo ran' ran 'Permission denied'
both './id-copy >&2 && echo ran' ran 'Permission denied'
for place in /tmp /var/tmp /dev/shm "\$HOME"; do
	both "cat /usr/bin/id >$place/x && chmod 755 $place/x && $place/x >&2 && echo ran" ran 'Permission denied'
	# ld.so only reads what it is given: the mount lets nothing of it be mapped as code.
	both "cat /usr/bin/id >$place/x && $loader $place/x >&2 && echo ran" ran 'failed to map segment'
done
both "$loader ./id-copy >&2 && echo ran" ran 'failed to map segment'
both "$loader /usr/bin/id >&2 && echo ran" ran 'failed to map segment'
# A hard link to something unlisted is no other file; nor does one to a listed program help.
both 'ln -f id-copy hard && ./hard >&2 && echo ran' ran './hard: Permission denied'
rm -f hard
# A script runs where its interpreter may, and itself; not by its name alone.
both './script' from-a-script 'Permission denied'
# A library of one's own is not code either.
cat >lib.c <<'C'
#include <unistd.h>
__attribute__((constructor)) static void loaded(void) { (void)!write(1, "mine\n", 5); }
C
cc -shared -fPIC -o lib.so lib.c
both 'LD_PRELOAD=$PWD/lib.so cat /etc/hostname' mine 'failed to map segment'

# A file without a place: Landlock does not see it, so it is not made. One that can never be
# executed could still be mapped as code, and ld.so would run it.
cp "$WARD_SRC/tests/cases/run/lib/programs-memfd.py" memfd.py
for how in fd path loader; do
	any 0 "$python memfd.py 0 $how $loader"
	has "$OUT" "status 0"
	list 0 "$python memfd.py 0 $how $loader"
	has "$OUT" "memfd_create: Function not "
done
# The control of the sealed ones, where the kernel has them: not executed, but loaded.
any 0 "$python memfd.py 8 fd"
if [ "$OUT" != "memfd_create: Invalid argument" ]; then
	has "$OUT" "status 13"
	any 0 "$python memfd.py 8 loader $loader"
	has "$OUT" "status 0"
fi
for how in fd loader; do
	list 0 "$python memfd.py 8 $how $loader"
	has "$OUT" "memfd_create: Function not "
done

# In a tree the guard decides by name: the listed directory alone, also for what comes to be there.
expect 0 "$WARDFS" run --policy ../tree.policy -- sh -c 'bin/tool >/dev/null && echo ran'
has "$OUT" ran
expect 126 "$WARDFS" run --policy ../tree.policy --session tree -- sh -c ./id-copy
expect 0 "$WARDFS" audit denials tree
has "$OUT" "exec"
has "$OUT" "tree.policy"
# Moving a directory to where what is in it would become a program: no right is gained so.
mkdir out/d
cp id-copy out/d/t
move='import os, sys
try:
    os.rename("out/" + sys.argv[1], "bin/" + sys.argv[1])
    print("moved")
except OSError as e:
    print(os.strerror(e.errno))'
for what in d d/t; do
	mkdir -p bin/d
	[ $what = d ] && rmdir bin/d
	expect 0 "$WARDFS" run --policy ../tree.policy -- "$python" -c "$move" $what
	has "$OUT" "Invalid cross-device link"
	expect 0 "$WARDFS" run --policy ../any.policy -- "$python" -c "$move" $what
	has "$OUT" moved
	[ $what = d ] && mv bin/d out/d
done
rm -rf bin/d

# The command itself; what is refused is told and recorded, with the list's place.
expect 126 "$WARDFS" run --policy ../list.policy --session cmd -- id
has "$ERR" "[process] exec"
expect 0 "$WARDFS" audit denials cmd
has "$OUT" "list.policy:6"
expect 0 "$WARDFS" audit show --json --kind session.start list
has "$OUT" '"loaders":["'
has "$OUT" '/usr/bin/dash"'

# explain and check say the same.
expect 0 "$WARDFS" policy explain --policy ../list.policy exec /bin/sh
expect 1 "$WARDFS" policy explain --policy ../list.policy exec /usr/bin/id
has "$OUT" "[process] exec"
expect 1 "$WARDFS" policy explain --policy ../tree.policy exec id-copy
has "$OUT" "to permit it: only programs of the list [process] exec"
expect 0 "$WARDFS" policy explain --policy ../tree.policy exec bin/tool
expect 0 "$WARDFS" policy explain --policy ../any.policy exec id-copy
expect 0 "$WARDFS" policy check ../list.policy
has "$OUT" "can run any code"
has "$OUT" "$python"
has "$OUT" "through it"
expect 0 "$WARDFS" policy check ../tree.policy
has "$OUT" "a tree that may be written"
expect 0 "$WARDFS" policy check ../any.policy
hasnt "$OUT" "[process] exec"

# A script whose interpreter is not listed is told of before it fails.
printf '%s\nexec = /usr/bin/cat\nexec = /usr/bin/ldd\n' "$head" >../script.policy
expect 0 "$WARDFS" run --policy ../script.policy -- cat /etc/hostname
has "$ERR" "which is not listed: it will not run"

# A list that cannot be enforced is refused by name.
printf '%s\nexec = /bin/sh\nexec = /tmp/tool\n' "$head" >../tmp.policy
expect 2 "$WARDFS" run --policy ../tmp.policy -- sh -c true
has "$ERR" "beneath /tmp"
printf '%s\nexec = /bin/sh\nexec = /bin/cat\nexec = /tmp\n' "$head" >../tmp.policy
expect 0 "$WARDFS" run --policy ../tmp.policy -- sh -c 'cat /usr/bin/id >/tmp/x; exec 3</tmp/x; true'
expect 125 "$WARDFS" run --policy ../list.policy --mode process -- sh -c true
has "$ERR" "--mode restricted"
expect 0 "$KNOCKOUT" landlock_create_ruleset=ENOSYS -- "$WARDFS" run --policy ../any.policy -- sh -c true
expect 125 "$KNOCKOUT" landlock_create_ruleset=ENOSYS -- "$WARDFS" run --policy ../list.policy -- sh -c true
has "$ERR" "guarantee 'programs' needs Landlock"
has "$ERR" "fix: "
printf '%s\nexec = sh\n' "$head" >../bare.policy
expect 2 "$WARDFS" run --policy ../bare.policy -- sh -c true
has "$ERR" "/usr/bin/sh"
# The oldest Landlock that is taken holds the list as well: what runs without it is refused by its
# rules.
if [ "$(uname -m)" = x86_64 ]; then
	expect 0 "$KNOCKOUT" landlock-abi=2 -- "$WARDFS" run --policy ../any.policy -- sh -c '/usr/bin/id && ./id-copy'
	expect 126 "$KNOCKOUT" landlock-abi=2 -- "$WARDFS" run --policy ../list.policy --session abi2 -- sh -c /usr/bin/id
	has "$ERR" "Permission denied"
	expect 0 "$KNOCKOUT" landlock-abi=2 -- "$WARDFS" run --policy ../list.policy -- sh -c 'cat /etc/hostname'
	has "$("$WARDFS" audit show --json --kind session.start abi2)" '"landlock_abi":2'
	# One without it refuses the run by name.
	expect 125 "$KNOCKOUT" landlock-abi=1 -- "$WARDFS" run --policy ../list.policy -- sh -c true
	has "$ERR" Landlock
fi
