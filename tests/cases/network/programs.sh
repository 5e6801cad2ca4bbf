#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# Programs as they are, with mode = allowlist: npm from a registry, git over ssh, node, python; those that
# are not installed are left out, said by name.
. "$WARD_SRC/tests/cases/lib.sh"
. "$WARD_SRC/tests/cases/network/lib.sh"
[ "$(id -u)" -eq 0 ] || { echo "needs root"; exit 77; }

cat >check.sh <<'S'
. "$WARD_SRC/tests/cases/lib.sh"
. "$WARD_SRC/tests/cases/network/lib.sh"
HOME=$WARD_TMP/home
export HOME
mkdir -p "$HOME" "$NET/www/reg"
project p
git init -q src
git -C src -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m one
cd p || exit 1
policy "$HOME/pol" 'mode = allowlist' 'allow = web.example' 'allow = web.example:22'
policy "$HOME/other" 'mode = allowlist' 'allow = other.example'

echo '--- python'
get='import urllib.request, ssl, sys
c = ssl.create_default_context(cafile="ca.crt")
print(urllib.request.urlopen("https://web.example/", context=c).read().decode().strip())'
cp "$NET/cert.pem" ca.crt
expect 0 "$WARDFS" run --policy "$HOME/pol" -- python3 -c "$get"
[ "$OUT" = 'hello from web.example' ] || fail "python: $OUT"
expect 1 "$WARDFS" run --policy "$HOME/other" -- python3 -c "$get"

if command -v node >/dev/null; then
	echo '--- node'
	get='require("https").get({host: "web.example", ca: require("fs").readFileSync("ca.crt")},
		r => r.pipe(process.stdout)).on("error", e => { console.error(e.code); process.exit(1) })'
	expect 0 "$WARDFS" run --policy "$HOME/pol" -- node -e "$get"
	[ "$OUT" = 'hello from web.example' ] || fail "node: $OUT"
	expect 1 "$WARDFS" run --policy "$HOME/other" -- node -e "$get"
	has "$ERR" ENOTFOUND
else
	echo "no node"
fi

if command -v npm >/dev/null; then
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
	# Refused at once: with its patience it would try for minutes.
	"$WARDFS" run --policy "$HOME/other" -- npm install --no-audit --no-fund --no-update-notifier --fetch-retries 0 \
		--registry http://web.example/www/reg/ wardfs-test-pack >out 2>err && fail "npm without an allow: $(cat out)"
	has "$(cat err)" E403
else
	echo "no npm"
fi

server=$(PATH=$PATH:/usr/sbin command -v sshd) || server=
if [ -n "$server" ] && command -v ssh >/dev/null; then
	echo '--- git over ssh'
	git clone -q --bare ../src "$NET/ssh.git"
	ssh-keygen -q -t ed25519 -N '' -f "$NET/hostkey" && ssh-keygen -q -t ed25519 -N '' -f key || fail "no keys"
	cat key.pub >"$NET/authorized"
	chmod 600 "$NET/authorized"
	printf '%s\n' 'Port 22' 'ListenAddress 203.0.113.10' "HostKey $NET/hostkey" "AuthorizedKeysFile $NET/authorized" \
		'StrictModes no' 'UsePAM no' 'PermitRootLogin yes' "PidFile $NET/sshd.pid" >"$NET/sshd"
	mkdir -p /run/sshd
	ip netns exec internet "$server" -D -f "$NET/sshd" -E "$NET/sshd.log" &
	sshd=$!
	trap 'kill $sshd' EXIT
	export GIT_SSH_COMMAND="ssh -i key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes"
	wait_until 60 git clone -q "ssh://root@web.example$NET/ssh.git" control || fail "control: $(cat "$NET/sshd.log")"
	chmod 644 key
	expect 0 "$WARDFS" run --policy "$HOME/pol" --env "GIT_SSH_COMMAND=$GIT_SSH_COMMAND" -- sh -c '
		cp key "$HOME/key" && chmod 600 "$HOME/key" && cd "$HOME" &&
		git clone -q "ssh://root@web.example$1/ssh.git" c && git -C c log --format=%s' sh "$NET"
	[ "$OUT" = one ] || fail "git over ssh: $OUT $ERR"
	expect 128 "$WARDFS" run --policy "$HOME/other" --env "GIT_SSH_COMMAND=$GIT_SSH_COMMAND" -- \
		git clone -q "ssh://root@web.example$NET/ssh.git" d
	has "$ERR" 'resolve hostname'
else
	echo "no sshd"
fi
exit 0
S
in_host "$WARD_TMP/check.sh"
