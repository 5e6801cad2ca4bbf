#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 1200
# plain
# A day of opencode, from the npm registry, as lib.sh tells it.
. "$WARD_SRC/tests/cases/lib.sh"
. "$WARD_SRC/tests/cases/network/lib.sh"
. "$WARD_SRC/tests/agents/lib.sh"
agent_case opencode
