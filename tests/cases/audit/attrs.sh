#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A record of a changed attribute names the file and the new value.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
expect 0 "$WARDFS" run --session attrs -- sh -c 'echo x >f; chmod 640 f; truncate -s 100 f; touch f
	/usr/bin/python3 -c "import os
os.setxattr(\"f\", \"user.a\", b\"1\")
os.chown(\"f\", os.getuid(), os.getgid())"'
ino=$(stat -c %i f)
"$WARDFS" audit export attrs | /usr/bin/python3 "$WARD_SRC/tests/cases/audit/lib/attrs-records.py" \
	"$ino" "$(stat -c %u f)" "$(stat -c %g f)" || fail "what the records say"
expect 0 "$WARDFS" audit verify attrs
exit 0
