#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Steps and branches in sessions of an ordinary user, whose files the guard keeps in its page cache.
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to become an ordinary user"
for case in review-steps review-steps-held review-branches; do
	echo "--- $case"
	as_user -euc 'WARD_TMP=$HOME/$1 XDG_STATE_HOME=$HOME/$1-state
		export WARD_TMP XDG_STATE_HOME
		mkdir "$WARD_TMP"
		exec sh "$WARD_SRC/tests/cases/run/$1.sh"' sh "$case" || fail "$case"
done
