#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The steps for CI in docs/attack.md: their commands run as they stand there, fail as attempts of
# the policy are broken, and write the reports that are uploaded all the same.
# plain
# timeout: 300
set -eu
. "$WARD_SRC/tests/lib.sh"
python3 -c 'import yaml' 2>/dev/null || skip "no python3-yaml"

PATH=$WARD_BUILD:$PATH
export PATH XDG_STATE_HOME="$WARD_TMP/state"
mkdir -p project/ci project/.github && cd project
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nwrite = /workspace\nread = /workspace/src\n' >ci/agent.policy
cp ci/agent.policy .github/

for kind in github gitlab; do
	python3 "$WARD_SRC/tests/support/ci-steps.py" "$WARD_SRC/docs/attack.md" $kind >../steps
	grep -q '^wardfs attack --path-rules' ../steps || fail "$kind: no path rules: $(cat ../steps)"
	{
		echo failed=
		cat ../steps
		echo 'exit ${failed:-0}'
	} >../script
	expect 1 sh ../script
	files=$(sed -n 's/^# uploads: //p' ../steps)
	[ -n "$files" ] || fail "$kind uploads nothing"
	for file in $files; do
		[ -s "$file" ] || fail "$kind: no $file"
		case $file in
		*.sarif) python3 -c 'import json, sys; json.load(open(sys.argv[1]))["runs"]' "$file" || fail "$file" ;;
		*) python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$file" || fail "$file" ;;
		esac
		rm "$file"
	done
done
