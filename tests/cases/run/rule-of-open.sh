#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A record of an allowed open names its rule, as a refusal does: file, line and source. After a
# rename, and for a new file, it is the rule of the present name.
set -eu
. "$WARD_SRC/tests/lib.sh"

project "$WARD_TMP/p"
cd "$WARD_TMP/p" || fail "cd"
mkdir src doc
echo a >src/a
echo b >doc/b
echo c >secret
P=$WARD_TMP/own.policy
cat >"$P" <<'END'
[policy]
version = 1
[files]
read = /workspace
write = /workspace/src
append = /workspace/log
deny = secret
END
expect 0 "$WARDFS" run --policy "$P" --session r -- sh -c '
	cat src/a doc/b; echo 1 >src/new; mv src/new src/moved; ln src/moved src/linked; chmod 600 src/a
	echo 1 >>log; rm src/linked; mkdir src/dir; cat secret || :; ls >/dev/null'
# rule KIND PATH LINE SOURCE
rule() {
	python3 "$WARD_SRC/tests/cases/run/lib/rule-of-open-record.py" "$XDG_STATE_HOME/wardfs/sessions/r/trail.jsonl" "$1" "$2" "$3" "$4" "$P" || fail "$*"
}
rule open /workspace/src/a 5 base
rule open /workspace/doc/b 4 base
rule create /workspace/src/new 5 base
rule create /workspace/src/dir 5 base
rule rename /workspace/src/new 5 base
rule link /workspace/src/moved 5 base
rule attr /workspace/src/a 5 base
rule remove /workspace/src/linked 5 base
rule create /workspace/log 6 base
rule deny /workspace/secret 7 base
# and it can be asked for: all that one line decided, and nothing else
place=$("$WARDFS" audit show --json --kind open --path /workspace/doc/b r | sed 's/.*"rule":"\([^"]*\)".*/\1/')
expect 0 "$WARDFS" audit show --json --rule "$place" r
has "$OUT" '"path":"/workspace/doc/b"'
hasnt "$OUT" '/workspace/src/a"'
hasnt "$OUT" /workspace/secret
expect 0 "$WARDFS" audit show --kind open r
has "$OUT" "[$place]"
# A refusal alone says what the rule is: of what is allowed the text stands in the policy's records.
expect 0 "$WARDFS" audit show --json --kind open r
hasnt "$OUT" rule_text
expect 0 "$WARDFS" audit show --json --kind deny r
has "$OUT" '"rule_text":"deny = secret"'
