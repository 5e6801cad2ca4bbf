#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each shipped profile as the policy of a container. If wardfs-oci cannot enforce a line, it refuses
# the container and names the line. If the host's file allows that, the trail names the line.
# shellcheck disable=SC2154
# timeout: 300
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
inside "$@"
workspace
echo secret >"$work/.env"
bundle "$b" sh -c 'cat /workspace/README; cat /workspace/.env || exit 7'
volume "$b" "$work" /workspace

# Without more in the host's file.
denies() { # denies PROFILE TEXT
	host_policy "policy = $1"
	expect 1 oci run -b "$b" "$1"
	has "$ERR" "$2"
	hasnt "$OUT" readme
}
works() { # works PROFILE TEXT [LINE...]
	profile=$1 text=$2
	shift 2
	host_policy "policy = $profile" "$@"
	expect 7 oci run -b "$b" "$profile-works"
	has "$OUT" "$text"
	hasnt "$OUT" secret
	expect 0 "$WARDFS" audit list --json --label "container-id=$profile-works"
	session=$(echo "$OUT" | sed -n 's/.*"session": *"\([^"]*\)".*/\1/p' | head -n 1)
	# run returns with the container, and its session ends behind it.
	whole() { "$WARDFS" audit verify "$session" >"$W/verify" 2>&1; }
	wait_until 60 whole || fail "$profile: $(cat "$W/verify")"
	expect 0 "$WARDFS" audit show --json --kind session.start "$session"
}
for p in medium agent; do
	works $p readme
	has "$OUT" '"network":"none"'
done
# low has a workspace in memory: no volume of the host's becomes it, whatever else is allowed.
denies low 'the policy has /workspace in memory'
denies convention 'the policy has /workspace in memory'
host_policy 'policy = low' 'allow-missing = exec' 'network = engine' '[volumes]' "pass = $work"
expect 1 oci run -b "$b" low
has "$ERR" 'it takes no volume'
hasnt "$OUT" readme
# Without a volume it runs, once its list of programs may be missing.
bare=$W/bare
bundle "$bare" sh -c 'ls -A /workspace; echo ran; exit 7'
host_policy 'policy = low'
expect 1 oci run -b "$bare" low
has "$ERR" '[process] exec'
b=$bare works convention ran
has "$OUT" '"[tree /workspace] source"'
b=$bare works low ran 'allow-missing = exec'
has "$OUT" '"[tree /workspace] source"'
has "$OUT" '"[process] exec"'
denies high "[network] mode needs wardfs-net"
works high readme 'network = engine'
has "$OUT" '"network":"engine"'
for p in aider claude codex gemini opencode; do
	denies $p "[network] mode needs wardfs-net"
	works $p readme 'network = engine'
	has "$OUT" '"network":"engine"'
	has "$OUT" '[limits] idle'
done
# The table is whole.
tried=$(printf '%s\n' low medium high agent convention aider claude codex gemini opencode | sort | tr '\n' ' ')
shipped=$(cd "$WARD_SRC/conf/profiles" && printf '%s\n' *.policy | sed 's/\.policy$//' | sort | tr '\n' ' ')
[ "$tried" = "$shipped" ] || fail "tried: $tried; shipped: $shipped"
