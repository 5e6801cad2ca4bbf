#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program removes its own right to search a directory. Once that is answered, it finds nothing
# beneath, however much the kernel caches. Needs Linux 6.16, which can drop all entries at once.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"
kernel=$(uname -r | sed 's/^\([0-9]*\)\.\([0-9]*\).*/\1 \2/')
[ "${kernel% *}" -gt 6 ] || { [ "${kernel% *}" = 6 ] && [ "${kernel#* }" -ge 16 ]; } ||
	skip "this kernel forgets names one by one"

cp "$WARD_SRC/tests/cases/fs/lib/search-look.py" "$WARD_TMP/look.py"
for mode in $MODES; do
	acl=acl
	[ "$mode" != user ] || acl=
	script look <<-END
		python3 "$WARD_TMP/look.py" "$acl"
	END
	policy
	fresh
	in_mode "$mode" "$WARD_TMP/look" || fail "$mode"
done

# Where many users are served the kernel looks at modes and ACLs itself, and what somebody mounted
# on a name of the tree stays there.
script mounted <<'END'
mkdir m d d/x
mount -t tmpfs none m && touch m/above
as_other() { setpriv --reuid=54321 --regid=54321 --clear-groups "$@"; }
as_other stat d/x >/dev/null
chmod 700 d && refused "Permission denied" as_other stat d/x
setfacl -m u:54321:rx d && as_other stat d/x >/dev/null
setfacl -b d && refused "Permission denied" as_other stat d/x
[ -e m/above ] || { echo "FAIL: the mount is gone"; exit 1; }
umount m
END
policy
fresh
chown 0:0 "$BACK"
in_mode other "$WARD_TMP/mounted" || fail "mounted"
