#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The runtime of podman in a session: runc. Without control groups podman passes an option that crun
# alone has.
set -eu
if [ "$1" = --cgroup-manager ]; then shift 2; fi
exec runc "$@"
