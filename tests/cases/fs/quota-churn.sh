#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [quota] churn stops an agent that deletes, replaces, truncates or encrypts everything, after as
# many files as the policy says. The agent may do as it likes with files that it made itself.
# plain
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/quota-churn.py" "$WARD_TMP/churn.py"
for mode in $MODES; do
	for how in unlink encrypt replace cut cut_by_opening cut_reading away exchange remove_dir; do
		for want in 40 10; do
			case $mode$how$want in root* | *encrypt10 | *replace10) ;; *) continue ;; esac
			policy
			sed -i 's/^source = .$/&\nhardlinks = allow/' "$POLICY"
			[ $want = 40 ] || printf '[quota /workspace]\nchurn = 10/h\n' >>"$POLICY"
			fresh
			as_owner sh -c "cd '$BACK' && i=0 && while [ \$i -lt 40 ]; do echo mine >\$i; mkdir d\$i; i=\$((i + 1)); done"
			in_mode $mode -c "exec python3 '$WARD_TMP/churn.py' $how $want" || fail "$mode $how $want"
			[ $want = 40 ] || recorded "^quota .* text=\[\[quota /workspace\] churn = 10/h\] errno=122 .*name=\[churn\]"
		done
		case $mode$how in root* | *encrypt | *replace) ;; *) continue ;; esac
		# On the host: what was refused is as it was.
		left=0
		for f in "$BACK"/[0-9]* "$BACK/grave" "$BACK/own"; do
			if [ -f "$f" ] && [ "$(cat "$f")" = mine ]; then left=$((left + 1)); fi
		done
		[ $how = remove_dir ] || [ $left = 30 ] || fail "$mode $how: $left are left"
	done
done
