#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Exports keep every record with its seq and mac. A name cannot break out of its field.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

name=$(printf '=1|2\\3=4 "x", a\nb\r\033[31m\377 cs1=\\|')
run --session x --events 11 --name "$name"
for format in jsonl csv cef ocsf otel; do
	audit export --format $format x >out.$format || fail "$format"
	audit export --format $format --after 7 x >late.$format || fail "$format --after"
done
cmp -s out.jsonl state/sessions/x/trail.jsonl || fail "jsonl is not the trail"
audit export --format word x 2>err && fail "an unknown format"
grep -q "there are: jsonl csv cef ocsf otel" err || fail "$(cat err)"

# Programs and the network have classes of their own.
run --session every --events 1 --every
audit export --format ocsf every >every.ocsf || fail "every kind"
audit export --format cef every >every.cef || fail "every kind"
python3 "$WARD_SRC/tests/cases/audit/lib/export-formats.py" "$WARD_SRC/tests/support" || fail "see above"
