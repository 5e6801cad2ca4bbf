# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# How codex is told of a provider of one's own (its config reference, model_providers), without its
# own sandbox.
set -eu
agent() {
	OPENAI_API_KEY=$KEY "$WARDFS" run --session "$1" --net "$HOST" -- codex exec \
		--dangerously-bypass-approvals-and-sandbox -m scripted -c model_provider=scripted \
		-c "model_providers.scripted={name=\"scripted\",base_url=\"http://$HOST/v1\",env_key=\"OPENAI_API_KEY\",wire_api=\"responses\"}" \
		"Find the bug, fix it, commit." </dev/null
}
