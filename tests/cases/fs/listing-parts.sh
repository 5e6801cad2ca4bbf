#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A directory that is listed in several parts: what is removed or changed after the first part, from
# inside or by the host, does not come with a later one as it was. wardfs-fs prepares each next part
# ahead. The control: without a change, each name comes once.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

entries=1500
cp "$WARD_SRC/tests/cases/fs/lib/listing-parts.py" "$WARD_TMP/parts.py"
policy
for mode in $MODES; do
	for what in unchanged inside-removed inside-grown host-removed host-grown; do
		fresh
		as_owner python3 -c "
import os
os.mkdir('$BACK/many')
for i in range($entries): open('$BACK/many/f%d' % i, 'w').close()"
		in_mode "$mode" -c "exec python3 '$WARD_TMP/parts.py' $what '$BACK/many' $entries" ||
			fail "$mode: $what"
	done
done
