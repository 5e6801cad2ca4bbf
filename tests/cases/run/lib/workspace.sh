# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What cases share in which several sessions work on one project.
set -eu
. "$WARD_SRC/tests/lib.sh"

# workspace_policy FILE LINE...: all of /workspace may be written to, but for what the lines say.
workspace_policy() {
	file=$1
	shift
	{
		printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nwrite = /workspace\n'
		printf '%s\n' "$@"
	} >"$file"
}
# A project p with a secret's name that may not be read, but for one place.
secret_project() {
	project p
	workspace_policy shared.policy 'hide = *.pem' 'write = /workspace/a/certs/pub.pem'
}
