#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Commands print what the users' pages say that they print.
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root: the pages show what root sees"
git_identity
PATH=$WARD_BUILD:$PATH

# page NAME: in a project of its own, as the page begins with
page() {
	project "$HOME/$1"
	cd "$HOME/$1" || exit 1
	mkdir certs deploy src
	ln -s "$WARD_BUILD" build
	echo TOKEN=of-nothing >.env
	echo 'of nothing' >certs/test.pem
	echo 'of nothing' >deploy/key.txt
	printf 'test:\n\t@python3 -m unittest -q src/test_add.py 2>&1 | tail -n 1\n' >Makefile
	printf 'import unittest\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(1 + 1, 2)\n' >src/test_add.py
	printf 'build\n.env\ncerts\n__pycache__\n' >.gitignore
	git add -A
	git commit -qm start
	[ "$1" != policy ] || cp "$HOME"/steps/step?.policy .
	/usr/bin/python3 "$WARD_SRC/tests/support/console.py" "$WARD_SRC/docs/$1.md" || fail "docs/$1.md"
}

page for-agents
page for-testers
# The tutorial builds one policy up, in files that its blocks begin with.
mkdir "$HOME/steps"
(cd "$HOME/steps" && awk '/^```ini$/ { on = 1; next } /^```$/ { on = 0 } on && /^; / { name = $2 } on { print >name }' \
	"$WARD_SRC/docs/policy.md")
page policy
# The policies of this page, each under the name in its first line; no program, so no points for
# one.
project "$HOME/risk"
cd "$HOME/risk" || exit 1
awk '/^```ini$/ { on = 1; next } /^```$/ { on = 0 } on && /^; / { name = $2 } on { print >name }' \
	"$WARD_SRC/docs/risk.md"
/usr/bin/python3 "$WARD_SRC/tests/support/console.py" "$WARD_SRC/docs/risk.md" || fail "docs/risk.md"
# In the modes without a view of their own the command goes the way that everybody goes.
chmod 755 "$WARD_TMP" "$HOME"
page modes

# The control: a page that says something else is caught.
printf '```console\n$ echo a\nb\n```\n' >wrong.md
expect 1 /usr/bin/python3 "$WARD_SRC/tests/support/console.py" wrong.md
has "$OUT" 'wrong.md:2'
printf '```console\n$ printf "a\\nx 1\\nc\\n"\na\nx …\n…\n```\n' >right.md
expect 0 /usr/bin/python3 "$WARD_SRC/tests/support/console.py" right.md
exit 0
