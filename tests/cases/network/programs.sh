#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unchanged programs with mode = allowlist, as root and as an ordinary user: npm with a registry,
# node, python. ssh.sh has git over ssh.
# shellcheck disable=SC2016
# plain
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
for program in node npm; do
	command -v $program >/dev/null || skip "no $program"
done

cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
mkdir -p "$NET/www/reg"
policy "$HOME/pol" 'mode = allowlist' 'allow = web.example'
policy "$HOME/other" 'mode = allowlist' 'allow = other.example'

echo '--- python'
get='import urllib.request, ssl, sys
c = ssl.create_default_context(cafile="ca.crt")
print(urllib.request.urlopen("https://web.example/", context=c).read().decode().strip())'
expect 0 "$WARDFS" run --policy "$HOME/pol" -- python3 -c "$get"
[ "$OUT" = 'hello from web.example' ] || fail "python: $OUT"
expect 1 "$WARDFS" run --policy "$HOME/other" -- python3 -c "$get"

echo '--- node'
get='require("https").get({host: "web.example", ca: require("fs").readFileSync("ca.crt")},
	r => r.pipe(process.stdout)).on("error", e => { console.error(e.code); process.exit(1) })'
expect 0 "$WARDFS" run --policy "$HOME/pol" -- node -e "$get"
[ "$OUT" = 'hello from web.example' ] || fail "node: $OUT"
expect 1 "$WARDFS" run --policy "$HOME/other" -- node -e "$get"
has "$ERR" ENOTFOUND

echo '--- npm'
mkdir -p pack/package
echo '{"name": "wardfs-test-pack", "version": "1.0.0", "main": "i.js"}' >pack/package/package.json
echo 'module.exports = "from the registry"' >pack/package/i.js
tar -czf "$NET/www/reg/pack.tgz" -C pack package
rm -r pack
sum=$(openssl dgst -sha512 -binary "$NET/www/reg/pack.tgz" | openssl base64 -A)
cat >"$NET/www/reg/wardfs-test-pack" <<J
{"name": "wardfs-test-pack", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {"name": "wardfs-test-pack",
 "version": "1.0.0", "dist": {"tarball": "http://web.example/www/reg/pack.tgz", "integrity": "sha512-$sum"}}}}
J
echo '{"name": "p", "version": "1.0.0"}' >package.json
expect 0 "$WARDFS" run --policy "$HOME/pol" -- sh -c '
	npm install --no-audit --no-fund --no-update-notifier --registry http://web.example/www/reg/ wardfs-test-pack >&2 &&
	node -e "console.log(require(\"wardfs-test-pack\"))"'
[ "$OUT" = 'from the registry' ] || fail "npm: $OUT"
rm -rf node_modules package-lock.json
# Refused at once, and npm's own message says by whom and for what.
"$WARDFS" run --policy "$HOME/other" -- npm install --no-audit --no-fund --no-update-notifier \
	--registry http://web.example/www/reg/ wardfs-test-pack >out 2>err && fail "npm without an allow: $(cat out)"
has "$(cat err)" E403
has "$(cat err)" "403 Forbidden: wardfs does not allow web.example:80"
# The body has the line that decided, and the fix; of a name that no file or terminal should get,
# escaped text.
expect 0 "$WARDFS" run --policy "$HOME/other" -- curl -sS http://web.example/www/
has "$OUT" "wardfs: web.example:80 is refused ("
has "$OUT" "[network] mode = allowlist"
has "$OUT" "to permit it, outside of the session: wardfs policy add allow web.example:80"
expect 0 "$WARDFS" run --policy "$HOME/pol" -- curl -sS -o /dev/null -w '%{http_code}' http://web.example/www/reg/wardfs-test-pack
[ "$OUT" = 200 ] || fail "control: $OUT"
exit 0
S
in_host_both "$WARD_TMP/check.sh"
