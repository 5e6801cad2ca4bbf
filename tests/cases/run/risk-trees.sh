#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mode auto weighs every tree of the host, wherever a policy puts it: attempts to make a policy
# weigh less than it gives. Each has a control that gives less and weighs less.
set -eu
. "$WARD_SRC/tests/lib.sh"
project "$HOME/p"
mkdir -p "$HOME/stuff" "$HOME/.aws" "$HOME/docs"
cd "$HOME/p"

rows() { # rows POLICY-LINES: the rows that cost something
	printf '[policy]\nversion = 1\nmode = auto\n%b\n' "$1" >../risky.policy
	expect 0 "$WARDFS" risk --json --policy ../risky.policy -- true
	ROWS=$(printf %s "$OUT" | python3 -c 'import json, sys
print(*["%s=%d" % (r["row"], r["points"]) for r in json.load(sys.stdin)["rows"] if r["points"]])')
}
given() {
	case " $ROWS " in *" $1="*) ;; *) fail "no $1: $ROWS" ;; esac
}
free() {
	case " $ROWS " in *" $1="*) fail "$1: $ROWS" ;; esac
}
read='[files]\nread = /workspace\nhide = .env*\nhide = .netrc\nhide = .git-credentials\nhide = id_*\nhide = *.key\n'

echo "--- a part of another tree"
rows "[tree /h]\nsource = ~/stuff\n${read}write = /h/.bashrc"
given writes-beyond
rows "[tree /h]\nsource = ~/stuff\n${read}read = /h"
free writes-beyond

echo "--- secrets in another tree, in a directory of secrets, beside the trees"
rows "[tree /h]\nsource = ~/stuff\n[files]\nread = /h\n[guard]\nhide = /workspace/**"
given reads-secrets
rows "[tree /h]\nsource = ~/.aws\n${read}read = /h"
given reads-secrets
rows "[tree /h]\nsource = ~/.aws\n${read}read = /h\ndeny = /h"
free reads-secrets
rows "${read}[system]\nread = ~/.aws/credentials"
given reads-secrets
rows "[tree /h]\nsource = ~/docs\n${read}read = /h/plain\n[system]\nread = ~/tools"
free reads-secrets

echo "--- what may grow beside the project, and files there that people run"
quota='[quota /workspace]\ngrowth = 1G\n'
rows "[tree /h]\nsource = ~/docs\n${quota}[files]\nwrite = /workspace\nwrite = /h"
given no-growth
rows "[tree /h]\nsource = ~/docs\n${quota}[quota /h]\ngrowth = 1G\n[files]\nwrite = /workspace\nwrite = /h"
free no-growth
rows "[tree /h]\nsource = ~/docs\n${read}write = /h"
given people-run
rows "[tree /h]\nsource = ~/docs\n${read}read = /h"
free people-run

echo "--- a workspace in memory is the session's own"
expect 0 "$WARDFS" risk --json --policy low -- true
ROWS=$(printf %s "$OUT" | python3 -c 'import json, sys
print(*["%s=%d" % (r["row"], r["points"]) for r in json.load(sys.stdin)["rows"] if r["points"]])')
for row in reads-secrets people-run no-growth writes-part writes-project; do
	free $row
done

echo "--- a variable that says what is loaded besides; the control says nothing of the kind"
for env in LD_PRELOAD=./x.so LD_PRELOAD PATH=/workspace; do
	expect 0 env LD_PRELOAD= "$WARDFS" risk --env "$env" -- true
	has "$OUT" "$env"
	has "$OUT" from-project
done
expect 0 "$WARDFS" risk --env A=LD_PRELOAD -- true
hasnt "$OUT" from-project
