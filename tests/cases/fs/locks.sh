#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# POSIX, open-file-description and flock locks inside conflict with a host process's locks and
# with each other, as the system calls specify. A release or a signal ends a wait.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

# held FILE KIND CMD…: runs CMD while a host process holds the lock
cat >"$WARD_TMP/held.py" <<'END'
import fcntl, subprocess, sys
f = open(sys.argv[1], "r+b")
(fcntl.lockf if sys.argv[2] == "posix" else fcntl.flock)(f, fcntl.LOCK_EX)
sys.exit(subprocess.call(sys.argv[3:]))
END
cp "$WARD_SRC/tests/cases/fs/lib/locks-try.py" "$WARD_TMP/try.py"
cp "$WARD_SRC/tests/cases/fs/lib/locks-wait.py" "$WARD_TMP/wait.py"
cp "$WARD_SRC/tests/cases/fs/lib/locks-ofd.py" "$WARD_TMP/ofd.py"
# F_GETLK tells whose it is: of a program of the host, and of one inside that has it alone; 0 for a
# read lock of several.
cp "$WARD_SRC/tests/cases/fs/lib/locks-whose.py" "$WARD_TMP/whose.py"
# An end of another process, of a file that this one has closed and opened again, takes nothing from
# what this one has locked since: by FLUSH (r+b), and without it (rb).
cp "$WARD_SRC/tests/cases/fs/lib/locks-again.py" "$WARD_TMP/again.py"
# flock(2) ends with its file, also where that was the first one that could only read (its open file
# is what the kernel has for passthrough, and stays). Without an end the alarm ends the test.
cp "$WARD_SRC/tests/cases/fs/lib/locks-flocked.py" "$WARD_TMP/flocked.py"
# A program that would close a circle of waiting programs gets EDEADLK.
cp "$WARD_SRC/tests/cases/fs/lib/locks-circle.py" "$WARD_TMP/circle.py"
cp "$WARD_SRC/tests/cases/fs/lib/locks-closed.py" "$WARD_TMP/closed.py"
# A program that had locked what it could only read, and comes to write it.
cp "$WARD_SRC/tests/cases/fs/lib/locks-widened.py" "$WARD_TMP/widened.py"
script locks <<END
python3 "$WARD_TMP/circle.py"
python3 "$WARD_TMP/closed.py"
python3 "$WARD_TMP/widened.py" "$BACK"
python3 "$WARD_TMP/flocked.py" "$BACK/f"
for kind in write read; do
	python3 "$WARD_TMP/again.py" \$kind
done
python3 "$WARD_TMP/whose.py"
python3 "$WARD_TMP/held.py" "$BACK/f" posix python3 "$WARD_TMP/whose.py" host
for kind in posix flock; do
	same "\$(python3 "$WARD_TMP/held.py" "$BACK/f" \$kind python3 "$WARD_TMP/try.py" f \$kind)" busy
	same "\$(python3 "$WARD_TMP/held.py" f \$kind python3 "$WARD_TMP/try.py" "$BACK/f" \$kind)" busy
	same "\$(python3 "$WARD_TMP/try.py" f \$kind)" free
	python3 "$WARD_TMP/wait.py" \$kind
done
python3 "$WARD_TMP/ofd.py"
END
for mode in $MODES; do
	policy
	fresh
	as_owner sh -c "echo x >'$BACK/f'"
	in_mode $mode "$WARD_TMP/locks" || fail "$mode: locks"
done
