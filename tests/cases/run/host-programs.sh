#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs starts host programs by absolute path, not by PATH, which often begins with a directory
# of the project that a session can fill.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
export WARDFS

cat >user.sh <<'END'
set -eu
. "$WARD_SRC/tests/lib.sh"
cd "$HOME"
mkdir -p p/.venv/bin p/src bin mnt
cd p
git init -q .
"$WARDFS" init >out 2>&1 || fail "init: $(cat out)"
planted() {
	printf '#!/bin/sh\nid -u >"%s/ran"\n' "$HOME" >"$1"
	chmod 755 "$1"
}
for name in fusermount3 systemd-run ed-of-mine vi; do
	planted ".venv/bin/$name"
	cp ".venv/bin/$name" "$name"
done
none() {
	[ ! -e "$HOME/ran" ] || fail "$1: a program of the project was run"
}

for dir in "$PWD/.venv/bin" . "$HOME/p" ""; do
	echo "--- PATH begins with '$dir'"
	# control: a shell would run it
	PATH=$dir:$PATH sh -c 'fusermount3' || fail "control: it cannot be run"
	rm "$HOME/ran" || fail "control: it did not run"
	PATH=$dir:$PATH "$WARDFS" mount src "$HOME/mnt" >out 2>&1 || :
	none "mount: $(cat out)"
	"$WARDFS" umount "$HOME/mnt" >out 2>&1 || :
	PATH=$dir:$PATH "$WARDFS" run -- true >out 2>&1 || fail "run: $(cat out)"
	none run
	for editor in ed-of-mine vi; do
		PATH=$dir:$PATH EDITOR=$editor "$WARDFS" policy edit >out 2>&1 </dev/null || :
		none "policy edit with $editor: $(cat out)"
	done
	EDITOR='' PATH=$dir:$PATH "$WARDFS" policy edit >out 2>&1 </dev/null || :
	none "policy edit: $(cat out)"
done

echo "--- the owner's own is found where PATH has it, and where it is named"
planted "$HOME/bin/ed-of-mine"
PATH=$HOME/p/.venv/bin:$HOME/bin:$PATH EDITOR=ed-of-mine "$WARDFS" policy edit >out 2>&1 || fail "$(cat out)"
[ -e "$HOME/ran" ] || fail "the owner's editor did not run: $(cat out)"
rm "$HOME/ran"
EDITOR=$HOME/bin/ed-of-mine "$WARDFS" policy edit >out 2>&1 || fail "$(cat out)"
[ -e "$HOME/ran" ] || fail "the editor that was named did not run: $(cat out)"
END
as_user "$WARD_TMP/user.sh" || fail "as an ordinary user"
