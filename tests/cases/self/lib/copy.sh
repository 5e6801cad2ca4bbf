# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# copy_sources DIR: this checkout without builds and without its history.
set -eu
copy_sources() {
	mkdir "$1"
	tar -C "$WARD_SRC" --exclude='./build*' --exclude=./.git --exclude=__pycache__ -cf - . |
		tar -C "$1" --no-same-owner -xf -
	[ -f "$1/meson.build" ]
}
