#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mandoc has nothing to say about the man pages; what is nested by mistake it says, as its control
# shows.
set -eu
cd "$WARD_SRC"
lint() {
	mandoc -Tlint -W warning "$@"
}
sed '1,/^\.El$/{/^\.El$/d;}' docs/man/wardfs.1 >"$WARD_TMP/nested.1"
if lint "$WARD_TMP/nested.1" >"$WARD_TMP/out"; then
	echo "control: a list without its end passes"
	exit 1
fi
lint docs/man/wardfs.1 docs/man/wardfs-oci.8 "$WARD_BUILD/docs/wardfs-policy.5"
