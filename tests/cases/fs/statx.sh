#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# statx(2): the birth time is the backing's, and the rest equals stat(2). Hidden files do not
# exist.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

kernel=$(uname -r | sed 's/^\([0-9]*\)\.\([0-9]*\).*/\1 \2/')
# shellcheck disable=SC2086 # two numbers
set -- $kernel
[ "$1" -gt 6 ] || { [ "$1" -eq 6 ] && [ "$2" -ge 6 ]; } ||
	skip "before Linux 6.6 the kernel does not ask"

# The whole of it, as stat(1) prints it with the birth and without.
script statx <<'END'
full() { stat -c '%w|%n %f %h %i %s %b %o %Y %X %u %g' "$@"; }
plain() { stat -c '%n %f %h %i %s %b %o %Y %X %u %g' "$@"; }
echo x >made && ln -s made link && mkdir sub && mkfifo pipe
for f in made old link sub pipe .; do
	same "$(stat -c %w $f)" "$(stat -c %w "$1/$f")"
	case $(stat -c %w $f) in
	[0-9]*) ;;
	*) echo "FAIL: no birth of $f"; exit 1 ;;
	esac
	same "$(full $f | sed 's/^[^|]*|//')" "$(plain $f)"
done
# of a file without a name
exec 3<made
rm made
birth=$(stat -L -c %w /proc/self/fd/3)
case $birth in [0-9]*) ;; *) echo "FAIL: no birth of an open file"; exit 1 ;; esac
same "$(stat -L -c %h /proc/self/fd/3)" 0
refused "No such file" stat -c %w key.pem
END
for mode in $MODES; do
	policy 'hide = *.pem'
	fresh
	as_owner sh -c "echo old >'$BACK/old'; echo k >'$BACK/key.pem'"
	in_mode $mode "$WARD_TMP/statx" "$BACK" || fail "$mode: statx"
done
