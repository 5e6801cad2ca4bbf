#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# O_TMPFILE: the rules of the directory decide about files without a name. The rules of the new
# name decide when linkat(2) gives them one.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

script tmpfile <<'END'
mkdir -p d e
cp "$WARD_SRC/tests/cases/fs/lib/tmpfile.py" "$HOME/t.py"
python3 "$HOME/t.py"
END
for mode in $MODES; do
	policy 'read = readonly' 'append = appendonly' 'deny = secret' 'hide = hidden' '[guard]' \
		'read = guarded'
	fresh
	as_owner mkdir "$BACK/readonly" "$BACK/appendonly" "$BACK/hidden" "$BACK/guarded"
	chmod 777 "$WARD_TMP"
	in_mode $mode "$WARD_TMP/tmpfile" || fail "$mode: tmpfile"
	recorded '^create .*path=\[/workspace/d/\]'
	recorded '^link .*path2=\[/workspace/d/named\]'
	recorded '^deny .*path=\[/workspace/readonly\]'
done
