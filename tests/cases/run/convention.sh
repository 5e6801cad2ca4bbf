#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The profile `convention`: /workspace in memory, the project at /workspace/repo, /var/agent/state
# kept, and the rest of the host read-only. The project's own policy and git's hooks are read-only
# beneath /workspace/repo, too.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project "$HOME/proj"
cd "$HOME/proj" || exit 1
state=$HOME/.local/share/wardfs/agents/convention

# The three places. Files in memory are gone the next time, kept files are there.
expect 0 "$WARDFS" run --policy convention -- sh -c 'pwd; echo a >/workspace/a; echo b >b; echo c >/var/agent/state/c; echo d >~/d'
[ "$OUT" = /workspace/repo ] || fail "begins in $OUT"
[ "$(cat b)$(cat "$state/c")" = bc ] || fail "not on the host"
expect 0 "$WARDFS" run --policy convention -- sh -c 'cat b /var/agent/state/c; ls /workspace; echo "$HOME $XDG_STATE_HOME $TMPDIR"'
[ "$OUT" = "b
c
repo
/workspace /var/agent/state /workspace" ] || fail "the second time: $OUT"
if [ -e "$HOME/d" ] || [ -e a ]; then fail "left on the host"; fi

# Everything else: each mount and each directory at the top is tried; what can be written lies in
# memory.
expect 0 "$WARDFS" run --policy convention -- sh -c '
for d in / /* /*/* $(cut -d " " -f 2 /proc/mounts); do
	[ -d "$d" ] || continue
	(: >"$d/probe") 2>/dev/null && rm -f "$d/probe" && echo "$d"
done | sort -u'
for d in $OUT; do
	case $d in
	/workspace | /workspace/repo | /var/agent/state | /tmp | /var/tmp | /run | /var/run | /dev/shm | /dev/mqueue) ;;
	*) fail "$d can be written: $OUT" ;;
	esac
done
has "$OUT" /workspace/repo # control: what may be written is found

# Files that the host executes later, and files by which the project instructs wardfs, as in medium.
for name in .git/hooks/post-commit .wardfs.policy .wardfs.propose; do
	expect 2 "$WARDFS" run --policy convention -- sh -c 'echo x >"$0"' "$name"
	[ ! -e "$name" ] || fail "written: $name"
done
# The control: where it is no project's, the name is one like others.
expect 0 "$WARDFS" run --policy convention -- sh -c 'mkdir sub && echo x >sub/.wardfs.policy && echo x >/workspace/.wardfs.x'
# git works as ever.
expect 0 "$WARDFS" run --policy convention -- sh -c 'git add -A && git -c user.name=a -c user.email=a@b commit -qm inside && git log --oneline | wc -l'

# Files in memory are bounded, and count as memory. The lookups of build tools in every directory
# are no news, as in medium; an open is. The control: without the line of the profile.
echo key >.env
expect 0 "$WARDFS" run --policy convention -s looked -- sh -c '[ ! -e .env ] && [ ! -e /workspace/.env.local ]'
[ -z "$ERR" ] || fail "said: $ERR"
expect 0 "$WARDFS" audit denials --expected looked
has "$OUT" "/workspace/repo/.env"
expect 1 "$WARDFS" run --policy convention -- cat .env
has "$ERR" "/workspace/repo/.env"
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = tmpfs:64M\nat = none\n[tree /workspace/repo]\nsource = .\nat = none\n[guard]\nsecret = .env\n[files]\nwrite = /workspace\n' >"$HOME/bare.policy"
expect 0 "$WARDFS" run --policy "$HOME/bare.policy" -- sh -c '[ ! -e .env ]'
has "$ERR" "1 refused: lookup /workspace/repo/.env"
rm .env
expect 0 "$WARDFS" policy show --policy convention
has "$OUT" 'source = tmpfs:10%   ; '
expect 0 "$WARDFS" audit verify --all
