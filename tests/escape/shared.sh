#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the host shares among all programs: files that others have open, limited pages and
# requests, the order of service. Nothing inside can block it, use it up or go first.
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

ordered() { # ordered MODE: how the kernel orders what runs inside; MODE host: here
	case $1 in
	host) python3 "$WARD_TMP/order.py" ;;
	*) inside "$1" --bind "$WARD_TMP/order.py=/order.py" -- python3 /order.py ;;
	esac
}

# Called again below, by those who go first.
if [ $# -gt 0 ]; then
	ordered "$1"
	exit
fi

mkdir "$WARD_TMP/tool"
chmod 755 "$WARD_TMP" "$WARD_TMP/tool"
# Class, nice value, class of the disk, how gladly it is killed when memory is short.
cp "$WARD_SRC/tests/escape/lib/shared-order.py" "$WARD_TMP/order.py"
cat >"$WARD_TMP/spared" <<'S2'
#!/bin/sh
echo -500 >/proc/self/oom_score_adj && exec "$@"
S2
chmod 755 "$WARD_TMP/spared"

check() {
	# A lease makes the host's next open(2) of the file wait for fs.lease-break-time, 45
	# seconds. Only the file's owner may take one.
	owner=$TEST_UID
	[ "$1" = user ] || owner=1000
	echo text >"$WARD_TMP/tool/file"
	chown -R $owner:$owner "$WARD_TMP/tool"
	for kind in read write; do
		(TEST_UID=$owner && works as_other "$WARD_TMP/attack" lease "$WARD_TMP/tool/file" $kind)
		out=$(inside "$1" --bind "$WARD_TMP/tool=/tool" -- /attack lease /tool/file $kind) &&
			fail "$1: a $kind lease on a file of the host"
		[ "$out" = EINVAL ] || fail "$1: $kind lease: $out"
	done
	inside "$1" -- sh -c ': >/tmp/lock; flock /tmp/lock true' || fail "$1: no locks either"
	# Pages of the host's pool, which count towards no limit of memory.
	blocked "$1" ENOMEM huge-pages map
	blocked "$1" ENOSYS huge-pages file
	blocked "$1" EPERM huge-pages segment
	for list in strict no-exec; do
		out=$(inside "$1" --seccomp $list -- /attack huge-pages file) && fail "$1: $list: huge pages"
		[ "$out" = ENOSYS ] || fail "$1: $list: $out"
	done
	# All requests of kernel AIO that the host has go by one call; databases of builds and tests
	# use it.
	for list in strict no-exec; do
		out=$(inside "$1" --seccomp $list -- /attack aio 1) && fail "$1: $list: kernel AIO"
		[ "$out" = ENOSYS ] || fail "$1: $list: AIO: $out"
	done
	inside "$1" -- /attack aio 1 >/dev/null || fail "$1: no kernel AIO"
	if [ -e /proc/pressure/cpu ]; then
		blocked "$1" EROFS pressure /proc/pressure/cpu
		inside "$1" -- cat /proc/pressure/cpu >/dev/null || fail "$1: pressure cannot be read"
	fi
	# The caller's scheduling priority is not passed on.
	for first in "nice -n -40" "ionice -c 1 -n 0" "chrt -r 1" "$WARD_TMP/spared"; do
		out=$($first "$0" host 2>/dev/null) || {
			echo "note: not allowed here: $first"
			continue
		}
		# nice(1) runs the command also where it may not raise it.
		[ "$out" = first ] || {
			! by_root || fail "control: $first: $out"
			continue
		}
		out=$($first "$0" "$1") || fail "$1: under $first: $out"
		[ "$out" = "as all" ] || fail "$1: under $first: $out"
	done
	# What is less than usual is.
	[ "$(nice -n 5 "$0" "$1")" = "as all" ] || fail "$1: under nice"
}

cp "$ATTACK" "$WARD_TMP/attack"
for way in map file; do
	works "$ATTACK" huge-pages $way
done
root_works "$ATTACK" huge-pages segment
works "$ATTACK" aio 1
[ ! -e /proc/pressure/cpu ] || root_works "$ATTACK" pressure /proc/pressure/cpu
each_mode check
