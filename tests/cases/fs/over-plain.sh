#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The cases of this directory over /dev/fuse, without spinning and without CPUs kept awake.
# plain
# timeout: 1800
set -eu
. "$WARD_SRC/tests/cases/fs/lib/transport.sh"
over plain programs locks
[ "${WARD_LONG-}" != 1 ] || over plain append-moved confine contain dac death held hidden-counts keep \
	left-open links names node-ids outside races setuid stall tmpfile trail trunc verbs why
