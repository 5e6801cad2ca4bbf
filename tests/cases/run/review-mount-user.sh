#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs mount with staged changes as an ordinary user, in a user namespace.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to become an ordinary user"
as_user -euc 'WARD_TMP=$HOME/tmp XDG_STATE_HOME=$HOME/state
	export WARD_TMP XDG_STATE_HOME
	mkdir "$WARD_TMP"
	exec unshare --user --map-current-user --keep-caps --mount sh "$WARD_SRC/tests/cases/run/review-mount.sh"' sh
