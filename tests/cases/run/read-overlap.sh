#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A tree's guards apply under every name that the session sees: where [system] read, --read DIR, a
# view or another tree shows the same directory, a part of it or one above it, also through bind
# mounts. Each refusal has its control.
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "${1-}" != inside ]; then
	exec unshare -m --propagation private sh "$0" inside
fi
cd "$WARD_TMP"
top=$WARD_TMP/over/top
mkdir -p over/top
ln -s over/top top
project top/p
mkdir -p top/p/sub top/p/open top/beside bound part
for f in p/secret p/sub/secret p/open/plain beside/plain; do echo "content of $f" >"top/$f"; done
mount --bind top/p bound
mount --bind top/p/sub part
cd top/p

# policy TEXT: the project at /workspace alone, its names `secret` closed there by their places.
policy() {
	printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\nat = none\n[files]\nwrite = /workspace\n%b\n' \
		"$1" >"$WARD_TMP/own.policy"
}
rules='[guard]\ndeny = /workspace/secret\nhide = /workspace/sub/secret\n'

# sees STATUS PATH: a session that reads PATH.
sees() {
	expect "$1" "$WARDFS" run --policy "$WARD_TMP/own.policy" -- sh -c 'cat "$1" && echo; ls -a "${1%/*}"' sh "$2"
}
# closed PATH: no session starts that would show it; the tree is named.
closed() {
	expect 2 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- sh -c 'touch started; cat "$1"' sh "$1"
	[ -z "$OUT" ] || fail "read: $OUT"
	[ ! -e started ] || fail "started: $1"
	has "$ERR" "the tree /workspace"
}

# The control: what no tree serves is shown, and without a rule the file itself is read.
policy "${rules}[system]\nread = $top/beside"
sees 0 "$top/beside/plain"
has "$OUT" "content of beside/plain"
policy ""
sees 0 /workspace/secret
policy "$rules"
sees 0 /workspace/open/plain
expect 1 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- cat /workspace/secret

# [system] read: the tree's directory, a part of it, by a link, by bind mounts.
ln -s p ../linked
for d in "$top/p" "$top/p/sub" "$top/linked" "$top/linked/sub" "$WARD_TMP/bound" "$WARD_TMP/bound/sub" "$WARD_TMP/part"; do
	policy "${rules}[system]\nread = $d"
	closed "$d/secret"
done
# A single file by a bind mount of its directory, and one that is a mount by itself.
touch "$WARD_TMP/one"
mount --bind secret "$WARD_TMP/one"
for f in "$WARD_TMP/bound/secret" "$WARD_TMP/one"; do
	policy "${rules}[system]\nread = $f"
	expect 2 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- cat "$f"
	has "$ERR" "[guard] deny = /workspace/secret"
done
policy "${rules}[system]\nread = $WARD_TMP/bound/open/plain"
sees 0 "$WARD_TMP/bound/open/plain"
has "$OUT" "content of p/open/plain"

# A directory above: the tree's own is empty there, the rest shows; so with what is mounted in it.
mkdir ../beside/b ../beside/s ../beside/o
touch ../beside/f
mount --bind . ../beside/b
mount --bind sub ../beside/s
mount --bind secret ../beside/f
mount --bind "$WARD_TMP/tmp" ../beside/o 2>/dev/null || mount -t tmpfs tmpfs ../beside/o
echo "another mount" >../beside/o/file
policy "${rules}[system]\nread = $top"
for f in p/secret p/sub/secret p/open/plain beside/b/secret beside/b/sub/secret beside/s/secret; do
	expect 1 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- cat "$top/$f"
	has "$ERR" "No such file"
done
sees 0 "$top/beside/plain"
expect 0 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- cat "$top/beside/o/file" /workspace/open/plain
has "$OUT" "another mount"
expect 1 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- sh -c "ls '$top/p'; cat '$top/beside/f'"
[ -z "$OUT" ] || fail "shown: $OUT"
has "$ERR" "Permission denied"
# Where the tree is seen at its own path as well, it is the tree.
sed -i 's/^at = none/at = same/' "$WARD_TMP/own.policy"
expect 0 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- cat "$top/p/open/plain" "$top/beside/plain"
expect 1 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- cat "$top/p/secret"
has "$ERR" "Permission denied"
expect 1 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- cat "$top/beside/b/secret"

# view = readonly shows the whole host; also where the tree lies in it.
[ -d /srv ] || skip "no /srv"
srv=/srv/shown
mount -t tmpfs tmpfs /srv
mkdir "$srv"
mount --bind "$top" "$srv"
policy "${rules}[system]\nview = readonly"
expect 0 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- cat "$srv/beside/plain"
expect 1 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- cat "$srv/p/secret"
has "$ERR" "No such file"

# Another tree over the same files: a guard of the one holds in the other, or no session starts.
other() {
	policy "$1[tree /other]\nsource = $2\nat = none\n[files]\n$3 = /other"
}
other "" "$top" read
expect 0 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- cat /other/p/secret
has "$OUT" "content of p/secret"
for d in "$top/p" "$WARD_TMP/bound"; do
	other "$rules" "$d" read
	closed "$d"
	has "$ERR" "[guard] "
	has "$ERR" "the tree /other"
done
# Of a directory within, the tree that has it at its top decides alone: the other one shows its
# name. By whatever name: it was renamed while the session runs.
for d in "$top" "$WARD_TMP/over"; do
	in=${top#"$d"}
	other "$rules" "$d" read
	expect 0 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- sh -c "stat -c %F /other$in/p; cat /other$in/beside/plain"
	has "$OUT" "directory"
	has "$OUT" "content of beside/plain"
	for f in p p/secret p/sub p/sub/secret p/open/plain p/missing; do
		expect 0 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- sh -c "! cat /other$in/$f && ! ls /other$in/$f"
		has "$OUT$ERR" "Permission denied"
		hasnt "$OUT" "content"
	done
done
expect 0 "$WARDFS" run --session trail --policy "$WARD_TMP/own.policy" -- sh -c '! cat /other/top/p/secret'
expect 0 "$WARDFS" audit export trail
has "$OUT" "another tree"
expect 0 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- sh -c '
	cat /other/top/p/secret && exit 1
	mkdir /workspace/ready
	i=0
	while [ ! -e /workspace/renamed ] && [ $i -lt 1200 ]; do i=$((i + 1)) && sleep 0.05; done
	stat /other/top/q && ! cat /other/top/q/secret' &
session=$!
trap 'kill $session 2>/dev/null || :' EXIT
wait_until 60 [ -e ready ] || fail "no session"
mv ../p ../q
touch ../q/renamed
wait $session || fail "the name of the directory counts"
trap - EXIT
mv ../q ../p
rm -r ../p/ready ../p/renamed
# A change of the outer one cannot take the inner one away.
other '[guard]\ndeny = /workspace/secret\n' "$top" write
for c in "mv /other/p /other/q" "rmdir /other/p" "mv /other/beside /other/p" "chmod 0 /other/p" "touch /other/p/x"; do
	expect 1 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- sh -c "$c"
done
# A tree within another one has its own rules in one policy; not against those of anybody else.
for d in "$top/p/sub" "$WARD_TMP/part"; do
	other "$rules" "$d" read
	expect 0 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- cat /other/secret
	other "" "$d" read
	expect 0 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- cat /other/secret
	expect 2 "$WARDFS" run --policy "$WARD_TMP/own.policy" --hide /workspace/sub/secret -- cat /other/secret
	has "$ERR" "hide = /workspace/sub/secret does not apply in both"
	printf '[policy]\nversion = 1\n[files]\nhide = /workspace/sub/secret\n' >.wardfs.policy
	closed /other/secret
	rm .wardfs.policy
done
# A rule takes nothing if the other tree did not give it: a name that is read alone, in one that is
# read.
other '[guard]\nread = /workspace/secret\n' "$top" read
expect 0 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- cat /other/p/secret
other '[guard]\nread = /workspace/secret\n' "$top" write
expect 1 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- touch /other/p/secret
# A rule that is on the name wherever it is holds in both.
other '[guard]\ndeny = secret\n' "$top" read
expect 1 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- cat /other/p/secret
has "$ERR" "Permission denied"
expect 0 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- cat /other/p/open/plain
# The project's own file is nobody's to write, without a rule of the policy.
other "" "$top/p/open" write
expect 0 "$WARDFS" run --policy "$WARD_TMP/own.policy" -- touch /other/made
other "" "$top/p" write
closed /other
has "$ERR" ".wardfs.policy"
# --read DIR is a tree. It lifts nothing of the tree that it lies in, and shows nothing of one that
# lies in it.
policy ""
expect 0 "$WARDFS" run --policy "$WARD_TMP/own.policy" --read .. -- cat "$top/p/secret"
policy "$rules"
expect 1 "$WARDFS" run --policy "$WARD_TMP/own.policy" --read .. -- cat "$top/p/secret"
has "$ERR" "Permission denied"
policy '[tree /data]\nsource = '"$top"'/beside\nat = none\n[files]\nread = /data\n[guard]\ndeny = /data/more/key\n'
mkdir ../beside/more
echo "content of key" >../beside/more/key
expect 2 "$WARDFS" run --policy "$WARD_TMP/own.policy" --read ../beside/more -- cat "$top/beside/more/key"
has "$ERR" "deny = /data/more/key does not apply in both"
sed -i 's/^deny = .*/deny = key/' "$WARD_TMP/own.policy"
expect 1 "$WARDFS" run --policy "$WARD_TMP/own.policy" --read ../beside/more -- cat "$top/beside/more/key"
has "$ERR" "Permission denied"

# A policy that closes in one tree what another one shows is not loaded into a session.
other "" "$top" read
"$WARDFS" run --session overlaps --keep --policy "$WARD_TMP/own.policy" -- true
expect 0 "$WARDFS" policy reload overlaps "$WARD_TMP/own.policy"
other "$rules" "$top" read
expect 2 "$WARDFS" policy reload overlaps "$WARD_TMP/own.policy"
has "$ERR" "the tree /other"
expect 0 "$WARDFS" kill overlaps
