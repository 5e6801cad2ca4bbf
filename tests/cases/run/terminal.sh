#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Terminal programs: job control, window size, Ctrl-C, an editor.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
exec python3 "$WARD_SRC/tests/cases/run/lib/terminal.py"
