#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The host's changes show inside although the kernel caches entries for an hour: by watches, on
# each kind of file system that this host has. When watches run out they show after a second, and
# `wardfs doctor` names the session and the fix.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
# However it ends, nothing stays mounted.
trap 'umount bound 2>/dev/null || :; "$WARDFS" umount --lazy mnt >/dev/null 2>&1 || :' EXIT
over() { [ "$("$WARDFS" ps --json 2>&1)" = "[]" ]; }
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\n' >all.policy
cp "$WARD_SRC/tests/cases/run/lib/watches-ask.py" ask.py

# Two trees of one file system (a project and its kept home): each is watched, unless one lies in
# the other.
mkdir -p two/a/in two/b
two() { # NAME SOURCE: what the session says of its first tree
	printf '[policy]\nversion = 1\n[tree /workspace]\nsource = %s\nat = none\n[tree /second]\nsource = %s\nat = none\n[files]\nwrite = /workspace\nwrite = /second\n' \
		"$PWD/two/a" "$2" >two.policy
	rm -f two/a/ready two/a/stop
	"$WARDFS" run --policy ./two.policy --session "$1" -- sh -c '
		cd /workspace && i=0; while [ $i -lt 60 ]; do : >in/$i; i=$((i + 1)); done; ls >/dev/null; : >ready
		i=0; while [ ! -e stop ] && [ $i -lt 600 ]; do sleep 0.1; i=$((i + 1)); done' >/dev/null 2>err &
	ready() { [ -e two/a/ready ]; }
	wait_until 60 ready || fail "$1: $(cat err)"
	python3 ask.py "$1" >said
	: >two/a/stop
	wait $! || fail "$1: $(cat err)"
}
two apart "$PWD/two/b"
grep -q "^[12] 0 -" said || fail "two trees: $(cat said)"
two within "$PWD/two/a/in"
grep -q '^0 0 another tree of the session' said || fail "a tree in the other one: $(cat said)"
mkdir -p bound && mount --bind two/b bound
two bound "$PWD/bound"
grep -q '^0 0 another tree of the session' said || fail "another mount of it: $(cat said)"
umount bound

# changes DIR MNT: what the host does in DIR shows in MNT, which is what the kernel has kept of it.
shows() { # WANTED CMD…
	wanted=$1
	shift
	is() { [ "$("$@" 2>/dev/null)" = "$wanted" ]; }
	wait_until 60 is "$@" || fail "$kind: not [$wanted] but [$("$@" 2>&1)]: $*"
}
changes() {
	for i in 1 2 3 4 5 6 7 8; do mkdir -p "$1/d$i/e"; echo "old" >"$1/d$i/f"; done
	# Seen before, twice: from here on it is kept.
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do find "$2" -type f -exec cat {} + >/dev/null; ls "$2"/d*/absent 2>/dev/null || :; done
	echo newer >"$1/d1/f"
	shows newer cat "$2/d1/f"
	shows 6 stat -c %s "$2/d1/f"
	echo made >"$1/d2/made"
	shows made cat "$2/d2/made"
	shows "f made e" sh -c 'cd "$1" && echo f made e $(ls | grep -vxE "f|made|e")' sh "$2/d2"
	rm "$1/d3/f"
	shows "" sh -c 'test ! -e "$1" || echo there' sh "$2/d3/f"
	echo saved >"$1/d4/tmp" && mv "$1/d4/tmp" "$1/d4/f"
	shows saved cat "$2/d4/f"
	mv "$1/d5" "$1/d5.moved"
	shows old cat "$2/d5.moved/f"
	shows "" sh -c 'test ! -e "$1" || echo there' sh "$2/d5"
	rm -r "$1/d6"
	shows "d1 d2 d3 d4 d5.moved d7 d8" sh -c 'cd "$1" && echo d*' sh "$2"
	echo deep >"$1/d7/e/g"
	shows deep cat "$2/d7/e/g"
	chmod 600 "$1/d8/f"
	shows 600 stat -c %a "$2/d8/f"
}
# on KIND DIR: served from DIR
on() {
	kind=$1
	mkdir -p "$2" mnt
	echo "$1" >>"$WARD_TMP/tried"
	expect 0 "$WARDFS" mount --session "w-$1" --policy ./all.policy "$2" mnt
	changes "$2" mnt
	expect 0 python3 ask.py "w-$1"
	answer=$OUT
	expect 0 "$WARDFS" umount mnt
	wait_until 60 over || fail "$kind: the session goes on"
	case $answer in
	0\ *) [ "$3" = unwatched ] || fail "$kind: not watched: $answer" ;;
	*" 0 -") [ "$3" = watched ] || fail "$kind: watched, against what is known: $answer" ;;
	*) fail "$kind: not all is watched: $answer" ;;
	esac
}
export WARDFS

on here "$WARD_TMP/here" watched

# Kinds that a loop device can carry, each in a mount namespace of its own.
cat >kinds.sh <<'S'
mount --make-rprivate /
fs=$1
mkdir -p "img/$fs"
mount -o loop "$fs.img" "img/$fs" || exit 77
on "$fs" "$WARD_TMP/img/$fs/tree" watched
# A subvolume has a device number of its own.
if [ "$fs" = btrfs ]; then
	btrfs subvolume create "img/$fs/volume" >/dev/null || fail "btrfs subvolume"
	on "volume-$fs" "$WARD_TMP/img/$fs/volume" watched
fi
# overlayfs has handles of its own.
mkdir -p "img/$fs/upper" "img/$fs/work" "img/$fs/lower/below" ovl
if mount -t overlay overlay -o "lowerdir=img/$fs/lower,upperdir=img/$fs/upper,workdir=img/$fs/work" ovl 2>/dev/null; then
	on "overlay-$fs" "$WARD_TMP/ovl" watched
	umount ovl
fi
umount "img/$fs"
S
{
	sed -n '/^over()/p; /^shows()/,/^}/p; /^changes()/,/^}/p; /^on()/,/^}/p' "$0"
} >functions.sh
for kind in ext4 xfs btrfs; do
	grep -qw "$kind" /proc/filesystems && command -v "mkfs.$kind" >/dev/null || continue
	truncate -s 320M "$kind.img"
	"mkfs.$kind" -q "$kind.img" >mkfs.out 2>&1 || fail "mkfs.$kind: $(cat mkfs.out)"
	r=0
	unshare -m sh -c 'set -eu; . "$WARD_SRC/tests/lib.sh"; . ./functions.sh; . ./kinds.sh' sh "$kind" || r=$?
	[ "$r" = 0 ] || [ "$r" = 77 ] || exit 1
	rm "$kind.img"
done

# Where watches run out: an ordinary user's bound, in a user namespace that has its own.
cat >few.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
cd "$HOME" || exit 1
. ./functions.sh
mkdir few mnt
cat >inner.sh <<'I'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
. ./functions.sh
kind=few
# A session takes three quarters of them.
echo 4 >/proc/sys/user/max_fanotify_marks || exit 1
expect 0 "$WARDFS" mount --session few --policy ./all.policy few mnt
changes few mnt
expect 0 python3 ask.py few
has "$OUT" "no room for more watches"
case $OUT in "3 "*) ;; *) fail "watched: $OUT" ;; esac
"$WARDFS" doctor >out || [ $? -eq 1 ]
grep -Eq '^unusable +watches +session few: [0-9]+ of [0-9]+ directories of /workspace are not watched' out ||
	fail "doctor: $(cat out)"
grep -q 'fix: as root: sysctl -w user.max_fanotify_marks' out || fail "doctor: $(cat out)"
expect 0 "$WARDFS" umount mnt
wait_until 60 over || fail "the session goes on"
"$WARDFS" doctor >out || [ $? -eq 1 ]
grep -Eq '^ok +watches +fanotify' out || fail "control: $(cat out)"
exit 0
I
export XDG_RUNTIME_DIR="$HOME/rt"
mkdir -m 700 "$XDG_RUNTIME_DIR"
unshare --user --map-current-user --keep-caps --mount sh inner.sh
S
mkdir -p home
cp functions.sh all.policy ask.py few.sh home/
chmod -R a+rX home
expect 0 as_user "$WARD_TMP/home/few.sh"
exit 0
