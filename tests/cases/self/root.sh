#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plain
# timeout: 600
# This repository, built and worked on inside its own sandbox; started by root.
set -eu
if [ "$(id -u)" -ne 0 ]; then
	echo "needs root"
	exit 77
fi
. "$WARD_SRC/tests/cases/self/_copy.sh"
copy_sources project
sh "$WARD_SRC/tests/cases/self/_load.sh" "$WARD_TMP/project"
