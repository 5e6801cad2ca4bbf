# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# How opencode is told of a provider of one's own (its config reference: provider,
# OPENCODE_CONFIG_CONTENT). Nobody is there to be asked, so it may do everything.
set -eu
agent() {
	OPENAI_API_KEY=$KEY "$WARDFS" run --session "$1" --net "$HOST" --env OPENCODE_CONFIG_CONTENT='{
		"model": "scripted/scripted", "small_model": "scripted/scripted", "permission": "allow",
		"provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "models": {"scripted": {}},
			"options": {"baseURL": "http://'"$HOST"'/v1", "apiKey": "{env:OPENAI_API_KEY}"}}}}' -- \
		opencode run "Find the bug, fix it, commit." </dev/null
}
