#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Agents' profiles. wardfs takes one by the name of a program that its user installed and PATH
# finds, never for a program of the project's. The profile gives the provider's key and hosts and
# a kept state directory; the rest is medium.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project "$HOME/proj"
cd "$HOME/proj" || exit 1
echo token >.env
echo code >code
mkdir -p "$HOME/.claude"
echo secret-of-the-host >"$HOME/.claude/.credentials.json"
export ANTHROPIC_API_KEY=key-of-the-caller
plain=$PATH

# As npm installs it: a link in bin, the program among modules, an interpreter that PATH leads to.
tools=$HOME/tools
mkdir -p "$tools/bin" "$tools/lib/node_modules/@x/claude" "$tools/private"
cp /bin/sh "$tools/bin/fakenode"
echo part >"$tools/lib/node_modules/@x/part"
echo private >"$tools/private/file"
cat >"$tools/lib/node_modules/@x/claude/cli.sh" <<-'END'
	#!/usr/bin/env fakenode
	case ${1-} in
	where) echo "$0" ;;
	key) echo "key: ${ANTHROPIC_API_KEY-none}" ;;
	sh) shift; sh -c "$@" ;;
	*) cat "$(dirname "$(readlink -f "$0")")/../part" ;;
	esac
END
chmod +x "$tools/lib/node_modules/@x/claude/cli.sh"
ln -s ../lib/node_modules/@x/claude/cli.sh "$tools/bin/claude"
PATH=$tools/bin:$plain

said="wardfs: using the profile claude, by the name of the program (--policy chooses another)"
expect 0 "$WARDFS" run -- claude
[ "$OUT" = part ] || fail "its modules: $OUT"
state=$HOME/.local/share/wardfs/agents/claude
[ "$ERR" = "$said
wardfs: wrote $state/.claude.json" ] || fail "what is said: $ERR"
expect 0 "$WARDFS" run -- claude key
has "$OUT" "key: key-of-the-caller"
# By its path as well; the program is the one that was found.
expect 0 "$WARDFS" run -- "$tools/bin/claude" where
[ "$OUT" = "$tools/bin/claude" ] || fail "where: $OUT"
[ "$ERR" = "$said" ] || fail "by its path: $ERR"
# Nothing else of what lies around it is seen, nor the host's state of the same program.
expect 0 "$WARDFS" run -- claude sh '[ ! -e ~/tools/private ] && [ ! -e '"$tools"'/private ]'
expect 0 "$WARDFS" run -- claude sh '! cat '"$HOME"'/.claude/.credentials.json'
# One that fails without a sign-in of its own is told how to get one; the host's sign-in is another.
expect 3 "$WARDFS" run -- claude sh 'exit 3'
[ -z "$ERR" ] || [ "$ERR" = "$said" ] || fail "with a key: $ERR"
expect 3 env -u ANTHROPIC_API_KEY "$WARDFS" run -- claude sh 'exit 3'
has "$ERR" "claude failed, and nobody has signed in to it inside"
has "$ERR" "start 'wardfs run -- claude' in a terminal and sign in once, or set ANTHROPIC_API_KEY"
expect 0 env -u ANTHROPIC_API_KEY "$WARDFS" run -- claude sh 'exit 0'
hasnt "$ERR" "signed in"
echo token >"$state/.credentials.json"
expect 3 env -u ANTHROPIC_API_KEY "$WARDFS" run -- claude sh 'exit 3'
hasnt "$ERR" "signed in"
rm "$state/.credentials.json"
# A line before the command says how to sign in, until the agent has a login or gets a key. The
# control: above.
cp "$tools/lib/node_modules/@x/claude/cli.sh" "$tools/bin/codex"
# It is for people at a terminal.
at_terminal() { # at_terminal CMD...: each in a terminal
	script -qec "$*" /dev/null </dev/null
}
expect 0 at_terminal env -u OPENAI_API_KEY "$WARDFS" run -- codex sh true
has "$OUT" "'Sign in with ChatGPT' works with a browser of this host"
expect 0 env -u OPENAI_API_KEY "$WARDFS" run -- codex sh true
hasnt "$OUT$ERR" "Sign in with"
expect 0 at_terminal env OPENAI_API_KEY=k "$WARDFS" run -- codex sh true
hasnt "$OUT" "Sign in with"
echo token >"$HOME/.local/share/wardfs/agents/codex/auth.json"
expect 0 at_terminal env -u OPENAI_API_KEY "$WARDFS" run -- codex sh true
hasnt "$OUT" "Sign in with"
# Until then a browser of this host reaches the port at which codex waits for the answer; the
# control: nothing inside listens at another one. Not without a terminal, and not where somebody is
# signed in.
rm "$HOME/.local/share/wardfs/agents/codex/auth.json"
published() { # published NAME: as the trail has it
	"$WARDFS" audit policy "$1" 2>/dev/null | grep -x 'publish *= 1455' || :
}
expect 0 at_terminal env -u OPENAI_API_KEY "$WARDFS" run -s signs-in -- codex sh true
[ -n "$(published signs-in)" ] || fail "not published: $("$WARDFS" audit policy signs-in)"
expect 0 env -u OPENAI_API_KEY "$WARDFS" run -s no-terminal -- codex sh true
expect 0 at_terminal env OPENAI_API_KEY=k "$WARDFS" run -s key -- codex sh true
for name in no-terminal key; do
	[ -z "$(published $name)" ] || fail "published: $name"
done
# It is there once, whoever asks for it.
expect 0 at_terminal env -u OPENAI_API_KEY "$WARDFS" run -s asked --publish 1455 -- codex sh true
[ "$(published asked | wc -l)" = 1 ] || fail "twice: $(published asked)"
# gemini keeps in its settings how it signs in, which it cannot change inside: written as the
# caller's variables say.
cp "$tools/lib/node_modules/@x/claude/cli.sh" "$tools/bin/gemini"
settings=$HOME/.local/share/wardfs/agents/gemini/.gemini/settings.json
expect 0 env -u GEMINI_API_KEY GOOGLE_GENAI_USE_GCA=true "$WARDFS" run -- gemini sh '[ "$GOOGLE_GENAI_USE_GCA" = true ]'
[ "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["security"]["auth"]["selectedType"])' "$settings")" = oauth-personal ] ||
	fail "$(cat "$settings")"
# The same without a variable, since it could not save what its dialog asks; a key that comes later
# counts.
rm "$settings"
expect 0 env -u GEMINI_API_KEY "$WARDFS" run -- gemini sh 'exit 0'
grep -q oauth-personal "$settings" || fail "$(cat "$settings")"
! grep -q gemini-api-key "$settings" || fail "$(cat "$settings")"
expect 0 env GEMINI_API_KEY=k "$WARDFS" run -- gemini sh 'exit 0'
grep -q gemini-api-key "$settings" || fail "$(cat "$settings")"
# The refusals and rights of medium apply.
expect 1 "$WARDFS" run -- claude sh 'cat .env'
has "$ERR" "No such file"
expect 2 "$WARDFS" run -- claude sh 'echo x >.git/hooks/pre-commit'
expect 1 "$WARDFS" run -- claude sh 'mkdir .gemini'
expect 0 "$WARDFS" run -- claude sh 'cat code; echo more >>code; git status --short'
# control: another name gets none of it
cp "$tools/lib/node_modules/@x/claude/cli.sh" "$tools/bin/clod"
expect 0 "$WARDFS" run --read "$tools/bin" -- clod key
[ "$OUT" = "key: none" ] || fail "control: $OUT"
[ -z "$ERR" ] || fail "control: $ERR"
# --policy chooses, in silence.
expect 0 "$WARDFS" run --policy medium --read "$tools" -- claude key
[ "$OUT" = "key: none" ] || fail "--policy: $OUT"
[ -z "$ERR" ] || fail "--policy: $ERR"

# The state is kept, with what saves by renaming; what instructs later sessions is not the agent's.
state=$HOME/.local/share/wardfs/agents/claude
[ "$(stat -c %a "$state")" = 700 ] || fail "the state directory"
expect 0 "$WARDFS" run -- claude sh '
	cd "$CLAUDE_CONFIG_DIR" && echo 1 >.claude.json.tmp.7.9 && mv .claude.json.tmp.7.9 .claude.json &&
	mkdir -p projects/x && echo log >>projects/x/log'
expect 0 "$WARDFS" run -- claude sh 'cat "$CLAUDE_CONFIG_DIR/.claude.json"'
[ "$OUT" = 1 ] || fail "not kept: $OUT"
[ "$(cat "$state/.claude.json")" = 1 ] || fail "not on the host"
[ ! -e "$HOME/.claude/.claude.json" ] || fail "in the host's own state"
for one in settings.json CLAUDE.md hooks/x; do
	expect 2 "$WARDFS" run -- claude sh "mkdir -p \$CLAUDE_CONFIG_DIR/hooks; echo x >\$CLAUDE_CONFIG_DIR/$one"
	[ ! -e "$state/$one" ] || fail "$one was written"
done
expect 1 "$WARDFS" run -- claude sh 'cd "$CLAUDE_CONFIG_DIR" && echo x >new && mv new settings.json'
# A link on the way to the state directory is not followed to somewhere else.
rm -r "$state"
ln -s "$HOME/elsewhere" "$state"
"$WARDFS" run -- claude 2>err && fail "a dangling link was taken"
[ ! -e "$HOME/elsewhere" ] || fail "made behind a link"
rm "$state"

# A program of the project's never gets it, however it comes to that name.
attack() {
	"$WARDFS" run "$@" >out 2>err || : # whatever its exit status
	grep -q "key-of-the-caller" out && fail "the project's program got the key: $*"
	grep -q "lies in the project: the profile claude is not taken" err || fail "$*: $(cat err)"
}
cp "$tools/lib/node_modules/@x/claude/cli.sh" claude
sed -i 's,#!/usr/bin/env fakenode,#!/bin/sh,' claude
mkdir -p node_modules/.bin sub
cp claude node_modules/.bin/claude
attack -- ./claude key
attack -- "$PWD/claude" key
PATH=$PWD/node_modules/.bin:$PATH attack -- claude key
PATH=$PWD/sub/../node_modules/.bin:$PATH attack -- claude key
mkdir -p "$HOME/linked/bin"
ln -s "$PWD/claude" "$HOME/linked/bin/claude"
PATH=$HOME/linked/bin:$plain attack -- claude key
ln -s "$PWD/node_modules/.bin" "$HOME/linked/dir"
PATH=$HOME/linked/dir:$plain attack -- claude key
(cd sub && attack -- ../claude key) || exit 1
# a directory of PATH that is not there inside leads to no other program of that name
PATH=$tools/bin:$PWD/node_modules/.bin:$plain
expect 0 "$WARDFS" run -- claude where
[ "$OUT" = "$tools/bin/claude" ] || fail "another program: $OUT"
PATH=$tools/bin:$plain

# Where the user's own file for the project extends medium, the profile takes the place of that.
expect 0 "$WARDFS" policy add deny /workspace/code
expect 0 "$WARDFS" run -- claude key
has "$OUT" key-of-the-caller
has "$ERR" "using the profile claude, by the name of the program, and your file "
has "$ERR" "$XDG_CONFIG_HOME/wardfs/projects/"
expect 1 "$WARDFS" run -- claude sh 'cat code'
own=$(find "$XDG_CONFIG_HOME/wardfs/projects" -name '*.policy')
printf '[network]\nmode = none\n' >>"$own"
expect 0 "$WARDFS" run --dry-run --json -- claude
printf '%s' "$OUT" | python3 -c '
import json, sys
assert json.load(sys.stdin)["network"]["mode"] == "none"' || fail "the own file has the last word"
# Where it extends nothing it decides alone, which is said.
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\n[system]\nread = %s\n' "$tools" >"$own"
expect 0 "$WARDFS" run -- claude key
[ "$OUT" = "key: none" ] || fail "an own file alone: $OUT"
has "$ERR" "decides instead of the profile claude, because it extends neither that profile nor medium"
printf '[policy]\nversion = 1\nextends = claude\n' >"$own"
expect 0 "$WARDFS" run -- claude key
has "$OUT" key-of-the-caller
# --policy with its own name: the same, in silence.
expect 0 "$WARDFS" run --policy claude -- claude key
has "$OUT" key-of-the-caller
[ -z "$ERR" ] || fail "--policy claude: $ERR"
rm "$own"

# The hosts, and what a rehearsal says.
expect 0 "$WARDFS" policy explain --policy claude connect api.anthropic.com:443
expect 1 "$WARDFS" policy explain --policy claude connect api.anthropic.com:80
expect 1 "$WARDFS" policy explain --policy claude connect example.org:443
expect 0 "$WARDFS" run --dry-run -v -- claude
has "$OUT" "base: claude"
has "$OUT" "program      $tools/bin/claude"
has "$OUT" "ANTHROPIC_API_KEY (passed on)"
hasnt "$OUT$ERR" key-of-the-caller
# The trail never has a value.
! grep -rqs key-of-the-caller "$XDG_STATE_HOME" || fail "the key is in a trail"

# Each of them: taken by its name, strict, without network where it has no provider.
mkdir -p "$HOME/.local/bin"
PATH=$HOME/.local/bin:$plain
for name in claude codex gemini opencode aider; do
	printf '#!/bin/sh\nset -e\n%s\n' 'echo "$@"; git status --short >/dev/null
		for d in "$CLAUDE_CONFIG_DIR" "$CODEX_HOME" "$GEMINI_CLI_HOME" "$XDG_DATA_HOME"; do
			[ -z "$d" ] || { mkdir -p "$d/x" && echo y >"$d/x/y"; }
		done' >"$HOME/.local/bin/$name"
	chmod +x "$HOME/.local/bin/$name"
	expect 0 "$WARDFS" run -- "$name" hello
	[ "$OUT" = hello ] || fail "$name: $OUT"
	said="wardfs: using the profile $name, by the name of the program (--policy chooses another)"
	hasnt "$ERR" refused
	# A line names the seeded files once.
	expect 0 "$WARDFS" run -- "$name" hello
	[ "$ERR" = "$said" ] || fail "$name: $ERR"
	expect 0 "$WARDFS" policy check --strict "$name"
done
expect 0 "$WARDFS" run --policy agent -- sh -c 'mkdir -p "$XDG_DATA_HOME/x" && test -w "$XDG_DATA_HOME/x"'
expect 1 "$WARDFS" policy explain --policy agent connect example.org:443
# One that is installed where no profile looks is shown with what lies around it, also behind a
# link. Not so with another profile, for which the message names the option; one of the project's is
# taken as it lies there.
mkdir -p "$HOME/own/lib/node_modules/a/bin" "$HOME/own/bin"
printf '#!/bin/sh\nexec cat "$(dirname "$(readlink -f "$0")")/../said"\n' >"$HOME/own/lib/node_modules/a/bin/cli"
echo found >"$HOME/own/lib/node_modules/a/said"
chmod 755 "$HOME/own/lib/node_modules/a/bin/cli"
ln -s ../lib/node_modules/a/bin/cli "$HOME/own/bin/own-agent"
expect 0 env PATH="$HOME/own/bin:$PATH" "$WARDFS" run --policy agent -- own-agent
[ "$OUT" = found ] || fail "$OUT$ERR"
expect 127 env PATH="$HOME/own/bin:$PATH" "$WARDFS" run --policy medium -- own-agent
has "$ERR" "To show both in one run: --read $HOME/own/bin --read $HOME/own/lib/node_modules/a/bin;"

# An ordinary user.
[ "$(id -u)" -eq 0 ] || exit 0
as_user -c '
	set -e
	mkdir -p proj .local/bin && cd proj
	printf "#!/bin/sh\necho \"\$OPENAI_API_KEY\"; echo kept >>\"\$CODEX_HOME/log\"\n" >../.local/bin/codex
	chmod +x ../.local/bin/codex
	export OPENAI_API_KEY=k1 PATH="$HOME/.local/bin:$PATH"
	[ "$("$WARDFS" run -- codex)" = k1 ]
	[ "$("$WARDFS" run -- codex)" = k1 ]
	[ "$(wc -l <~/.local/share/wardfs/agents/codex/log)" -eq 2 ]' || fail "an ordinary user"
exit 0

# A session cannot change files that instruct or start the agent in all projects. The control: it
# can change what the agent remembers.
cd "$HOME/proj" || exit 1
for at in claude/rules/all.md claude/CLAUDE.local.md claude/CLAUDE.md claude/loop.md claude/statusline.sh \
	codex/AGENTS.override.md codex/AGENTS.md codex/agents/a.toml codex/p.config.toml gemini/.agents/skills/s/SKILL.md \
	gemini/.gemini/GEMINI.md opencode/config/opencode/tui.json opencode/config/opencode/AGENTS.md; do
	agent=${at%%/*}
	expect 0 "$WARDFS" run --policy "$agent" -- sh -ec 'mkdir -p "$1/own"; echo x >"$1/own/history"' sh "/var/agent/$agent"
	expect 1 "$WARDFS" run --policy "$agent" -- sh -c 'mkdir -p "${1%/*}" 2>/dev/null; (echo x >"$1") && exit; exit 1' sh "/var/agent/$at"
	[ ! -e "$HOME/.local/share/wardfs/agents/$at" ] || fail "a session wrote $at"
done
