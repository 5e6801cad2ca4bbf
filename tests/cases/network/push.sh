#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A push over HTTPS with a token for one host, as docs/network.md says, as root and as an ordinary
# user. [env] pass brings the token in. It goes to that host alone and never appears in the trail.
# shellcheck disable=SC2016
# plain
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cat >servers.sh <<'S'
git init -q "$NET/src"
git -C "$NET/src" -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m one
git clone -q --bare "$NET/src" "$NET/r.git"
ip netns exec internet python3 "$WARD_SRC/tests/support/gitserver.py" "$NET" 203.0.113.10 8443 tok3n-of-one-host &
server=$!
trap 'kill $server || :' EXIT
wait_until 60 test -e "$NET/git-ready" || fail "no server"
S
cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
git_identity
token=tok3n-of-one-host
secret=$(printf 'x:%s' "$token" | base64 -w0)
at=https://web.example:8443
export GIT_SSL_CAINFO="$PWD/ca.crt"
git clone -q "$at/r.git" c || fail "control: it cannot be cloned outside"
cd c || exit 1
cp ../ca.crt .
pushed() { git -c safe.directory='*' -C "$NET/r.git" rev-parse -q --verify "refs/heads/$1" >/dev/null; }
# The example of docs/network.md, with this host; $1 is the branch.
cat >push.sh <<'I'
export GIT_SSL_CAINFO=$PWD/ca.crt GIT_TERMINAL_PROMPT=0
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=http.https://web.example:8443/.extraHeader
export GIT_CONFIG_VALUE_0="Authorization: Basic $(printf 'x:%s' "$GIT_TOKEN" | base64 -w0)"
git push -q origin "HEAD:$1"
I
grep -qF '.extraHeader' "$WARD_SRC/docs/network.md" || fail "the page says something else"
git commit -q --allow-empty -m two
GIT_TOKEN=wrong sh push.sh control 2>/dev/null && fail "control: the server takes any token"
GIT_TOKEN=$token sh push.sh outside || fail "control: it cannot be pushed outside"
pushed outside || fail "control: nothing was pushed"

# guarded STATUS BRANCH LINE...: the push inside, with these lines
guarded() {
	want=$1 branch=$2
	shift 2
	policy "$HOME/pol" 'mode = allowlist' "$@"
	expect "$want" env GIT_TOKEN="$token" "$WARDFS" run --session "$branch" --policy "$HOME/pol" -- sh push.sh "$branch"
}
guarded 0 inside 'allow = web.example:8443' '[env]' 'pass = GIT_TOKEN'
pushed inside || fail "nothing was pushed from inside"
echo '--- where the token does not come in, or the host is not allowed'
guarded 128 untold 'allow = web.example:8443'
has "$ERR" 'could not read Username'
guarded 128 elsewhere 'allow = other.example:8443' '[env]' 'pass = GIT_TOKEN'
has "$ERR" '1 refused: connect web.example:8443'
! pushed untold && ! pushed elsewhere || fail "pushed all the same"
echo '--- the trail has neither the token nor what is made of it; what stands in arguments it has'
expect 0 env GIT_TOKEN="$token" "$WARDFS" run --session argument --policy medium -e GIT_TOKEN -- \
	sh -c 'git -c "http.extraHeader=Authorization: Basic $(printf "x:%s" "$GIT_TOKEN" | base64 -w0)" status --short'
"$WARDFS" audit show --json argument | grep -qF "$secret" || fail "control: arguments are not recorded"
for session in inside untold elsewhere; do
	expect 0 "$WARDFS" audit show --json "$session"
	hasnt "$OUT" "$token"
	hasnt "$OUT" "$secret"
	expect 0 "$WARDFS" audit verify "$session"
done
exit 0
S
in_host_both "$WARD_TMP/check.sh"
