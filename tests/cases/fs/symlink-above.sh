#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A rule protects a name beneath a directory. The agent tries to put a symbolic link in that
# directory's place, so that a host program reads the agent's file through it. wardfs refuses
# every way. Each attempt first succeeds under a policy without the rule, and the host reads the
# file.
# timeout: 300
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

# $1 is the way. Prints nothing; fails where the way is closed.
script attack <<'END'
own() { mkdir -p own/sub && echo mine >own/settings.json && echo mine >own/sub/settings.json; }
exchange() {
	python3 -c '
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2):
	raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))' "$@"
}
own
case $1 in
symlink) ln -s own .claude ;;
absolute) ln -s "$2/own" .claude ;;
dotdot) mkdir -p a/b && ln -s a/b/../../own .claude ;;
dotted) mkdir -p a && cd a && ln -s own ../.claude ;;
rename) ln -s own prepared && python3 -c 'import os; os.rename("prepared", ".claude")' ;;
replace) ln -s own prepared && echo >.claude &&
	python3 -c 'import os; os.rename("prepared", ".claude")' ;;
exchange) ln -s own prepared && mkdir .claude && exchange prepared .claude ;;
exchange-back) ln -s own prepared && mkdir .claude && exchange .claude prepared ;;
link) ln -s own prepared && python3 -c 'import os; os.link("prepared", ".claude", follow_symlinks=False)' ;;
rmdir) mkdir .claude && rmdir .claude && ln -s own .claude ;;
moved) mkdir plain && ln -s ../own plain/.claude && python3 -c 'import os; os.rename("plain", "vault")' ;;
esac
END
script made <<'END'
# what is no link above a rule
mkdir .claude && echo theirs >.claude/other && ln -s other .claude/alias
refused "Permission denied" sh -c "echo x >.claude/settings.json"
mkdir -p node_modules/.bin && ln -s ../x/cli.js node_modules/.bin/x
ln -s own/settings.json elsewhere && ln -s own to-a-directory
mv elsewhere else2 && ln else2 else3
mv .claude .kept && mv .kept .claude
# a link of the owner's stays, and goes
same "$(readlink theirs/.claude)" ../own
rm theirs/.claude
refused "Permission denied" ln -s ../own theirs/.claude
END
ways="symlink absolute dotdot dotted rename replace exchange exchange-back link rmdir moved"
for mode in $MODES; do
	for way in $ways; do
		name=.claude
		[ $way != moved ] || name=vault/.claude
		# control: without the rule
		policy
		fresh
		in_mode $mode "$WARD_TMP/attack" $way "$BACK" || fail "$mode $way: control"
		[ "$(cat "$BACK/$name/settings.json")" = mine ] || fail "$mode $way: control reads"
		rule='read = .claude/settings.json'
		[ $way != moved ] || rule='append = /workspace/vault/.claude/settings.json'
		policy "$rule"
		fresh
		if in_mode $mode "$WARD_TMP/attack" $way "$BACK" 2>"$WARD_TMP/err"; then
			fail "$mode $way: not refused"
		fi
		[ ! -L "$BACK/$name" ] || fail "$mode $way: the link is there"
		[ ! -e "$BACK/$name/settings.json" ] || fail "$mode $way: the host reads it"
		if [ $way = moved ]; then
			grep -q 'Errno 18' "$WARD_TMP/err" || fail "$mode $way: $(cat "$WARD_TMP/err")"
			continue
		fi
		grep -q 'Permission denied' "$WARD_TMP/err" || fail "$mode $way: $(cat "$WARD_TMP/err")"
		recorded 'a symbolic link there would lead past the rule'
	done
	policy 'read = .claude/settings.json'
	fresh
	as_owner sh -c "cd '$BACK' && mkdir own theirs && ln -s ../own theirs/.claude"
	in_mode $mode "$WARD_TMP/made" || fail "$mode: honest work"
done
