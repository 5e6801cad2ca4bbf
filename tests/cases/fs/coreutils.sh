#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Differences that the tests of GNU coreutils found. The mode that an ACL makes shows at once; the
# other differences are in docs/posix.md. The control is the same natively, as the owner.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/coreutils.py" "$WARD_TMP/coreutils.py"
# want PARTIAL BENEATH: what is printed
want() {
	for kind in file pipe directory; do echo "mode by the ACL of a $kind|700 751"; done
	printf 'without O_DIRECT|%s\nbeneath a closed directory|%s\n' "$1" "$2"
}
policy
fresh
got=$(as_owner sh -c 'cd "$1" && python3 "$2" yes' - "$BACK" "$WARD_TMP/coreutils.py") ||
	fail "control: $got"
[ "$got" = "$(want 4100 "done")" ] || fail "control: $got"
for mode in $MODES other; do
	acl=yes partial=4100 beneath=EACCES
	[ "$mode" != user ] || acl=no
	fresh
	# The kernel opened the backing with these flags.
	[ "$(passthrough "$mode")" = no ] || partial=EINVAL
	if [ "$mode" = other ]; then
		chown 0:0 "$BACK"
		# Root may search it all.
		beneath="done"
	fi
	got=$(in_mode "$mode" -c 'exec python3 "$@"' - "$WARD_TMP/coreutils.py" "$acl") ||
		fail "$mode: $got"
	want=$(want "$partial" "$beneath")
	[ $acl = yes ] || want=$(printf '%s\n' "$want" | grep -v ACL)
	[ "$got" = "$want" ] || fail "$mode: $got"
done
