#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The host moves a file or directory that a program inside has open or stands in. The kernel keeps
# such nodes even if it forgets everything above them. A listing does not show what is hidden at
# the new place, and shows what comes into view. A file written under one name and read under
# another is one file.
# plain
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/held-file.py" "$WARD_TMP/file.py"
script held <<END
B="$BACK"
python3 "$WARD_TMP/file.py"
names() { ls "\$1" | tr '\n' ' '; }

# Hidden at the new place: the directory is held by a program that is in it, two below what moves.
mkdir -p open/dir/a/b closed
echo s >open/dir/a/b/secret && echo p >open/dir/a/b/plain
seen
(cd open/dir/a/b && exec sleep 1000) &
held=\$!
trap 'kill \$held || :' EXIT
soon "\$PWD/open/dir/a/b" readlink /proc/\$held/cwd
exec 3<open/dir/a/b
same "\$(names open/dir/a/b)" "plain secret " # the control
mv "\$B/open/dir" "\$B/closed/dir"
soon "plain " names closed/dir/a/b
soon "plain " names /proc/self/fd/3
refused "No such file" cat closed/dir/a/b/secret
refused "No such file" stat /proc/self/fd/3/secret
# and back into view
mv "\$B/closed/dir" "\$B/open/dir"
soon "plain secret " names open/dir/a/b
soon s cat open/dir/a/b/secret
exec 3<&-

# Written to through a handle from before it was renamed.
echo one >f
seen
exec 4>>f
echo two >&4
mv "\$B/f" "\$B/g"
soon 8 stat -c %s g
soon "closed g open " names .
seen
same "\$(stat -c %s g)" 8
echo three >&4
soon 14 stat -c %s g
same "\$(cat g | wc -c)" 14
exec 4>&-

# Removed while somebody is in it or has it open: it is empty, and its own attributes are there.
for how in seen unseen; do
	mkdir -p gone/\$how out
	[ \$how = unseen ] || touch gone/\$how/f
	cp "$WARD_SRC/tests/cases/fs/lib/held-gone.py" gone.py
	python3 gone.py gone/\$how
done
# But not one that the host moved out of the tree.
exec 3<out
mv "\$B/out" "$WARD_TMP/beside/" && touch "$WARD_TMP/beside/out/theirs"
soon "closed g gone gone.py open " names .
soon refused sh -c 'stat -L /proc/self/fd/3 >/dev/null 2>&1 || echo refused'
refused "Stale" stat -L /proc/self/fd/3
refused "Stale" ls /proc/self/fd/3/
exec 3<&-
rm -r "$WARD_TMP/beside/out"

# A second name that the host makes, and writes through.
seen
mkdir names
seen
ln "\$B/g" "\$B/names/h" && echo four >>"\$B/names/h"
soon 19 stat -c %s g
END
for mode in $MODES; do
	policy 'hide = /workspace/closed/dir/a/b/secret'
	fresh
	rm -rf "$WARD_TMP/beside"
	mkdir "$WARD_TMP/beside" && chown $OWNER:$OWNER "$WARD_TMP/beside"
	in_mode $mode "$WARD_TMP/held" || fail "$mode: held"
done
