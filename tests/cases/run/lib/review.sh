# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What the tests of `wardfs review` share: a project with files of each kind, and a session that
# changes them in each way.
set -eu
. "$WARD_SRC/tests/lib.sh"

PROJECT=$WARD_TMP/project
OUTSIDE=$WARD_TMP/outside
export OUTSIDE
fresh() {
	cd "$WARD_TMP"
	rm -rf "$PROJECT" "$OUTSIDE"
	project "$PROJECT"
	cd "$PROJECT"
	mkdir "$OUTSIDE" d gone
	for f in changed removed renamed d/one d/two gone/a untouched; do echo "old $f" >"$f"; done
	echo secret >"$OUTSIDE/target"
	own
}
# Root's sessions belong to whom the project belongs to.
own() { chown -R --reference="$PROJECT" "$PROJECT"/*; }
# Content of all files.
digest() { find . -type f ! -path './.git/*' -exec sha256sum {} + | sort -k2; }
# What is in the project at all: kind, permissions, link and content of each name.
whole() {
	find . -path ./.git -prune -o -printf '%y %m %p %l\n' | sort -k3
	digest
}
# Nothing that an apply writes first is left in the project.
no_rest() {
	left=$(find . -name '.wardfs-apply*')
	[ -z "$left" ] || fail "left behind: $left"
}
