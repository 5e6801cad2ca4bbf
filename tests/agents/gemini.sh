#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 1200
# plain
# A day of gemini, from the npm registry, as lib/agents.sh tells it.
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
. "$WARD_SRC/tests/agents/lib/agents.sh"
agent_case gemini
