#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Several processes work on the same names for a few seconds: renames, links, replacements,
# exchanges and removals against opens, reads and writes. No secret comes out, every error is one
# that a local file system could give, and the daemon ends well.
# timeout: 600
# suites: tsan
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/races.py" "$WARD_TMP/race.py"
script races <<END
mkdir pub sub && echo f >pub/f
mkdir x x/dir x/other && ln -s other x/sym && echo in dir >x/dir/f && echo in other >x/other/f
for t in one two; do yes \$t | head -n 3000 >x/\$t; done
pids=
for w in swap peek save link tree modes tree save exchange settled settled write write unlink; do
	python3 "$WARD_TMP/race.py" \$w &
	pids="\$pids \$!"
done
rc=0
for p in \$pids; do wait \$p || rc=1; done
exit \$rc
END
for mode in $MODES; do
	policy 'deny = /workspace/vault/secret' 'read = /workspace/ro/fixed'
	fresh
	as_owner sh -c "cd '$BACK' && mkdir vault ro && echo the secret >vault/secret &&
		echo f >ro/fixed && echo f >vault/f"
	in_mode $mode "$WARD_TMP/races" || fail "$mode: races"
	[ "$(cat "$BACK/vault/secret")" = "the secret" ] || fail "$mode: the secret moved"
done
