#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The records of real work have exactly the members in the table of kinds, and come from the
# producers that the table names.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/session.sh"

cp "$WARD_SRC/tests/cases/audit/lib/members-of-kinds-work.py" work.py
echo secret >.env
cp /bin/true prog
# session NAME NETWORK
session() {
	printf '[policy]\nversion = 1\nextends = medium\n[guard]\nhide = .env\n[quota /workspace]\ngrowth = 1M\n[network]\nmode = %s\n[audit]\nlog = io\nhash = all\n' "$2" >../policy
	status=0
	"$WARDFS" run --policy ../policy --session "$1" -- python3 work.py >../out 2>&1 || status=$?
	"$WARDFS" audit show --json "$1" >"../$1.jsonl" || fail "$1: exit $status, $(cat ../out)"
	rm -rf new hard fifo left full big
}
session none none
[ "$(id -u)" -ne 0 ] || session net allowlist # the broker's records
"$WARD_BUILD/tests/support/record_pages" kinds >../kinds
"$WARD_BUILD/tests/support/record_pages" members >../members
python3 "$WARD_SRC/tests/cases/audit/lib/members-of-kinds-check.py" ../kinds ../members ../*.jsonl || fail "see above"
