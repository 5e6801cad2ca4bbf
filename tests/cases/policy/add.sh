#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `policy add` writes a rule where it takes effect, or writes nothing.
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"

mkdir project
cd project
git init -q .
explain() {
	"$WARDFS" policy explain "$@" >/dev/null
}

explain write src/a || fail "control: medium lets it be written"
"$WARDFS" policy add read /workspace/src >out || fail "$(cat out)"
grep -q '^  now *stat,list,read,exec$' out || fail "$(cat out)"
! explain write src/a || fail "the rule does not decide"
"$WARDFS" policy add write /workspace/src/gen >out
explain write src/gen/a || fail "the later rule does not decide"
"$WARDFS" policy add --guard hide '*.secret' >out
! explain read x.secret || fail "the guard does not hold"
grep -q '^  /workspace/\*\.secret: no longer ' out || fail "what it changes is not told: $(cat out)"
expect 2 "$WARDFS" policy add write '/workspace/**/y.secret'
has "$ERR" "never gives what it says"
! grep -rq 'y\.secret' "$XDG_CONFIG_HOME" || fail "a rule without effect was written"
expect 0 "$WARDFS" policy add --force write '/workspace/**/y.secret'
! explain read y.secret || fail "a guard was lifted"
has "$OUT" 'no path gains or loses a right'
expect 0 "$WARDFS" policy remove write '/workspace/**/y.secret'
expect 2 "$WARDFS" policy add write /workspace/src/gen/more
has "$ERR" "no path gains or loses a right, since other rules decide"
"$WARDFS" policy add deny /workspace/late >out
# One path of those that change alike, and whose word counted for it: no list of made-up names.
grep -q '^  /workspace/late: no longer read,' out || fail "$(cat out)"
! grep -qF '*' out || fail "$(cat out)"
[ "$(wc -l <out)" -eq 4 ] || fail "$(cat out)"
! explain read late || fail "not in [files]"
! explain write .git/hooks/x || fail "medium is no longer extended"
echo "--- of a file, which has nothing beneath it, its rights are told alone"
mkdir certs
echo x >certs/test.pem
"$WARDFS" policy add read /workspace/certs/test.pem >out
grep -q '^  before *nothing$' out && grep -q '^  now *stat,list,read,exec$' out || fail "$(cat out)"
[ "$(wc -l <out)" -eq 3 ] || fail "$(cat out)"
"$WARDFS" policy add read /workspace/certs/none.pem >out
grep -q '^  /workspace/certs/none.pem: now also stat,list,read,exec' out || fail "control: $(cat out)"
echo "--- read is meant to give: what can be written is not made read-only without being asked"
mkdir docs
echo x >docs/a
echo key >docs/k.pem
echo key >docs/.env
expect 2 "$WARDFS" policy add read /workspace/docs/a
has "$ERR" "/workspace/docs/a can be read already, by medium:"
has "$ERR" "'read = /workspace/docs/a' would take append,create,write,remove,attr away; nothing was written"
explain write docs/a || fail "it was written"
expect 0 "$WARDFS" policy add --force read /workspace/docs/a
! explain write docs/a || fail "control: --force does not write it"
expect 0 "$WARDFS" policy remove read /workspace/docs/a
has "$OUT" "  /workspace/docs/a: now also append,create,write,remove,attr"
hasnt "$OUT" "docs/a/"
echo "--- a directory with a secret in it: said with the file's name; the names that are told exist"
for verb in read write; do
	expect 2 "$WARDFS" policy add "$verb" /workspace/docs
	has "$ERR" "would also open /workspace/docs/k.pem, which is a secret until now"
done
! explain read docs/k.pem || fail "it was opened"
expect 0 "$WARDFS" policy add --force write /workspace/docs
has "$OUT" "  /workspace/docs/k.pem: now also stat,list,read,"
hasnt "$OUT" "*.jks"
explain read docs/k.pem || fail "control: --force does not open it"
! explain read docs/.env || fail "a guard was lifted"
expect 0 "$WARDFS" policy remove write /workspace/docs
has "$OUT" "  /workspace/docs/k.pem: no longer stat,list,read,"
hasnt "$OUT" "*.jks"
rm -r docs
echo "--- all paths are compared, also where somebody is asked"
expect 0 "$WARDFS" policy add --force ask /workspace/asked
has "$OUT" '/workspace/asked: no longer append,create,write,remove,attr'
hasnt "$OUT" "too many rules"
echo "--- a name without its / in front matches at every depth: said where it is a file here"
mkdir deep
: >deep/own.pem
expect 0 "$WARDFS" policy add read deep/own.pem
has "$ERR" "'deep/own.pem' has no leading /, so it matches at every depth"
has "$ERR" "wardfs policy add read /workspace/deep/own.pem"
! explain write other/deep/own.pem || fail "it does not match at every depth"
expect 0 "$WARDFS" policy undo
expect 0 "$WARDFS" policy add read /workspace/deep/own.pem
hasnt "$ERR" "every depth"
explain write other/deep/own.pem || fail "it matches elsewhere"
expect 0 "$WARDFS" policy undo
mkdir deep/src
: >deep/src/App.tsx
expect 0 "$WARDFS" policy add deny deep/src/App.tsx
has "$OUT" '  /workspace/deep/src/App.tsx: no longer read,'
hasnt "$OUT" "HEAD"
expect 0 "$WARDFS" policy undo
echo "--- such a name of a secret that stays closed, or of a file that loses by it: not written"
: >.env
: >plain
expect 2 "$WARDFS" policy add read .env
has "$ERR" "[files] read = .env gives /workspace/.env no right"
has "$ERR" "wardfs policy add --lift-guard read /workspace/.env"
expect 2 "$WARDFS" policy add read plain
has "$ERR" "/workspace/plain can be read already"
explain write plain || fail "it was written all the same"
expect 0 "$WARDFS" policy add read nothing-of-that-name
has "$OUT" "  /workspace/nothing-of-that-name: no longer append,"
hasnt "$OUT" secret
hasnt "$OUT" '*'
expect 0 "$WARDFS" policy undo
echo "--- names of secrets that no file has: told of a directory that exists, in one line"
mkdir -p deep/lib
expect 0 "$WARDFS" policy add --force append /workspace/deep/lib
has "$OUT" "  names like /workspace/deep/lib/*."
has "$OUT" " are no longer secret there ('wardfs policy check' says"
hasnt "$OUT" "an example"
expect 0 "$WARDFS" policy undo
expect 0 "$WARDFS" policy add append /workspace/deep/other
hasnt "$OUT" secret
expect 0 "$WARDFS" policy undo
echo "--- a line that would do nothing else is not written. The control: one that names such a file"
expect 2 "$WARDFS" policy add write /workspace/deep/lib
has "$ERR" "gives nothing that other lines do not give, but /workspace/deep/lib/*."
expect 0 "$WARDFS" policy add write /workspace/deep/lib/a.pem
has "$OUT" "/workspace/deep/lib/a.pem: now also stat,"
expect 0 "$WARDFS" policy undo
rm -r deep .env plain
echo "--- what is too wide is said, and added by --force alone"
expect 2 "$WARDFS" policy add write /workspace
has "$ERR" "[files] write = /workspace: too wide"
has "$ERR" "nothing was written (--force writes it)"
! grep -rqx 'write = /workspace' "$XDG_CONFIG_HOME" || fail "it was written"
expect 0 "$WARDFS" policy add --force write /workspace
has "$ERR" "[files] write = /workspace: too wide"
echo "--- a host: with a network where there was none"
! explain connect web.example:443 || fail "control: medium allows no host"
"$WARDFS" policy add allow web.example:443 >out 2>&1
grep -q 'and     \[network\] mode = allowlist: medium has no network (' out || fail "the mode is not said: $(cat out)"
! grep -q wildcard out || fail "$(cat out)"
explain connect web.example:443 || fail "the host is not allowed"
"$WARDFS" policy explain connect web.example:443 >out 2>&1 || fail "explain: $(cat out)"
hasnt "$(cat out)" "to permit it"
"$WARDFS" policy explain connect other.example:444 >out 2>&1 && fail "another one is allowed"
has "$(cat out)" "to permit it: wardfs policy add allow other.example:444"
! explain connect other.example:443 || fail "another one is"
expect 2 "$WARDFS" policy add allow web.example:443
has "$ERR" "has that line already"
expect 2 "$WARDFS" policy add allow '*'
has "$ERR" "a wildcard allows hosts that nobody has checked"
! explain connect other.example:443 || fail "the wildcard was written"
expect 0 "$WARDFS" policy add --force allow '*'
echo "--- a program: only where there is a list"
expect 2 "$WARDFS" policy add exec /usr/bin/true
has "$ERR" "would begin one"
expect 0 "$WARDFS" policy add --force exec /usr/bin/true
! explain exec /usr/bin/env || fail "control: the list closes it"
expect 0 "$WARDFS" policy add exec /usr/bin/env
explain exec /usr/bin/env || fail "the program is not listed"
expect 2 "$WARDFS" policy add exec /usr/bin/env
has "$ERR" "already"
expect 0 "$WARDFS" policy remove exec /usr/bin/env
expect 0 "$WARDFS" policy remove exec /usr/bin/true

file=$(find "$HOME" "$XDG_CONFIG_HOME" -name '*.policy' | sort -u)
[ -f "$file" ] || fail "not one file: $file"
[ "$(stat -c %a "$file")" = 600 ] || fail "others may read it"
"$WARDFS" policy check >/dev/null || fail "check"
[ "$(grep -c 'mode = allowlist' "$file")" -eq 1 ] || fail "$(cat "$file")"

before=$(cksum "$file")
for bad in "hid x" "read a**b" "guard x" "write "; do
	code=0
	# shellcheck disable=SC2086 # words
	"$WARDFS" policy add $bad >out 2>&1 || code=$?
	[ $code -eq 2 ] || fail "$bad: exit status $code"
done
code=0
"$WARDFS" policy add --guard write x >out 2>&1 || code=$?
[ $code -eq 2 ] || fail "a guard that grants: $code"
code=0
"$WARDFS" policy add --guard allow web.example >out 2>&1 || code=$?
[ $code -eq 2 ] || fail "a guard that allows: $code"
code=0
"$WARDFS" policy add read "x
write = /" >out 2>&1 || code=$?
[ $code -eq 2 ] || fail "two lines: $code"
[ "$before" = "$(cksum "$file")" ] || fail "a refused rule was written"
[ "$(find "$(dirname "$file")" -type f | wc -l)" -eq 1 ] || fail "something was left behind"
# A message names the owner's file, not the one that is tried beside it and gone by then.
expect 2 "$WARDFS" policy add read ../x
has "$ERR" "$file:"
hasnt "$ERR" "$file."
# Words that people type who use other tools.
expect 2 "$WARDFS" policy add net web.example
has "$ERR" "no verb 'net': did you mean 'allow'?"
# A name that looks like a secret and is not there yet: both lines speak of the day when it is.
cd "$WARD_TMP"
project other
cd other
expect 0 "$WARDFS" policy add read /workspace/later/test.jks
has "$OUT" "  before  nothing
  now     stat,list,read,exec
"
hasnt "$OUT" "-append"
# A host that is allowed already, also by a line without a port: that is 80 and 443. The control:
# another port, and both ports where one was allowed.
expect 0 "$WARDFS" policy add allow h.example
expect 2 "$WARDFS" policy add allow h.example:443
has "$ERR" "h.example:443 is allowed already, by "
has "$ERR" "[network] allow = h.example"
expect 0 "$WARDFS" policy add allow h.example:8443
expect 0 "$WARDFS" policy add allow g.example:443
expect 0 "$WARDFS" policy add allow g.example
expect 0 "$WARDFS" policy add --force allow g.example:443

# Where no project is, each verb says why, and an answer says what it is about.
(
	cd / || exit 1
	for words in 'add read /workspace/x' 'remove read /workspace/x' edit undo; do
		# shellcheck disable=SC2086
		expect 2 "$WARDFS" policy $words
		has "$ERR" "/ cannot be the project, because it is the root of the host"
	done
	expect 2 "$WARDFS" init
	has "$ERR" "the root of the host"
	expect 0 "$WARDFS" policy explain read x
	has "$ERR" "no project is here; the answer is for one without a policy of its own"
	expect 0 "$WARDFS" policy check
	has "$ERR" "no project is here"
	cd "$HOME" || exit 1
	expect 2 "$WARDFS" policy add read /workspace/x
	has "$ERR" "because it is a home directory"
)
expect 0 "$WARDFS" policy explain read x
hasnt "$ERR" "no project"
# policy add names the file and what the line allows. It says that a repeated line is there already.
expect 0 "$WARDFS" policy add allow told.example:443
has "$OUT" "added to "
has "$OUT" "$XDG_CONFIG_HOME/wardfs/projects/"
has "$OUT" "sessions of this project may now connect to told.example:443"
expect 0 "$WARDFS" policy add deny /workspace/twice
expect 2 "$WARDFS" policy add deny /workspace/twice
has "$ERR" "has that line already, and it decides; nothing was written"
