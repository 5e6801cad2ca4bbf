#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A backing that treats several spellings as one name. wardfs refuses to serve it unless the
# policy folds names. If the policy does, no other spelling passes a rule. The test also uses
# casefolded ext4 where the kernel has it. The control is a backing that keeps spellings apart.
# timeout: 300
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

FOLDED=$WARD_TMP/folded
# on KIND SCRIPT: the script runs in a tree on such a backing of $BACK. Sets OUT.
on() {
	OUT=$WARD_TMP/out
	unshare --mount --propagation private sh -eu -c '
		mkdir -p "$4"
		"$WARD_BUILD/tests/support/foldfs" "$1" "$3" "$4" &
		server=$!
		trap "kill \$server 2>/dev/null || :" EXIT
		i=0
		while ! mountpoint -q "$4"; do
			i=$((i + 1))
			[ $i -lt 600 ] || exit 99
			sleep 0.05
		done
		rc=0
		"$FSMOUNT" -m root -o "$OWNER:$OWNER" -l "$EVENTS" "$POLICY" "$4$6" "$5" \
			sh -eu "$2" || rc=$?
		# a helper of a refused start may still be ending, with a directory open there
		i=0
		until umount "$4"; do
			i=$((i + 1))
			[ $i -lt 600 ] || exit 98
			sleep 0.05
		done
		wait $server || :
		trap - EXIT
		exit $rc' sh "$1" "$2" "$BACK" "$FOLDED" "$MNT" "${3-}" >"$OUT" 2>&1
}
export FSMOUNT OWNER EVENTS POLICY
fill() {
	fresh
	as_owner sh -c "cd '$BACK' && mkdir sub empty .tool && echo secret >.env && echo secret >longsecret.key &&
		echo theirs >.tool/settings.json && echo theirs >listed.txt && echo x >sub/f"
}
script nothing <<'END'
echo served
END

# Every way to another spelling of a name that a rule is on. Prints what it came to.
script attack <<'END'
for name in .ENV .Env '.env.' '.env ' 'LONGSE~1' LongSecret.key; do
	if got=$(cat "$name" 2>/dev/null) && [ "$got" = secret ]; then echo "read: $name"; fi
done
for name in LISTED.TXT Listed.txt 'listed.txt.'; do
	if echo mine >"$name"; then echo "wrote: $name"; fi
	if rm "$name"; then echo "removed: $name"; fi
	if mv sub/f "$name"; then echo "moved: $name"; mv "$name" sub/f; fi
	if ln sub/f "$name"; then echo "linked: $name"; fi
done
if echo mine >.TOOL/Settings.JSON; then echo "wrote below"; fi
if mkdir -p NEW/inner && echo mine >NEW/inner/x; then echo "made: NEW"; fi
if mkdir work && echo mine >work/settings.json && mv work .Later; then echo "moved above"; fi
if ln -s sub .LATER; then echo "link above"; fi
ls -a | grep -i listed || :
END
rules='hide = *.key
read = /workspace/listed.txt
read = /workspace/new
read = /workspace/.tool/settings.json
read = /workspace/.later/settings.json
[guard]
deny = .env'

echo "--- control: spellings are kept apart"
policy "$rules"
fill
on exact "$WARD_TMP/attack" || fail "exact: $(cat "$OUT")"
for did in 'wrote: LISTED.TXT' 'moved: Listed.txt' 'linked: LISTED.TXT' 'made: NEW' 'moved above' 'wrote: listed.txt.'; do
	grep -qx "$did" "$OUT" || fail "exact: no '$did' in $(cat "$OUT")"
done
if grep -q '^read' "$OUT"; then fail "exact: $(cat "$OUT")"; fi
[ "$(cat "$BACK/listed.txt")" = theirs ] || fail "exact: the file itself"

echo "--- not served where the policy does not fold, by name"
for kind in fold form; do
	policy "$rules"
	fill
	[ $kind = fold ] || as_owner touch "$BACK/$(printf 'caf\303\251')"
	if on $kind "$WARD_TMP/nothing"; then fail "$kind: served: $(cat "$OUT")"; fi
	grep -q 'the file system of /workspace treats .* and .* as one name' "$OUT" || fail "$(cat "$OUT")"
	grep -qF 'fix: [guard] fold = yes' "$OUT" || fail "$(cat "$OUT")"
done
# an empty directory is asked about in the one above
fill
if on fold "$WARD_TMP/nothing" /empty; then fail "empty: served"; fi
grep -q 'treats empty and EMPTY as one name' "$OUT" || fail "empty: $(cat "$OUT")"
on exact "$WARD_TMP/nothing" /empty || fail "empty, exact: $(cat "$OUT")"

echo "--- two names of one file are no folding"
fill
as_owner sh -c "cd '$BACK' && rm -r .env longsecret.key .tool listed.txt sub empty && echo x >a && ln a A"
on exact "$WARD_TMP/nothing" || fail "hard links: $(cat "$OUT")"

echo "--- folded"
policy "$rules" 'fold = yes'
fill
on fold "$WARD_TMP/attack" || fail "fold: $(cat "$OUT")"
if grep -Eq '^(read|wrote|removed|moved|linked|made|link)' "$OUT"; then fail "fold: $(cat "$OUT")"; fi
[ "$(cat "$BACK/listed.txt")" = theirs ] || fail "fold: written"
[ "$(cat "$BACK/.tool/settings.json")" = theirs ] || fail "fold: settings"
[ ! -e "$BACK/NEW" ] && [ ! -e "$BACK/.Later" ] && [ ! -e "$BACK/.LATER" ] || fail "fold: made"
grep -qx listed.txt "$OUT" || fail "fold: not listed: $(cat "$OUT")"
recorded 'another spelling'
recorded 'without dots and blanks'
recorded 'short name'

echo "--- honest work goes on there"
script work <<'END'
mkdir -p src/Lib && echo one >src/Lib/File.txt && same "$(cat src/Lib/File.txt)" one
mv src/Lib/File.txt src/Lib/Other.txt && echo two >>src/Lib/Other.txt
same "$(wc -l <src/Lib/Other.txt)" 2
ln -s Lib src/link && same "$(cat src/link/Other.txt | head -n 1)" one
same "$(cat listed.txt)" theirs
echo x >'backup~' && rm 'backup~'
# what has no rule keeps one spelling too, and names that could be taken for others are refused
refused "Permission denied" cat src/lib/Other.txt
refused "Permission denied" sh -c 'echo x >"$(printf "caf\303\251")"'
refused "Permission denied" sh -c 'echo x >a:b'
rm -r src
END
fill
on fold "$WARD_TMP/work" || fail "work: $(cat "$OUT")"

echo "--- an empty root: nothing can be asked"
sed '/^fold/d' "$POLICY" >"$POLICY.plain"
# served TYPE OPTIONS POLICY SCRIPT: on a fresh one, after SCRIPT in its root
served() {
	unshare --mount --propagation private sh -eu -c '
		mkdir -p "$5"
		mount -t "$1" $2 "$5"
		chown "$OWNER:$OWNER" "$5"
		cd "$5" && eval "$4" && cd /
		"$FSMOUNT" -m root -o "$OWNER:$OWNER" "$3" "$5" "$6" echo served' \
		sh "$1" "$2" "$3" "$4" "$WARD_TMP/empty" "$MNT" >"$OUT" 2>&1
}
# No list of ours has ramfs: a name in it is asked about, and without one it may fold.
served ramfs ramfs "$POLICY.plain" "mkdir name" || fail "ramfs with a name: $(cat "$OUT")"
served ramfs ramfs "$POLICY" : || fail "ramfs, folded: $(cat "$OUT")"
! served ramfs ramfs "$POLICY.plain" : || fail "an empty file system that may fold was served"
grep -qF "fix: [guard] fold = yes" "$OUT" || fail "ramfs: $(cat "$OUT")"
served tmpfs tmpfs "$POLICY.plain" : || fail "tmpfs: $(cat "$OUT")"
if grep -qw xfs /proc/filesystems && command -v mkfs.xfs >/dev/null; then
	truncate -s 320M "$WARD_TMP/xfs"
	mkfs.xfs -q "$WARD_TMP/xfs"
	served xfs "-o loop $WARD_TMP/xfs" "$POLICY.plain" : || fail "xfs: $(cat "$OUT")"
	truncate -s 0 "$WARD_TMP/xfs"
	truncate -s 320M "$WARD_TMP/xfs"
	mkfs.xfs -q -n version=ci "$WARD_TMP/xfs"
	# Only where the kernel mounts such a one (CONFIG_XFS_SUPPORT_ASCII_CI).
	if unshare --mount --propagation private mount -o loop "$WARD_TMP/xfs" "$WARD_TMP/empty" 2>/dev/null; then
		! served xfs "-o loop $WARD_TMP/xfs" "$POLICY.plain" : || fail "xfs that folds was served"
		served xfs "-o loop $WARD_TMP/xfs" "$POLICY" : || fail "xfs, folded: $(cat "$OUT")"
	fi
	rm "$WARD_TMP/xfs"
fi

echo "--- casefolded ext4, where the kernel has it"
if [ -e /sys/fs/ext4/features/casefold ] && command -v mkfs.ext4 >/dev/null; then
	sed '/^fold/d' "$POLICY" >"$POLICY.plain"
	truncate -s 16M "$WARD_TMP/image"
	mkfs.ext4 -q -O casefold -E encoding=utf8 "$WARD_TMP/image"
	unshare --mount --propagation private sh -eu -c '
		mkdir -p "$2"
		mount -o loop "$1" "$2"
		mkdir "$2/top" && chattr +F "$2/top"
		chown "$OWNER:$OWNER" "$2" "$2/top"
		: >"$2/top/a.txt"
		! "$FSMOUNT" -m root -o "$OWNER:$OWNER" "$POLICY.plain" "$2/top" "$3" true 2>"$4" || exit 5
		grep -qF "fix: [guard] fold = yes" "$4"
		! "$FSMOUNT" -m root -o "$OWNER:$OWNER" "$POLICY.plain" "$2" "$3" cat top/a.txt || exit 6
		"$FSMOUNT" -m root -o "$OWNER:$OWNER" "$POLICY" "$2/top" "$3" cat a.txt
		! "$FSMOUNT" -m root -o "$OWNER:$OWNER" "$POLICY" "$2/top" "$3" cat A.TXT || exit 7
		' sh "$WARD_TMP/image" "$WARD_TMP/ext4" "$MNT" "$WARD_TMP/err" || fail "casefold"
fi
