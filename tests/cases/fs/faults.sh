#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The backing fails with EIO, ENOSPC, EDQUOT, EROFS and ESTALE, for every call that the daemon
# makes. Each time the program gets exactly that error, the trail has the failure with its errno,
# and the daemon continues. The control: the attempt succeeds once the fault is over.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

RULES=$WARD_TMP/rules
# Numbers of asm-generic/errno*.h
script faults <<'END'
EIO=5 EMFILE=24 ENOSPC=28 EROFS=30 ESTALE=116 EDQUOT=122
mode=$1 rules=$2
set_rule() { printf '%s\n' "$1" >"$rules.new" && cat "$rules.new" >"$rules"; }
# fault "CALL ERRNO" TEXT CMD…: refused so while the call fails, and done when it does not
fault() {
	set_rule "$1"
	text=$2
	shift 2
	refused "$text" "$@"
	: >"$rules"
	"$@" >/dev/null || { echo "FAIL: control: $*"; exit 1; }
}
py() { python3 -c "import os
$1"; }
mkdir d unseen && echo content >f && echo old >d/old
fault "openat2 $EIO" "Input/output error" cat f
# the daemon's descriptors ran out, not the program's
fault "openat2 $EMFILE" "Too many open files in system" cat f
fault "openat2 $EIO" "Input/output error" sh -c 'echo x >>f'
fault "openat2 $ENOSPC" "No space left" sh -c 'echo x >new'
fault "openat2 $EDQUOT" "quota exceeded" touch new2
fault "openat2 $EROFS" "Read-only file system" touch new3
fault "openat2 $EIO" "Input/output error" ls d
# a listing that the kernel has not kept
fault "getdents64 $EIO" "Input/output error" ls unseen
fault "mkdirat $ENOSPC" "No space left" mkdir e
fault "symlinkat $ENOSPC" "No space left" ln -s f l
fault "readlinkat $EIO" "Input/output error" py 'os.readlink("l")'
fault "linkat $EIO" "Input/output error" ln f g
fault "mknodat $ENOSPC" "No space left" mkfifo p
fault "unlinkat $EIO" "Input/output error" rm g
fault "unlinkat $EROFS" "Read-only file system" rmdir e
fault "renameat2 $EIO" "Input/output error" mv -T f moved
fault "renameat2 $EROFS" "Read-only file system" mv -T moved f
fault "fchmodat $EIO" "Input/output error" chmod 640 f
fault "utimensat $EIO" "Input/output error" touch -d @1000 f
fault "ftruncate $EIO" "Input/output error" truncate -s 3 f
fault "ftruncate $ENOSPC" "No space left" truncate -s 300000 f
fault "fallocate $ENOSPC" "No space left" fallocate -l 600000 f
fault "setxattr $ENOSPC" "No space left" setfattr -n user.a -v b f
fault "removexattr $EIO" "Input/output error" py 'os.setxattr("f", "user.c", b"")
os.removexattr("f", "user.c")'
fault "getxattr $EIO" "Input/output error" py 'os.getxattr("f", "user.a")'
fault "listxattr $EIO" "Input/output error" py 'os.listxattr("f")'
fault "fsync $EIO" "Input/output error" py 'os.fsync(os.open("f", os.O_RDWR))'
# syncfs(2) asks the daemon nothing, so it tells nothing of the disk either
set_rule "fsync $EIO" && sync -f f && : >"$rules"
fault "fdatasync $EIO" "Input/output error" py 'os.fdatasync(os.open("f", os.O_RDWR))'
fault "copy_file_range $EIO" "Input/output error" py '
a, b = os.open("f", os.O_RDONLY), os.open("copied", os.O_WRONLY | os.O_CREAT)
os.copy_file_range(a, b, 100, 0, 0)'
fault "pwritev2 $ENOSPC" "No space left" py '
os.write(os.open("ap/log", os.O_WRONLY | os.O_APPEND), b"line\n")'
# what was cached does not count once the owner of the daemon cannot look
fault "statx $EIO" "Input/output error" py 'os.open("d/old", os.O_RDONLY)'
# the file was replaced on the backing in this very moment: the kernel looks once more
set_rule "openat2 $ESTALE 2"
cat d/old >/dev/null
fault "openat2 $ESTALE" "tale file handle" cat d/old
if [ "$mode" != root ]; then
	head -c 100000 /dev/zero >big
	fault "pwrite64 $ENOSPC" "No space left" py 'os.write(os.open("f", os.O_WRONLY), b"x")'
	fault "pwrite64 $EDQUOT" "quota exceeded" py 'os.write(os.open("f", os.O_WRONLY), b"x")'
	# past the pages that the kernel has
	fault "pread64 $EIO" "Input/output error" py '
f = os.open("big", os.O_RDONLY | os.O_DIRECT)
import mmap
os.preadv(f, [mmap.mmap(-1, 4096)], 4096)'
fi
# every second call: no listing comes out short, no write is lost unsaid
i=0
while [ $i -lt 40 ]; do i=$((i + 1)) && echo $i >d/n$i; done
set_rule "getdents64 $EIO 2"
i=0
while [ $i -lt 20 ]; do
	i=$((i + 1))
	echo $i >d/n1 && mv d/n1 d/m1 && mv d/m1 d/n1
	if n=$(ls d 2>/dev/null); then same "$(echo "$n" | wc -l)" 41; fi
done
: >"$rules"
same "$(ls d | wc -l)" 41
same "$(cat d/old)" old
END
for mode in $MODES; do
	policy 'append = /workspace/ap'
	fresh
	: >"$RULES" && chmod 666 "$RULES"
	: >"$RULES.new" && chmod 666 "$RULES.new"
	as_owner sh -c "mkdir '$BACK/ap' && echo first >'$BACK/ap/log'"
	case $mode in
	root) opts="-m root -o $OWNER:$OWNER" ;;
	cached) opts="-m root -n -o $OWNER:$OWNER" ;;
	user) opts="-m user -o $OWNER:$OWNER" ;;
	esac
	# shellcheck disable=SC2086 # several options
	"$FSMOUNT" $opts -F "$RULES" -l "$EVENTS" "$POLICY" "$BACK" "$MNT" \
		sh -eu "$WARD_TMP/faults" $mode "$RULES" || fail "$mode: faults"
	# what was written down and then failed says so
	recorded 'action=.rename. path=./workspace/f.*errno=5'
	recorded 'action=.unlink. path=./workspace/g.*errno=5'
	recorded 'action=.mkdir. path=./workspace/e.*errno=28'
	[ "$(cat "$BACK/ap/log")" = "$(printf 'first\nline')" ] || fail "$mode: the log"
done

# A backing that is really full, and has room again.
script full <<'END'
i=0
while head -c 65536 /dev/zero >fill$i 2>err.$i; do
	i=$((i + 1))
	[ $i -lt 100 ] || { echo "FAIL: never full"; exit 1; }
done
out=$(mkdir x 2>&1) || :
refused "No space left" dd if=/dev/zero of=more bs=65536 count=4
rm -f more fill*
echo room >room && same "$(cat room)" room
same "$(find . -name 'fill*')" ""
END
for mode in $MODES; do
	policy
	fresh
	unshare --mount --propagation private sh -eu -c '
		mount -t tmpfs -o size=1m,mode=755,uid='$OWNER',gid='$OWNER' tmpfs "$1"
		. "$2"
		cd "$WARD_TMP"
		in_mode "$3" "$WARD_TMP/full"' sh "$BACK" "$WARD_SRC/tests/cases/fs/lib/fs.sh" $mode ||
		fail "$mode: full"
done
