#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Steps, branches and other verbs with sessions of an ordinary user, whose files the guard keeps in
# its page cache.
# timeout: 1800
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to become an ordinary user"
for case in review-steps review-steps-held review-branches review-sealed-steps review-verbs review-blame; do
	echo "--- $case"
	as_user -euc 'WARD_TMP=$HOME/$1 XDG_STATE_HOME=$HOME/$1-state
		XDG_CONFIG_HOME=$HOME/$1-config
		export WARD_TMP XDG_STATE_HOME XDG_CONFIG_HOME
		mkdir "$WARD_TMP"
		exec sh "$WARD_SRC/tests/cases/run/$1.sh"' sh "$case" || fail "$case"
done
