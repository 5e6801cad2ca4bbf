#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# user.wardfs.why shows the rules of a path inside. Nobody else can set that attribute.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

script why <<'END'
mkdir -p d && echo x >d/free && echo x >d/kept
why() { getfattr --only-values -n user.wardfs.why "$1"; }
out=$(why d/free)
has "$out" "/workspace/d/free"
has "$out" "rights  stat,list,read,exec,append,create,write,remove,attr"
has "$out" "[files] write = /workspace"
has "$out" "${2:-$1}:8  [files] write = /workspace"
[ -z "${2-}" ] || hasnt "$out" "$1"
hasnt "$out" "to permit"
out=$(why d/closed)
has "$out" "rights  stat"
has "$out" "[files] deny = closed"
has "$out" "to permit read: 'read = /workspace/d/closed' at the end of [files]"
out=$(why d/guarded)
has "$out" "[guard] read = guarded"
has "$out" "to permit write: use a policy without the guard 'read = guarded' (${2:-$1}:"
[ -z "${2-}" ] || hasnt "$out" "$1"
has "$(why d)" "/workspace/d"
# what does not show itself explains nothing
refused "No such file" getfattr --only-values -n user.wardfs.why d/hidden
refused "No such file" getfattr --only-values -n user.wardfs.why d/absent
# the names with this beginning are ours; the control: others are the user's
setfattr -n user.other -v 1 d/free && same "$(getfattr --only-values -n user.other d/free)" 1
for name in user.wardfs.why user.wardfs.x; do
	refused "not permitted" setfattr -n $name -v 1 d/free
	refused "not permitted" setfattr -x $name d/free
done
refused "No such attribute" getfattr -n user.wardfs.x d/free
refused "No such attribute" getfattr -n user.wardfs.planted d/free
list=$(getfattr -d -m - d/free)
has "$list" user.other
hasnt "$list" wardfs
END
for mode in $MODES other; do
	policy 'deny = closed' 'hide = hidden' '[guard]' 'read = guarded'
	fresh
	as_owner mkdir "$BACK/d"
	for f in closed hidden guarded free; do as_owner touch "$BACK/d/$f"; done
	as_owner setfattr -n user.wardfs.planted -v 1 "$BACK/d/free"
	if [ $mode != other ]; then
		in_mode $mode "$WARD_TMP/why" "$POLICY" || fail "$mode: why"
		continue
	fi
	# A mount for all users does not tell them where the policy lies. Control: it tells root.
	in_mode other -c 'exec setpriv --reuid=$0 --regid=$0 --clear-groups sh -eu "$@"' $OWNER "$WARD_TMP/why" "$POLICY" base || fail "$mode: why"
	in_mode other -c '. "$WARD_SRC/tests/lib.sh"; has "$(getfattr --only-values -n user.wardfs.why d/free)" "$1:8  "' sh "$POLICY" || fail "root of $mode: why"
done
