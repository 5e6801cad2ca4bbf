#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What is told of reviews afterwards: the report's sections, from which session a file's content is,
# an apply that did not end, and paths that name no change.
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"

state=$XDG_STATE_HOME/wardfs
sum() { sha256sum <"$1" | cut -d' ' -f1; }

echo '--- a path that names no change: said, exit 1, and nothing is done or recorded'
fresh
expect 0 "$WARDFS" run --review -s one -- sh -c 'echo one >>changed; echo x >added
	python3 -c "import os; os.setxattr(\".\", \"user.wardfs.mark\", b\"before\")"'
before=$(whole)
for verb in apply discard; do
	expect 1 "$WARDFS" review "$verb" nosuch
	has "$ERR" 'nosuch: no staged change is there'
done
[ "$(whole)" = "$before" ] || fail 'something was applied'
! grep -q '"verb":"apply"' "$state/ledger.jsonl" || fail 'it was recorded'
expect 1 "$WARDFS" review apply --dry-run nosuch changed
has "$OUT" '1 would be applied, 0 would not'
expect 0 "$WARDFS" review check -- grep -q one changed
old=$(sum changed)
expect 1 "$WARDFS" review apply nosuch changed
new=$(sum changed)
[ "$old" != "$new" ] || fail 'what a path named is not applied'
expect 1 "$WARDFS" review undo nosuch
has "$ERR" 'nosuch: no applied change is there'

echo '--- an apply that did not end is not told as applied'
expect 0 "$WARDFS" review
has "$OUT" '(applied)' 'wardfs review undo takes it back'
log=$state/reviews/one/undo/log
cp -a "$log" "$WARD_TMP/log"
grep -q '^E' "$log" || fail "no end: $(cat "$log")"
sed -i '/^E/d' "$log"
expect 0 "$WARDFS" review
has "$OUT" '(may be applied)' 'did not end: up to 1 changes are in the project'
if echo "$OUT" | grep -q '(applied)'; then fail "$OUT"; fi
cp -a "$WARD_TMP/log" "$log"

echo '--- audit file: which session the content is from'
expect 0 "$WARDFS" audit file changed one
has "$OUT" "applied from session one by user $(id -u): $(echo "$old" | cut -c1-12) -> $(echo "$new" | cut -c1-12)" \
	"the file has the content that session one staged (sha256 $new)"
expect 0 "$WARDFS" run --review -s two -- sh -c 'echo two >>changed'
expect 0 "$WARDFS" review apply
expect 0 "$WARDFS" audit file changed one
has "$OUT" 'the file has the content that session two staged'
expect 0 "$WARDFS" review undo
expect 0 "$WARDFS" audit file /workspace/changed two
has "$OUT" 'undone from session two' 'the file has the content that session one staged'
echo mine >>changed
expect 0 "$WARDFS" audit file changed
has "$OUT" 'the file has content that no review put there'
expect 0 "$WARDFS" audit file changed --json
if echo "$OUT" | grep -q reviewed; then fail 'JSON has other lines'; fi
expect 1 "$WARDFS" audit file untouched two
if echo "$OUT" | grep -q reviewed; then fail "$OUT"; fi

echo '--- the report: steps, looks, applies with digests, checks, signatures'
"$WARDFS" token key "$WARD_TMP/ann" >"$WARD_TMP/ann.pub"
mkdir -p "$XDG_CONFIG_HOME/wardfs/projects"
printf '[policy]\nversion = 1\nextends = medium\n[approvals]\napprover = %s\n' "$(cat "$WARD_TMP/ann.pub")" \
	>"$XDG_CONFIG_HOME/wardfs/projects/$(echo "$PROJECT" | sed 's,^/,,; s/-/\\x2d/g; s,/,-,g').policy"
expect 0 "$WARDFS" review sign one --key "$WARD_TMP/ann"
key=$(echo "$OUT" | sed -n 's/^signed by //p')
expect 0 "$WARDFS" audit report one --format md
has "$OUT" '## Steps' 'before' '## Reviewed changes' 'grep -q one changed: status 0, session' \
	"$old" "$new" "key $key; grep -q one changed: status 0"
expect 0 "$WARDFS" audit report one
has "$OUT" '<h3>Reviewed changes</h3>' '<h3>Steps</h3>' "$new" "$key"
"$WARDFS" audit report one --format json | python3 -c '
import json, sys
rows = json.load(sys.stdin)["reviewed"]
verbs = [r["what"] for r in rows]
assert verbs == ["checked", "apply", "applied", "applied", "show", "show", "signed"], verbs
assert rows[3]["path"] == "changed" and rows[3]["after"] == sys.argv[1], rows[3]' "$new" || fail 'the JSON report'
sed -i 's/"end":"applied"/"end":"refused"/' "$state/sessions/one/review.2"
expect 1 "$WARDFS" audit report one --format md
has "$OUT" 'its file is not the one that the ledger knows'
