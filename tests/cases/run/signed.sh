#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mode auto and signatures: a program signed by signify(1) or minisign(1), with a key that the
# owner or the floor names, costs no points for its origin. Then each way to look signed without
# being so.
# plain
# timeout: 600
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root: a floor, and programs of root's"
command -v signify-openbsd >/dev/null || skip "needs signify-openbsd"
command -v minisign >/dev/null || skip "needs minisign"
git_identity

# risk ARG...: wardfs risk --json into risk.json. points ROW, program MEMBER...: of the last risk.
risk() {
	expect 0 "$WARDFS" risk --json "$@"
	printf '%s\n' "$OUT" >"$WARD_TMP/risk.json"
}
points() {
	python3 -c '
import json, sys
print([r["points"] for r in json.load(open(sys.argv[1]))["rows"] if r["row"] == sys.argv[2]][0])' \
		"$WARD_TMP/risk.json" "$1"
}
program() {
	python3 -c '
import json, sys
o = json.load(open(sys.argv[1]))["program"]
for name in sys.argv[2:]:
    o = o[name] if o is not None else None
print(o)' "$WARD_TMP/risk.json" "$@"
}
# is STATE FROM-SYSTEM BAD-SIGNATURE: the state, and what the two rows cost.
is() {
	[ "$(program signature state)" = "$1" ] || fail "$(program signature) instead of $1"
	[ "$(points from-system)" -eq "$2" ] || fail "$1: from-system $(points from-system)"
	[ "$(points bad-signature)" -eq "$3" ] || fail "$1: bad-signature $(points bad-signature)"
}
policy() { # policy FILE [KEY...]
	file=$1
	shift
	printf '[policy]\nversion = 1\nextends = medium\nmode = auto\n[auto]\n' >"$file"
	for key; do printf 'signers = %s\n' "$key" >>"$file"; done
}
key_of() { sed -n 2p "$1"; }
# again: the program and its signatures as they were.
again() {
	rm -rf "$bin"
	cp -a "$WARD_TMP/kept" "$bin"
}

project "$WARD_TMP/p"
cd "$WARD_TMP/p" || exit 1
bin=$WARD_TMP/bin
mkdir "$bin"
for name in signify other; do
	signify-openbsd -G -n -p "$WARD_TMP/$name.pub" -s "$WARD_TMP/$name.sec"
done
minisign -G -W -f -p "$WARD_TMP/minisign.pub" -s "$WARD_TMP/minisign.sec" >"$WARD_TMP/log"
for tool in pure hashed legacy none; do
	cp /bin/true "$bin/$tool"
	echo "$tool $$" >>"$bin/$tool"
done
signify-openbsd -S -s "$WARD_TMP/signify.sec" -m "$bin/pure" -x "$bin/pure.sig"
minisign -S -s "$WARD_TMP/minisign.sec" -m "$bin/hashed" >"$WARD_TMP/log"
minisign -S -l -s "$WARD_TMP/minisign.sec" -m "$bin/legacy" >"$WARD_TMP/log"
cp -a "$bin" "$WARD_TMP/kept"
policy ../both.policy "$(key_of ../signify.pub)" "$(key_of ../minisign.pub)"
policy ../other.policy "$(key_of ../other.pub)"
policy ../none.policy

echo "--- the control: without a signer no signature counts, and none is opened"
mkfifo "$bin/none.sig"
for tool in pure hashed legacy none; do
	risk --policy ../none.policy -- "$bin/$tool"
	is None 3 0
done
rm "$bin/none.sig"
risk --policy ../both.policy -- "$bin/none"
is None 3 0

echo "--- signed with a key that the owner names: each format"
expect 0 "$WARDFS" policy check ../both.policy
for tool in pure hashed legacy; do
	risk --policy ../both.policy -- "$bin/$tool"
	is good 0 0
done
[ "$(program signature signer)" = "$(sed -n 's/.*public key //p' ../minisign.pub | sed 's/^...............$/0&/')" ] ||
	fail "the key: $(program signature) and $(cat ../minisign.pub)"
expect 0 "$WARDFS" risk --policy ../both.policy -- "$bin/hashed"
has "$OUT" "signature    good: $bin/hashed.minisig by key "
# A script counts as the file that its interpreter runs.
printf 'print(1)\n' >"$bin/x.py"
signify-openbsd -S -s ../signify.sec -m "$bin/x.py" -x "$bin/x.py.sig"
risk --policy ../none.policy -- /usr/bin/python3 "$bin/x.py"
is None 3 0
risk --policy ../both.policy -- /usr/bin/python3 "$bin/x.py"
is good 0 0

echo "--- the trail"
expect 0 "$WARDFS" run --policy ../both.policy --read "$bin" -- "$bin/hashed"
"$WARDFS" audit show --json >trail.json
python3 - trail.json <<'P' || fail "the trail: $(head -c 3000 trail.json)"
import json, sys
p = json.loads(open(sys.argv[1]).readline())["detail"]["risk"]["program"]
assert p["signature"]["state"] == "good", p
assert p["signature"]["suffix"] == ".minisig", p
assert len(p["signature"]["signer"]) == 16, p
P
expect 0 "$WARDFS" audit verify
rm trail.json

echo "--- a foreign key changes nothing"
for tool in pure hashed legacy; do
	risk --policy ../other.policy -- "$bin/$tool"
	is foreign 3 0
done

echo "--- a changed program"
for tool in pure hashed legacy; do
	echo x >>"$bin/$tool"
	risk --policy ../both.policy -- "$bin/$tool"
	is bad 3 12
	has "$(program signature why)" 'not what was signed'
	# Without the key nobody can tell.
	risk --policy ../other.policy -- "$bin/$tool"
	is foreign 3 0
done
again

echo "--- a changed signature, a signature of another program, a changed comment"
/usr/bin/python3 "$WARD_SRC/tests/support/signed.py" flip "$bin/pure.sig"
risk --policy ../both.policy -- "$bin/pure"
is bad 3 12
cp "$bin/hashed.minisig" "$bin/legacy.minisig"
risk --policy ../both.policy -- "$bin/legacy"
is bad 3 12
sed -i 's/^trusted comment: /&x/' "$bin/hashed.minisig"
risk --policy ../both.policy -- "$bin/hashed"
is bad 3 12
has "$(program signature why)" comment
# The second half taken away: the hashed form has none without it.
cp "$WARD_TMP/kept/hashed.minisig" "$bin/hashed.minisig"
sed -i '3,$d' "$bin/hashed.minisig"
risk --policy ../both.policy -- "$bin/hashed"
is bad 3 12
again
echo >>"$bin/pure.sig"
risk --policy ../both.policy -- "$bin/pure"
is bad 3 12
again
# Of two signatures the bad one counts.
cp "$bin/pure.sig" "$bin/hashed.sig"
risk --policy ../both.policy -- "$bin/hashed"
is bad 3 12
again

echo "--- a link, a pipe, a directory and a huge file in the place of the signature"
mv "$bin/pure.sig" "$WARD_TMP/real.sig"
ln -s "$WARD_TMP/real.sig" "$bin/pure.sig"
risk --policy ../both.policy -- "$bin/pure"
is bad 3 12
[ "$(program signature why)" = "a link" ] || fail "$(program signature)"
rm "$bin/pure.sig"
# The control: the same bytes as a file.
cp "$WARD_TMP/real.sig" "$bin/pure.sig"
risk --policy ../both.policy -- "$bin/pure"
is good 0 0
rm "$bin/pure.sig"
mkfifo "$bin/pure.sig"
risk --policy ../both.policy -- "$bin/pure"
is bad 3 12
rm "$bin/pure.sig"
mkdir "$bin/pure.sig"
risk --policy ../both.policy -- "$bin/pure"
is bad 3 12
rmdir "$bin/pure.sig"
cp "$WARD_TMP/real.sig" "$bin/pure.sig"
truncate -s 1T "$bin/pure.sig" 2>"$WARD_TMP/log" || truncate -s 1G "$bin/pure.sig"
risk --policy ../both.policy -- "$bin/pure"
is bad 3 12
[ "$(program signature why)" = "larger than 4 KiB" ] || fail "$(program signature)"
again
# A program that is too large to check is not signed.
truncate -s 65M "$bin/pure"
risk --policy ../both.policy -- "$bin/pure"
is bad 3 12
has "$(program signature why)" 'too large'
again

echo "--- a program larger than its digest is still checked as a whole"
for tool in pure hashed; do truncate -s 5M "$bin/$tool"; done
signify-openbsd -S -s ../signify.sec -m "$bin/pure" -x "$bin/pure.sig"
minisign -S -s ../minisign.sec -m "$bin/hashed" >"$WARD_TMP/log"
for tool in pure hashed; do
	risk --policy ../both.policy -- "$bin/$tool"
	is good 0 0
	[ "$(program sha256)" = None ] || fail "a digest: $(program sha256)"
	printf x | dd of="$bin/$tool" bs=1 seek=5242879 conv=notrunc status=none
	risk --policy ../both.policy -- "$bin/$tool"
	is bad 3 12
done
again

echo "--- the floor names keys; the project file cannot, and what is no key is refused"
mkdir -p ../etc
with_floor() { # with_floor LINES COMMAND...
	printf '[policy]\nversion = 1\n%b\n' "$1" >../etc/floor.policy
	shift
	unshare --mount --propagation private sh -c 'mount -t tmpfs tmpfs /mnt && mkdir /mnt/wardfs &&
		mount --bind ../etc /mnt/wardfs && mount -t overlay -o lowerdir=/mnt:/etc overlay /etc &&
		mount --bind ../etc /etc/wardfs && exec "$@"' sh "$@"
}
line="signers = $(key_of ../signify.pub)"
expect 0 with_floor '[limits]\nwall = 2h' "$WARDFS" risk --policy ../none.policy -- "$bin/pure"
hasnt "$OUT" '
signature '
expect 0 with_floor "[auto]\\n$line" "$WARDFS" risk --policy ../none.policy -- "$bin/pure"
has "$OUT" "signature    good: $bin/pure.sig by key "
hasnt "$OUT" from-system
printf '[policy]\nversion = 1\n[files]\nread = /workspace\n' >.wardfs.policy
expect 0 "$WARDFS" risk --policy ../none.policy -- "$bin/pure"
printf '[policy]\nversion = 1\n[auto]\n%s\n' "$line" >.wardfs.policy
expect 2 "$WARDFS" risk --policy ../none.policy -- "$bin/pure"
has "$ERR" '.wardfs.policy:3'
has "$ERR" 'cannot contain [auto]'
expect 2 "$WARDFS" run --policy ../none.policy -- touch made
[ ! -e made ] || fail "it was started"
rm .wardfs.policy
for value in RWQ "$bin/pure.sig" "$(key_of ../signify.pub)x" "$(key_of "$bin/pure.sig")"; do
	policy ../broken.policy "$value"
	expect 2 "$WARDFS" policy check ../broken.policy
	has "$ERR$OUT" 'broken.policy:6'
	has "$ERR$OUT" 'second line of a public key'
done

echo "--- where a session or others can replace the program, a good signature is worth nothing"
cp "$bin/pure" ./pure
cp "$bin/pure.sig" ./pure.sig
risk --policy ../both.policy -- ./pure
[ "$(program signature state)" = good ] || fail "$(program signature)"
[ "$(points from-project)" -eq 14 ] || fail "from-project $(points from-project)"
ln -s "$bin/pure" linked
risk --policy ../both.policy -- ./linked
[ "$(points from-project)" -eq 14 ] || fail "linked: from-project $(points from-project)"
rm linked
chmod 777 "$bin"
risk --policy ../both.policy -- "$bin/pure"
[ "$(points from-download)" -eq 12 ] || fail "from-download $(points from-download)"
[ "$(points others-write)" -eq 12 ] || fail "others-write $(points others-write)"
chmod 755 "$bin"

echo "--- the owner replaces the program between the check and its start: the trail has both files"
cat >"$bin/nohup" <<'S'
#!/bin/sh
touch waiting
i=0
while [ ! -e go ] && [ $i -lt 600 ]; do
	sleep 0.1
	i=$((i + 1))
done
exec "$@"
S
chmod 755 "$bin/nohup"
was=$(stat -c %i "$bin/pure")
first=$(sha256sum <"$bin/pure" | cut -d ' ' -f 1)
"$WARDFS" run --policy ../both.policy --read "$bin" -- "$bin/nohup" "$bin/pure" >../log 2>&1 &
run=$!
i=0
while [ ! -e waiting ] && [ $i -lt 600 ]; do
	sleep 0.1
	i=$((i + 1))
done
[ -e waiting ] || fail "it does not start: $(cat ../log)"
cp "$bin/none" "$bin/next"
mv "$bin/next" "$bin/pure"
now=$(stat -c %i "$bin/pure")
touch go
wait $run || fail "the run: $(cat ../log)"
"$WARDFS" audit show --json >../trail.json
/usr/bin/python3 "$WARD_SRC/tests/support/signed.py" swapped ../trail.json "$bin/pure" "$first" "$was" "$now" ||
	fail "the trail does not tell"
rm waiting go
again

echo "--- an ordinary user's download"
cat >"$WARD_TMP/user.sh" <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
project p
cd p || exit 1
mkdir ../tools
cp /bin/true ../tools/mine
signify-openbsd -G -n -p ../k.pub -s ../k.sec
signify-openbsd -S -s ../k.sec -m ../tools/mine -x ../tools/mine.sig
printf '[policy]\nversion = 1\nextends = medium\n' >../u.policy
expect 0 "$WARDFS" risk --policy ../u.policy -v -- ../tools/mine
has "$OUT" '    12  from-download'
printf '[auto]\nsigners = %s\n' "$(sed -n 2p ../k.pub)" >>../u.policy
expect 0 "$WARDFS" risk --policy ../u.policy -v -- ../tools/mine
has "$OUT" '     0  from-download'
has "$OUT" 'signature    good: '
chmod 777 ../tools
expect 0 "$WARDFS" risk --policy ../u.policy -v -- ../tools/mine
has "$OUT" '    12  from-download'
S
chmod 644 "$WARD_TMP/user.sh"
as_user "$WARD_TMP/user.sh"
