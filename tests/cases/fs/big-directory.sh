#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A directory with many entries (5,000; with --long 100,000). A listing shows each name once and
# nothing hidden. Positions from telldir lead back, also in another handle. A name that exists the
# whole time is listed once, whatever is created and removed meanwhile.
# plain
# timeout: 1800
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

entries=5000
[ -z "${WARD_LONG-}" ] || entries=100000
cp "$WARD_SRC/tests/cases/fs/lib/big-directory-make.py" "$WARD_TMP/make.py"
cp "$WARD_SRC/tests/cases/fs/lib/big-directory-big.py" "$WARD_TMP/big.py"
policy 'hide = *.pem'
for mode in $MODES; do
	fresh
	as_owner python3 "$WARD_TMP/make.py" "$BACK/big" $entries
	in_mode "$mode" -c "exec python3 '$WARD_TMP/big.py' $entries" || fail "$mode"
	# the control: they are there
	[ "$(find "$BACK/big" -name '*.pem' | wc -l)" = $((entries / 10)) ] || fail "$mode: what is hidden"
done
