#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs looks first at what it will show unguarded. If another session of the owner's gives the
# name to another file before the mount, the session does not start. A stand-in for wardfs-init
# swaps them.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
mkdir -p k/dir k/closed swap top/p
echo "content of plain" >k/plain
echo "content of id_rsa" >k/id_rsa
echo "content of dir" >k/dir/file
echo "content of closed" >k/closed/file
cp "$WARD_BUILD"/wardfs "$WARD_BUILD"/wardfs-fs "$WARD_BUILD"/wardfs-audit swap/
cp "$WARD_BUILD"/wardfs-init swap/wardfs-init.real
k=$WARD_TMP/k
cat >swap/wardfs-init <<END
#!/bin/sh
. "$WARD_TMP/swap/first"
exec "$WARD_TMP/swap/wardfs-init.real" "\$@"
END
chmod 755 swap/wardfs-init
cd p || exit 1

# shows STATUS FIRST PATH COMMAND...: runs FIRST once everything was looked at, then COMMAND in the
# session.
shows() {
	want=$1
	printf 'PATH=/usr/bin:/bin\n%s\n' "$2" >"$WARD_TMP/swap/first"
	printf '[policy]\nversion = 1\nextends = medium\n[system]\nread = %s\n' "$3" >"$WARD_TMP/own.policy"
	shift 3
	expect "$want" "$WARD_TMP/swap/wardfs" run --policy "$WARD_TMP/own.policy" -- "$@"
}

# The control: nothing is swapped, or another name beside it.
shows 0 : "$k/plain" cat "$k/plain"
has "$OUT" "content of plain"
shows 0 "mv '$k/id_rsa' '$k/other'; mv '$k/other' '$k/id_rsa'" "$k/plain" cat "$k/plain"
shows 0 : "$k/dir" cat "$k/dir/file"

# A file in the place of another one: that which was looked at is served. A directory: none is
# shown.
shows 0 "mv '$k/plain' '$k/was'; ln '$k/id_rsa' '$k/plain'" "$k/plain" cat "$k/plain"
[ "$OUT" = "content of plain" ] || fail "read: $OUT"
rm "$k/plain"
mv "$k/was" "$k/plain"
shows 125 "mv '$k/dir' '$k/was'; mv '$k/closed' '$k/dir'" "$k/dir" cat "$k/dir/file"
has "$ERR" "somebody replaced $k/dir of the host"
[ -z "$OUT" ] || fail "read: $OUT"
mv "$k/dir" "$k/closed"
mv "$k/was" "$k/dir"

# A directory whose number is free again is not the one that was looked at: the number stays taken.
shows 125 "rm -r '$k/dir'; mkdir '$k/dir'; cp '$k/id_rsa' '$k/dir/file'" "$k/dir" cat "$k/dir/file"
[ -z "$OUT" ] || fail "read: $OUT"

# The tree stays covered, not the directory that has its name by now.
cd ../top/p
echo "content of secret" >secret
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\nat = none\n[guard]\ndeny = /workspace/secret\n[files]\nwrite = /workspace\n[system]\nread = %s\n' \
	"$WARD_TMP/top" >"$WARD_TMP/own.policy"
echo : >"$WARD_TMP/swap/first"
expect 0 "$WARD_TMP/swap/wardfs" run --policy "$WARD_TMP/own.policy" -- ls "$WARD_TMP/top"
printf 'PATH=/usr/bin:/bin\nmv "%s/p" "%s/moved"; mkdir "%s/p"\n' "$WARD_TMP/top" "$WARD_TMP/top" "$WARD_TMP/top" >"$WARD_TMP/swap/first"
expect 125 "$WARD_TMP/swap/wardfs" run --policy "$WARD_TMP/own.policy" -- cat "$WARD_TMP/top/moved/secret"
has "$ERR" "somebody replaced"
[ -z "$OUT" ] || fail "read: $OUT"
