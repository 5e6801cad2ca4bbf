#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A day of codex from the npm registry. lib/agents.sh describes the day.
# timeout: 1200
# plain
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
. "$WARD_SRC/tests/agents/lib/agents.sh"
agent_case codex
