#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Small projects in several languages are built, tested and committed under `medium`, without
# added rules and without refusals, the second time from the kept home's caches. Go where it is
# installed.
# plain
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
for tool in cmake python3 node cargo; do
	command -v $tool >/dev/null || skip "no $tool"
done
git_identity

# sample NAME: a project to fill, with a repository
sample() {
	project "$HOME/$1"
	cd "$HOME/$1" || exit 1
}

# day SCRIPT: the script builds and tests; then all is committed. Nothing is refused.
day() {
	expect 0 "$WARDFS" run --session "day.$(basename "$PWD")" -- sh -ec "$1
		git add -A && git commit -qm 'a day' && git status --short"
	hasnt "$ERR" refused
	[ "$(git log --format='%an %s' -1)" = "T a day" ] || fail "$PWD: $(git log)"
}

sample c
printf 'cmake_minimum_required(VERSION 3.10)\nproject(s C)\nadd_library(half half.c)\nadd_executable(t t.c)\ntarget_link_libraries(t half)\nenable_testing()\nadd_test(NAME t COMMAND t)\n' >CMakeLists.txt
echo 'int half(int n) { return n / 2; }' >half.c
printf 'int half(int);\nint main(void) { return half(8) != 4; }\n' >t.c
echo build >.gitignore
day 'cmake -B build . && make -C build && (cd build && ctest --output-on-failure)'
has "$OUT" "100% tests passed"

sample python
mkdir -p pkg tests
echo 'def half(n): return n // 2' >pkg/__init__.py
touch tests/__init__.py
printf 'import unittest, pkg\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(pkg.half(8), 4)\n' >tests/test_pkg.py
printf '.venv\n__pycache__\n' >.gitignore
day 'python3 -m venv --without-pip .venv && .venv/bin/python3 -m unittest -v 2>&1'
has "$OUT" "OK"

sample node
mkdir -p lib test node_modules/.bin node_modules/two
printf '{"name": "s", "version": "1.0.0", "scripts": {"test": "node --test"}}\n' >package.json
echo 'module.exports = 2' >node_modules/two/index.js
echo 'exports.half = n => n / require("two")' >lib/index.js
printf 'const test = require("node:test"), assert = require("node:assert")\ntest("half", () => assert.equal(require("../lib").half(8), 4))\n' >test/half.test.js
echo node_modules >.gitignore
day 'node --test test/ && node -e "require(\"fs\").writeFileSync(\"out.json\", JSON.stringify(require(\"./lib\").half(8)))"'
has "$OUT" "pass 1"
[ "$(cat out.json)" = 4 ] || fail "node: $(cat out.json)"

sample rust
mkdir src
printf '[package]\nname = "s"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
printf 'pub fn half(n: u32) -> u32 { n / 2 }\n#[test]\nfn halves() { assert_eq!(half(8), 4) }\n' >src/lib.rs
echo target >.gitignore
day 'cargo build --offline 2>&1 && cargo test --offline 2>&1'
has "$OUT" "1 passed"

if command -v go >/dev/null; then
	sample go
	printf 'module s\n\ngo 1.19\n' >go.mod
	printf 'package s\n\nfunc Half(n int) int { return n / 2 }\n' >s.go
	printf 'package s\n\nimport "testing"\n\nfunc TestHalf(t *testing.T) {\n\tif Half(8) != 4 {\n\t\tt.Fatal("no")\n\t}\n}\n' >s_test.go
	day 'go build ./... && go test ./...'
	has "$OUT" "ok"
	expect 0 "$WARDFS" run -- go test ./...
	has "$OUT" "(cached)"
fi
exit 0
