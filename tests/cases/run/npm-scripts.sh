#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lifecycle scripts of a dependency (preinstall, install, postinstall) run inside with the
# session's rights and no more. The control is the same package installed outside.
# plain
# shellcheck disable=SC2016,SC2086
set -eu
. "$WARD_SRC/tests/lib.sh"
for tool in npm node; do
	command -v $tool >/dev/null || skip "no $tool"
done
NPM="npm install --offline --foreground-scripts --no-audit --no-fund --no-update-notifier --loglevel error"

# The script of a package that is after more than its own installation.
mkdir -p "$HOME/.ssh" dep
cat >dep/reach.js <<'J'
const fs = require('fs'), net = require('net'), [stage, home, port] = process.argv.slice(2)
const top = process.env.INIT_CWD, said = {}
function attempt(name, f) {
	try {
		said[name] = String(f() || 'ok')
	} catch (e) {
		said[name] = e.code
	}
}
attempt('own', () => fs.writeFileSync('built-' + stage, 'x'))
attempt('env', () => fs.readFileSync(top + '/.env', 'utf8').trim())
attempt('hook', () => fs.writeFileSync(top + '/.git/hooks/pre-commit', 'x'))
attempt('npmrc', () => fs.writeFileSync(top + '/.npmrc', 'ignore-scripts=false'))
attempt('key', () => fs.readFileSync(home + '/.ssh/id_ed25519', 'utf8').trim())
attempt('start', () => fs.appendFileSync(process.env.HOME + '/.bashrc', '# of the package\n'))
attempt('source', () => fs.appendFileSync(top + '/index.js', '// ' + stage + '\n'))
attempt('variable', () => process.env.DEPLOY_TOKEN || 'unset')
const s = net.connect({ host: '127.0.0.1', port: Number(port) })
const end = e => {
	said.network = e ? e.code : 'ok'
	fs.writeFileSync('said-' + stage + '.json', JSON.stringify(said))
	process.exit(0)
}
s.on('connect', () => end())
s.on('error', end)
J
cp "$WARD_SRC/tests/cases/run/lib/npm-scripts-server.py" server.py
python3 server.py &
server=$!
trap 'kill $server || :; wait $server 2>/dev/null || :' EXIT
wait_until 60 test -s port || fail "no server"
python3 - "$HOME" "$(cat port)" <<'P'
import json, sys
stages = ("preinstall", "install", "postinstall")
scripts = {s: f"node reach.js {s} {sys.argv[1]} {sys.argv[2]}" for s in stages}
json.dump({"name": "dep", "version": "1.0.0", "bin": {"dep": "reach.js"}, "scripts": scripts}, open("dep/package.json", "w"))
P
(cd dep && npm pack --silent --ignore-scripts >/dev/null) || fail "no package could be made"
cp dep/dep-1.0.0.tgz "$WARD_TMP/"

# fresh DIR: a project to install it in, with a secret of each kind
fresh() {
	project "$1"
	cp "$WARD_TMP/dep-1.0.0.tgz" "$1/"
	cd "$1" || exit 1
	echo TOKEN=s3cret >.env
	echo '// ours' >index.js
	echo '{"name": "app", "version": "1.0.0", "private": true}' >package.json
	printf 'the key\n' >"$HOME/.ssh/id_ed25519"
	rm -f "$HOME/.bashrc" .git/hooks/pre-commit
}

# said STAGE NAME
said() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1])).get(sys.argv[2]))' "node_modules/dep/said-$1.json" "$2"
}

# is STAGE NAME VALUE
is() {
	[ "$(said "$1" "$2")" = "$3" ] || fail "$1: $2 is $(said "$1" "$2"), not $3: $(cat "node_modules/dep/said-$1.json")"
}

fresh "$WARD_TMP/outside"
DEPLOY_TOKEN=t expect 0 $NPM ./dep-1.0.0.tgz
for stage in preinstall install postinstall; do
	is $stage own ok
	is $stage env TOKEN=s3cret
	is $stage hook ok
	is $stage npmrc ok
	is $stage key "the key"
	is $stage variable t
	is $stage network ok
done
grep -q 'of the package' "$HOME/.bashrc" || fail "control: the start file"

fresh "$WARD_TMP/inside"
DEPLOY_TOKEN=t expect 0 "$WARDFS" run --session scripts -- $NPM ./dep-1.0.0.tgz
has "$ERR" "refused"
for stage in preinstall install postinstall; do
	# A package needs these: its own place, and the project's.
	[ -e "node_modules/dep/built-$stage" ] || fail "$stage did not run"
	is $stage own ok
	is $stage source ok
	# It does not need these.
	is $stage env ENOENT
	is $stage hook EACCES
	is $stage npmrc EACCES
	is $stage key ENOENT
	is $stage variable unset
	is $stage network ECONNREFUSED
	# It has a home, which is not the owner's.
	is $stage start ok
done
[ ! -e "$HOME/.bashrc" ] || fail "a start file of the owner's"
if [ -e .npmrc ] || [ -e .git/hooks/pre-commit ]; then fail "something was written: $(ls -A . .git/hooks)"; fi
[ "$(grep -c install index.js)" -eq 3 ] || fail "the project could not be written: $(cat index.js)"
expect 0 "$WARDFS" audit denials --expected scripts
has "$OUT" "/workspace/.env"
has "$OUT" "/workspace/.git/hooks/pre-commit"
expect 0 "$WARDFS" audit show scripts
has "$OUT" "reach.js postinstall"
# Nor does it stay for the next session.
expect 0 "$WARDFS" run -- sh -c 'cat ~/.bashrc 2>/dev/null; echo end'
[ "$OUT" = end ] || fail "a start file stays: $OUT"

# With npm's own switch none of them runs.
fresh "$WARD_TMP/without"
expect 0 "$WARDFS" run -- $NPM --ignore-scripts ./dep-1.0.0.tgz
[ -e node_modules/dep/reach.js ] || fail "nothing was installed"
[ ! -e node_modules/dep/built-install ] || fail "a script ran"
hasnt "$ERR" refused
exit 0
