#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shipped profiles: low sees nothing and leaves nothing; medium sees the project without its
# secrets; high can also read the home directory.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
mkdir -p "$HOME/proj" "$HOME/.ssh" "$HOME/doc" outside
echo key >"$HOME/.ssh/id_x"
echo doc >"$HOME/doc/text"
cd "$HOME/proj" || exit 1
echo token >.env
echo code >code

# low: an ephemeral workspace. Files written there exist until the end, and nowhere on the host.
expect 0 "$WARDFS" run --policy low -- sh -c 'pwd; ls; echo x >y; cat y'
[ "$OUT" = "/workspace
x" ] || fail "low: $OUT"
[ ! -e y ] || fail "low: left on the host"
expect 1 "$WARDFS" run --policy low -- cat "$HOME/proj/code"
expect 0 "$WARDFS" run --policy low -- stat -f -c '%b %S' /workspace
[ "$((${OUT% *} * ${OUT#* }))" -eq 268435456 ] || fail "low: not 256M but $OUT"
# A file that does not fit is refused; in a smaller tree, since all of it lies in memory.
sed 's/tmpfs:256M/tmpfs:16M/; /^name/d' "$WARD_SRC/conf/profiles/low.policy" >small.policy
grep -q 'tmpfs:16M' small.policy || fail "control: the profile has changed"
expect 0 "$WARDFS" run --policy small.policy -- dd if=/dev/zero of=fits bs=1M count=12
expect 1 "$WARDFS" run --policy small.policy -- dd if=/dev/zero of=big bs=1M count=20
has "$ERR" "No space left"
rm small.policy
# Tools of the base system run, interpreters among them; what installs, compiles or reaches out does
# not, nor what is put into the workspace. The control: outside low they do.
expect 0 "$WARDFS" run --policy low -- sh -c 'ls -l | wc -l; python3 -c "print(1)"; perl -e "print 2"; awk "BEGIN { print 3 }"'
for tool in gcc git make; do
	expect 0 "$WARDFS" run -- "$tool" --version
	expect 126 "$WARDFS" run --policy low -- sh -c "$tool --version"
done
expect 126 "$WARDFS" run --policy low -- sh -c 'cp /bin/ls ./here && ./here'
expect 0 "$WARDFS" run -- sh -c 'cp /bin/ls ./here && ./here && rm here'
expect 0 "$WARDFS" run --policy low -- nproc
expect 0 "$WARDFS" run --policy low --dry-run -- true
has "$OUT" "wall = 10m"

# medium, the default: the same result with and without its name.
for how in "" "--policy medium"; do
	# shellcheck disable=SC2086
	expect 0 "$WARDFS" run $how -- sh -c 'cat code; echo more >>code; touch new; rm new'
	# shellcheck disable=SC2086
	expect 1 "$WARDFS" run $how -- cat .env
	# shellcheck disable=SC2086
	expect 1 "$WARDFS" run $how -- cat "$HOME/doc/text"
done
# .env.example is no secret, .env.local is.
echo a >.env.example
echo b >.env.local
expect 0 "$WARDFS" run -- cat .env.example
expect 1 "$WARDFS" run -- cat .env.local

# high: the home can be read but for its secrets, the project written, nothing else.
expect 0 "$WARDFS" run --policy high -- sh -c 'pwd; cat /host-home/doc/text; touch new && rm new'
[ "$OUT" = "$HOME/proj
doc" ] || fail "high: $OUT"
expect 1 "$WARDFS" run --policy high -- touch /host-home/doc/new
expect 1 "$WARDFS" run --policy high -- cat /host-home/.ssh/id_x
has "$ERR" "No such file"
expect 1 "$WARDFS" run --policy high -- sh -c 'ls -A /host-home | grep -x .ssh'
expect 1 "$WARDFS" run --policy high -- cat .env
expect 1 "$WARDFS" run --policy high -- cat /host-home/proj/.env
expect 1 "$WARDFS" run --policy high -- touch /host-home/proj/new

# The project is seen under both names there; logins in it, and in other projects, under none.
mkdir -p .docker ../other/.docker
echo login | tee .docker/config.json >../other/.docker/config.json
expect 0 "$WARDFS" run --policy high -- ls /host-home/proj
[ "$OUT" ] || fail "the project is not seen by its other name"
for name in .docker /host-home/proj/.docker /host-home/other/.docker; do
	expect 1 "$WARDFS" run --policy high -- cat "$name/config.json"
done

# Where a rule is for one of the names alone, the other one is refused. wardfs does not ask for it
# by itself: the first session sleeps for longer than its look at directories waits.
printf '[policy]\nversion = 1\nextends = high\n[guard]\nsecret = /workspace/mine\n' >"$HOME/one-name"
expect 0 "$WARDFS" run --policy "$HOME/one-name" -- sleep 0.3
hasnt "$ERR" refused
expect 2 "$WARDFS" run --policy "$HOME/one-name" -- ls /host-home/proj
has "$ERR" 'refused: list /host-home/proj'
expect 0 "$WARDFS" audit verify --all
exit 0
