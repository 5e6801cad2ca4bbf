#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plain
# timeout: 1800
# This repository, built and worked on inside its own sandbox; started by root. All of it with
# --long, else as much as the command line takes: demo.sh builds the whole as root.
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
. "$WARD_SRC/tests/cases/self/lib/copy.sh"
copy_sources project
target=wardfs
[ -z "${WARD_LONG-}" ] || target=all
sh "$WARD_SRC/tests/cases/self/lib/load.sh" "$WARD_TMP/project" "$target"
