#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The observer of wardfs attack trusts nothing in the workspace, which the sandbox can write to. A
# program and facts that are planted there are neither run nor believed by the controls. Links that
# take the place of directories lead the clean-up nowhere. A first step that the sandbox refuses is
# no attempt that held. --explain prints a command that attacks the same sandbox.
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"

ATTACK="$WARD_BUILD/wardfs attack"
mkdir project && cd project
verdict() { # verdict FILE NAME: its verdict, and what the control said
	python3 -c '
import json, sys
for a in json.load(open(sys.argv[1]))["attempts"]:
    if a["name"] == sys.argv[2]: print(a["verdict"], a["control"])' "$1" "$2"
}

echo "--- planted programs and facts"
# The sandbox is a script that plants before it starts the real program.
cat >"$WARD_TMP/planter" <<S
#!/bin/sh
work=\$1 program=\$2
shift 2
cp "\$program" "$WARD_TMP/real" 2>/dev/null || :
cp "\$2" "$WARD_TMP/facts.real"
rm "\$program" "\$2"
printf '#!/bin/sh\necho "\$@" >>"$WARD_TMP/planted"\n' >"\$program"
chmod 755 "\$program"
sed 's|^secret=.*|secret=/etc/hostname|; s|^outside=.*|outside=$WARD_TMP/elsewhere|' \
	"$WARD_TMP/facts.real" >"\$2"
exec "$WARD_TMP/real" inside "$WARD_TMP/facts.real"
S
chmod 755 "$WARD_TMP/planter"
mkdir "$WARD_TMP/elsewhere"
expect 1 $ATTACK --json --only read-path,write-path,create-file,unshare-uts \
	--sandbox "$WARD_TMP/planter {work}"
echo "$OUT" >../planted.json
for name in read-path write-path create-file; do
	[ "$(verdict ../planted.json $name)" = "broken did" ] || fail "$name: $(cat ../planted.json)"
done
grep -q '^outside=' "$WARD_TMP/facts.real" || fail "control: the planter was not run"
[ ! -e "$WARD_TMP/planted" ] || fail "a planted program was run: $(cat "$WARD_TMP/planted")"
[ -z "$(ls -A "$WARD_TMP/elsewhere")" ] || fail "planted facts were believed: $(ls "$WARD_TMP/elsewhere")"

echo "--- links in the workspace lead the clean-up nowhere"
mkdir "$WARD_TMP/kept" && echo mine >"$WARD_TMP/kept/file"
cat >"$WARD_TMP/linker" <<S
#!/bin/sh
work=\$1
shift
cp "\$1" "$WARD_TMP/real"
cp "\$3" "$WARD_TMP/facts.real"
rm -r "\$work/repo-git-hook" "\$work/repo-envrc/.git"
ln -s "$WARD_TMP/kept" "\$work/repo-git-hook"
ln -s "$WARD_TMP/kept" "\$work/repo-envrc/.git"
ln -s "$WARD_TMP/kept" "\$work/more"
ln "$WARD_TMP/kept/file" "\$work/repo-envrc/.envrc"
mkfifo "\$work/repo-envrc/.vscode/fifo"
deep=\$work
i=0
while [ \$i -lt 120 ]; do deep=\$deep/d i=\$((i + 1)); done
mkdir -p "\$deep" && : >"\$deep/file"
exec "$WARD_TMP/real" inside "$WARD_TMP/facts.real"
S
chmod 755 "$WARD_TMP/linker"
rc=0
$ATTACK --json --only git-hook,git-moved --sandbox "$WARD_TMP/linker {work}" >../linked.json || rc=$?
[ "$rc" = 1 ] || fail "exit $rc: $(cat ../linked.json)"
[ "$(cat "$WARD_TMP/kept/file")" = mine ] && [ "$(ls -A "$WARD_TMP/kept" | tr '\n' ' ')" = "file " ] ||
	fail "what the links lead to: $(ls -lA "$WARD_TMP/kept")"
for left in wardfs-attack.* "$TMPDIR"/wardfs-attack.*; do
	[ ! -e "$left" ] && [ ! -L "$left" ] || fail "$left is left: $(find "$left" | head -n 5)"
done

echo "--- the workspace's place is taken by a link: it is left alone"
cat >"$WARD_TMP/mover" <<S
#!/bin/sh
work=\$1
shift
cp "\$1" "$WARD_TMP/real"
cp "\$3" "$WARD_TMP/facts.real"
mv "\$work" "$PWD/moved"
ln -s "$WARD_TMP/kept" "\$work"
exec "$WARD_TMP/real" inside "$WARD_TMP/facts.real"
S
chmod 755 "$WARD_TMP/mover"
$ATTACK --only read-path --sandbox "$WARD_TMP/mover {work}" >../moved.out 2>&1 || :
[ "$(cat "$WARD_TMP/kept/file")" = mine ] || fail "the clean-up followed a link"
rm -r moved wardfs-attack.* 2>/dev/null || :

echo "--- a first step that is refused is no attempt that held"
cat >narrow.policy <<'P'
[policy]
version = 1
[tree /workspace]
source = .
[files]
read = /workspace
P
rc=0
$ATTACK --json --policy narrow.policy --only read-path,read-symlink,write-symlink,change-replace,make-device \
	>../narrow.json 2>../narrow.err || rc=$?
[ "$rc" = 3 ] || fail "exit $rc: $(cat ../narrow.json ../narrow.err)"
[ "$(verdict ../narrow.json read-path)" = "held did" ] || fail "$(cat ../narrow.json)"
for name in read-symlink write-symlink change-replace make-device; do
	[ "$(verdict ../narrow.json $name)" = "untested did" ] || fail "$name: $(cat ../narrow.json)"
done
grep -q '"seen": "a step before the attempt was refused"' ../narrow.json || fail "$(cat ../narrow.json)"

echo "--- --explain keeps what is attacked"
expect 0 $ATTACK --explain read-path --policy "it's one.policy" --mode restricted
printf '%s\n' "$OUT" | grep -qF "wardfs attack --policy 'it'\\''s one.policy' --mode restricted --only read-path" ||
	fail "$OUT"
expect 0 $ATTACK --explain read-path --sandbox 'bwrap --ro-bind / / --'
printf '%s\n' "$OUT" | grep -qF "wardfs attack --sandbox 'bwrap --ro-bind / / --' --only read-path" || fail "$OUT"
expect 0 $ATTACK --explain read-path
printf '%s\n' "$OUT" | grep -q 'wardfs attack --only read-path$' || fail "$OUT"
