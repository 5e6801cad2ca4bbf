#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Logins that tools keep in a project are hidden by `medium`. What builds read and what is committed
# is not. A line of the user's lifts the guard of one of them.
set -eu
. "$WARD_SRC/tests/lib.sh"
git_identity
project app
cd app || exit 1
logins='.aws/credentials .docker/config.json sub/.kube/config sub/.cargo/credentials.toml
	.config/gcloud/access_tokens.db .terraform.d/credentials.tfrc.json .dev.vars'
read='.npmrc sub/.yarnrc.yml .aws/task-definition.json'
for f in $logins $read fixtures/.kube/config; do
	mkdir -p "$(dirname "$f")"
	echo "password of $f" >"$f"
done
git add fixtures
git commit -qm fixtures

for f in $logins; do
	# Control: where no profile hides it, it can be read.
	printf '[policy]\nversion = 1\n[files]\nread = /workspace\n' >../plain.policy
	expect 0 "$WARDFS" run --policy ../plain.policy -- cat "$f"
	has "$OUT" "password of $f"
	expect 1 "$WARDFS" run -- cat "$f"
	has "$ERR" 'No such file'
done
for f in $read fixtures/.kube/config; do
	expect 0 "$WARDFS" run -- cat "$f"
	has "$OUT" "password of $f"
done

# A session's own login works in it, and a rule of the user's shows one from before.
# shellcheck disable=SC2016 # the shell inside expands it
expect 0 "$WARDFS" run -- sh -c 'mkdir -p new/.docker && echo made >new/.docker/config.json && cat new/.docker/config.json'
has "$OUT" made
expect 2 "$WARDFS" policy add read sub/.kube/config
expect 0 "$WARDFS" policy add --lift-guard read sub/.kube/config
expect 0 "$WARDFS" run -- cat sub/.kube/config
has "$OUT" 'password of sub/.kube/config'
expect 1 "$WARDFS" run -- cat .docker/config.json
