#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The host changes the mode, owner, group and ACL of a file and of the directories above it while
# the agent works. The agent's access follows within a moment, in both directions. Open files stay
# usable.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

script agent <<'END'
tmp=$1
soon() { # ok|refused CMD…: within what a host change takes; the bound only ends a wait
	want=$1
	shift
	i=0
	while got=ok && { out=$("$@" 2>&1) || got=refused; } && [ $got != "$want" ]; do
		i=$((i + 1))
		[ $i -lt 3000 ] || { echo "FAIL: $step: still $got: $*"; exit 1; }
		sleep 0.01
	done
	case $got$out in
	refused*"ermission denied"* | ok*) ;;
	*) echo "FAIL: $step: $*: $out"; exit 1 ;;
	esac
}
host() { # the command of the host is done before this returns
	step=$*
	printf '%s\n' "$*" >"$tmp/ask" && mv "$tmp/ask" "$tmp/asked"
	i=0
	while [ -e "$tmp/asked" ]; do
		i=$((i + 1))
		[ $i -lt 6000 ] || { echo "FAIL: the host does not answer"; exit 1; }
		sleep 0.01
	done
}
step=begin
exec 3<a/b/f
soon ok cat a/b/f
# a directory on the way: mode, owner, group, ACL
host chmod 0 a && soon refused cat a/b/f
same "$(head -n 1 <&3)" content
host chmod 755 a && soon ok cat a/b/f
host chown 0 a && host chmod 700 a && soon refused cat a/b/f
host setfacl -m u:$2:x a && soon ok cat a/b/f
host setfacl -b a && soon refused cat a/b/f
host chmod 750 a && host chgrp 54998 a && soon refused cat a/b/f
host chgrp 54999 a && soon ok cat a/b/f
host setfacl -m u:$2:- a && soon refused cat a/b/f
host setfacl -b a && host chmod 755 a && soon ok cat a/b/f
# the same of the directory that holds it: names are found, but not made
host chown 0 a/b && soon refused touch a/b/new && soon ok cat a/b/f
host chmod 1777 a/b && soon ok touch a/b/new
host chown 0 a/b/new && refused "not permitted" rm -f a/b/new
host chmod 777 a/b && soon ok rm -f a/b/new
# the file
host chown 0 a/b/f && host chmod 600 a/b/f && soon refused cat a/b/f
host chmod 644 a/b/f && soon ok cat a/b/f && soon refused sh -c 'echo x >>a/b/f'
host setfacl -m u:$2:rw a/b/f && soon ok sh -c 'echo x >>a/b/f'
host setfacl -m u:$2:- a/b/f && soon refused cat a/b/f
host setfacl -b a/b/f && host chmod 640 a/b/f && host chgrp 54998 a/b/f && soon refused cat a/b/f
host chgrp 54999 a/b/f && soon ok cat a/b/f && soon refused sh -c 'echo x >>a/b/f'
host chmod 660 a/b/f && soon ok sh -c 'echo x >>a/b/f'
host chown $2 a/b/f && host chmod 0 a/b/f && soon refused cat a/b/f
chmod 600 a/b/f && cat a/b/f >/dev/null
END
for mode in $MODES; do
	policy
	fresh
	as_owner sh -c "cd '$BACK' && mkdir -p a/b && echo content >a/b/f"
	case $mode in
	root) opts="-m root" ;;
	cached) opts="-m root -n" ;;
	user) opts="-m user" ;;
	esac
	mkdir -p "$WARD_TMP/talk" && chmod 777 "$WARD_TMP/talk"
	rm -f "$WARD_TMP/talk/over"
	(
		cd "$BACK"
		while [ ! -e "$WARD_TMP/talk/over" ]; do
			if [ -e "$WARD_TMP/talk/asked" ]; then
				sh -e "$WARD_TMP/talk/asked" && rm "$WARD_TMP/talk/asked"
			fi
			sleep 0.005
		done
	) &
	host=$!
	rc=0
	# shellcheck disable=SC2086 # several options
	"$FSMOUNT" $opts -o $OWNER:$OWNER,54999 -l "$EVENTS" "$POLICY" "$BACK" "$MNT" \
		sh -eu "$WARD_TMP/agent" "$WARD_TMP/talk" $OWNER || rc=$?
	: >"$WARD_TMP/talk/over"
	wait $host
	[ $rc -eq 0 ] || fail "$mode: dac of the host"
done
