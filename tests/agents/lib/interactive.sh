# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The user's part of ../interactive.sh.
set -eu
. "$WARD_SRC/tests/lib.sh"
. "$WARD_SRC/tests/agents/lib/agents.sh"
WARD_TMP=$HOME
sock=$HOME/tmux
talk=$NET/talk
session=
# A session that a failure leaves is ended, and waited for.
leave() {
	[ -z "$session" ] || [ -s "$HOME/p/ended" ] || "$WARDFS" kill "$session" >/dev/null 2>&1 || :
	[ -z "$session" ] || wait_until 60 test -s "$HOME/p/ended" || :
	tmux -S "$sock" kill-server 2>/dev/null || :
}
trap leave EXIT
mkdir -p "$HOME/p"
cd "$HOME/p" || exit 1
git init -q .
echo readme >README.md

screen() { tmux -S "$sock" capture-pane -p -S - -t a 2>/dev/null || :; }
# With the screen, one line: words may be broken at its edge.
shows() { screen | tr -d '\n' | grep -qE "$1"; }
keys() { tmux -S "$sock" send-keys -t a "$@"; }
# sees PATTERN: the program shows it in the end.
sees() { wait_until 60 shows "$1" || fail "no '$1' on the screen: $(screen)"; }
# press KEY PATTERN: the key, again where the program was not listening yet, until it shows the
# pattern.
press() {
	for _ in 1 2 3 4 5 6; do
		keys "$1"
		! wait_until 8 shows "$2" || return 0
	done
	fail "no '$2' on the screen: $(screen)"
}
# start SESSION COMMAND...: in a terminal; its exit status comes to the file `ended`.
start() {
	rm -f ended
	session=$1
	shift
	tmux -S "$sock" new-session -d -s a -x 200 -y 50 "$* 2>err; echo \$? >ended; exec cat"
}
# quit: by the key that ends it; some want it twice.
over() { [ -s ended ] || { keys C-c; sleep 0.4; [ -s ended ] || keys C-c; sleep 2; [ -s ended ]; }; }
quit() {
	wait_until 60 over || fail "it does not end: $(screen)"
	tmux -S "$sock" kill-session -t a
	! grep -Eq "Failed to (save|set|persist)" screens || fail "settings: $(cat screens)"
	"$WARDFS" audit denials "$session" >denials || fail "denials"
}
# note: what was seen is looked at in the end.
note() { screen >>screens; }
# The task of the first day; where a person is asked, they agree.
done_it() {
	if shows 'Allow (execution|once)|Yes, allow once|Permission required'; then
		keys Enter
		sleep 1
	fi
	[ "$(wc -l <"$talk/transcript" 2>/dev/null || echo 0)" -ge 2 ]
}
task() {
	cat >"$talk/script" <<J
[{"run": "echo touch >.git/hooks/pre-commit", "want": "(Permission denied|cannot create)"},
 {"run": "echo made >made-$1", "want": ""}]
J
	rm -f "$talk/transcript"
	keys "go on"
	sees "go on"
	keys Enter
	wait_until 180 done_it || fail "the task: $(screen; cat "$talk/log")"
	told "$talk" 2
	[ "$(cat "made-$1")" = made ] || fail "nothing was made"
	note
}
# only_the_act [PATTERN]: what was refused, and is not expected, is that alone, and what the pattern
# says.
only_the_act() {
	grep -q ' refused: .*/workspace/.git/hooks/pre-commit (' err || fail "the line: $(cat err denials)"
	! grep '^[0-9]*x ' denials | grep -Ev "/workspace/.git/hooks/pre-commit${1:+|$1}" || fail "also: $(cat denials)"
}

plain=$PATH
unset NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
echo "--- codex"
PATH=$(agent_path codex)
export OPENAI_API_KEY="$KEY"
start codex1 "$WARDFS" run --session codex1 -- codex
sees "Sign in another way"
press 3 "Use (an OpenAI|your own OpenAI) API key"
press Enter "Paste or type your API key"
press Enter "API key configured|Ask Codex to do anything"
press Enter "Ask Codex to do anything"
note
quit
! grep -q refused err || fail "the line: $(cat err denials)"
start codex2 "$WARDFS" run --session codex2 --net "$HOST" -- codex -m scripted -c model_provider=scripted \
	-c "'model_providers.scripted={name=\"scripted\",base_url=\"http://$HOST/v1\",env_key=\"OPENAI_API_KEY\",wire_api=\"responses\"}'"
sees "to do anything"
task codex
quit
# It would keep that this model is new to it.
only_the_act /var/agent/codex/config.toml
expect 1 "$WARDFS" run -- codex sandbox -- ls
has "$ERR" "none can be made inside this one"
unset OPENAI_API_KEY

echo "--- gemini"
PATH=$plain
PATH=$(agent_path gemini)
export GEMINI_API_KEY="$KEY"
for n in 1 2; do
	start "gemini$n" "$WARDFS" run --session "gemini$n" --net "$HOST" --env "GOOGLE_GEMINI_BASE_URL=http://$HOST" -- \
		gemini -m scripted
	sees "Type your message"
	note
	! shows "Do you trust|How would you like to authenticate" || fail "a dialog: $(screen)"
	[ "$n" -eq 1 ] || task gemini
	quit
	[ "$n" -eq 1 ] || only_the_act
done
! grep refused err | grep -v pre-commit || fail "the line: $(cat err)"
unset GEMINI_API_KEY

echo "--- opencode"
PATH=$plain
PATH=$(agent_path opencode)
export OPENAI_API_KEY="$KEY"
export OPENCODE_CONFIG_CONTENT='{"model": "scripted/scripted", "small_model": "scripted/scripted",
	"provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "models": {"scripted": {}},
	"options": {"baseURL": "http://'"$HOST"'/v1", "apiKey": "{env:OPENAI_API_KEY}"}}}}'
for n in 1 2; do
	start "opencode$n" "$WARDFS" run --session "opencode$n" --net "$HOST" --env OPENCODE_CONFIG_CONTENT -- opencode
	sees "Ask anything"
	[ "$n" -eq 1 ] || task opencode
	note
	quit
	# It fetches a package of its own at the first start, and has no switch for that: nobody
	# hides a registry.
	[ "$n" -eq 2 ] || ! grep '^[0-9]*x ' denials | grep -v 'connect registry' || fail "also: $(cat denials)"
done
only_the_act 'connect registry'
unset OPENAI_API_KEY OPENCODE_CONFIG_CONTENT

echo "--- claude"
PATH=$plain
PATH=$(agent_path claude)
# It is no open-source program and its provider is not there: the prompt is as far as this goes.
export ANTHROPIC_API_KEY="sk-ant-$KEY"
start claude1 "$WARDFS" run --session claude1 -- claude
sees "Do you want to use this API key"
! shows "Do you trust" || fail "a dialog: $(screen)"
keys 1
press Enter "for shortcuts"
quit
start claude2 "$WARDFS" run --session claude2 -- claude
sees "for shortcuts"
! shows "Do you (trust|want to use)" || fail "a dialog: $(screen)"
quit
! grep '^[0-9]*x ' denials | grep -Ev 'connect downloads|/var/agent/claude/plugins' || fail "also: $(cat denials)"
exit 0
