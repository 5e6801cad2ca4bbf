#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# If one process dies, all end. The test kills each process of wardfs-oci, the runtime and the
# container during create, start, run and delete. Nothing remains, and delete works again. With
# --long, 500 rounds.
# shellcheck disable=SC2154
# timeout: 7200
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
inside "$@"
workspace
host_policy 'policy = medium'
# Ends by itself, should nothing else end it: the test leaves nothing, whatever fails.
bundle "$b" sh -c 'for i in 1 2 3 4 5 6 7 8 9; do cat /workspace/README; sleep 30; done'
volume "$b" "$work" /workspace
group=killed-$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')
edit "$b" "c['linux']['cgroupsPath'] = '/$group'"
PYTHONPATH=$WARD_SRC/tests/cases/oci/lib python3 "$WARD_SRC/tests/cases/oci/lib/killed-stages.py" \
	"$OCI" "$W/runc" "$b" "$group"
