#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attempts to pass quotas, append and hide that start on one side of a border and end on the
# other: a file grows without a name or elsewhere and moves in, is exchanged, is handed over and
# reopened, is written by asynchronous calls. Also what the errors for a hidden name reveal. The
# control is the same attempt without these rules.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"
[ "$(uname -m)" = x86_64 ] || skip "needs x86-64 (numbers of system calls)"

cp "$WARD_SRC/tests/cases/fs/lib/borders.py" "$WARD_TMP/borders.py"
for mode in $MODES; do
	for with in free guarded; do
		if [ $with = free ]; then
			# shellcheck disable=SC2119 # all may be written
			policy
		else
			policy 'append = /workspace/log' 'hide = *.pem' \
				'[quota /workspace/q]' 'growth = 1M' '[quota /workspace/q/few]' 'files = 100'
		fi
		fresh
		as_owner sh -c "cd '$BACK' && mkdir -p q/few log && head -c 8192 /dev/zero | tr '\\0' o >log/log && echo k >key.pem"
		in_mode "$mode" -c "exec python3 '$WARD_TMP/borders.py' $with" || fail "$mode, $with"
		[ "$(cat "$BACK/key.pem")" = k ] || [ $with = free ] || fail "$mode: what is hidden changed"
	done
done
