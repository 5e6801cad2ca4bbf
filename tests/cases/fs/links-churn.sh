#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs knows all names of a file, and then the host links it outside the tree. From then on
# nobody opens it for writing, even if the session creates and removes names as fast as it can.
# Opens arrive on several threads at once. The control: without that link it can be opened all the
# time.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/links-churn.py" "$WARD_TMP/churn.py"
for mode in $MODES; do
	policy
	sed -i 's/^log = opens/&\nhash = writes/' "$POLICY"
	fresh
	rm -rf "$WARD_TMP/away" && mkdir "$WARD_TMP/away" && chown $OWNER "$WARD_TMP/away"
	# shellcheck disable=SC2016 # the script's own
	in_mode "$mode" -c 'exec python3 "$@"' - "$WARD_TMP/churn.py" "$BACK" "$WARD_TMP/away/x" || fail "$mode"
done
