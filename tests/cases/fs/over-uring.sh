#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The cases of this directory over io_uring.
# timeout: 1800
set -eu
. "$WARD_SRC/tests/cases/fs/lib/transport.sh"
over io_uring append append-moved dac left-open links locks names node-ids programs races setuid \
	tmpfile trail trunc verbs why
[ "${WARD_LONG-}" != 1 ] || over io_uring confine contain death held hidden-counts keep outside stall \
	statx
