#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Root builds this repository and works on it inside its own sandbox: all of it with --long,
# otherwise the command line's part. demo.sh builds the whole as root.
# plain
# timeout: 1800
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
. "$WARD_SRC/tests/cases/self/lib/copy.sh"
copy_sources project
target=wardfs
[ -z "${WARD_LONG-}" ] || target=all
sh "$WARD_SRC/tests/cases/self/lib/load.sh" "$WARD_TMP/project" "$target"
