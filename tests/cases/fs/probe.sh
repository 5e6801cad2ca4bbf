#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Random system calls run natively and inside. Each result, errno, attribute and content must be
# the same, except as docs/posix.md says. The seeds below once showed differences. Those with a w
# also have the calls that came later, those with an a ACLs as well. With --long, a quarter of an
# hour of further seeds for each mode. The printed seed is enough to repeat a run.
# timeout: 7200
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

SEEDS="1 3 11 19 103 240 509 515 2945560059 w1 w2 w2882827869"
ACL_SEEDS="a1 a6 a1267092717"
cp "$WARD_SRC/tests/cases/fs/lib/probe.py" "$WARD_TMP/probe.py"
seconds=${WARD_LONG:+900}
more="other uring"
case " $MODES " in *" user "*) more="$more acl" ;; esac
for mode in $MODES $more; do
	seeds=$SEEDS
	# shellcheck disable=SC2119 # as it is
	policy
	printf 'hardlinks = allow\n' | sed -i '/^source/r /dev/stdin' "$POLICY"
	fresh
	rm -rf "$WARD_TMP/native"
	mkdir "$WARD_TMP/native"
	chown "$OWNER:$OWNER" "$WARD_TMP/native"
	as=$mode
	# Without the key an ordinary user has no ACLs.
	if [ "$mode" = acl ]; then
		printf 'acl = yes\n' | sed -i '/^source/r /dev/stdin' "$POLICY"
		as=user
	fi
	[ "$mode" = user ] || seeds="$SEEDS $ACL_SEEDS"
	[ "$mode" != other ] || chown 0:0 "$BACK" "$WARD_TMP/native"
	if [ "$mode" = uring ]; then
		as=root
		export WARD_TRANSPORT=io_uring
	fi
	rc=0
	# shellcheck disable=SC2086 # numbers
	in_mode "$as" -c 'exec python3 "$@"' - "$WARD_TMP/probe.py" "$WARD_TMP/native" "$MNT" \
		"${seconds:-0}" $seeds || rc=$?
	# 77: this kernel has no rings.
	[ $rc = 0 ] || [ "$mode$rc" = uring77 ] || fail "$mode: probe"
	unset WARD_TRANSPORT
done
