#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program lists a directory into memory that never arrives. That keeps the kernel from dropping
# the directory's entries. Changes that the host makes elsewhere, and for others, show all the
# same.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/stall-block.py" "$WARD_TMP/block.py"
[ "$(uname -m)" = x86_64 ] || skip "needs x86-64"

script stall <<END
B="$BACK"
as_other() { setpriv --reuid=$OWNER --regid=$OWNER --clear-groups "\$@"; }
mkdir d e && echo x >d/f && echo secret >e/g && echo x >e/h
seen
same "\$(as_other cat e/g)" secret
seen
python3 "$WARD_TMP/block.py" d "$WARD_TMP/blocks" & blocks=\$!
trap 'kill -9 \$blocks || :' EXIT
n=0
while [ ! -e "$WARD_TMP/blocks" ] && [ \$n -lt 1200 ]; do n=\$((n + 1)); sleep 0.05; done
[ -e "$WARD_TMP/blocks" ] || { echo "FAIL: nothing blocks"; exit 1; }
# In getdents64(2), and it stays there.
soon 217 sh -c "cut -d' ' -f1 /proc/\$blocks/syscall"
rm "\$B/d/f"
sleep 0.2
# The control: the kernel is held up, as an attempt to make a name in d shows.
if timeout -s KILL 1 mkdir d/new; then echo "FAIL: d is not locked"; exit 1; fi
chmod 600 "\$B/e/h" && soon 600 stat -c %a e/h
chmod 700 "\$B/e" && soon refused as_other sh -c 'cat e/g || echo refused'
soon refused as_other sh -c 'stat e/g || echo refused'
END
policy
fresh
chmod 755 "$BACK"
in_mode other "$WARD_TMP/stall" || fail "stall"
