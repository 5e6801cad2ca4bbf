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
# groff reads nothing but ASCII. The arguments of a macro end at the end of its line: no sentence
# goes on there, and no item of a list stands in the brackets of the one before.
bad() {
	LC_ALL=C grep -nE -e '[^ -~	]' -e '^\.(Cm|Fl|Li|Pa) [^ ]+ (the|a|is|of|and|in) [a-z]+ [a-z]+' \
		-e ' Op [^"]* , (Sy|Cm|Fl|Ar) ' "$@"
}
printf '.Cm none the policy holds for\n' >"$WARD_TMP/bad.1"
bad "$WARD_TMP/bad.1" >"$WARD_TMP/out" || {
	echo "control: a sentence in the line of a macro passes"
	exit 1
}
if bad docs/man/wardfs.1 docs/man/wardfs-oci.8; then
	exit 1
fi
