#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Rare system calls answer in a session as docs/posix.md says. The control is the native answer.
# Also: programs that may be executed but not read.
set -eu
. "$WARD_SRC/tests/lib.sh"
XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config
export XDG_STATE_HOME XDG_CONFIG_HOME
project p
cd p || exit 1
cp "$WARD_SRC/tests/cases/fs/lib/answers.py" .

# Without the growth that medium allows, which is less than where pwrite writes.
printf '[policy]\nversion = 1\nextends = medium\n[quota /workspace]\ngrowth = none\n' >../policy
expect 0 "$WARDFS" run --policy ../policy -- python3 answers.py
# The questions, natively on ext4 and in a session.
cat >../want <<'END'
get xattr no.such|EOPNOTSUPP|EOPNOTSUPP
set xattr no.such|EOPNOTSUPP|EOPNOTSUPP
get xattr user.none|ENODATA|ENODATA
get xattr security.none|ENODATA|ENODATA
set xattr user.wardfs.none|done|EPERM
set xattr trusted.none|done|EPERM
name_to_handle_at|done|EOPNOTSUPP
open_by_handle_at|done|EPERM
F_SETLEASE|done|EINVAL
FS_IOC_GETFLAGS|done|ENOTTY
FALLOC_FL_COLLAPSE_RANGE|done|EOPNOTSUPP
FALLOC_FL_INSERT_RANGE|done|EOPNOTSUPP
RWF_NOWAIT|done|EOPNOTSUPP
STATX_DIOALIGN|told|not told
attributes of statx|told|not told
st_dev|a device|none
f_type|ef53|65735546
lseek|EINVAL|done
pwrite|EFBIG|EFBIG
epoll|EPERM|ready
pipe of mode 0|done|done
socket of mode 0|done|done
character device|done|EPERM
block device|done|EPERM
chroot|ENOENT|EPERM
quotactl|EINVAL|EPERM
io_uring_setup|EFAULT|EPERM
/proc/locks|told|empty
execve of a long path|ENAMETOOLONG|ENAMETOOLONG
execve of no path|EFAULT|EFAULT
execveat of no descriptor|EBADF|EBADF
execveat beneath no descriptor|EBADF|EBADF
RWF_DONTCACHE|done|EOPNOTSUPP
STATX_WRITE_ATOMIC|told|not told
file_getattr|done|EOPNOTSUPP
chown to another id|done|EINVAL
ACL that names another id|done|EINVAL
setuid to another id|done|EINVAL
END
# Linux has the last two since 6.13 and 6.17, and the one before for ext4 since 6.16.
if [ "$(printf '6.17\n%s\n' "$(uname -r)" | sort -V | head -n 1)" != 6.17 ]; then
	sed -i '/^RWF_DONTCACHE/d; /^STATX_WRITE_ATOMIC/d; /^file_getattr/d' ../want
	OUT=$(printf '%s\n' "$OUT" |
		sed '/^RWF_DONTCACHE/d; /^STATX_WRITE_ATOMIC/d; /^file_getattr/d')
fi
[ "$OUT" = "$(cut -d '|' -f 1,3 --output-delimiter ' ' ../want)" ] || fail "in a session: $OUT"
# The control, but for what ext4 has and others lack.
python3 answers.py >../native
cut -d '|' -f 1,2 --output-delimiter ' ' ../want >../there
if [ "$(stat -f -c %T .)" = ext2/ext3 ]; then
	cmp ../native ../there || fail "natively: $(diff ../native ../there)"
fi

# An overlay's upper directory, in a mount of root's; natively it can be.
overlay() {
	rm -rf "$1/work" "$1/upper"
	mkdir "$1/work" "$1/upper"
	unshare --mount --propagation private \
		mount -t overlay -o "lowerdir=../lower,upperdir=$1/upper,workdir=$1/work" overlay ../over
}
mkdir ../at ../lower ../over ../plain
"$WARDFS" mount --allow-other . ../at || fail "mount"
overlay ../plain || fail "control: an overlay"
! overlay ../at 2>../err || fail "an overlay's upper directory in the tree"
grep -q "wrong fs type" ../err || fail "an overlay: $(cat ../err)"

# A mount of it that maps ids.
by=$WARD_SRC/tests/cases/fs/lib/answers-idmapped.py
found=$(python3 "$by" .) || fail "control: a mount that maps ids"
[ "$found" = "done" ] || [ "$(stat -f -c %T .)" != ext2/ext3 ] || fail "control: a mount that maps ids: $found"
found=$(python3 "$by" ../at) || fail "a mount that maps ids"
[ "$found" = EINVAL ] || fail "a mount that maps ids: $found"

# A lease is refused in sessions alone.
python3 -c 'import fcntl, os
fcntl.fcntl(os.open("../at/p.lease", os.O_RDWR | os.O_CREAT), fcntl.F_SETLEASE, fcntl.F_WRLCK)' || fail "a lease"
rm ../at/p.lease

# A file handle, root's: it leads to the file for as long as the kernel keeps that. So does the hint
# of F_SET_RW_HINT.
echo content >held
by=$WARD_SRC/tests/cases/fs/lib/answers-handle.py
found=$(python3 "$by" . | tr '\n' ' ')
[ "$found" = "content hint 4 content " ] || fail "control: by a handle: $found"
found=$(python3 "$by" ../at | tr '\n' ' ')
[ "$found" = "content hint 4 Stale file handle hint 0 " ] || fail "by a handle: $found"
"$WARDFS" umount ../at || fail "umount"

# A program that may be executed but not read, in a mount of many users: as natively, it runs, its
# content cannot be read, and its process cannot be traced by the user who started it.
by=$WARD_TMP/trace.py
cp "$WARD_SRC/tests/cases/fs/lib/answers-trace.py" "$by"
other() {
	setpriv --reuid=4712 --regid=4712 --clear-groups "$@"
}
# traced WHAT WANT: the program runs natively and in the mount, and both answer WANT.
traced() {
	for at in . ../at; do
		found=$(other python3 "$by" "$at/run") || fail "$1: $at: $found"
		[ "$found" = "$2" ] || fail "$1: $at: $found"
	done
}
chmod 711 "$WARD_TMP" .
cp /bin/sleep run
chmod 0755 run
"$WARDFS" mount --allow-other . ../at || fail "mount"
traced "control: a program that may be read" opened
# The kernel still has the mode of before in mind.
chmod 0711 run
found=$(other python3 "$by" ../at/run)
[ "$found" = "Permission denied" ] || fail "a program that the host closed just now: $found"
traced "a program that may only be executed" "Permission denied"
! other cat run >../out 2>&1 || fail "control: it was read natively"
! other cat ../at/run >../out 2>&1 || fail "it was read"
cp ../at/run ../read || fail "control: root may read it"
# The same by an ACL, which the mode does not show.
chmod 0755 run
setfacl -m u:4712:r-x run
traced "control: a program that an ACL lets the user read" opened
setfacl -m u:4712:--x run
traced "a program that an ACL lets the user execute only" "Permission denied"
! other cat ../at/run >../out 2>&1 || fail "it was read in spite of the ACL"
setfacl -b run
chmod 0700 run
traced "a program that may not be executed" "not executed: Permission denied"
printf '#!/bin/sh\n' >run
chmod 0711 run
! other ./run 2>../err || fail "control: a script that cannot be read"
! other ../at/run 2>../err || fail "a script that cannot be read"
"$WARDFS" umount ../at || fail "umount"
# The host's root owns the program, so it is a matter of modes: rules are asked all the same.
cp /bin/sleep run
chmod 0711 run
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nwrite = /workspace\n' >../policy
printf 'deny = /workspace/run\n' >>../policy
"$WARDFS" mount --allow-other --policy ../policy . ../at || fail "mount"
found=$(other python3 "$by" ../at/run)
"$WARDFS" umount ../at || fail "umount"
[ "$found" = "not executed: Permission denied" ] || fail "a program under a rule of deny: $found"
# In a session the kernel asks nobody who may trace the process, so the program is refused.
chown -R 4712:4712 .
chown 0:0 run
chmod 0755 run
expect 0 "$WARDFS" run -- sh -c './run 0'
chmod 0711 run
expect 126 "$WARDFS" run -- sh -c './run 0'
