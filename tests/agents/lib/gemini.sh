# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# How gemini is told of a provider of one's own (its configuration reference:
# GOOGLE_GEMINI_BASE_URL), and of how it signs in, which its user settles outside: settings are
# read-only inside.
set -eu
agent() {
	# It has git read no configuration but the repository's, here as outside.
	git config user.name "Ann Doe"
	git config user.email ann@example.org
	mkdir -p "$HOME/.local/share/wardfs/agents/gemini/.gemini"
	echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}}' \
		>"$HOME/.local/share/wardfs/agents/gemini/.gemini/settings.json"
	GEMINI_API_KEY=$KEY "$WARDFS" run --session "$1" --net "$HOST" \
		--env "GOOGLE_GEMINI_BASE_URL=http://$HOST" --env GEMINI_CLI_TRUST_WORKSPACE=true -- \
		gemini --yolo -m scripted -p "Find the bug, fix it, commit." </dev/null
}
