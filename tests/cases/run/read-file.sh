#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A single file of --read or [system] read passes no guard, floor or project file: not by its own
# name, by a link, from a tree's directory, or by a reload. Each refusal has its control.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
mkdir -p k/.ssh "$XDG_CONFIG_HOME/wardfs/projects"
for f in id_rsa .env plain .ssh/config tool; do echo "content of $f" >"k/$f"; done
printf '#!/bin/sh\necho ran\n' >k/tool
chmod 755 k/tool
ln -s id_rsa k/public
ln -s plain k/linked
cd p || exit 1
k=$WARD_TMP/k

# closed TEXT PATH [OPTION...]: no session starts to show PATH, which the message and TEXT name.
closed() {
	text=$1 path=$2
	shift 2
	expect 2 "$WARDFS" run "$@" -- sh -c 'cat "$1"; touch started' sh "$path"
	[ -z "$OUT" ] || fail "read: $OUT"
	[ ! -e started ] || fail "started: $path"
	has "$ERR" "$text"
	has "$ERR" "$path"
}

# The control: what no guard names is shown, by its own name and by a link, and runs.
expect 0 "$WARDFS" run --read "$k/plain" --read "$k/tool" -- sh -c 'cat "$1/plain"; "$1/tool"' sh "$k"
has "$OUT" "content of plain"
has "$OUT" ran
expect 0 "$WARDFS" run --read "$k/linked" -- cat "$k/plain"

# --read: the profile's guard, by the name of the file and of what a link leads to.
closed "[guard] secret = id_rsa" "$k/id_rsa" --read "$k/id_rsa"
closed "[guard] secret = .[Ee][Nn][Vv]" "$k/.env" --read "$k/plain" --read "$k/.env"
closed "[guard] secret = id_rsa" "$k/id_rsa" --read "$k/public"
closed "[guard] hide = plain" "$k/plain" --read "$k/plain" --hide plain
# A command that is not started is not rehearsed as if it were.
expect 125 "$WARDFS" run --dry-run --read "$k/id_rsa" -- true
has "$OUT$ERR" "[guard] secret = id_rsa"

# [system] read, of the owner's policy.
policy() {
	printf '[policy]\nversion = 1\nextends = medium\n%b\n' "$1" >../own.policy
}
policy "[system]\nread = $k/linked\nread = $k/.ssh"
expect 0 "$WARDFS" run --policy ../own.policy -- cat "$k/linked" "$k/.ssh/config"
has "$OUT" "content of plain"
has "$OUT" "content of .ssh/config"
policy "[system]\nread = $k/id_rsa"
closed "[guard] secret = id_rsa" "$k/id_rsa" --policy ../own.policy
# A link by a harmless name, and a harmless file by a guarded name.
policy "[system]\nread = $k/public"
closed "[guard] secret = id_rsa" "$k/public" --policy ../own.policy
ln -s plain ../k/.netrc
policy "[system]\nread = $k/.netrc"
closed "[guard] secret = .netrc" "$k/.netrc" --policy ../own.policy
# A directory that is guarded by its own name.
policy "[guard]\nhide = .ssh\n[system]\nread = $k/.ssh"
closed "[guard] hide = .ssh" "$k/.ssh" --policy ../own.policy
policy "[guard]\nhide = $k/.ssh\n[system]\nread = $k/.ssh/config"
closed "[guard] hide = $k/.ssh" "$k/.ssh/config" --policy ../own.policy
# A file of a tree's directory: what holds for it in the tree.
echo key >../k/server.pem
policy "[tree /data]\nsource = $k\nat = none\n[guard]\ndeny = /data/*.pem\n[files]\nread = /data\n[system]\nread = $k/plain"
expect 0 "$WARDFS" run --policy ../own.policy -- cat "$k/plain" /data/plain
policy "[tree /data]\nsource = $k\nat = none\n[guard]\ndeny = /data/*.pem\n[files]\nread = /data\n[system]\nread = $k/server.pem"
closed "[guard] deny = /data/*.pem" "$k/server.pem" --policy ../own.policy
# The project's own file takes away as well, outside of the project too.
printf '[policy]\nversion = 1\n[files]\nhide = plain\n' >.wardfs.policy
closed "[files] hide = plain" "$k/plain" --read "$k/plain"
rm .wardfs.policy
# noexec takes executing alone.
expect 126 "$WARDFS" run --policy "$(policy "[guard]\nnoexec = tool" && echo ../own.policy)" --read "$k/tool" -- "$k/tool"
expect 0 "$WARDFS" run --policy ../own.policy --read "$k/tool" -- cat "$k/tool"

# explain proposes nothing that is refused then; the control is proposed.
expect 1 "$WARDFS" policy explain read "$k/plain"
has "$OUT" "wardfs run --read $k/plain"
for f in id_rsa public .env; do
	expect 1 "$WARDFS" policy explain read "$k/$f"
	hasnt "$OUT" "--read"
	has "$OUT" "no other line lifts a guard"
done
mkfifo ../k/pipe
expect 1 "$WARDFS" policy explain read "$k/pipe"
hasnt "$OUT" "--read"
expect 1 "$WARDFS" policy explain read "$k/missing"
hasnt "$OUT" "--read"
# A policy that closes what is shown is not loaded into the session; one that does not is.
policy ""
"$WARDFS" run --session shows --keep --policy ../own.policy --read "$k/plain" -- true
expect 0 "$WARDFS" policy reload shows ../own.policy
for rule in "hide = plain" "noexec = plain"; do
	policy "[guard]\n$rule"
	expect 2 "$WARDFS" policy reload shows ../own.policy
	has "$ERR" "$k/plain"
	has "$ERR" "until the session ends"
done
expect 0 "$WARDFS" kill shows
# The trail has the files that the session was shown.
expect 0 "$WARDFS" run --session shown --read "$k/plain" -- true
expect 0 "$WARDFS" audit export shown
has "$OUT" "$k/plain"
