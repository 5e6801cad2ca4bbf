#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# O_TRUNC with O_RDONLY truncates where writing is allowed, as Linux does, and else nothing.
. "$WARD_SRC/tests/cases/fs/_fs.sh"

cat >"$WARD_TMP/trunc.py" <<'END'
import errno, os, sys
def size(name, flags):
    try:
        fd = os.open(name, flags)
    except OSError as e:
        return errno.errorcode[e.errno], os.stat(name).st_size
    try:
        os.write(fd, b"x")
        sys.exit("FAIL: written through O_RDONLY")
    except OSError as e:
        assert e.errno == errno.EBADF, e
    got = os.read(fd, 100), os.fstat(fd).st_size
    os.close(fd)
    return got
for name, flags, want in (
        ("plain", 0, (b"data", 4)), ("plain", os.O_TRUNC, (b"", 0)),
        ("ro/f", 0, (b"data", 4)), ("ro/f", os.O_TRUNC, ("EACCES", 4)),
        ("mode", 0, (b"data", 4)), ("mode", os.O_TRUNC, ("EACCES", 4))):
    got = size(name, os.O_RDONLY | flags)
    if got != want:
        sys.exit("FAIL: %s %o: %s, not %s" % (name, flags, got, want))
END
policy 'read = /workspace/ro'
for mode in $MODES; do
	fresh
	as_owner sh -c "cd '$BACK' && mkdir ro && printf data >plain && cp plain ro/f &&
		cp plain mode && chmod 444 mode"
	in_mode $mode -c "exec python3 '$WARD_TMP/trunc.py'" || fail "$mode"
done
