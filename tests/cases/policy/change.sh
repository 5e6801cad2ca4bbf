#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `policy remove`, `edit` and `undo` change the owner's file one step at a time. They install no
# policy that does not load, keep the old one, and use root's rights for nothing that the owner
# may not do.
# shellcheck disable=SC2016
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
export XDG_CONFIG_HOME="$WARD_TMP/config"
mkdir project
cd project
git init -q .
may() { "$WARDFS" policy explain "$@" >/dev/null; }
unset VISUAL EDITOR

echo "--- remove: the line that add wrote, by its words or its number"
expect 2 "$WARDFS" policy remove read /workspace/src
has "$ERR" "does not exist"
expect 0 "$WARDFS" policy add read /workspace/src
file=$(find "$XDG_CONFIG_HOME" -name '*.policy' -type f)
expect 0 "$WARDFS" policy add allow web.example:443
grep -q '^mode = allowlist$' "$file" || fail "control: $(cat "$file")"
! may write src/a || fail "control: the rule does not decide"
expect 2 "$WARDFS" policy remove read /workspace/sr
has "$ERR" "has no line 'read = /workspace/sr' under [files]"
expect 2 "$WARDFS" policy remove raed /workspace/src
has "$ERR" "did you mean 'read'"
expect 2 "$WARDFS" policy remove 1
has "$ERR" "holds no rule"
expect 0 "$WARDFS" policy remove
number=$(printf '%s\n' "$OUT" | awk '/read = .workspace.src/ { print $1 }')
expect 0 "$WARDFS" policy remove "$number"
has "$OUT" "removed [files] read = /workspace/src"
has "$OUT" "/workspace/src: now also append,create,write"
may write src/a || fail "the rule still decides"
expect 0 "$WARDFS" policy remove allow web.example:443
has "$OUT" "no host is left"
! grep -q 'allowlist\|network\|files' "$file" || fail "something is left: $(cat "$file")"
expect 2 "$WARDFS" policy remove 2
has "$ERR" "not a policy"
"$WARDFS" policy check >/dev/null || fail "it was written all the same: $(cat "$file")"

echo "--- undo: one step back each, as far as the file's beginning"
expect 0 "$WARDFS" policy undo --dry-run
has "$OUT" "+ allow = web.example:443"
! grep -q allow "$file" || fail "--dry-run wrote"
expect 0 "$WARDFS" policy undo
may connect web.example:443 || fail "the host is not back"
expect 0 "$WARDFS" policy undo
! may write src/a || fail "the rule is not back"
expect 0 "$WARDFS" policy undo
expect 0 "$WARDFS" policy undo
has "$OUT" "there was no such file before"
[ ! -e "$file" ] || fail "it is there: $(cat "$file")"
expect 2 "$WARDFS" policy undo
has "$ERR" "no change"
echo "--- of what init wrote, some lines are shown. Controls: all of them, and a short difference"
expect 0 "$WARDFS" init
lines=$(wc -l <"$file")
expect 0 "$WARDFS" policy undo --dry-run
[ "$(printf '%s\n' "$OUT" | wc -l)" -le 10 ] || fail "long: $OUT"
has "$OUT" "- extends = medium"
has "$OUT" "more lines (-v prints all)"
hasnt "$OUT" "- ;"
expect 0 "$WARDFS" policy undo --dry-run -v
[ "$(printf '%s\n' "$OUT" | grep -c '^- ')" -eq "$lines" ] || fail "not all: $OUT"
hasnt "$OUT" "(-v prints all)"
expect 0 "$WARDFS" policy add read /workspace/short
expect 0 "$WARDFS" policy undo
has "$OUT" "- read = /workspace/short"
hasnt "$OUT" "(-v prints all)"
expect 0 "$WARDFS" policy undo
echo "--- the history is bounded"
i=0
while [ $i -lt 25 ]; do
	"$WARDFS" policy add read "/workspace/d$i" >/dev/null
	i=$((i + 1))
done
[ "$(find "$XDG_CONFIG_HOME/wardfs/history" -type f | wc -l)" -eq 20 ] || fail "$(ls -R "$XDG_CONFIG_HOME")"
expect 0 "$WARDFS" policy undo
has "$OUT" "- read = /workspace/d24"

echo "--- edit: what loads is installed, what does not never is"
cat >"$WARD_TMP/editor" <<'END'
#!/bin/sh
# Takes the next text of texts/ for each call, by a rename as editors do.
n=$(cat "$TEXTS/n")
echo $((n + 1)) >"$TEXTS/n"
case $(stat -c %a "$1") in 600) ;; *) exit 9 ;; esac
cp "$TEXTS/$n" "$1.new"
mv "$1.new" "$1"
END
chmod 755 "$WARD_TMP/editor"
export EDITOR="$WARD_TMP/editor" TEXTS="$WARD_TMP/texts"
mkdir "$TEXTS"
texts() {
	echo 1 >"$TEXTS/n"
}
cp "$file" before
texts
cp "$file" "$TEXTS/1"
expect 0 "$WARDFS" policy edit
has "$OUT" "unchanged"
printf '[policy]\nversion = 1\nextends = medium\n[files]\nraed = /workspace/x\n' >"$TEXTS/1"
printf '[policy]\nversion = 1\nextends = medium\n[files]\nread = /workspace/x\n' >"$TEXTS/2"
texts
expect 2 sh -c '"$WARDFS" policy edit </dev/null'
has "$ERR" ":5:"
has "$ERR" "did you mean 'read'"
cmp -s before "$file" || fail "a broken file was installed"
texts
expect 2 sh -c 'echo q | "$WARDFS" policy edit'
cmp -s before "$file" || fail "a broken file was installed"
texts
expect 0 sh -c 'echo e | "$WARDFS" policy edit'
has "$OUT" installed
cmp -s "$TEXTS/2" "$file" || fail "not what was saved: $(cat "$file")"
[ "$(stat -c %a "$file")" = 600 ] || fail "others may read it"
expect 0 "$WARDFS" policy undo
cmp -s before "$file" || fail "undo of an edit: $(cat "$file")"
echo "--- an editor that fails, that leaves a link or a pipe, that meets another change"
EDITOR=false expect 2 "$WARDFS" policy edit
has "$ERR" "the editor ended with an error"
for leave in 'ln -sf /etc/passwd' 'rm "$1"; mkfifo'; do
	printf '#!/bin/sh\n%s "$1"\n' "$leave" >"$WARD_TMP/leaves"
	chmod 755 "$WARD_TMP/leaves"
	EDITOR="$WARD_TMP/leaves" expect 2 "$WARDFS" policy edit
	cmp -s before "$file" || fail "$leave: $(cat "$file")"
done
cat >"$WARD_TMP/meanwhile" <<'END'
#!/bin/sh
cd "$PROJECT"
"$WARDFS" policy add read /workspace/meanwhile >/dev/null
echo '; mine' >>"$1"
END
chmod 755 "$WARD_TMP/meanwhile"
PROJECT="$PWD" EDITOR="$WARD_TMP/meanwhile" expect 2 "$WARDFS" policy edit
has "$ERR" "meanwhile; nothing was written"
grep -q meanwhile "$file" || fail "the other change is lost"
expect 0 "$WARDFS" policy undo
echo "--- a file that does not load can be edited, and taken back"
echo broken >>"$file"
texts
cp "$TEXTS/2" "$TEXTS/1"
expect 0 "$WARDFS" policy edit
cmp -s "$TEXTS/2" "$file" || fail "not installed: $(cat "$file")"
[ "$(find "$(dirname "$file")" -type f | wc -l)" -eq 1 ] || fail "left behind: $(ls "$(dirname "$file")")"

echo "--- a change is judged without the lock on the directory, which is taken to write"
mkdir written
python3 -c '
import fcntl, os, sys, time
fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
time.sleep(600)' "$(dirname "$file")" "$WARD_TMP/held" &
holder=$!
wait_until 60 test -e "$WARD_TMP/held" || fail "control: not locked"
expect 2 "$WARDFS" policy add read /workspace/written
has "$ERR" "--force"
expect 2 "$WARDFS" policy add --force read /workspace/written
has "$ERR" "another wardfs is changing"
kill "$holder"
wait "$holder" || :
expect 0 "$WARDFS" policy add --force read /workspace/written
expect 0 "$WARDFS" policy undo

[ "$(id -u)" -eq 0 ] || skip "the rest needs root"
echo "--- root in a user's project: the editor is the user's process, with nothing of root's"
chmod 755 "$WARD_TMP"
mkdir "$WARD_TMP/home"
git init -q "$WARD_TMP/home/theirs"
chown -R 4711:4711 "$WARD_TMP/home"
cat >"$WARD_TMP/who" <<'END'
#!/bin/sh
{
	id -u
	id -G
	grep NoNewPrivs /proc/self/status
	env
	ls -l /proc/$$/fd
} >"$(dirname "$1")/who" 2>&1
python3 "$(dirname "$0")/type.py" >"$(dirname "$1")/typed" 2>&1 || :
END
chmod 755 "$WARD_TMP/who"
cp "$WARD_SRC/tests/cases/policy/lib/change-type.py" "$WARD_TMP/type.py"
chmod 644 "$WARD_TMP/type.py"
cd "$WARD_TMP/home/theirs"
theirs() {
	unshare --mount sh -c '
		printf "them:x:4711:4711::%s:/bin/sh\n" "$HOME_THEIRS" | cat - /etc/passwd >"$HOME_THEIRS/../passwd"
		mount --bind "$HOME_THEIRS/../passwd" /etc/passwd
		exec "$@"' sh "$@"
}
export HOME_THEIRS="$WARD_TMP/home"
unset XDG_CONFIG_HOME
expect 0 theirs env SUDO_UID=4711 SUDO_GID=4711 SUDO_USER=them "$WARDFS" policy add read /workspace/src
dir=$WARD_TMP/home/.config/wardfs/projects
[ "$(stat -c %u "$dir"/*.policy)" = 4711 ] || fail "not theirs"
expect 0 theirs env SUDO_UID=4711 SUDO_GID=4711 SUDO_USER=them SECRET=root-only EDITOR="$WARD_TMP/who" \
	"$WARDFS" policy edit
[ "$(sed -n 1p "$dir/who")" = 4711 ] || fail "not as the owner: $(cat "$dir/who")"
[ "$(sed -n 2p "$dir/who")" = 4711 ] || fail "with groups of root's: $(cat "$dir/who")"
grep -q 'NoNewPrivs:.1' "$dir/who" || fail "it could gain privileges"
! grep -q 'root-only\|WARD_BUILD' "$dir/who" || fail "root's environment: $(cat "$dir/who")"
grep -q '^not typed 1$' "$dir/typed" || fail "it typed: $(cat "$dir/typed")"
rm "$dir/who" "$dir/typed"
echo "--- links in the user's history lead nowhere"
mkdir "$WARD_TMP/roots"
chmod 777 "$WARD_TMP/roots"
history=$WARD_TMP/home/.config/wardfs/history
mv "$history" "$history.away"
ln -s "$WARD_TMP/roots" "$history"
expect 2 theirs env SUDO_UID=4711 SUDO_GID=4711 SUDO_USER=them "$WARDFS" policy add read /workspace/b
has "$ERR" "Not a directory"
[ -z "$(ls -A "$WARD_TMP/roots")" ] || fail "written through a link"
rm "$history"
mv "$history.away" "$history"
expect 0 theirs env SUDO_UID=4711 SUDO_GID=4711 SUDO_USER=them "$WARDFS" policy add read /workspace/b
echo root-secret >"$WARD_TMP/secret"
chmod 600 "$WARD_TMP/secret"
last=$(find "$history" -type f | sort | tail -n 1)
for plant in "ln -s $WARD_TMP/secret" mkfifo; do
	rm "$last"
	$plant "$last"
	expect 2 theirs env SUDO_UID=4711 SUDO_GID=4711 SUDO_USER=them timeout 20 "$WARDFS" policy undo
	hasnt "$OUT$ERR" root-secret
done
echo "--- edit makes the first file of a project, and none where nothing is saved"
mkdir "$WARD_TMP/new"
cd "$WARD_TMP/new" || exit 1
git init -q .
export XDG_CONFIG_HOME="$WARD_TMP/new-config"
EDITOR=true expect 0 "$WARDFS" policy edit
has "$OUT" "not saved, so there is still no file"
[ -z "$(find "$XDG_CONFIG_HOME" -type f)" ] || fail "made: $(find "$XDG_CONFIG_HOME")"
printf '#!/bin/sh\nprintf "[files]\\nread = /workspace/x\\n" >>"$1"\n' >"$WARD_TMP/appends"
chmod 755 "$WARD_TMP/appends"
EDITOR="$WARD_TMP/appends" expect 0 "$WARDFS" policy edit
has "$OUT" installed
grep -q '^extends = medium$' "$XDG_CONFIG_HOME"/wardfs/projects/*.policy || fail "does not extend medium"
expect 0 "$WARDFS" policy check
expect 0 "$WARDFS" policy undo
[ -z "$(find "$XDG_CONFIG_HOME" -name '*.policy')" ] || fail "undo left a file"
