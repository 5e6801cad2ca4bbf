#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [lift] in the owner's file names one file that a shipped profile guards as a secret. Each start,
# the trail and `check` mention it, and it gives nothing else. Patterns, project files, the floor
# and the command line lift nothing. Guards of the floor, the project, the owner and repositories
# stay.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
mkdir app other
echo DB=1 >app/.env
echo DB=2 >other/.env
echo key >app/id_rsa
own=$XDG_CONFIG_HOME/wardfs/projects

# reads STATUS FILE [OPTION...]: whether a session may; ERR is what it said.
reads() {
	want=$1 path=$2
	shift 2
	expect "$want" "$WARDFS" run "$@" -- cat "$path"
}
# own_policy TEXT: the owner's file for this project.
own_policy() {
	printf '[policy]\nversion = 1\nextends = medium\n%b\n' "$1" >"$file"
}

# The control: hidden, and a run lifts nothing by itself.
reads 1 app/.env
hasnt "$ERR" lifts
reads 1 app/.env --read app/.env
# A plain line does nothing, and the message has the one that does.
expect 2 "$WARDFS" policy add read /workspace/app/.env
has "$ERR" "'wardfs policy add --lift-guard read /workspace/app/.env'"
expect 0 "$WARDFS" policy add --lift-guard read /workspace/app/.env
file=$(find "$own" -name '*.policy')
grep -qx 'read = /workspace/app/.env' "$file" || fail "$(cat "$file")"

# The line is removed as it was added; without the option, the message names the option.
expect 2 "$WARDFS" policy remove read /workspace/app/.env
has "$ERR" "--lift-guard takes the one under [lift]"
expect 2 "$WARDFS" policy remove --lift-guard write /workspace/app/.env
expect 2 "$WARDFS" policy remove --guard --lift-guard read /workspace/app/.env
expect 0 "$WARDFS" policy remove --lift-guard read app/.env
has "$OUT" "removed [lift] read = /workspace/app/.env"
reads 1 app/.env
expect 0 "$WARDFS" policy undo

# Said at each start, also by a rehearsal; recorded; known to check and explain.
said="your policy lifts the guard of /workspace/app/.env (read)"
for session in one two; do
	reads 0 app/.env --session "$session"
	[ "$OUT" = DB=1 ] || fail "$OUT"
	has "$ERR" "$said"
	grep -rqxF 'read = /workspace/app/.env' "$XDG_STATE_HOME/wardfs/sessions/$session" || fail "$session: no policy with the line"
done
expect 0 "$WARDFS" run --dry-run -- true
has "$ERR" "$said"
expect 0 "$WARDFS" policy check
has "$OUT" "/workspace/app/.env"
has "$OUT" lift
expect 0 "$WARDFS" policy explain read /workspace/app/.env
has "$OUT" "[lift] read = /workspace/app/.env"

# Of this file and for reading alone: not written, moved, linked, removed or replaced, and no other
# is read.
for try in 'echo x >app/.env' 'echo x >>app/.env' ': >app/new && mv app/new app/.env' 'mv app/.env app/x' 'rm app/.env' \
	'ln app/.env app/x' 'chmod 600 app/.env' 'truncate -s 0 app/.env'; do
	# shellcheck disable=SC2016
	expect 1 "$WARDFS" run -- sh -c 'sh -c "$1" || exit 1' sh "$try"
	[ "$(cat app/.env)" = DB=1 ] || fail "changed by: $try"
done
reads 1 other/.env
reads 1 app/id_rsa
expect 0 "$WARDFS" run -- cp app/.env app/copied
[ "$(cat app/copied)" = DB=1 ] || fail "the control: not copied"

# `write` gives what the other rules give; where these give less, no more.
own_policy '[lift]\nwrite = /workspace/app/.env'
expect 0 "$WARDFS" run -- sh -c 'echo DB=3 >app/.env'
[ "$(cat app/.env)" = DB=3 ] || fail "not written"
has "$ERR" "/workspace/app/.env (write)"
own_policy '[files]\nread = /workspace/app\n[lift]\nwrite = /workspace/app/.env'
reads 0 app/.env
expect 2 "$WARDFS" run -- sh -c 'echo DB=4 >app/.env'
[ "$(cat app/.env)" = DB=3 ] || fail "written"

# No pattern, no directory, no relative name.
for wrong in '/workspace/*/.env' '/workspace/app/.en?' '/workspace/**' '/workspace/app/[.]env' '.env' 'app/.env'; do
	own_policy "[lift]\nread = $wrong"
	expect 2 "$WARDFS" run -- true
	has "$ERR" "$wrong"
	expect 2 "$WARDFS" policy check
	own_policy ''
	# A relative path means a file here, to the command.
	case $wrong in /*) expect 2 "$WARDFS" policy add --lift-guard read "$wrong" ;; esac
	reads 1 app/.env
done
mkdir app/.env.d
own_policy '[lift]\nread = /workspace/app/.env.d'
expect 2 "$WARDFS" run -- true
has "$ERR" "is a directory"

# Whoever else writes it: the project, the command line's --policy of a profile.
own_policy ''
printf '[policy]\nversion = 1\n[lift]\nread = /workspace/app/.env\n' >.wardfs.policy
expect 2 "$WARDFS" run -- cat app/.env
has "$ERR" .wardfs.policy
[ -z "$OUT" ] || fail "$OUT"
rm .wardfs.policy
own_policy '[lift]\nread = /workspace/app/.env'
reads 1 app/.env --policy medium
hasnt "$ERR" "$said"

# Of many, a line as short, and where all of them are listed.
own_policy '[lift]\nread = /workspace/app/.env\nread = /workspace/other/.env\nwrite = /workspace/app/id_rsa'
reads 0 app/.env
has "$ERR" "your policy lifts the guards of 3 files: /workspace/app/.env (read), /workspace/other/.env (read), …; 'wardfs policy check' lists all"
expect 0 "$WARDFS" policy check
for path in app/.env other/.env app/id_rsa; do
	has "$OUT" "/workspace/$path"
done
own_policy '[lift]\nread = /workspace/app/.env'

# Guards of the project's file, of the owner and of the run stay, and it is said that nothing comes
# of it.
printf '[policy]\nversion = 1\n[guard]\ndeny = /workspace/app/.env\n' >.wardfs.policy
reads 1 app/.env
rm .wardfs.policy
reads 1 app/.env --hide /workspace/app/.env
own_policy '[guard]\ndeny = /workspace/app/.env\n[lift]\nread = /workspace/app/.env'
reads 1 app/.env
expect 0 "$WARDFS" policy check
has "$OUT" warning
# Those for what the host executes as well.
for path in .git/config .git/hooks/post-commit; do
	own_policy "[lift]\nwrite = /workspace/$path"
	# shellcheck disable=SC2016
	expect 2 "$WARDFS" run -- sh -c 'echo x >>"$1"' sh "$path"
	has "$ERR" "lifts nothing of /workspace/$path"
done

# No other secret comes to the name that is lifted: by a move of its directory, or by a second name
# that a file made inside has when the host writes a secret into it.
own_policy '[lift]\nread = /workspace/app/.env'
mkdir other/deep
echo DB=3 >other/deep/.env
own_policy '[lift]\nread = /workspace/app/.env\nread = /workspace/up/deep/.env'
expect 0 "$WARDFS" run -- python3 -c "$(cat "$WARD_SRC/tests/cases/policy/lib/lift-moves.py")"
x='Invalid cross-device link'
[ "$OUT" = "$x, $x
$x
plain/other.env $x
app/.env $x" ] || fail "$OUT"
[ ! -e app/.env ] || fail "a second name for a secret of later"
rm -r app plain same other
mkdir app other
mv was/.env app/
rm -r was
echo DB=2 >other/.env

[ "$(id -u)" -eq 0 ] || skip "a floor needs root"
# Nor a floor's; and no floor lifts.
own_policy '[lift]\nread = /workspace/app/.env'
mkdir -p "$WARD_TMP/etc"
cp -a /etc/. "$WARD_TMP/etc/"
mkdir -p "$WARD_TMP/etc/wardfs"
chmod 755 "$WARD_TMP/etc/wardfs"
floor() {
	# shellcheck disable=SC2016
	unshare --mount sh -c 'mount --bind "$0" /etc && exec "$@"' "$WARD_TMP/etc" "$@"
}
printf '[policy]\nversion = 1\n[guard]\nhide = .env\n' >"$WARD_TMP/etc/wardfs/floor.policy"
expect 1 floor "$WARDFS" run -- cat app/.env
printf '[policy]\nversion = 1\n[guard]\nhide = .other\n' >"$WARD_TMP/etc/wardfs/floor.policy"
expect 0 floor "$WARDFS" run -- cat app/.env
printf '[policy]\nversion = 1\n[lift]\nread = /workspace/other/.env\n' >"$WARD_TMP/etc/wardfs/floor.policy"
expect 2 floor "$WARDFS" run -- cat other/.env
[ -z "$OUT" ] || fail "$OUT"
