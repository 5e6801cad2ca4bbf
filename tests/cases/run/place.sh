#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where nobody works: a directory of the system is no project. Of a directory that all users share,
# and of one with homes in it, wardfs says that the command reaches everything there.
set -eu
. "$WARD_SRC/tests/lib.sh"
mkdir -p shared/mine plain
chmod 1777 shared
reaches="The command reaches everything there. To give the command one directory, change into it and run 'wardfs init'"
runs() { # runs DIR: sets ERR
	cd "$1" || exit 1
	expect 0 "$WARDFS" run --dry-run -- true
	cd "$OLDPWD" || exit 1
}

echo "--- the system's own"
# Whether a link leads there or not.
for dir in /usr /etc /var /dev /proc /lib; do
	expect 2 sh -c 'cd "$1" && "$WARDFS" run -- true' sh $dir
	has "$ERR" "cannot be the project, because it is a system directory. Change into a project directory first"
	expect 2 sh -c 'cd "$1" && "$WARDFS" init --dry-run' sh $dir
	has "$ERR" "is a system directory"
done

echo "--- shared by all"
runs plain
hasnt "$ERR" "$reaches"
runs shared
has "$ERR" "the project is $PWD/shared, and all users of this host share it. $reaches"
# A session makes it the project of what lies in it.
(cd shared && expect 0 "$WARDFS" run -- true && has "$ERR" "$reaches")
runs shared/mine
has "$ERR" "the project is $PWD/shared, and all users"
# What the line says helps, and so does a policy for the directory itself: it was chosen.
(cd shared/mine && expect 0 "$WARDFS" init)
runs shared/mine
hasnt "$ERR" "$reaches"
(cd shared && expect 0 "$WARDFS" init)
runs shared
hasnt "$ERR" "$reaches"

echo "--- homes"
runs /home
has "$ERR" "the project is /home, and home directories lie in it. $reaches"
exit 0
