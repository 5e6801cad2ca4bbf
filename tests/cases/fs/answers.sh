#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Rare system calls answer in a session as docs/posix.md says. The control is the native answer.
# Also: a program that may only be executed.
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
io_uring_setup|EFAULT|EPERM
/proc/locks|told|empty
chown to another id|done|EINVAL
ACL that names another id|done|EINVAL
setuid to another id|done|EINVAL
END
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

# A lease is refused in sessions alone.
python3 -c 'import fcntl, os
fcntl.fcntl(os.open("../at/p.lease", os.O_RDWR | os.O_CREAT), fcntl.F_SETLEASE, fcntl.F_WRLCK)' || fail "a lease"
rm ../at/p.lease

# A file handle, root's: it leads to the file for as long as the kernel keeps that.
echo content >held
by=$WARD_SRC/tests/cases/fs/lib/answers-handle.py
found=$(python3 "$by" . | tr '\n' ' ')
[ "$found" = "content content " ] || fail "control: by a handle: $found"
found=$(python3 "$by" ../at | tr '\n' ' ')
[ "$found" = "content Stale file handle " ] || fail "by a handle: $found"
"$WARDFS" umount ../at || fail "umount"

# A user who may execute the program could read its memory, so wardfs refuses. Natively the kernel
# forbids to read that memory.
other() {
	setpriv --reuid=4712 --regid=4712 --clear-groups "$@"
}
chmod 711 "$WARD_TMP" .
cp /bin/true run
chmod 0711 run
other ./run || fail "control: a program that may only be executed"
"$WARDFS" mount --allow-other . ../at || fail "mount"
other ../at/run 2>../err && status=0 || status=$?
"$WARDFS" umount ../at || fail "umount"
[ "$status" = 126 ] || fail "a program that may only be executed: $status $(cat ../err)"
