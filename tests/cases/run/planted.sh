#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A session leaves traps where the next start looks. None delays the start, leads it out of the
# tree or makes it remove a host file. wardfs refuses the run, by name, when it cannot guard
# something.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
mkdir top
cd top || exit 1

# left SCRIPT: in a new project, whose first session this is; the next start is the test's
left() {
	cd "$WARD_TMP/top" && rm -rf p && mkdir p && cd p || exit 1
	"$WARDFS" run -- sh -ec "$1" || fail "control: not left: $1"
}

# Pipes, sockets, devices' names, and files of the host by a link: looked at, never opened or
# followed.
for what in 'mkfifo .git' 'mkdir .git; mkfifo .git/config .git/HEAD' 'mkdir .git; ln -s /dev/zero .git/config' \
	'mkdir .git; ln -s /etc/shadow .git/config' 'echo "gitdir: /proc/self/cwd" >.git' \
	'mkdir -p a/b/.git; mkfifo a/b/.git/config a/b/.git/HEAD' 'mkdir .git; ln -s / .git/modules' 'ln -s .git .git'; do
	left "$what"
	expect 0 timeout 120 "$WARDFS" run -- true
	hasnt "$ERR" shadow
done

# Configuration that cannot be followed to its end: wardfs refuses before anything starts, and names
# the file.
for what in 'echo "gitdir: .git" >.git' 'mkdir .git; truncate -s 10G .git/config' \
	'mkdir -p .git/modules; cd .git/modules; for i in $(seq 40); do mkdir d; cd d; done'; do
	left "$what"
	expect 2 timeout 120 "$WARDFS" run -- touch started
	has "$ERR" "what /workspace/.git leads to"
	[ ! -e started ] || fail "started: $what"
done
left 'mkdir -p sub/deep; ln -s .git sub/deep/.git'
expect 0 timeout 120 "$WARDFS" run -- true
rm sub/deep/.git
expect 0 "$WARDFS" run -- touch started

# The home that is kept: what is dropped at a start is the link, not what it leads to.
mkdir -p "$WARD_TMP/victim/git" "$WARD_TMP/victim/cargo"
for f in git/config cargo/config.toml .npmrc; do echo keep >"$WARD_TMP/victim/$f"; done
chmod -R a+rwX "$WARD_TMP/victim"
cat >../home.sh <<'H'
rm -rf ~/.config ~/.cargo
ln -s "$1" ~/.config
ln -s "$1/cargo" ~/.cargo
ln -s "$1/.npmrc" ~/.npmrc
mkfifo ~/.bashrc
mkdir -p ~/.profile/x
H
cp ../home.sh .
expect 0 "$WARDFS" run -- sh -e home.sh "$WARD_TMP/victim"
expect 0 timeout 120 "$WARDFS" run -- sh -c 'for f in .bashrc .profile .npmrc .cargo/config.toml .config/git/config; do
	test ! -e ~/$f || echo $f; done'
[ -z "$OUT" ] || fail "kept: $OUT"
[ "$(find "$WARD_TMP/victim" -type f | wc -l)" = 3 ] || fail "removed on the host: $(find "$WARD_TMP/victim")"
exit 0
