#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The project has its own path inside, so work continues on either side: build trees with absolute
# paths (nothing is built twice), Python's virtual environments, node_modules/.bin, git work
# trees.
# plain
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
git_identity
project "$HOME/p"
cd "$HOME/p" || exit 1
inside() { expect 0 "$WARDFS" run -- "$@"; }

# The start directory is the host's path, also below the top.
mkdir sub
inside pwd
[ "$OUT" = "$PWD" ] || fail "pwd: $OUT"
(cd sub && inside pwd && [ "$OUT" = "$HOME/p/sub" ]) || fail "pwd: below"

cat >a.c <<'C'
int b(void);
int main(void) { return b(); }
C
echo 'int b(void) { return 0; }' >b.c
printf "project('p', 'c')\nexecutable('m', 'a.c', 'b.c')\n" >meson.build
printf 'cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(m a.c b.c)\n' >CMakeLists.txt

# built SIDE DIR: what ninja or make does there now
ninja_inside() { inside ninja -C "$1"; }
ninja_outside() { expect 0 ninja -C "$1"; }
# rebuilt TEXT: one object alone was compiled
one_step() {
	has "$1" a.c
	hasnt "$1" "b.c.o"
}

expect 0 meson setup out
ninja_outside out
has "$OUT" "b.c.o"
ninja_inside out
has "$OUT" "no work to do"
echo >>a.c
ninja_inside out
one_step "$OUT"
ninja_outside out
has "$OUT" "no work to do"
expect 0 out/m
# And the other way round.
inside meson setup in
ninja_inside in
has "$OUT" "b.c.o"
ninja_outside in
has "$OUT" "no work to do"
echo >>a.c
ninja_outside in
one_step "$OUT"
ninja_inside in
has "$OUT" "no work to do"
inside in/m

expect 0 cmake -B cm -G Ninja .
ninja_outside cm
ninja_inside cm
has "$OUT" "no work to do"
echo >>a.c
ninja_inside cm
has "$OUT" "a.c.o"
hasnt "$OUT" "b.c.o"
inside cmake -B cm2 -G Ninja .
ninja_inside cm2
ninja_outside cm2
has "$OUT" "no work to do"

# Entered by a symbolic link: that path is written down by what is called there, and leads to the
# project inside as well. Not by what PWD says wrongly, nor where the sandbox has something of its
# own.
ln -s p "$HOME/link"
ln -s "$HOME" "$HOME/above"
by() { # by PATH CMD…: entered by it
	cd "$1" || exit 1
	shift
	PWD=$(pwd) "$@"
	cd "$HOME/p" || exit 1
}
for path in link above/p; do
	by "$HOME/$path/sub" inside sh -c 'pwd; pwd -P; echo "$PWD"'
	[ "$OUT" = "$HOME/$path/sub
$HOME/p/sub
$HOME/$path/sub" ] || fail "$path: $OUT"
done
by "$HOME/link" expect 0 cmake -S . -B "$HOME/link/cml" -G Ninja
has "$(cat cml/CMakeCache.txt)" "$HOME/link"
by "$HOME/link" ninja_outside "$HOME/link/cml"
by "$HOME/link" ninja_inside "$HOME/link/cml"
has "$OUT" "no work to do"
echo >>a.c
by "$HOME/link" ninja_inside "$HOME/link/cml"
has "$OUT" "a.c.o"
hasnt "$OUT" "b.c.o"
for wrong in "$HOME" "$HOME/link/.." "$HOME/absent" "$HOME/link/" link /proc/self/cwd ""; do
	PWD=$wrong expect 0 "$WARDFS" run -- sh -c 'ls -d "$0" 2>&1; /bin/pwd -P' "$HOME/link"
	has "$OUT" "No such file"
	has "$OUT" "$HOME/p"
done

# Python: made outside and used inside, and the reverse; scripts name the interpreter by its path.
for side in out in; do
	if [ $side = out ]; then expect 0 python3 -m venv --without-pip venv.$side; else inside python3 -m venv --without-pip venv.$side; fi
	dir=$(find "venv.$side/lib" -name site-packages)
	echo "here = 7" >"$dir/mine.py"
	printf '#!%s/venv.%s/bin/python3\nimport mine, sys\nprint(mine.here, sys.prefix)\n' "$PWD" $side >venv.$side/bin/tool
	chmod +x venv.$side/bin/tool
	for how in expect inside; do
		if [ $how = expect ]; then expect 0 venv.$side/bin/tool; else inside venv.$side/bin/tool; fi
		[ "$OUT" = "7 $PWD/venv.$side" ] || fail "venv $side, $how: $OUT"
	done
done

# node_modules/.bin: links into the packages.
mkdir -p node_modules/.bin node_modules/tool
printf '#!/bin/sh\necho "$(readlink -f "$0")"\n' >node_modules/tool/cli.sh
chmod +x node_modules/tool/cli.sh
ln -s ../tool/cli.sh node_modules/.bin/tool
inside node_modules/.bin/tool
[ "$OUT" = "$PWD/node_modules/tool/cli.sh" ] || fail ".bin: $OUT"

# A work tree of git's names its repository by an absolute path, both ways.
printf 'out\nin\ncm*\nvenv.*\nnode_modules\ntree.*\n' >.gitignore
git add -A && git commit -qm one
git worktree add -q -b two tree.out
inside sh -c 'cd tree.out && echo x >x && git add x && git commit -qm two && git status --short && git log --oneline | wc -l'
[ "$OUT" = 2 ] || fail "work tree: $OUT"
[ "$(git -C tree.out log --format=%s -1)" = two ] || fail "outside: $(git -C tree.out log)"
[ -z "$(git -C tree.out status --short)" ] || fail "outside: $(git -C tree.out status --short)"
inside git worktree add -q -b three tree.in
[ "$(git -C tree.in log --format=%s -1)" = one ] || fail "a work tree made inside"
exit 0
