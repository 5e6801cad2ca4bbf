#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs-fs serves a single file of --read or [system] read. Each open is decided and recorded
# under the path that the command sees. Nothing beside it is reachable, it is read-only, and a
# replacement on the host does not show. One server serves 64 files. As root and as an ordinary
# user.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
cat >main.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
project "$HOME/p"
mkdir -p "$HOME/k"
k=$HOME/k
echo one >"$k/one"
echo beside >"$k/beside"
printf '#!/bin/sh\necho ran\n' >"$k/tool"
chmod 755 "$k/tool"
echo closed >"$k/shut"
chmod 000 "$k/shut"
ln -s one "$k/link"
cd "$HOME/p" || exit 1

# opens SESSION PATH: how many opens of it that were allowed the trail has.
opens() {
	"$WARDFS" audit export "$1" | grep '"kind":"open"' | grep '"verdict":"allow"' | grep -cF "\"path\":\"$2\"" || :
}

# The control: a name that nobody names is absent. A named file can be read, mapped and run, and
# each open is recorded.
expect 1 "$WARDFS" run --session none -- cat "$k/one"
[ "$(opens none "$k/one")" = 0 ] || fail "recorded: $k/one"
expect 0 "$WARDFS" run --session two --read "$k/one" --read "$k/tool" -- \
	sh -c 'cat "$1/one"; cat "$1/one" >/dev/null; "$1/tool"; python3 -c "
import mmap, sys
f = open(sys.argv[1])
print(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)[:3])" "$1/one"' sh "$k"
[ "$OUT" = "one
ran
b'one'" ] || fail "$OUT"
[ "$(opens two "$k/one")" = 3 ] || fail "$(opens two "$k/one") opens of one"
[ "$(opens two "$k/tool")" -ge 1 ] || fail "no open of tool"
expect 0 "$WARDFS" audit file "$k/one" two
has "$OUT" "$k/one"
expect 0 "$WARDFS" audit export two
has "$OUT" "{\"path\":\"$k/one\",\"recorded\":true}"

# Nothing leads from it to another name, and nothing is written.
expect 0 "$WARDFS" run --session alone --read "$k/one" -- python3 - "$k" <"$WARD_SRC/tests/cases/run/lib/read-single-alone.py"
[ "$OUT" = "['one']" ] || fail "$OUT"
[ "$(cat "$k/one")" = one ] || fail "written"

# A file that the owner may not read stays closed, and the refusal is in the trail. Root's session
# does not give it either.
expect 1 "$WARDFS" run --session shut --read "$k/shut" -- cat "$k/shut"
[ -z "$OUT" ] || fail "$OUT"

# A link shows what it leads to, by that name; a pipe shows nothing.
expect 0 "$WARDFS" run --session linked --read "$k/link" -- cat "$k/one"
[ "$(opens linked "$k/one")" = 1 ] || fail "no open by way of a link"
mkfifo "$k/pipe"
expect 2 timeout 60 "$WARDFS" run --read "$k/pipe" -- true
has "$ERR" "you can only give directories and regular files"
rm "$k/pipe"

# By the name in [system] read, also one that is a link: the record has the name that the command
# sees.
printf '[policy]\nversion = 1\nextends = medium\n[system]\nread = %s\n' "$k/link" >../own.policy
expect 0 "$WARDFS" run --session named --policy ../own.policy -- cat "$k/link"
[ "$OUT" = one ] || fail "$OUT"
[ "$(opens named "$k/link")" = 1 ] || fail "no open of link"
expect 0 "$WARDFS" policy explain --policy ../own.policy read "$k/link"
has "$OUT" "[system] read = $k/link"

# The file of the start stays: what is written into it is seen, what replaces it is not.
expect 0 "$WARDFS" run --session live --keep --read "$k/one" -- true
echo more >>"$k/one"
expect 0 "$WARDFS" exec live -- cat "$k/one"
[ "$OUT" = "one
more" ] || fail "$OUT"
echo new >"$k/new"
mv "$k/new" "$k/one"
expect 0 "$WARDFS" exec live -- cat "$k/one"
[ "$OUT" = "one
more" ] || fail "replaced: $OUT"
rm "$k/one"
expect 0 "$WARDFS" exec live -- cat "$k/one"
[ "$OUT" = "one
more" ] || fail "removed: $OUT"
expect 0 "$WARDFS" kill live
[ "$(opens live "$k/one")" = 3 ] || fail "$(opens live "$k/one") opens of one"
echo one >"$k/one"

# Many: one server, one file each.
set --
for i in $(seq 64); do
	echo "content $i" >"$k/f$i"
	set -- "$@" --read "$k/f$i"
done
expect 0 "$WARDFS" run --session many "$@" -- sh -c 'cat "$1"/f*; ls "$1" | wc -l; cat /proc/self/mountinfo' sh "$k"
for i in 1 7 64; do
	has "$OUT" "content $i"
	[ "$(opens many "$k/f$i")" = 1 ] || fail "f$i"
done
has "$OUT" "
64
"
[ "$(printf '%s\n' "$OUT" | grep "$k/f" | cut -d' ' -f3 | sort -u | wc -l)" = 1 ] || fail "several servers: $OUT"
# All trees that a policy can have, and a file besides.
{
	printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n'
	for i in 1 2 3 4 5 6 7; do printf '[tree /t%s]\nsource = tmpfs:1M\n' "$i"; done
	printf '[files]\nwrite = /workspace\nwrite = /t[1-7]\n[system]\nread = %s\n' "$k/one"
} >../own.policy
expect 0 "$WARDFS" run --session eight --policy ../own.policy -- cat "$k/one"
[ "$(opens eight "$k/one")" = 1 ] || fail "beside eight trees"
expect 0 "$WARDFS" audit verify many
S
if [ "$(id -u)" -eq 0 ]; then
	mkdir "$WARD_TMP/as-root"
	(
		cd "$WARD_TMP/as-root"
		HOME=$WARD_TMP/as-root sh "$WARD_TMP/main.sh"
	)
	as_user "$WARD_TMP/main.sh"
else
	sh "$WARD_TMP/main.sh"
fi
