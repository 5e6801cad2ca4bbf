#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the project in $1 in its own sandbox, works on it there with git and sqlite, and looks at
# the outcome from outside. Run by root.sh and user.sh as the one whose session it is; $2 is what is
# built, if not all.
set -eu
. "$WARD_SRC/tests/lib.sh"
cd "$1"

as_me() {
	git -c user.name=case -c user.email=case@localhost "$@"
}

as_me init -q .
as_me add -A
as_me commit -q -m 'before the session'

echo "--- build, git and sqlite inside"
# shellcheck disable=SC2016 # expanded by the shell inside
"$WARDFS" run --session self -- sh -eu -c '
	meson setup -Dtests=disabled build-inside >setup.log 2>&1 || { cat setup.log; exit 1; }
	rm setup.log
	ninja -C build-inside --quiet "$1"
	build-inside/wardfs --version
	test "$WARDFS_SESSION" = self

	test -z "$(git status --porcelain)"
	echo "a line from inside" >>README.md
	test "$(git status --porcelain)" = " M README.md"
	git -c user.name=agent -c user.email=agent@localhost commit -q -a -m "from inside"
	test -z "$(git status --porcelain)"
	git fsck --strict 2>&1

	for journal in delete wal; do
		{
			echo "PRAGMA journal_mode=$journal; CREATE TABLE t_$journal(a INTEGER PRIMARY KEY, b TEXT);"
			i=0
			while [ $i -lt 200 ]; do
				echo "INSERT INTO t_$journal(b) VALUES(hex(randomblob(50)));"
				i=$((i + 1))
			done
			echo "BEGIN; INSERT INTO t_$journal(b) SELECT b FROM t_$journal, (SELECT 1 UNION SELECT 2),"
			echo "(SELECT 1 UNION SELECT 2), (SELECT 1 UNION SELECT 2); COMMIT;"
		} | sqlite3 build-inside/load.db >/dev/null
	done
	test "$(sqlite3 build-inside/load.db "PRAGMA integrity_check")" = ok
' sh "${2-all}"

echo "--- the outcome outside"
build-inside/wardfs --version || fail "what was built inside does not run outside"
[ "$(git log -1 --format=%s)" = "from inside" ] || fail "the commit is not there"
[ -z "$(git status --porcelain)" ] || fail "git status differs: $(git status --porcelain)"
git fsck --strict 2>&1
[ "$(sqlite3 build-inside/load.db 'PRAGMA integrity_check')" = ok ] || fail "the database is damaged"
[ "$(sqlite3 build-inside/load.db 'SELECT count(*) FROM t_wal')" = 1800 ] || fail "rows are missing"
strangers=$(find . ! -user "$(stat -c %u .)")
[ -z "$strangers" ] || fail "belongs to somebody else: $strangers"

echo "--- the trail"
verdict=$("$WARDFS" audit verify self) || fail "verify: $verdict"
case $verdict in
*intact*) ;;
*) fail "verify says: $verdict" ;;
esac
# The control of the refusals elsewhere: nothing of all this was refused.
"$WARDFS" audit show self --json >../records
grep -q '"kind":"create".*"path":"/workspace/build-inside/load.db' ../records ||
	fail "the trail does not know the database"
