#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# Terminal programs: job control, window size, Ctrl-C, an editor.
. "$WARD_SRC/tests/cases/lib.sh"
project p
cd p || exit 1
exec python3 "$WARD_SRC/tests/cases/run/terminal.py"
