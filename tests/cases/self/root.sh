#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plain
# timeout: 600
# This repository, built and worked on inside its own sandbox; started by root. All of it with --long, else as much as
# the command line takes: demo.sh builds the whole as root.
set -eu
if [ "$(id -u)" -ne 0 ]; then
	echo "needs root"
	exit 77
fi
. "$WARD_SRC/tests/cases/self/_copy.sh"
copy_sources project
target=wardfs
[ -z "${WARD_LONG-}" ] || target=all
sh "$WARD_SRC/tests/cases/self/_load.sh" "$WARD_TMP/project" "$target"
