#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [quota] counts exactly, byte for byte, for every way in which a file grows, shrinks and moves,
# also when nested. Existing files and changes by others do not count. The control is the first
# run, without a quota.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/quota.py" "$WARD_TMP/quota.py"

for mode in $MODES; do
	for quota in free full; do
		if [ $quota = full ]; then
			policy 'append = /workspace/log' '[quota /workspace]' 'growth = 1M' '[quota /workspace/in]' 'growth = 100K' \
				'[quota /workspace/few]' 'files = 3' '[quota /workspace/one]' 'file = 10K' '[quota /workspace/up/in]' 'files = 9'
		else
			policy 'append = /workspace/log'
		fi
		fresh
		as_owner sh -c "cd '$BACK' && mkdir in few one log up && : >few/was && truncate -s 1T terabyte && truncate -s 100000 hole &&
			for f in old user user2 user3 user4; do head -c 200000 /dev/zero >\$f; done && head -c 20000 /dev/zero >one/large &&
			truncate -s 1000 old && head -c 1000 /dev/zero >old"
		in_mode $mode -c "exec python3 '$WARD_TMP/quota.py' '$BACK' $quota" || fail "$mode $quota"
	done
	recorded '^quota .*action=\[truncate\] path=\[/workspace/a\] .* text=\[\[quota /workspace\] growth = 1M\] errno=122 .*name=\[growth\] limit=1048576'
	recorded '^quota .*action=\[open\] path=\[/workspace/terabyte\] .*errno=122'
	recorded '^quota .*action=\[create\] path=\[/workspace/few/x\] .*text=\[\[quota /workspace/few\] files = 3\] errno=122 .*limit=3 used=3'
	recorded '^quota .*action=\[write\] path=\[/workspace/one/f\] .*errno=27 .*name=\[file\]'
	recorded '^deny .*action=\[rename\] path=\[/workspace/in/a\] path2=\[/workspace/b\] .*errno=18'
done
