#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [tree] acl = yes: an ordinary user's session reads and sets POSIX ACLs as a native directory has
# them, over both transports. What the policy protects stays protected.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"
for tool in setfacl rsync tar getfattr; do
	command -v $tool >/dev/null || skip "no $tool"
done

# with_acls ANSWER LINE...: as policy()
with_acls() {
	answer=$1
	shift
	policy "$@"
	sed -i "s/^source = \./&\nacl = $answer/" "$POLICY"
}

# The backing of a user: what others own, and how it is open to the user.
stage() {
	fresh
	echo secret >"$BACK/closed" && chmod 600 "$BACK/closed"
	# The bits of the owner, of the group (the mask) and of all others.
	echo given >"$BACK/given" && chmod 0 "$BACK/given" && setfacl -m "u:$OWNER:rw" "$BACK/given"
	as_owner mkdir "$BACK/ro"
	as_owner sh -c "cd '$BACK' && for i in f ro no hid others ro/f; do echo \$i >\$i; done 2>/dev/null
		setfacl -m u:$OWNER:rwx ro/f no hid && setfacl -m u:12345:rw others"
}

# team DIR: with a directory of another group for the tools
team() {
	chown $OWNER:$OWNER "$1"
	as_owner mkdir "$1/team"
	chgrp 54998 "$1/team" && chmod 2775 "$1/team"
}

cp "$WARD_SRC/tests/cases/fs/lib/acl-tools.sh" "$WARD_TMP/tools"
cp "$WARD_SRC/tests/cases/fs/lib/acl-attack.py" "$WARD_TMP/attack.py"
cp "$WARD_SRC/tests/cases/fs/lib/acl-refused.py" "$WARD_TMP/refused.py"
mkdir "$WARD_TMP/native" && team "$WARD_TMP/native"
(cd "$WARD_TMP/native" && as_owner sh "$WARD_TMP/tools" "$WARD_TMP/refused.py") >"$WARD_TMP/tools.native" 2>&1 ||
	fail "natively: $(cat "$WARD_TMP/tools.native")"
# The control: the tools worked.
grep -q '^user:54321:rwx' "$WARD_TMP/tools.native" && grep -q '^default:mask' "$WARD_TMP/tools.native" ||
	fail "control: $(cat "$WARD_TMP/tools.native")"
[ "$(grep -c '^team 775' "$WARD_TMP/tools.native")" = 1 ] || fail "control: the setgid bit stayed"

# What the host changes, and what others own.
script host <<END
B="$BACK"
same "\$(cat given)" given
echo more >>given
refused "Permission denied" cat closed
refused "Operation not permitted" setfacl -m u:$OWNER:rw closed
same "\$(getfacl -cn given 2>/dev/null | grep '^user:$OWNER:')" "user:$OWNER:rw-"
# Another's id has no number here. The file is no less readable for it, and keeps its ACL.
refused "Invalid argument" getfacl others
refused "Invalid argument" setfacl -m u:12345:r f
cat others >/dev/null && ls -l others >/dev/null
cp -a others copied && same "\$(cat copied)" others
# The kernel keeps an ACL with the attributes.
setfacl -m u:$OWNER:r f && getfacl f >/dev/null
setfacl -m u:$OWNER:rwx "\$B/f" && soon "user:$OWNER:rwx" sh -c 'getfacl -cn f | grep "^user:$OWNER:"'
chmod 640 "\$B/f" && soon "mask::r--" sh -c 'getfacl -cn f | grep mask'
setfacl -b "\$B/f" && soon 0 sh -c 'getfacl -cn f | grep -c "^user:$OWNER:" || :'
# A permission that the host takes away, of what the kernel has just allowed.
mkdir -p d/e && echo x >d/e/f && cat d/e/f >/dev/null && exec 3<d/e/f
chmod 0 "\$B/d" && soon closed sh -c 'cat d/e/f || echo closed'
chmod 700 "\$B/d" && soon x cat d/e/f
chmod 0 "\$B/d/e/f" && refused "Permission denied" cat d/e/f && soon no sh -c 'test -r d/e/f || echo no'
chmod 600 "\$B/d/e/f" && soon x cat d/e/f
END

for mode in $MODES; do
	with_acls yes
	fresh
	in_mode "$mode" -c "exec python3 '$WARD_SRC/tests/cases/fs/lib/acl-held.py'" || fail "$mode: held"
done
for mode in user uring; do
	case " $MODES " in *" user "*) ;; *) skip "no user namespace under this sanitizer" ;; esac
	unset WARD_TRANSPORT
	[ $mode != uring ] || export WARD_TRANSPORT=io_uring
	with_acls yes
	fresh
	team "$BACK"
	rc=0
	in_mode user -c "exec sh '$WARD_TMP/tools' '$WARD_TMP/refused.py'" >"$WARD_TMP/tools.inside" 2>&1 || rc=$?
	[ "$mode$rc" != uring77 ] || break
	diff -u "$WARD_TMP/tools.native" "$WARD_TMP/tools.inside" || fail "$mode: the tools differ"
	stage
	in_mode user "$WARD_TMP/host" || fail "$mode: host"
	for answer in yes no; do
		with_acls $answer 'read = /workspace/ro' 'deny = /workspace/no' 'hide = /workspace/hid'
		stage
		in_mode user -c "exec python3 '$WARD_TMP/attack.py' $answer $OWNER" || fail "$mode: attack"
		[ "$(cat "$BACK/ro/f")" = ro/f ] || fail "$mode: written"
		[ "$(getfacl -cpn "$BACK/ro/f" "$BACK/no" "$BACK/hid" | grep -c "^user:$OWNER:rwx")" = 3 ] ||
			fail "$mode: an ACL of a protected file has changed"
		[ "$(getfacl -cpn "$BACK/ro" | grep -c default)" = 0 ] || fail "$mode: a default ACL"
		[ $answer = no ] || recorded '^deny.*setxattr.*/ro'
	done
done
