#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs-policy(5) documents every key with an example that loads and that explain can read.
set -eu
python3 "$WARD_SRC/tests/cases/policy/lib/manual-keys.py"
