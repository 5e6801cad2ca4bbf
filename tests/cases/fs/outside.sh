#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Changes on the host show inside soon and without errors. wardfs does not serve mounts beneath
# the backing, and nothing leads out of the backing.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

script outside <<END
B="$BACK"
echo one >f && same "\$(cat f)" one
echo three >"\$B/f" && soon three cat f
# an editor's save on the host: no error in between
echo four >"\$B/tmp" && mv "\$B/tmp" "\$B/f"
cat f >/dev/null
soon four cat f
# the same length and inode, another content
printf four >"\$B/f" && soon four cat f && printf FOUR >"\$B/f" && soon FOUR cat f
rm "\$B/f" && soon "" sh -c 'test ! -e f || echo there'
test ! -e new && echo n >"\$B/new" && soon n cat new
# directories moved, removed, replaced
mkdir -p d/e && echo x >d/e/g && same "\$(cat d/e/g)" x
mv "\$B/d/e" "\$B/moved" && soon x cat moved/g && soon "" sh -c 'test ! -e d/e || echo there'
mv moved d/e && same "\$(cat d/e/g)" x
rm -r "\$B/d" && mkdir -p "\$B/d/e" && echo y >"\$B/d/e/g" && soon y cat d/e/g
# who is in a directory that the host moves goes on there, once it was seen at its new place; the
# old one was asked first
top=\$PWD
mkdir here && echo i >here/i && ls -R . >/dev/null
( cd here && mv "\$B/here" "\$B/there" && soon "" sh -c "test ! -e '\$top/here' || echo there" && soon i cat "\$top/there/i" &&
	soon i cat i && echo j >j && same "\$(echo *)" "i j" )
same "\$(cat "\$B/there/j")" j
# a directory closed on the host
chmod 0 "\$B/d" && soon closed sh -c 'cat d/e/g || echo closed'
chmod 700 "\$B/d" && soon y cat d/e/g
# a link that the host put where a file was is a link inside, resolved inside
ln -sfn "$WARD_TMP/beside" "\$B/d/e/g"
soon "$WARD_TMP/beside" readlink d/e/g
rm "\$B/d/e/g" && ln -s ../../../../../../../../../../etc/hostname "\$B/d/e/g"
soon "\$(cat /etc/hostname)" cat d/e/g
END
for mode in $MODES; do
	policy
	fresh
	echo beside >"$WARD_TMP/beside"
	in_mode $mode "$WARD_TMP/outside" || fail "$mode: outside"
	if grep -E '^(deny|SPOILED)' "$EVENTS"; then fail "$mode: refused"; fi
done

# Another file system beneath: in a mount namespace of its own.
script beneath <<END
same "\$(cat plain/f)" f
refused "Permission denied" cat other/f
refused "Permission denied" ls other
refused "Permission denied" cat same/f
refused "" rmdir other
END
export FSMOUNT POLICY BACK MNT EVENTS OWNER WARD_TMP
for opts in "-m root" "-m root -n"; do
	policy
	fresh
	as_owner mkdir "$BACK/plain" "$BACK/other" "$BACK/same"
	echo f | as_owner tee "$BACK/plain/f" >/dev/null
	OPTS=$opts unshare -m sh -eu -c '
		mount -t tmpfs none "$BACK/other"
		echo f >"$BACK/other/f"
		mount --bind "$BACK/plain" "$BACK/same"
		"$FSMOUNT" $OPTS -o $OWNER:$OWNER -l "$EVENTS" "$POLICY" "$BACK" "$MNT" \
			sh -eu "$WARD_TMP/beneath"' || fail "$opts: mounts beneath"
	recorded '^deny .*path=\[/workspace/other\].*errno=13 cause=\[another file system'
	recorded '^deny .*path=\[/workspace/same\].*errno=13 cause=\[another file system'
done
