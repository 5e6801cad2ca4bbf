#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Other writable trees are guarded like the project: repositories, files that the host executes,
# and the project file. The exit line names what is new there. `policy check` names trees that
# serve the same files.
# timeout: 600
# shellcheck disable=SC2016 # expanded by the shell inside
set -eu
. "$WARD_SRC/tests/lib.sh"
git_identity
top=$WARD_TMP
projects=${XDG_CONFIG_HOME:-$HOME/.config}/wardfs/projects
mkdir -p "$projects"

set_up() {
	cd "$top"
	rm -rf p data
	project p
	mkdir -p data/sub data/tools
	git init -q --bare data/v/lib.git
	project data/app
	git -C data/app config core.sshCommand tools/ssh.sh
	echo '[policy]' >data/.wardfs.policy
	echo 'version = 1' >>data/.wardfs.policy
	cd p
}
targets='v/lib.git/config v/lib.git/hooks/update app/.git/config app/.git/hooks/pre-commit app/tools/ssh.sh .envrc
	.vscode/tasks.json .wardfs.policy'
evil="for f in $(echo $targets); do"' mkdir -p "$D/$(dirname "$f")"; echo evil >>"$D/$f"; done; echo ok >"$D/sub/ok"'
# attempt CMD...: what the session wrote into the further tree, which it sees at $D.
attempt() {
	"$@" >"$top/out" 2>&1 || :
	[ -e ../data/sub/ok ] || fail "control: the tree cannot be written: $(cat "$top/out")"
	written=
	for f in $targets; do
		! grep -qs evil "../data/$f" || written="$written $f"
	done
}

echo "--- control: a policy that guards nothing"
set_up
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nwrite = /workspace\n' >"$top/open.policy"
attempt "$WARDFS" run --policy "$top/open.policy" --write "$top/data" -- sh -c "D=$top/data; $evil"
for f in $targets; do
	case " $written " in
	*" $f "*) ;;
	*" "*) [ "$f" = .wardfs.policy ] || fail "control: $f was not written: $(cat "$top/out")" ;;
	esac
done
hasnt "$written" .wardfs.policy

echo "--- --write DIR, under medium"
set_up
attempt "$WARDFS" run --write "$top/data" -- sh -c "D=$top/data; $evil"
[ -z "$written" ] || fail "written with --write:$written"

echo "--- [tree], in the owner's policy"
set_up
expect 0 "$WARDFS" init --force
policy=$(find "$projects" -type f)
{
	printf '[policy]\nversion = 1\nextends = medium\n[tree /data]\nsource = %s\n' "$top/data"
	printf '[files]\nwrite = /data\n'
} >"$policy"
attempt "$WARDFS" run -- sh -c "D=/data; $evil"
[ -z "$written" ] || fail "written in a [tree]:$written"

echo "--- remembered there as well"
expect 0 "$WARDFS" run -- mv /data/v/lib.git/HEAD /data/sub
attempt "$WARDFS" run -- sh -c "D=/data; $evil"
[ -z "$written" ] || fail "written after HEAD went:$written"
expect 0 "$WARDFS" policy check
has "$OUT" "$top/data/v/lib.git: note: remembered"
expect 1 "$WARDFS" policy explain write /data/v/lib.git/config
has "$OUT" "wardfs policy forget $top/data/v/lib.git"

echo "--- what is new there and may be executed is named"
expect 0 "$WARDFS" run -- sh -c 'mkdir /data/new; echo x >/data/new/.envrc; mkfifo /data/new/pipe; echo x >mine'
has "$ERR" 'new or changed files that this host may execute: '"$top/data/new/.envrc"
has "$ERR" "$top/data/new/pipe"

echo "--- check names two trees of the same files, when the rules differ"
expect 0 "$WARDFS" policy check
hasnt "$OUT" 'serve the same files'
cat >>"$policy" <<X
[tree /other]
source = $top/data/sub
[guard]
read = /other/ok
[files]
write = /other
X
expect 0 "$WARDFS" policy check
has "$OUT" '[tree /other]'
has "$OUT" 'the tree /data serves the same files under other rules'
sed -i "s|data/sub\$|data|" "$policy"
expect 0 "$WARDFS" policy check
has "$OUT" 'serve the same files'
has "$OUT" 'run refuses this'
refused 'serve the same files' "$WARDFS" run -- true
