#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The host and a program inside replace a file again and again while other programs open, query
# and change it. Each program finds the old or the new file, never ESTALE, and never half a file.
# The controls: the file was replaced many times, and programs saw different versions.
# timeout: 600
# suites: tsan
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/replaced-replace.py" "$WARD_TMP/replace.py"
cp "$WARD_SRC/tests/cases/fs/lib/replaced-use.py" "$WARD_TMP/use.py"
script inside <<END
echo "host 0" >f
chmod 755 f
ln -s host-0 l
: >started
python3 "$WARD_TMP/replace.py" . "$WARD_TMP/stop/inside" &
other=\$!
[ \$1 = inside ] || set -- host inside
for who; do
	set -- "\$@" "$WARD_TMP/stop/\$who.enough"
	shift
done
python3 "$WARD_TMP/use.py" "\$@" || rc=\$?
: >"$WARD_TMP/stop/inside"
wait \$other
# wardfs gives back files that it held for a moment: f, l and started are left, many more were made.
[ \$# -gt 1 ] || python3 "$WARD_SRC/tests/cases/fs/lib/replaced-freed.py"
exit \${rc:-0}
END
# A file that is held for one process is not visible to another one.
for mode in root other; do
	policy
	fresh
	chmod 777 "$BACK"
	in_mode $mode -c "exec python3 '$WARD_SRC/tests/cases/fs/lib/replaced-others.py' '$BACK'" || fail "$mode: others"
done
for mode in $MODES; do for who in both inside; do
	policy '[quota /workspace]' 'growth = 64M' 'files = 1000'
	rm -rf "$WARD_TMP/stop"
	mkdir -m 777 "$WARD_TMP/stop"
	fresh
	# shellcheck disable=SC2016
	[ $who = inside ] || as_owner sh -c 'until [ -e "$1/started" ]; do [ ! -e "$3" ] || exit 0; sleep 0.01; done
		exec python3 "$2" "$1" "$3"' sh "$BACK" "$WARD_TMP/replace.py" "$WARD_TMP/stop/host" &
	host=$!
	rc=0
	in_mode $mode "$WARD_TMP/inside" $who || rc=$?
	: >"$WARD_TMP/stop/host"
	[ $who = inside ] || wait "$host" || fail "$mode: the host's replacing ended"
	[ $rc -eq 0 ] || fail "$mode, $who: inside"
	for by in host inside; do
		[ $by$who = hostinside ] || [ "$(cat "$WARD_TMP/stop/$by.n")" -gt 50 ] ||
			fail "$mode: $by replaced it $(cat "$WARD_TMP/stop/$by.n") times"
	done
done; done
