#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Toolchains in the owner's home are there under `medium`, by the same names and read-only. Logins
# and keys beside them are not. Commits inside carry the owner's name, and nothing else of the
# owner's git configuration that could run a program or hold a password.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to become an ordinary user"

cat >body.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
PATH=$HOME/.cargo/bin:$HOME/.local/bin:/usr/bin:/bin
export PATH
mkdir -p ~/.cargo/bin ~/.rustup ~/.local/bin ~/.local/share/uv ~/.ssh ~/p
printf '#!/bin/sh\ncat "$HOME/.rustup/channel"\n' >~/.cargo/bin/ward-cargo
chmod 755 ~/.cargo/bin/ward-cargo
echo stable >~/.rustup/channel
for secret in ~/.cargo/credentials.toml ~/.local/share/uv/credentials ~/.ssh/id_ed25519 ~/.npmrc; do
	echo s3cret >"$secret"
done
printf '[user]\n\tname = "Ann \\"A\\" Doe"\n\temail = ann@example.org\n' >~/.gitconfig
printf '[init]\n\tdefaultBranch = trunk\n[credential]\n\thelper = store\n' >>~/.gitconfig
printf '[core]\n\tsshCommand = touch /tmp/run\n\tpager = evil\n[alias]\n\tx = !evil\n' >>~/.gitconfig
printf '[url "https://user:s3cret@example.org/"]\n\tinsteadOf = https://example.org/\n' >>~/.gitconfig
cd ~/p || exit 1
git init -q .

# The controls: on the host it all is there.
[ "$(ward-cargo)" = stable ] || fail "control: the tool"
[ "$(git config credential.helper)" = store ] || fail "control: git"

expect 0 "$WARDFS" run -- ward-cargo
has "$OUT" stable
for secret in .cargo/credentials.toml .local/share/uv/credentials .ssh/id_ed25519 .npmrc .gitconfig; do
	expect 0 cat "$HOME/$secret"
	expect 1 "$WARDFS" run -- cat "$HOME/$secret"
	expect 1 "$WARDFS" run -- sh -c 'cat "$HOME/$1"' sh "$secret"
done
expect 2 "$WARDFS" run -- sh -c 'echo x >>"$1/.cargo/bin/ward-cargo"' sh "$HOME"
expect 2 "$WARDFS" run -- sh -c 'echo x >"$HOME/.cargo/bin/new"'
has "$ERR" "Read-only file system"
# beside it, programs keep what they want for the session
expect 0 "$WARDFS" run -- sh -c 'mkdir ~/.cargo/registry && echo x >~/.cargo/registry/x && cat ~/.cargo/registry/x'
[ ! -e ~/.cargo/registry ] || fail "it is on the host"

# the name, and settings of taste
expect 0 "$WARDFS" run -- git config --list --show-origin
has "$OUT" 'user.name=Ann "A" Doe'
has "$OUT" user.email=ann@example.org
has "$OUT" init.defaultbranch=trunk
for word in helper sshcommand pager alias s3cret insteadof; do
	hasnt "$(printf %s "$OUT" | tr A-Z a-z)" "$word"
done
echo x >f
expect 0 "$WARDFS" run -- sh -c 'git add f && git commit -qm x'
[ "$(git log --format='%an <%ae>')" = 'Ann "A" Doe <ann@example.org>' ] || fail "$(git log)"
# the agent's own word counts more
expect 0 "$WARDFS" run -- sh -c 'git config --global user.name Bot && git config user.name'
has "$OUT" Bot

# A configuration that cannot be read, or is no file, counts as absent.
rm ~/.gitconfig
mkfifo ~/.gitconfig
expect 0 "$WARDFS" run -- true
rm ~/.gitconfig
expect 1 "$WARDFS" run -- git config user.name
mkdir -p ~/.config/git
printf '[user]\n\tname = Other\n' >~/.config/git/config
expect 0 "$WARDFS" run -- git config user.name
has "$OUT" Other
exit 0
S
chmod 755 "$WARD_TMP"
chmod 644 body.sh
mkdir -p "$WARD_TMP/roots"
HOME=$WARD_TMP/roots sh "$WARD_TMP/body.sh" || fail "as root"
as_user "$WARD_TMP/body.sh" || fail "as an ordinary user"

# Root for an ordinary user: the owner's files are opened as the owner, so no link leads to root's.
printf '[user]\n\tname = Root\n' >"$WARD_TMP/roots.config"
chmod 600 "$WARD_TMP/roots.config"
cd "$WARD_TMP/home/p" || exit 1
ln -sf "$WARD_TMP/roots.config" ../.config/git/config
chown -R 4711:4711 "$WARD_TMP/home"
printf 'ward:x:4711:4711::%s:/bin/sh\n' "$WARD_TMP/home" >"$WARD_TMP/passwd"
cat /etc/passwd >>"$WARD_TMP/passwd"
# with_account CMD...: on a host on which 4711 has an account
with_account() {
	unshare --mount --propagation private sh -c 'mount --bind "$0" /etc/passwd && exec "$@"' "$WARD_TMP/passwd" "$@"
}
[ "$(git config -f ../.config/git/config user.name)" = Root ] || fail "control: root reads it"
expect 1 with_account "$WARDFS" run -- git config user.name
rm ../.config/git/config
printf '[user]\n\tname = Owner\n' >../.config/git/config
expect 0 with_account "$WARDFS" run -- git config user.name
has "$OUT" Owner
# An owner without an account, and so without a home: the rest works.
expect 0 "$WARDFS" run -- true
exit 0
