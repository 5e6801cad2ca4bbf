#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Staged changes: the host's tree stays as it was, and what programs see is one ordinary tree. Then
# cases that look at nothing but what is seen inside, once more, over a staged tree.
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

STORES=$WARD_TMP/stores
mkdir -m 711 "$STORES"
FSMOUNT_REVIEW=$STORES
export FSMOUNT_REVIEW
cp "$WARD_SRC/tests/cases/fs/lib/review.py" "$WARD_TMP/review.py"

fill() {
	as_owner sh -c "cd '$BACK' && mkdir -p dir tree/a/b && echo old >file && ln file hard && echo l >locked &&
		echo i >dir/inner && printf deep >tree/a/b/deep && truncate -s 64M holes && echo t >mtime"
}
shape() { (cd "$BACK" && find . -printf '%p %y %m %n %s %T@ %C@ %l\n' | sort && find . -type f -exec sha256sum {} + | sort); }

for mode in $MODES; do
	policy
	fresh
	fill
	before=$(shape)
	in_mode "$mode" -c "exec python3 '$WARD_TMP/review.py' '$BACK'" || fail "$mode"
	[ "$(shape)" = "$before" ] || fail "$mode: the host's tree changed"
	# The control: the same without a store changes it.
	if (unset FSMOUNT_REVIEW; in_mode "$mode" -c "echo x >>file"); then
		[ "$(shape)" != "$before" ] || fail "$mode: the control changed nothing"
	fi
	rm -rf "${STORES:?}"/*
done

for name in names verbs tmpfile trunc pipes users contain deep dir-offsets programs; do
	mkdir "$WARD_TMP/$name"
	WARD_TMP=$WARD_TMP/$name sh "$WARD_SRC/tests/cases/fs/$name.sh" || fail "$name, staged"
	rm -rf "${STORES:?}"/*
done
