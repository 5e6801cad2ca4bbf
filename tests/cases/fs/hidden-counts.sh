#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A directory's link count and size do not count hidden entries, and neither does the number in a
# file handle (name_to_handle_at). Where no rule can hide a name, the link count is the backing's.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/hidden-counts.py" "$WARD_TMP/handle.py"
script handles <<END
python3 '$WARD_TMP/handle.py' '$BACK'
END
script inside <<'END'
# control: visible names exist, and a file has its own size and links
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

# Nothing can be hidden in `open` and beneath; in `half`, something can, and in what holds it.
script counts <<'END'
same "$(stat -c %h open)" 4
same "$(stat -c %h open/a)" 2
mkdir open/c && same "$(stat -c %h open open/c | tr '\n' ' ')" "5 2 "
mv open/c open/a && same "$(stat -c %h open open/a | tr '\n' ' ')" "4 3 "
rmdir open/a/c && same "$(stat -c %h open/a)" 2
: >open/file && ln open/file open/link && same "$(stat -c %h open)" 4
same "$(find open -type d | sort | tr '\n' ' ')" "open open/a open/b "
# made on the host
mkdir "$1/open/more" && soon 5 stat -c %h open
rmdir "$1/open/more" && soon 4 stat -c %h open
same "$(stat -c %h half half/seen half/new . | tr '\n' ' ')" "1 1 1 1 "
! ls half/seen/key 2>/dev/null || fail "control: hidden"
cd open/b && rmdir ../b && same "$(stat -c %h .)" 0
END
policy 'hide = /workspace/half/*/key'
for mode in $MODES; do
	fresh
	as_owner mkdir -p "$BACK/open/a" "$BACK/open/b" "$BACK/half/seen/key" "$BACK/half/new"
	in_mode $mode "$WARD_TMP/counts" "$BACK" || fail "$mode: counts"
done
