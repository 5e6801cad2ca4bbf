#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# files.sh BUILD DIR: fills DIR with what a package has, below DIR/usr: what the build directory
# BUILD installs into /usr, and the documents. For recipes of other package managers.
# shellcheck disable=SC1091,SC2034,SC2154 # of stage.sh
set -eu

build=$1
out=$2
. "$(dirname -- "$(readlink -f -- "$0")")/stage.sh"
begin
stage /usr "$src/LICENSE"
common_modes "$root"
cp -a "$root/." "$out/"
