#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A file with a link outside the tree is read-only ([tree] hardlinks), while programs inside and
# on the host create, look up and remove its names. wardfs never opens it for writing, truncates
# it or changes its mode: once with few names, once with many (fs/resolve/links_known.h). The
# control is a file without such a link, which stays writable.
# timeout: 600
# suites: tsan
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/races-links-race.py" "$WARD_TMP/race.py"
script races <<END
pids=
for w in makes makes host look look attack attack; do
	python3 "$WARD_TMP/race.py" \$w "$BACK" &
	pids="\$pids \$!"
done
rc=0
for p in \$pids; do wait \$p || rc=1; done
exit \$rc
END
for names in few many; do for mode in $MODES; do
	policy
	fresh
	rm -rf "$WARD_TMP/away" && mkdir "$WARD_TMP/away" && chown $OWNER "$WARD_TMP/away"
	as_owner sh -c "umask 022 && cd '$BACK' && echo inside >inside && echo outside >outside && ln outside '$WARD_TMP/away/x'"
	if [ $names = many ]; then
		as_owner sh -c "cd '$BACK' && for i in 0 1 2 3 4 5 6 7 8 9 a b c d e f g h i j; do ln inside inside\$i && ln outside outside\$i; done"
	fi
	in_mode "$mode" "$WARD_TMP/races" || fail "$mode"
	[ "$(cat "$WARD_TMP/away/x") $(stat -c %a "$WARD_TMP/away/x")" = "outside 644" ] || fail "$mode: changed"
done; done
