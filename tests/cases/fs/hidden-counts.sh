#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Number of links and size of a directory do not count what is hidden in it, nor does the number in
# a file handle (name_to_handle_at) count what is hidden beside it.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/hidden-counts.py" "$WARD_TMP/handle.py"
script handles <<END
python3 '$WARD_TMP/handle.py' '$BACK'
END
script inside <<'END'
# control: what is not hidden is there, and a file has its own size and links
same "$(ls full)" seen
same "$(stat -c '%h %s' full/seen)" "2 5"
same "$(stat -c '%h %s %b' full)" "$(stat -c '%h %s %b' empty)"
same "$(find . -type d | sort | tr '\n' ' ')" ". ./a ./a/b ./a/b/c ./empty ./full "
mkdir new && same "$(stat -c %h new)" "$(stat -c %h empty)"
cd new && rmdir ../new && same "$(stat -c %h .)" 0
END
policy 'hide = *.pem'
for mode in $MODES; do
	fresh
	as_owner sh -c "cd '$BACK' && mkdir -p empty full a/b/c && mkdir full/k.pem full/l.pem &&
		echo seen >full/seen && ln full/seen link"
	# so many that the directory takes more than a block
	as_owner python3 -c "
for i in range(300): open('$BACK/full/%s%d.pem' % ('x' * 100, i), 'w').close()"
	in_mode $mode "$WARD_TMP/inside" || fail "$mode"
	in_mode $mode "$WARD_TMP/handles" || fail "$mode: handles"
done
