#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attack: a file name contains a command, and a message prints a command with that name for the
# reader to paste. The name stays one word. The control: the same words unquoted run the command.
set -eu
. "$WARD_SRC/tests/lib.sh"
top=$WARD_TMP
evil="$top/a b;touch hit;c"
mkdir -p "$evil/dir" "$top/mnt"
echo x >"$evil/file"
project p
cd p || exit 1
# pasted COMMAND WORD TEXT: the command of wardfs in the text, pasted: WORD is a word of it, and
# nothing else runs.
pasted() {
	line=$(printf '%s\n' "$3" | sed -n "s/.*\\(wardfs $1 .*\\)/\\1/p" | sed 's/, for one run;.*//; s/ looks at it$//; s/)$//' | head -n 1)
	[ -n "$line" ] || fail "no 'wardfs $1' in: $3"
	printf 'wardfs() { printf "%%s\\n" "$@"; }\n%s\n' "$line" >paste.sh
	rm -f hit
	sh paste.sh >words 2>&1 || :
	[ ! -e hit ] || fail "pasted, it runs what the name says: $line"
	grep -qxF -e "$2" words || fail "not one word: $line: $(cat words)"
}
printf 'true %s\n' "$evil/dir" >paste.sh
sh paste.sh 2>/dev/null || :
[ -e hit ] || fail "control: a name that is not quoted does nothing"
expect 1 "$WARDFS" policy explain read "$evil/file"
pasted 'run --read' "$evil/file" "$OUT"
expect 0 env "SSL_CERT_DIR=$evil/dir" "$WARDFS" run -- true
pasted 'run --read' "$evil/dir" "$ERR"
expect 0 "$WARDFS" learn --once "--write=$evil/learned" -- sh -c "echo x >used"
pasted 'run --policy' "$evil/learned" "$ERR"
expect 2 "$WARDFS" profile list 'a;touch hit'
pasted 'profile show' 'a;touch hit' "$ERR"
exit 0
