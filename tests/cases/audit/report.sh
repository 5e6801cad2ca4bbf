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
sed -n 5p edited.md | grep -q '^The trail does not verify: what this page says may be wrong\. ' ||
	fail "the first paragraph of an edited trail: $(cat edited.md)"
grep -q 'complete and unaltered' edited.md && fail "an edited trail is said to be whole"

# The report has sections for questions, approvals and changes by others, if there are any.
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
	grep -q 'If it is no secret, lift the guard of this file' $page || fail "$page: why .env is refused"
	grep -q 'no rule: forbidden by ' $page || fail "$page: why the hook is refused"
done
expect 1 grep -q '</code></td><td></td></tr>' ../refused.html
grep -q '<title>wardfs: session refused</title>' ../refused.html || fail "the title"

# The page says of what its counts are, whose policy it was, and what one process executed in turn.
printf '[policy]\nversion = 1\nextends = medium\n[network]\nmode = none\n' >../own.policy
: >empty
"$WARDFS" run --session told --policy ../own.policy --label ticket=T-7 -- \
	sh -c 'cat .env 2>/dev/null; : <empty; exec env true' || :
"$WARDFS" audit report told >../told.html || fail "told"
"$WARDFS" audit report told --format md >../told.md || fail "told, md"
"$WARDFS" audit report told --format json >../told.json || fail "told, json"
for page in ../told.html ../told.md; do
	sed 's/<[^>]*>//g; s/`//g' $page >../told.txt
	for words in 'It opened 1 file to read and no file to write, created no name' \
		'own.policy, which extends medium, in mode restricted' \
		'wardfs does not record which files were read or changed in /usr, /etc, /tmp' \
		'The session had no network. The kernel refuses every connection there' \
		'1 access was refused, as the policy expects. ' \
		'ticket=T-7' 'none: the kernel knows no login\|login uid' 'limit-processes' \
		'(clock \(not \)\?synchronised' 'Requirements of standards' 'What was refused, and why'; do
		grep -q -- "$words" ../told.txt || fail "$page: no $words: $(cat ../told.txt)"
	done
	expect 1 grep -q 'No connection was made' ../told.txt
	expect 1 grep -q 'It read' ../told.txt
done
python3 "$WARD_SRC/tests/cases/audit/lib/report-executed.py" ../told.json || fail "executed: $(cat ../told.json)"
"$WARDFS" audit summary told >../told.sum || fail "summary"
grep -q '^files  *1  opened to read$' ../told.sum || fail "summary: $(cat ../told.sum)"
grep -q '^bytes .*, or more: wardfs did not see the bytes of [1-9]' ../told.sum ||
	grep -q '^bytes  *0  read, 0 written$' ../told.sum || fail "summary: $(cat ../told.sum)"
