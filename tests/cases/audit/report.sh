#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The report is one self-contained page that says what the trail says. No name can inject markup.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

hostile='/w/<script src=//x>"&x'"'"'</ul></details><img onerror=1>/`|[a](b)'
run --session r --events 31 --name "$hostile"
audit report r >page.html || fail "report"
audit report r --format html -o page2.html || fail "-o"
audit report r --format md >page.md || fail "md"
audit report r --format json >page.json || fail "json"
audit summary --json r >summary.json
rc=0
audit report r --format word >/dev/null 2>err || rc=$?
[ $rc -eq 2 ] || fail "an unknown format"
[ -s page2.html ] || fail "-o wrote nothing"
grep -q '<strong>intact</strong>' page.html || fail "the verdict is missing"

python3 "$WARD_SRC/tests/cases/audit/lib/report-hostile.py" "$hostile" || fail "see above"

# A trail that was changed says so on its first lines.
sed -i 's/t0-7/t0-8/' state/sessions/r/trail.jsonl
audit report r | grep -q '<strong>edited</strong>' || fail "an edited trail"
expect 1 audit report r --format md
echo "$OUT" >edited.md
grep -q '^Trail: \*\*edited\*\*' edited.md || fail "an edited trail, md"
grep -q 'The trail does not verify' edited.md || fail "the first paragraph of an edited trail"
grep -q 'complete and unaltered' edited.md && fail "an edited trail is said to be whole"

# What was asked and approved, and what others changed, where there is something of it.
grep -q 'Asked and approved' page.html && fail "control: nothing was asked"
run --session every --events 5 --every
audit report every >every.html || fail "every"
audit report every --format md >every.md || fail "every, md"
audit report every --format json >every.json || fail "every, json"
python3 "$WARD_SRC/tests/cases/audit/lib/report-members.py" every.json state/sessions/every/trail.jsonl || fail "approvals"
grep -q 'Asked and approved' every.html || fail "approvals are not on the page"
grep -q '>grant<' every.html || fail "which"
grep -q 'Changed by others' every.html || fail "external is not on the page"
grep -q '^- #.* grant' every.md || fail "approvals, md: $(cat every.md)"

# A name that Markdown could read otherwise stands as it is: bars of a cell, backticks of a span.
mkdir names && cd names && git init -q .
"$WARDFS" run --session odd --policy medium -- sh -c 'echo x >"src|main.c"; echo x >"a\`b"; echo x >"\`\`c"' || fail "odd names"
"$WARDFS" audit report odd --format md >../odd.md || fail "odd, md"
grep -q '^On .* UTC, `.*` ran `` sh -c '"'"'echo x >"src|main.c".*'"'"' `` in `.*/names` under the profile `medium`, in mode `restricted`\. ' ../odd.md ||
	fail "the first paragraph: $(sed 3q ../odd.md)"
grep -q 'created 3 names and removed no name\. .*Nothing was refused\. The command ended with status 0\. The trail is' ../odd.md ||
	fail "the first paragraph: $(sed 3q ../odd.md)"
for shown in '| `/workspace/src\|main.c` |' '| `` /workspace/a`b `` |' '| ``` /workspace/``c ``` |'; do
	grep -qF -- "$shown" ../odd.md || fail "no $shown in: $(cat ../odd.md)"
done

# Each refusal says what would permit it, or why no line does.
echo KEY=1 >.env
"$WARDFS" run --session refused --policy medium -- sh -c 'cat .env; echo x >.git/hooks/x' 2>/dev/null || :
"$WARDFS" audit report refused >../refused.html || fail "refused"
"$WARDFS" audit report refused --format md >../refused.md || fail "refused, md"
for page in ../refused.html ../refused.md; do
	grep -q 'if it is no secret, you can lift the guard of this one file' $page || fail "$page: why .env is refused"
	grep -q 'no rule: forbidden by ' $page || fail "$page: why the hook is refused"
done
expect 1 grep -q '</code></td><td></td></tr>' ../refused.html
grep -q '<title>wardfs: session refused</title>' ../refused.html || fail "the title"
