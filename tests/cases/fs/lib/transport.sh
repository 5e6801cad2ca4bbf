# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced by the cases that run others once more, over another transport.
set -eu
# over TRANSPORT CASE…: each in a directory of its own
over() {
	WARD_TRANSPORT=$1
	export WARD_TRANSPORT
	shift
	top=$WARD_TMP
	for one; do
		WARD_TMP=$top/$one
		mkdir "$WARD_TMP"
		chmod 755 "$top" "$WARD_TMP"
		rc=0
		(cd "$WARD_TMP" && sh "$WARD_SRC/tests/cases/fs/$one.sh") || rc=$?
		[ $rc != 77 ] || exit 77
		[ $rc = 0 ] || { echo "FAIL: $one over $WARD_TRANSPORT: status $rc" >&2; exit 1; }
		rm -rf "$WARD_TMP"
	done
	WARD_TMP=$top
}
