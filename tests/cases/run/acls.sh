#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [tree] acl as an ordinary user: POSIX ACLs in `wardfs run` and in `wardfs mount`, and what the
# policy and a reload say of them. The control is the same without the key.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v setfacl >/dev/null || skip "no setfacl"
cat >inner.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
project p
cd p
for answer in yes no; do
	printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\nacl = %s\n[files]\n%s\n%s\n' \
		$answer 'write = /workspace' 'read = /workspace/ro' >"../$answer"
done
sed 's/^read .*/&\nhide = *.key/' ../yes >../hides
for name in f ro a.key; do echo text >$name; done
named() { getfacl -cn "$1" 2>/dev/null | grep '^user:4711:' || :; }

expect 0 "$WARDFS" run --policy ../yes -- sh -c 'setfacl -m u:4711:rw f && getfacl -cn f && mkdir d &&
	setfacl -d -m u:4711:rwx d && touch d/x && cp -a f g'
has "$OUT" user:4711:rw-
for name in f g; do [ "$(named $name)" = user:4711:rw- ] || fail "$name: $(getfacl $name)"; done
has "$(named d/x)" user:4711:rwx
# Who may search again may do so at once.
expect 0 "$WARDFS" run --policy ../yes -- sh -c 'mkdir again; echo x >again/f; for i in $(seq 60); do
	setfacl -m u::-,g::rwx,o::rwx again; setfacl -m u::rwx again; read x <again/f || exit 1; done'
expect 1 "$WARDFS" run --policy ../yes -- setfacl -m u:4711:rw ro
has "$ERR" "Permission denied"
[ "$(named ro)" = "" ] || fail "set on a file that is read-only"
expect 1 "$WARDFS" run --policy ../no -- setfacl -m u:4711:r f
has "$ERR" "Operation not supported"
expect 0 "$WARDFS" run --policy ../no -- getfacl -cn f
hasnt "$OUT" user:4711

# The kept home as well: what has an ACL can be copied there.
for answer in yes no; do
	printf '[policy]\nversion = 1\nextends = medium\n[tree /workspace]\nsource = .\nacl = %s\n' \
		$answer >"../home-$answer"
done
setfacl -m "u:$(id -u):rwx" f
expect 0 "$WARDFS" run --policy ../home-yes -- sh -c 'cp -a f ~/f && getfacl -cn ~/f'
has "$OUT" "user:$(id -u):rwx"
expect 1 "$WARDFS" run --policy ../home-no -- setfacl -m "u:$(id -u):rwx" /agent-home/f

# A mount of the user's own, in a user namespace: hidden by a reload although just told.
mkdir ../mnt
export HOME
unshare --user --map-current-user --keep-caps --mount sh -euc '
	. "$WARD_SRC/tests/lib.sh"
	WARD_TMP=$HOME
	expect 0 "$WARDFS" mount --session m --policy ../yes . ../mnt
	cd ../mnt
	expect 0 setfacl -m u:4711:rwx f a.key
	for i in 1 2 3 4; do
		expect 0 getfacl -cn f a.key
		has "$OUT" user:4711:rwx
	done
	expect 0 "$WARDFS" policy reload m ../hides
	expect 1 getfacl a.key
	has "$ERR" "No such file"
	expect 1 setfacl -b a.key
	[ ! -r a.key ] || fail "access(2): still there"
	expect 0 getfacl -cn f
	# It lasts for the session, and a reload says so.
	expect 2 "$WARDFS" policy reload m ../no
	has "$ERR" "[tree /workspace] acl = no (in force: yes)"
	expect 0 setfacl -m u:4711:r f
	cd ..
	expect 0 "$WARDFS" umount mnt'
expect 0 "$WARDFS" audit verify m
[ "$(named f)" = user:4711:r-- ] || fail "on the host: $(getfacl f)"
S
as_user "$WARD_TMP/inner.sh"

# A mount of fusermount3 has ACLs without the key, and access(2) asks the guard.
command -v fusermount3 >/dev/null || exit 0
cat >"$WARD_TMP/helper.sh" <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
cd p
expect 0 "$WARDFS" mount --session h --policy ../no . ../mnt
cd ../mnt
expect 0 setfacl -m u:4711:rw f
has "$(getfacl -cn f)" user:4711:rw-
expect 1 test -w ro
expect 0 test -w f
cd ..
expect 0 "$WARDFS" umount mnt
S
cd "$WARD_TMP"
cp /etc/passwd passwd && echo 'wardfs:x:4711:4711::/:/bin/sh' >>passwd
unshare --mount --propagation private sh -euc '
	. "$WARD_SRC/tests/lib.sh"
	mount --bind passwd /etc/passwd
	as_user "$WARD_TMP/helper.sh"'
