#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What hide, deny, read and append refuse, beside what they allow, with reason and record.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

script verbs <<'END'
# hide: not there, for anybody who asks
refused "No such file" cat k.pem
refused "No such file" stat k.pem
same "$(ls | tr '\n' ' ')" "dir log normal ro vault "
refused "Permission denied" sh -c 'echo x >k.pem'
refused "Permission denied" sh -c 'echo x >absent.pem'
refused "Permission denied" mkdir absent.pem
refused "Permission denied" ln -s x absent.pem
refused "Permission denied" mkfifo absent.pem
refused "No such file" rm k.pem
refused "" ln normal absent.pem
refused "" mv normal absent.pem
test -f normal
# deny: seen, not opened
test -f dir/.env
refused "Permission denied" cat dir/.env
refused "Permission denied" sh -c 'echo x >>dir/.env'
refused "Permission denied" rm -f dir/.env
refused "Permission denied" chmod 600 dir/.env
refused "Permission denied" truncate -s 0 dir/.env
refused "Permission denied" setfattr -n user.x -v y dir/.env
# read
same "$(cat ro/f)" ro
refused "Permission denied" sh -c 'echo x >ro/f'
refused "Permission denied" sh -c 'echo x >>ro/f'
refused "Permission denied" truncate -s 0 ro/f
refused "Permission denied" touch ro/new
refused "Permission denied" rm -f ro/f
refused "Permission denied" chmod 600 ro/f
refused "Permission denied" touch -d @1 ro/f
refused "" mv ro/f f
refused "Permission denied" mkdir ro/d
refused "" mv normal ro/normal
test -f normal && test -f ro/f
# the controls: the same where everything is allowed
echo x >normal && echo y >>normal && chmod 600 normal && touch -d @1 normal && truncate -s 1 normal
setfattr -n user.x -v y normal
mv normal other && ln other normal && rm other && mkfifo p && rm p && ln -s x l && rm l
# noexec: read, not run
cp /bin/true tool.bin && chmod 755 tool.bin
refused "ermission denied" ./tool.bin
cmp tool.bin /bin/true
cp tool.bin tool && ./tool && rm tool tool.bin
# the classic hole: move the parent, then read the child
mkdir sub
refused "Permission denied" cat vault/secret
refused "" mv -T vault sub/vault
refused "" python3 -c 'import os; os.rename("vault", "sub/vault")'
refused "Permission denied" cat vault/secret
test ! -e sub/vault/secret
# a rule for every depth goes with the directory, also for what was looked at before
test -f dir/.env && mv dir sub/dir
refused "Permission denied" cat sub/dir/.env
refused "No such file" cat sub/dir/k.pem
mv sub/dir dir
mkdir dir2 && echo s >dir2/plain && mv dir2 sub/dir2 && same "$(cat sub/dir2/plain)" s
END
cp "$WARD_SRC/tests/cases/fs/lib/verbs-append.py" "$WARD_TMP/append.py"
for mode in $MODES; do
	policy 'read = /workspace/ro' 'append = /workspace/log' 'hide = *.pem' 'deny = .env' \
		'deny = /workspace/vault/secret' 'noexec = *.bin'
	fresh
	as_owner sh -c "cd '$BACK' && mkdir dir ro log vault && echo v >vault/secret && echo k >dir/k.pem && echo n >normal && echo k >k.pem &&
		echo e >dir/.env && echo ro >ro/f && echo begin >log/f"
	in_mode $mode "$WARD_TMP/verbs" || fail "$mode: verbs"
	[ "$(cat "$BACK/k.pem" "$BACK/dir/.env" "$BACK/ro/f")" = "k
e
ro" ] || fail "$mode: content changed"
	recorded '^deny .*action=\[lookup\] path=\[/workspace/k.pem\].*text=\[hide = \*.pem\] errno=2'
	recorded '^deny .*action=\[create\] path=\[/workspace/absent.pem\].*errno=13'
	recorded '^deny .*action=\[open\] path=\[/workspace/dir/.env\].*rule=\[.*:12\].*errno=13'
	recorded '^deny .*action=\[exec\] path=\[/workspace/tool.bin\].*text=\[noexec = \*.bin\]'
	recorded '^deny .*comm=\[mv\] action=\[rename\] path=\[/workspace/vault\] path2=\[/workspace/sub/vault\]'
	if grep -q 'deny.*path=\[/workspace/nothing' "$EVENTS"; then fail "record of nothing"; fi
	script append <<END
echo n >normal 2>/dev/null || true
python3 "$WARD_TMP/append.py"
END
	in_mode $mode "$WARD_TMP/append" || fail "$mode: append"
	case $(cat "$BACK/log/f") in
	begin*) ;;
	*) fail "$mode: the beginning of an append-only file changed" ;;
	esac
done
