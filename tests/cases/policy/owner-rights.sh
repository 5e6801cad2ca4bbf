#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Under sudo, verbs that read and write the owner's policies act with the owner's rights. Links in
# the owner's directories lead root to no place where the owner may not go.
set -eu
. "$WARD_SRC/tests/lib.sh"

if [ "${1-}" != inside ]; then
	# An account for uid 4711, in a private mount namespace: its home is where the policies lie.
	exec unshare --mount --propagation private sh "$0" inside
fi
chmod 755 "$WARD_TMP"
home=$WARD_TMP/home
config=$home/.config
sed '/:4711:/d' /etc/passwd >"$WARD_TMP/passwd"
echo "t4711:x:4711:4711::$home:/bin/sh" >>"$WARD_TMP/passwd"
mount --bind "$WARD_TMP/passwd" /etc/passwd
project "$home/p"
echo a >"$home/p/a"
chown -R 4711:4711 "$home"
cd "$home/p"
unset XDG_CONFIG_HOME
export SUDO_UID=4711 SUDO_GID=4711 SUDO_USER=t4711
roots=$WARD_TMP/roots
theirs=$WARD_TMP/theirs
mkdir -m 755 "$roots" "$theirs"
chown 4711:4711 "$theirs"

# Each of the verbs that write, in turn.
writers() {
	expect 0 "$WARDFS" policy add --force read /workspace/x
	expect 0 "$WARDFS" init --force
	expect 0 "$WARDFS" learn --write --force -- cat a
}

writers_refused() {
	expect 2 "$WARDFS" policy add --force read /workspace/x
	has "$ERR" "Permission denied"
	expect 2 "$WARDFS" init --force
	has "$ERR" "Permission denied"
	expect 125 "$WARDFS" learn --write --force -- cat a
	has "$ERR" "Permission denied"
	[ -z "$(ls "$roots")" ] || fail "root wrote for the owner: $(find "$roots")"
}

echo "--- control: the owner's own directories"
writers
file=$(find "$config" -name '*.policy')
[ "$(stat -c %u:%g:%a "$file")" = 4711:4711:600 ] || fail "$(stat -c %u:%g:%a "$file")"
[ "$(stat -c %u "$config/wardfs/projects")" = 4711 ] || fail "the directories are not the owner's"
expect 0 "$WARDFS" policy show

echo "--- ~/.config as a link: to a place of the owner's (control), to one of root's"
mv "$config" "$WARD_TMP/config.kept"
ln -s "$theirs" "$config"
writers
[ -n "$(find "$theirs" -name '*.policy')" ] || fail "control: nothing was written"
rm "$config"
ln -s "$roots" "$config"
writers_refused
rm "$config"
mv "$WARD_TMP/config.kept" "$config"

echo "--- projects as a link: the same"
mv "$config/wardfs/projects" "$WARD_TMP/projects.kept"
ln -s "$theirs" "$config/wardfs/projects"
writers
rm "$config/wardfs/projects"
ln -s "$roots" "$config/wardfs/projects"
writers_refused
rm "$config/wardfs/projects"
mv "$WARD_TMP/projects.kept" "$config/wardfs/projects"

echo "--- the policy as a link to a file that only root may read"
cp "$file" "$roots/secret"
echo "; a secret of root's" >>"$roots/secret"
chmod 644 "$roots/secret"
rm "$file"
ln -s "$roots/secret" "$file"
expect 0 "$WARDFS" policy show
expect 0 "$WARDFS" policy add --force read /workspace/x
grep -q "a secret of root" "$file" || fail "control: a file that the owner may read is not extended"
rm "$file"
chmod 600 "$roots/secret"
ln -s "$roots/secret" "$file"
for verb in "policy show" "policy check" "policy add --force read /workspace/x" "policy explain read a"; do
	# shellcheck disable=SC2086 # several words
	expect 2 "$WARDFS" $verb
	has "$ERR$OUT" "Permission denied"
	hasnt "$ERR$OUT" "secret of root"
	[ -L "$file" ] || fail "$verb: root's file was copied"
done

echo "--- profile export --whole searches the project with the owner's rights"
rm -rf "$config"
mkdir -p "$home/p/closed/bare/objects" "$home/p/closed/bare/refs"
echo 'ref: refs/heads/x' >"$home/p/closed/bare/HEAD"
chmod 755 "$home/p/closed"
expect 0 "$WARDFS" profile export --whole medium
has "$OUT" /workspace/closed/bare
chmod 700 "$home/p/closed" # root's
expect 0 "$WARDFS" profile export --whole medium
hasnt "$OUT" /workspace/closed/bare

echo "--- an owner's lock does not hold root, nor has root write under a second name"
state=$WARD_TMP/state/wardfs
expect 0 env XDG_STATE_HOME="$WARD_TMP/state" "$WARDFS" run --session theirs -- true
chown -R 4711:4711 "$WARD_TMP/state"
expect 0 "$WARDFS" audit verify --all --state "$state"
expect 0 "$WARDFS" audit show --state "$state" theirs
setpriv --reuid=4711 --regid=4711 --clear-groups python3 -c '
import fcntl, sys, time
f = open(sys.argv[1])
fcntl.flock(f, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
time.sleep(600)' "$state/ledger.jsonl" "$theirs/held" &
holder=$!
wait_until 60 test -e "$theirs/held" || fail "control: not locked"
expect 125 timeout 120 "$WARDFS" audit verify --all --state "$state"
has "$ERR" "another process has held its lock"
kill "$holder"
wait "$holder" || :
expect 0 "$WARDFS" audit verify --all --state "$state"
ln "$state/ledger.jsonl" "$theirs/second"
was=$(cat "$theirs/second")
"$WARDFS" audit show --state "$state" theirs >/dev/null 2>"$WARD_TMP/.said" || :
grep -q "has a second name" "$WARD_TMP/.said" || fail "$(cat "$WARD_TMP/.said")"
[ "$was" = "$(cat "$theirs/second")" ] || fail "root wrote under a second name"

echo "--- run --dry-run reads a program's first line with the owner's rights"
printf '#!/bin/secret-name\n' >"$home/p/script"
chmod 755 "$home/p/script"
"$WARDFS" run --dry-run -- ./script >"$WARD_TMP/.said" 2>&1 || :
grep -q secret-name "$WARD_TMP/.said" || fail "control: $(cat "$WARD_TMP/.said")"
chmod 711 "$home/p/script" # root's
"$WARDFS" run --dry-run -- ./script >"$WARD_TMP/.said" 2>&1 || :
! grep -q secret-name "$WARD_TMP/.said" || fail "$(cat "$WARD_TMP/.said")"
