#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A name that programs of the host follow may be a symbolic link of the project's, or lie behind
# one. Then a session cannot write what the link leads to, nor put something else on the way. The
# controls are links of other names, and links that lead out, which change nothing.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
mkdir -p editor hg out/more shared/vim plain "$WARD_TMP/elsewhere"
echo '{}' >editor/tasks.json
echo x >shared.envrc
echo x >plain/f
ln -s editor .vscode
ln -s hop .envrc
ln -s shared.envrc hop
ln -s hg .hg
ln -s later/config .mcp.json
ln -s shared/vim .vim
ln -s plain ordinary
ln -s "$WARD_TMP/elsewhere" .cursor
ln -s /proc/self/nothing .zed
# tries COMMAND...: what the commands could do
tries() {
	"$WARDFS" run -- sh -c '
		for c; do (eval "$c") 2>/dev/null && echo "did: $c"; done; :' sh "$@" 2>err ||
		fail "the session failed: $(cat err)"
}
OUT=$(tries 'echo evil >editor/tasks.json' 'echo evil >editor/new' 'echo evil >.vscode/new' \
	'mv editor moved' 'echo evil >shared.envrc' 'rm hop' 'ln -sfn plain/f hop' \
	'echo evil >hg/hgrc' 'mkdir later' 'echo evil >later' 'echo evil >shared/vim/coc-settings.json' \
	'mv shared/vim shared/v; ln -s ../plain shared/vim' 'rm .vscode' \
	'mkdir -p shared/vim; echo evil >shared/vim/coc-settings.json')
[ -z "$OUT" ] || fail "what a link leads to was changed: $OUT"
mkdir -p shared/vim
OUT=$(tries 'echo fine >plain/f' 'echo fine >ordinary/g' 'echo fine >hg/store' 'echo fine >out/more/x' \
	'echo fine >shared/vim/other')
[ "$(printf '%s\n' "$OUT" | grep -c '^did: ')" -eq 5 ] || fail "control: $OUT, $(cat err)"
[ -z "$(ls "$WARD_TMP/elsewhere")" ] || fail "written outside"

echo "--- control: without the links all of it can be written"
rm .vscode .envrc .hg .mcp.json .vim
OUT=$(tries 'echo evil >editor/tasks.json' 'mv editor moved' 'echo evil >shared.envrc' \
	'echo evil >hg/hgrc' 'mkdir later' 'echo evil >shared/vim/coc-settings.json')
[ "$(printf '%s\n' "$OUT" | grep -c '^did: ')" -eq 6 ] || fail "control: $OUT, $(cat err)"
