#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a program inside stands in, or has open, while the host moves it: the kernel keeps such
# directories and files whatever it forgets above them. What is hidden at the new place does not
# show in a listing, what comes into view does; a file that is written to under one name and looked
# at under another is one file.
# timeout: 600
. "$WARD_SRC/tests/cases/fs/_fs.sh"

script held <<END
B="$BACK"
names() { ls "\$1" | tr '\n' ' '; }

# Hidden at the new place: the directory is held by a program that is in it, two below what moves.
mkdir -p open/dir/a/b closed
echo s >open/dir/a/b/secret && echo p >open/dir/a/b/plain
seen
(cd open/dir/a/b && exec sleep 100) &
held=\$!
trap 'kill \$held' EXIT
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
	in_mode $mode "$WARD_TMP/held" || fail "$mode: held"
done
