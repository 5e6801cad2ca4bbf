#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A file with several names has the common rights of all of them. [tree] hardlinks decides about a
# link from outside the tree.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

script links <<'END'
# the known names: one under ro takes writing from the other
ls ro >/dev/null && cat ro/both >/dev/null
refused "Permission denied" sh -c 'echo x >>both'
same "$(cat both)" both
# without it, writing is there again
echo x >>single && ln single single2 && echo y >>single2
same "$(stat -c %h single)" 2
# removing one name takes that name's rights alone
rm single && same "$(cat single2 | tail -n 1)" y
# a link known to nobody here: read, no more
refused "Permission denied" sh -c 'echo x >>outside'
refused "Permission denied" chmod 600 outside
refused "" truncate -s 0 outside
refused "Permission denied" setfattr -n user.x -v y outside
refused "" test -w outside
test -r outside && test -w single2 && setfattr -n user.x -v y single2
same "$(cat outside)" outside
# symbolic links: resolved by the kernel in the view, not followed in the backing
ln -s /etc/hostname abs && same "$(readlink abs)" /etc/hostname
refused "No such file" cat hidden-through-link
END
# A name of the agent's that others removed a moment ago does not stand for the link that is not in
# the tree: an attempt in each of many moments after it. The control is a file whose links are all
# known.
cp "$WARD_SRC/tests/cases/fs/lib/links-stale.py" "$WARD_TMP/stale.py"
script allowed <<'END'
echo x >>outside
END
script denied <<'END'
refused "Permission denied" cat outside
refused "Permission denied" getfattr -n user.x outside
END
for mode in $MODES; do
	policy 'read = /workspace/ro' 'hide = *.pem'
	fresh
	rm -rf "$WARD_TMP/away" && mkdir "$WARD_TMP/away"
	chown $OWNER "$WARD_TMP/away"
	as_owner sh -c "cd '$BACK' && mkdir ro && echo both >ro/both && ln ro/both both &&
		echo outside >outside && ln outside '$WARD_TMP/away/x' && echo k >k.pem &&
		ln -s k.pem hidden-through-link"
	in_mode $mode "$WARD_TMP/links" || fail "$mode: links"
	as_owner sh -c "echo inside >'$BACK/inside'"
	in_mode $mode -c "exec python3 '$WARD_TMP/stale.py' '$BACK'" || fail "$mode: stale names"
	[ "$(cat "$WARD_TMP/away/x")" = outside ] || fail "$mode: the file outside was written to"
	sed -i 's/^source = \./&\nhardlinks = allow/' "$POLICY"
	in_mode $mode "$WARD_TMP/allowed" || fail "$mode: hardlinks = allow"
	sed -i 's/^hardlinks = .*/hardlinks = deny/' "$POLICY"
	in_mode $mode "$WARD_TMP/denied" || fail "$mode: hardlinks = deny"
done
