#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attack: a container runs a program of a volume that a noexec rule covers as a whole, by itself and
# by way of the loader, which maps the file. The engine asks for a mount that allows it. The control
# is the same with runc alone, and without the rule.
# shellcheck disable=SC2154
# timeout: 300
set -eu
. "$WARD_SRC/tests/escape/lib/engines.sh"
inside "$@"
workspace
cd "$work"
cp /bin/true tool
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\n' >"$W/plain.policy"
{ cat "$W/plain.policy" && echo 'noexec = /workspace'; } >"$W/noexec.policy"
BOX_OPTIONS="exec"
export BOX_OPTIONS
loader=$(ldd /bin/true | sed -n 's/^[[:space:]]*\(\/lib[^ ]*ld-linux[^ ]*\).*/\1/p')
for way in ./tool "$loader ./tool"; do
	echo "--- $way"
	# shellcheck disable=SC2086
	OCI_PLAIN=1 in_engine wardfs-oci "$W/noexec.policy" $way || fail "control: $way"
	expect 0 in_engine wardfs-oci "$W/plain.policy" sh -c "$way"
	# With the shell, the program's answer is not the runtime's.
	in_engine wardfs-oci "$W/noexec.policy" sh -c "$way; echo ended \$?" >"$W/said" 2>&1 || :
	grep -qxE 'ended 12[67]' "$W/said" || fail "$(cat "$W/said")"
done
