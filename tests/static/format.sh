#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang-format has nothing to change. Its versions differ in details: 14 is the one that counts.
set -eu
cd "$WARD_SRC"
case $(clang-format --version) in
*'version 14.'*) ;;
*)
	echo "clang-format is not version 14"
	exit 77
	;;
esac
find enforcer audit fs conf tests -name '*.[ch]' -print0 | sort -z >"$WARD_TMP/list"
[ -s "$WARD_TMP/list" ]
xargs -0 clang-format --dry-run -Werror <"$WARD_TMP/list"
