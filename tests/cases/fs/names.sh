#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A record of a file with several names does not claim one of them: the kernel says which file was
# opened, not by which name. A path that is too long for its record says that it was cut.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/names.py" "$WARD_TMP/names.py"
policy
for mode in $MODES; do
	fresh
	as_owner sh -c "cd '$BACK' && : >alone && : >important"
	in_mode $mode -c "exec python3 '$WARD_TMP/names.py'" || fail "$mode"
	# control: of a file with one name, its path is the truth and nothing else is said
	grep '^open .*path=\[/workspace/alone\]' "$EVENTS" | grep -v names= | grep -qv path2= ||
		fail "$mode: one name"
	two='path=\[/workspace/important\] path2=\[/workspace/innocent\].* names=2'
	recorded "^open .*$two"
	# over io_uring an end may be heard after what the same program did next
	recorded '^close path=\[/workspace/important\] path2=\[/workspace/(innocent|third)\].* names=[23]'
	recorded "^attr .*$two"
	recorded '^open .*path=\[/workspace/important\] path2=\[/workspace/third\].* names=3'
	# names that are gone are not claimed
	grep '^attr .*action=\[truncate\] path=\[/workspace/important\]' "$EVENTS" |
		grep -qv names= || fail "$mode: old names"
	recorded '^create .*path=\[\.\.\.[e/]*/deep\].* cut$'
	recorded '^close path=\[\.\.\.[e/]*/deep\].* cut$'
	if grep -v 'path2*=\[\.\.\.' "$EVENTS" | grep ' cut$'; then fail "$mode: cut"; fi
done
