#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A policy's source files lie in the project. A session that could change them would write the
# next session's policy, which can name a host program to run (anchor = exec:).
# plain
# shellcheck disable=SC2016 # expanded inside
set -eu
. "$WARD_SRC/tests/lib.sh"
mkdir p p/conf p/conf/deep base && cd p && git init -q .
p=$PWD

# In the session: everything that would make FILE say something else.
cat >../attack.sh <<'S'
file=$1
dir=$(dirname "$file")
echo '; changed' >>"$file" || :
mv "$file" "$file.old" || :
rm -f "$file" || :
chmod 666 "$file" || :
truncate -s 0 "$file" || :
echo '; other' >other && mv other "$file" || :
ln "$file" second && echo '; by another name' >>second || :
[ "$dir" = . ] || { mv "$dir" "$dir.old" && mkdir -p "$dir" && echo '; replaced' >"$file"; } || :
S
cp ../attack.sh attack.sh

# FILE, what was given, and its text stay; as a control, the same ways change another file beside
# it.
held() {
	given=$1 file=$2
	cp "$file" "$file.beside"
	sum=$(cat "$file")
	"$WARDFS" run --policy "$given" -- sh attack.sh "$file" >out 2>err || fail "$given: $(cat err)"
	[ -f "$file" ] && [ "$(cat "$file")" = "$sum" ] || fail "$given: $file was changed"
	"$WARDFS" run --policy "$given" -- sh -c 'echo "; changed" >>"$1"' sh "$file.beside" 2>err || fail "$(cat err)"
	[ "$(cat "$file.beside")" != "$sum" ] || fail "control: nothing can be changed"
	"$WARDFS" run --policy "$given" -- sh -c 'cat "$1"' sh "$file" >out 2>err || fail "$given cannot be read: $(cat err)"
}
text() {
	printf '[policy]\nversion = 1\nextends = %s\n' "$1"
}

echo "--- given, in the project, by another path, and in a directory of it"
text medium >my.policy
held my.policy my.policy
held "$p/my.policy" my.policy
text medium >conf/deep/my.policy
held conf/deep/my.policy conf/deep/my.policy

echo "--- what it extends"
text "$p/conf/base.policy" >../base/given.policy
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nwrite = /workspace\n' >conf/base.policy
held ../base/given.policy conf/base.policy

echo "--- links that lead to it"
text medium >../base/elsewhere.policy
ln -s ../base conf/link
"$WARDFS" run --policy conf/link/elsewhere.policy -- sh -c 'ln -sfn deep conf/link' 2>err && fail "the link was led elsewhere"
[ "$(readlink conf/link)" = ../base ] || fail "the link leads to $(readlink conf/link)"
"$WARDFS" run --policy my.policy -- sh -c 'ln -sfn deep conf/link' || fail "control: it cannot be changed at all"

echo "--- by a pipe: it has no name"
text medium | "$WARDFS" run --policy /dev/stdin -- true 2>err || fail "$(cat err)"

echo "--- taken by a reload"
text medium >second.policy
text medium >third.policy
"$WARDFS" run --session changed --policy my.policy -- sh -c 'i=0
	until [ -e go ] || [ $i = 600 ]; do sleep 0.1; i=$((i + 1)); done
	echo ";" >>second.policy; echo ";" >>third.policy' 2>err &
run=$!
trap 'kill $run 2>/dev/null || :' EXIT
reloaded() {
	"$WARDFS" policy reload changed second.policy >reloaded 2>&1
}
wait_until 60 reloaded || fail "$(cat reloaded err)"
touch go
wait $run || fail "$(cat err)"
[ "$(wc -l <third.policy)" = 4 ] || fail "control: another file cannot be changed"
[ "$(wc -l <second.policy)" = 3 ] || fail "the policy of a reload was changed: $(cat second.policy)"

echo "--- a program of the agent's that the next run would start on the host"
"$WARDFS" run --policy my.policy -- sh -c 'printf "#!/bin/sh\n: >ran\n" >x; chmod +x x
	printf "[policy]\nversion = 1\nextends = medium\n[audit]\nanchor = exec:%s\n" "$PWD/x" >my.policy' 2>err && fail "the policy was written"
"$WARDFS" run --policy my.policy -- true 2>err || fail "$(cat err)"
[ ! -e ran ] || fail "it ran"
