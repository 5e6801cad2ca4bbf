#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [tree P] seed writes settings that an agent may not change before it starts: at the first run,
# for each project, and where a variable asks for them. Existing files stay. A hostile state
# directory leads nowhere, and no other directory is seeded. As root and as an ordinary user.
set -eu
. "$WARD_SRC/tests/lib.sh"
cat >main.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
mkdir -p bin "$HOME/.codex"
cp /bin/sh "$HOME/bin/codex"
PATH=$HOME/bin:$PATH
echo mine >"$HOME/.codex/config.toml"
state=$HOME/.local/share/wardfs/agents/codex
project "$HOME/p1"
project "$HOME/p2"
cd "$HOME/p1" || exit 1
expect 0 "$WARDFS" run --dry-run -- codex -c true
[ ! -e "$state/config.toml" ] || fail "a dry run wrote"
expect 0 "$WARDFS" run -- codex -c 'cat $CODEX_HOME/config.toml'
has "$OUT" 'sandbox_mode = "danger-full-access"'
has "$OUT" "[projects.\"$PWD\"]"
has "$ERR" "wrote $state/config.toml"
[ "$(stat -c %a:%u "$state/config.toml")" = "600:$(id -u)" ] || fail "$(stat -c %a:%u "$state/config.toml")"
# Once. Then what its owner wrote stays, and another project is added.
echo '# my line' >>"$state/config.toml"
cp "$state/config.toml" "$HOME/before"
expect 0 "$WARDFS" run -- codex -c true
hasnt "$ERR" wrote
cmp -s "$HOME/before" "$state/config.toml" || fail "changed: $(cat "$state/config.toml")"
cd "$HOME/p2" || exit 1
expect 0 "$WARDFS" run -- codex -c true
has "$(cat "$state/config.toml")" '# my line'
has "$(cat "$state/config.toml")" "[projects.\"$PWD\"]"
[ "$(grep -c trust_level "$state/config.toml")" -eq 2 ] || fail "$(cat "$state/config.toml")"
[ "$(cat "$HOME/.codex/config.toml")" = mine ] || fail "the owner's own configuration"
# It stays guarded; denials names the file on the host, and the command.
expect 2 "$WARDFS" run --session guarded -- codex -c 'echo x >>$CODEX_HOME/config.toml'
expect 0 "$WARDFS" audit denials guarded
has "$OUT" "on the host: you can change it outside of the session: \${EDITOR:-vi} $state/config.toml"
echo "--- by a variable"
rm -r "$state/../gemini" 2>/dev/null || :
cp /bin/sh "$HOME/bin/gemini"
settings=$state/../gemini/.gemini/settings.json
# How gemini signs in: what it reads, where a key stands more than once, is the last one.
signs_in() {
	python3 -c 'import json, sys
print(json.load(open(sys.argv[1])).get("security", {}).get("auth", {}).get("selectedType"))' "$settings"
}
# With no variable its own dialog, whose answer it could not save, does not come up.
expect 0 env -u GEMINI_API_KEY "$WARDFS" run -- gemini -c true
[ "$(signs_in)" = oauth-personal ] || fail "no variable: $(cat "$settings")"
python3 -m json.tool "$settings" >/dev/null || fail "no JSON: $(cat "$settings")"
cp "$settings" "$HOME/bare"
# The key came later: a file that an earlier start wrote gets the lines of the key. A file that its
# owner changed stays.
expect 0 env GEMINI_API_KEY=x "$WARDFS" run -- gemini -c true
has "$ERR" "wrote "
[ "$(signs_in)" = gemini-api-key ] || fail "a key: $(cat "$settings")"
python3 -m json.tool "$settings" >/dev/null || fail "no JSON: $(cat "$settings")"
{ cat "$HOME/bare"; echo; } >"$settings"
expect 0 env GEMINI_API_KEY=x "$WARDFS" run -- gemini -c true
[ "$(signs_in)" = oauth-personal ] || fail "its owner's file: $(cat "$settings")"
cp "$HOME/bare" "$HOME/elsewhere"
ln -f "$HOME/elsewhere" "$settings"
expect 0 env GEMINI_API_KEY=x "$WARDFS" run -- gemini -c true
cmp -s "$HOME/bare" "$HOME/elsewhere" || fail "by a second name: $(cat "$HOME/elsewhere")"
rm "$settings"
expect 0 env GEMINI_API_KEY=x "$WARDFS" run -- gemini -c true
[ "$(signs_in)" = gemini-api-key ] || fail "a key: $(cat "$settings")"
rm "$settings"
expect 0 env -u GEMINI_API_KEY GOOGLE_GENAI_USE_VERTEXAI=true "$WARDFS" run -- gemini -c true
[ "$(signs_in)" = vertex-ai ] || fail "Vertex AI: $(cat "$settings")"
echo "--- a project whose name would end the string"
evil="$HOME/q\"]
evil = 1
["
project "$evil"
cd "$evil" || exit 1
cp "$state/config.toml" "$HOME/before"
expect 0 "$WARDFS" run -- codex -c true
has "$ERR" "the project's path has characters that would end a string"
cmp -s "$HOME/before" "$state/config.toml" || fail "written: $(cat "$state/config.toml")"
echo "--- what an agent left in its state directory"
cd "$HOME/p1" || exit 1
echo victim >"$HOME/victim"
for kind in link second fifo; do
	rm -f "$state/config.toml"
	case $kind in
	link) ln -s "$HOME/victim" "$state/config.toml" ;;
	second) ln "$HOME/victim" "$state/config.toml" ;;
	fifo) mkfifo "$state/config.toml" ;;
	esac
	expect 0 timeout 60 "$WARDFS" run -- codex -c true
	has "$ERR" "could not write the settings $state/config.toml"
	[ "$(cat "$HOME/victim")" = victim ] || fail "$kind: $(cat "$HOME/victim")"
done
rm "$state/config.toml"
# A directory on the way that leads out.
mkdir "$HOME/out"
rm -r "$state/../gemini/.gemini"
ln -s "$HOME/out" "$state/../gemini/.gemini"
"$WARDFS" run -- gemini -c true >out 2>&1 || :
[ -z "$(ls -A "$HOME/out")" ] || fail "by a link: $(ls "$HOME/out")"
# The state directory is a link of the owner's to its own configuration.
rm -r "$state"
rm "$HOME/.codex/config.toml"
ln -s "$HOME/.codex" "$state"
"$WARDFS" run -- codex -c true >out 2>&1 || :
[ -z "$(ls -A "$HOME/.codex")" ] || fail "the owner's own: $(ls "$HOME/.codex")"
echo "--- no other directory, no way up, no other source"
rm "$state"
tree='[policy]\nversion = 1\nextends = medium\n[tree /var/agent/x]\nsource = %s\nat = none\nseed = %s\n[files]\nread = /var/agent/x\n'
mkdir "$HOME/other"
# shellcheck disable=SC2059
printf "$tree" "$HOME/other" 'a: b' >../own.policy
expect 2 "$WARDFS" run --policy ../own.policy -- true
has "$ERR" "wardfs only writes such files to a directory of ~/.local/share/wardfs/agents"
[ -z "$(ls -A "$HOME/other")" ] || fail "seeded"
for line in '../a: b' '/a: b' 'a/../b: c' 'a b' ': c' './a: c'; do
	# shellcheck disable=SC2059
	printf "$tree" '~/.local/share/wardfs/agents/x' "$line" >../own.policy
	expect 2 "$WARDFS" policy check --policy ../own.policy
	has "$OUT$ERR" "write FILE: TEXT"
done
# shellcheck disable=SC2059
printf "$tree" '~/.local/share/wardfs/agents/x' 'd/a: b' >../own.policy
expect 0 "$WARDFS" run --policy ../own.policy -- true
[ "$(cat "$HOME/.local/share/wardfs/agents/x/d/a")" = b ] || fail "control"
printf '[policy]\nversion = 1\n[tree /workspace]\nseed = a: b\n' >.wardfs.policy
expect 2 "$WARDFS" run -- true
exit 0
S
if [ "$(id -u)" -ne 0 ]; then
	exec sh main.sh
fi
mkdir roots
(HOME=$WARD_TMP/roots; export HOME; cd roots; sh "$WARD_TMP/main.sh") || fail "as root"
as_user "$WARD_TMP/main.sh" || fail "as an ordinary user"
exit 0
