#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 600
# A file with many names of which all links were known, and then the host links it elsewhere: nobody
# opens it for writing, also while the session removes and makes names of it as fast as it can, so
# that links and names are not in step. Opens come on several threads at once, as they do where
# digests are made. The control: without that link it is opened all the while.
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
