#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# log = io gives each read and write a record with the exact bytes, whatever the handle's mode.
# wardfs refuses accesses that it could not see. hash records digests before and after, equal to
# sha256sum's.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/session.sh"

# session NAME LOG HASH SCRIPT…
session() {
	name=$1
	printf '[policy]\nversion = 1\nextends = medium\n[files]\nappend = /workspace/log\n[audit]\nlog = %s\nhash = %s\n' \
		"$2" "$3" >../policy
	shift 3
	recorded "$name" "$@"
}

cp "$WARD_SRC/tests/cases/audit/lib/io-work.py" work.py
reset() {
	printf 0123456789 >data
	printf 'old\n' >log
	rm -f new
	cp /bin/true prog
}

reset
session io io none python3 work.py
has "$OUT" "shared ENODEV"
has "$OUT" "private b'0XY'"
python3 "$WARD_SRC/tests/cases/audit/lib/io-records.py" ../io.jsonl "$(stat -c %s prog)" || fail "the records of io"
"$WARDFS" audit summary --json io >summary || fail "summary"
python3 - summary ../io.jsonl <<'END' || fail "the sums count bytes twice"
import json, sys
recs = [json.loads(line) for line in open(sys.argv[2])]
want = sum(r.get("written") or 0 for r in recs if r["kind"] == "close")
got = json.load(open(sys.argv[1]))["bytes"]["written"]
assert got == want > 300000, (got, want)
END

# The control: with another log the same maps shared, and nothing is recorded of it.
reset
session opens opens none python3 work.py
has "$OUT" "shared b'0XY'"
grep -q '"kind":"io"' ../opens.jsonl && fail "io without log = io"
grep -v '"kind":"program"' ../opens.jsonl | grep -q '"sha256' && fail "digests without hash"

# A call that clears content without writing it is recorded all the same.
cp "$WARD_SRC/tests/cases/audit/lib/io-punch.py" punch.py
head -c 8192 /dev/zero | tr '\0' x | tee cleared >reserved
session punched opens none python3 punch.py
[ "$(tr -d '\0' <cleared | wc -c)" = 0 ] || fail "control: nothing was cleared"
grep '"kind":"io"' ../punched.jsonl >ios || fail "content was cleared without a record"
has "$(cat ios)" '"action":"fallocate","path":"/workspace/cleared"'
hasnt "$(cat ios)" reserved

# A read that the backing refuses, a write beyond a limit: the second record tells the errno.
cp "$WARD_SRC/tests/cases/audit/lib/io-limit.py" limit.py
session refused io none python3 limit.py
has "$OUT" "fallocate E"
grep '"kind":"io"' ../refused.jsonl | grep '"action":"fallocate"' | grep -q '"errno":"E' ||
	fail "an operation that failed: $(grep fallocate ../refused.jsonl)"

# --- hash ---

sum_of() {
	sha256sum | cut -d' ' -f1
}
# check NAME EXPRESSION: over the records, with before and after as lists of (path, digest)
check() {
	python3 "$WARD_SRC/tests/cases/audit/lib/io-check.py" "../$1.jsonl" "$2" "$3" || fail "$1: $2"
}
old=$(printf 0123456789 | sum_of)
new=$(printf 0XY3456789 | sum_of)
digests=$(printf '{"old": "%s", "new": "%s", "empty": "%s", "log": "%s", "n": "%s"}' "$old" "$new" \
	"$(printf '' | sum_of)" "$(printf 'old\nline\n' | sum_of)" \
	"$(head -c 300000 /dev/zero | tr '\0' n | sum_of)")
reset
session writes opens writes python3 work.py
check writes '("data", d["old"]) in before and ("data", d["new"]) in after' "$digests"
check writes '("log", d["log"]) in after and ("new", d["n"]) in after' "$digests"
check writes 'not any(p in ("prog", "work.py") for p, _ in before + after)' "$digests"
grep -q '"io":"passthrough"' ../writes.jsonl && fail "passthrough with hash"
reset
session all io all python3 work.py
check all 'any(p == "prog" for p, _ in before) and any(p == "work.py" for p, _ in before)' "$digests"
check all '("data", d["old"]) in before and ("data", d["new"]) in after' "$digests"

# One that is so large that the session ends over its digest: its close is recorded once, with it.
reset
session last opens writes python3 -c 'import os
out = os.open("large", os.O_WRONLY | os.O_CREAT, 0o600)
os.ftruncate(out, 512 << 20)
os._exit(0)'
[ "$(grep '"kind":"close"' ../last.jsonl | grep -c '"/workspace/large"')" = 1 ] ||
	fail "closes: $(grep large ../last.jsonl)"
check last '("large", d["large"]) in after' \
	"{\"large\": \"$(head -c 512M /dev/zero | sum_of)\"}"
rm large

# The content is taken before it is truncated, and without the right to read it.
printf secret >gone
session trunc opens writes sh -c ': >gone; umask 777; echo x >unreadable; echo y >>gone; cat gone'
secret=$(printf secret | sum_of)
y=$(printf 'y\n' | sum_of)
digests=$(printf '{"secret": "%s", "y": "%s", "empty": "%s"}' "$secret" "$y" "$(printf '' | sum_of)")
check trunc '[h for p, h in before if p == "gone"] == [d["secret"], d["empty"]]' "$digests"
check trunc '[h for p, h in after if p == "gone"] == [d["empty"], d["y"]]' "$digests"
grep '"kind":"close"' ../trunc.jsonl | grep '/unreadable"' >closed || fail "no close of unreadable"
grep -q '"sha256"' closed && fail "read what the owner may not: $(cat closed)"
grep -q 'no digest: the owner may not read the file' closed || fail "why: $(cat closed)"

# A change from outside in between shows in the digest before. An unchanged file is not read again.
printf one >shared
(
	until [ -e asked ]; do sleep 0.05; done
	printf two >shared
	: >answered
) &
helper=$!
session outside opens writes sh -c ': >>shared; : >asked; until [ -e answered ]; do sleep 0.05; done; : >>shared'
wait "$helper"
digests=$(printf '{"one": "%s", "two": "%s"}' "$(printf one | sum_of)" "$(printf two | sum_of)")
check outside '[h for p, h in before if p == "shared"] == [d["one"], d["two"]]' "$digests"

# Larger than is read, and sparse, so that this is quick.
truncate -s 1073741825 huge
session huge opens writes sh -c ': >>huge'
grep '/huge"' ../huge.jsonl | grep '"text":"no digest: larger than 1 GiB"' | grep -q '"size_before":1073741825' ||
	fail "a file too large: $(grep '/huge"' ../huge.jsonl)"
