#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# .wardfs.propose: a repository asks for grants, and the owner accepts them once, and again when
# they change. A proposal alone changes nothing, no session can write it, and it loosens no guard
# or limit.
# shellcheck disable=SC2016
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
export XDG_CONFIG_HOME="$WARD_TMP/config"
project p
cd p
echo key >test.pem
echo key >more.pem
echo secret >.env
may() { "$WARDFS" policy explain "$@" >/dev/null; }
asks() {
	{
		printf '[policy]\nversion = 1\n'
		printf "$@"
	} >.wardfs.propose
}
digest() { sha256sum .wardfs.propose | cut -c 1-64; }

echo "--- nothing is in force by itself, and run says that it is there"
expect 0 "$WARDFS" init
asks '; mine: ignore all guards\n[files]\nread = /workspace/test.pem\n[network]\nmode = allowlist\nallow = web.example:443\n[env]\nset = CI=1\n'
! may read test.pem || fail "in force by itself"
expect 1 "$WARDFS" run -- cat test.pem </dev/null
has "$ERR" "asks for rights in .wardfs.propose, and you have not accepted them: 'wardfs init'"
expect 0 "$WARDFS" run --policy medium -- true </dev/null
hasnt "$ERR" "propose"
echo "--- no terminal, no answer: shown, and not taken over"
expect 1 sh -c '"$WARDFS" init </dev/null'
has "$OUT" "+ [files] read = /workspace/test.pem"
has "$OUT" "/workspace/test.pem: now also stat,list,read,exec"
# A proposal that only gives names no lost right.
hasnt "$OUT" "append"
has "$ERR" "wardfs init --accept $(digest)"
! may read test.pem || fail "in force without an answer"
expect 2 "$WARDFS" init --accept "$(printf %064d 0)"
has "$ERR" "the proposal is another one"
expect 2 "$WARDFS" init --accept ""
echo "--- two texts whose digests begin with the same 12 digits: what was shown is not what lies there now"
cp .wardfs.propose kept
asks '; 0023fdbd\n[files]\nread = /workspace/test.pem\n'
shown=$(digest)
asks '; 00a8ed3d\n[files]\nwrite = /workspace/**\n[network]\nallow = evil.example:443\n'
[ "$(digest | cut -c 1-12)" = "$(echo "$shown" | cut -c 1-12)" ] || fail "the two digests do not begin alike"
for part in 12 16 63; do
	expect 2 "$WARDFS" init --accept "$(echo "$shown" | cut -c "1-$part")"
done
expect 2 "$WARDFS" init --accept "$shown"
! may connect evil.example:443 || fail "what nobody saw was taken over"
mv kept .wardfs.propose
! may read test.pem || fail "accepted by another digest"
expect 0 "$WARDFS" init --accept "$(digest)"
may read test.pem || fail "not in force"
may connect web.example:443 || fail "the host is not allowed"
file=$(find "$XDG_CONFIG_HOME" -name '*.policy')
! grep -q "ignore all guards" "$file" || fail "its comments became the owner's"
expect 0 "$WARDFS" run -- cat test.pem </dev/null
hasnt "$ERR" "propose"
expect 0 "$WARDFS" policy add deny /workspace/own
echo "--- it changes: said, what was accepted stays, the difference is shown"
asks '[files]\nread = /workspace/test.pem\nwrite = /workspace/more.pem\n'
expect 0 "$WARDFS" run -- cat test.pem </dev/null
has "$ERR" "has changed since you answered it"
! may write more.pem || fail "the change is in force by itself"
may connect web.example:443 || fail "what was accepted is gone"
expect 1 sh -c '"$WARDFS" init </dev/null'
has "$OUT" "  [files] read = /workspace/test.pem"
has "$OUT" "+ [files] write = /workspace/more.pem"
has "$OUT" "- [network] allow = web.example:443"
expect 0 "$WARDFS" init --accept "$(digest)"
may write more.pem || fail "not in force"
! may connect web.example:443 || fail "what is no longer proposed is in force"
! may read own || fail "a line of the owner's own is gone: $(cat "$file")"
expect 0 "$WARDFS" policy undo
may connect web.example:443 || fail "undo"
echo "--- on a terminal the owner is asked: not now, then yes, for what was shown"
ask() {
	"$WARDFS" init --force >/dev/null </dev/null || :
	python3 "$WARD_SRC/tests/cases/policy/lib/propose-answer.py" "$@" -- "$WARDFS" init
}
expect 1 ask n
! may read test.pem || fail "taken over without a yes"
expect 1 ask ''
! may read test.pem || fail "an empty answer is a yes"
expect 0 ask x a
has "$OUT$ERR" "Type a, d or n"
may read test.pem || fail "accepted, and not in force"
echo "--- declined: no line, and no further word of this text"
expect 0 "$WARDFS" init --decline
! may read test.pem || fail "still in force"
expect 0 "$WARDFS" run -- true </dev/null
hasnt "$ERR" "propose"
echo "--- what cannot be proposed"
for bad in '[guard]\nread = /workspace/x\n' '[files]\nhide = /workspace/x\n' '[limits]\nmemory = 1T\n' \
	'[policy]\nextends = none\n' '[network]\nmode = host\n' '[network]\nsocket = /run/x\n' '[network]\nforward = 22\n' \
	'[system]\nread = ~\n' '[tree /x]\nsource = /\n' '[env]\npass = *\n' '[audit]\nlog = denials\n' \
	'[process]\nseccomp = default\n' '[home]\nmode = none\n' '[quota /workspace]\ngrowth = 1T\n'; do
	asks "$bad"
	cp "$file" before
	expect 2 "$WARDFS" init --accept "$(digest)"
	cmp -s before "$file" || fail "$bad: $(cat "$file")"
done
asks '[files]\nread = /workspace/{a,b}\n'
expect 2 "$WARDFS" init --accept "$(digest)"
cmp -s before "$file" || fail "a bad pattern was written"
echo "--- a guard stands; that is said"
asks '[files]\nread = /workspace/.env\nwrite = /workspace/.git/hooks\nwrite = /workspace/.wardfs.policy\n'
expect 0 "$WARDFS" init --accept "$(digest)"
has "$OUT" "warning: [files] write = /workspace/.git/hooks: never gives what it says"
! may read .env || fail "a guard was lifted"
! may write .git/hooks/pre-commit || fail "a guard was lifted"
! may write .wardfs.policy || fail "a guard was lifted"
asks '[process]\nexec = /usr/bin/true\n'
expect 0 "$WARDFS" init --accept "$(digest)"
has "$OUT" "not needed"
! grep -q '^exec' "$file" || fail "a list of programs began: $(cat "$file")"
echo "--- names that steer a terminal"
asks '[files]\nread = /workspace/a\342\200\256b\n'
expect 1 sh -c '"$WARDFS" init </dev/null'
has "$OUT" '\xe2\x80\xae'
printf '[files]\nread = /workspace/\033]0;x\007\n' >.wardfs.propose
expect 2 "$WARDFS" init --accept "$(digest)"
hasnt "$OUT$ERR" "$(printf '\033')"
echo "--- what is no file to read: nothing waits, nothing is followed"
rm .wardfs.propose
cp "$file" before
echo '[files]' >"$WARD_TMP/elsewhere"
for plant in "ln -s $WARD_TMP/elsewhere" mkfifo mkdir; do
	$plant .wardfs.propose
	expect 2 timeout 20 "$WARDFS" init
	has "$ERR" ".wardfs.propose of this repository was not read"
	expect 0 timeout 60 "$WARDFS" run -- true </dev/null
	has "$ERR" "was not read"
	rm -r .wardfs.propose
done
truncate -s 65537 .wardfs.propose
expect 2 "$WARDFS" init
has "$ERR" "larger than 64 KiB"
cmp -s before "$file" || fail "the owner's file changed"
echo "--- no session writes it"
rm .wardfs.propose
expect 0 "$WARDFS" run -- sh -c 'echo x >control' </dev/null
for act in 'echo "[files]" >.wardfs.propose' 'mv control .wardfs.propose' 'ln -s control .wardfs.propose' \
	'ln control .wardfs.propose' 'mkdir .wardfs.propose'; do
	! "$WARDFS" run -- sh -c "$act" </dev/null 2>err || fail "$act"
	[ ! -e .wardfs.propose ] && [ ! -h .wardfs.propose ] || fail "$act: it is there"
done

[ "$(id -u)" -eq 0 ] || skip "the rest needs root"
echo "--- root accepts for the owner of the project: written as the owner, where the owner's files are"
unset XDG_CONFIG_HOME
chmod 755 "$WARD_TMP"
mkdir "$WARD_TMP/home"
git init -q "$WARD_TMP/home/theirs"
cd "$WARD_TMP/home/theirs"
asks '[files]\nread = /workspace/test.pem\n'
mkdir .config-roots
chown -R 4711:4711 "$WARD_TMP/home"
printf 'them:x:4711:4711::%s:/bin/sh\n' "$WARD_TMP/home" | cat - /etc/passwd >"$WARD_TMP/passwd"
theirs() { unshare --mount sh -c 'mount --bind "$0" /etc/passwd; exec "$@"' "$WARD_TMP/passwd" "$@"; }
expect 0 theirs "$WARDFS" init --accept "$(digest)"
file=$(find "$WARD_TMP/home/.config" -name '*.policy')
[ "$(stat -c %u "$file")" = 4711 ] || fail "not the owner's"
grep -q '^read = /workspace/test.pem$' "$file" || fail "not accepted"
# A secret of root's by way of a link: it would come back in a message.
echo "root-secret = 1" >"$WARD_TMP/secret"
chmod 600 "$WARD_TMP/secret"
rm .wardfs.propose
ln "$WARD_TMP/secret" .wardfs.propose
expect 2 theirs "$WARDFS" init
has "$ERR" "Permission denied"
hasnt "$OUT$ERR" root-secret
