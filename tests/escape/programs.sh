#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The other side of every refusal: ordinary programs still work.
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

try() { # try MODE PROGRAM SCRIPT
	command -v "$2" >/dev/null || return 0
	inside "$1" --bind "$WARD_SRC/tests/escape/lib/programs-modules.py=/modules.py" --home /home/agent --env HOME=/home/agent --env PATH=/usr/local/bin:/usr/bin:/bin \
		--cwd /tmp -- sh -ec "$3" >"$WARD_TMP/out" 2>&1 || fail "$1: $2: $(tail -5 "$WARD_TMP/out")"
}

check() {
	try "$1" gcc 'printf "#include <stdio.h>\nint main(void){puts(\"built\");}" >a.c; gcc -O1 -o a a.c; ./a'
	try "$1" git 'git init -q r; cd r; echo x >f; git add f
		git -c user.name=a -c user.email=a@b commit -qm m; git mv f g; git status --short | grep -q f'
	try "$1" make 'printf "all: a b\na b:\n\techo \$@ >\$@\n" >Makefile; make -j4; test -s a'
	try "$1" python3 'python3 /modules.py'
	try "$1" node 'node -e "
const w = require(\"worker_threads\"), os = require(\"os\"), cp = require(\"child_process\");
os.networkInterfaces(); new w.Worker(\"1\", {eval: true});
const s = require(\"net\").createServer(c => c.end()).listen(0, \"127.0.0.1\", () =>
	require(\"net\").connect(s.address().port).on(\"close\", () => process.exit(0)));
cp.execSync(\"true\")"'
	try "$1" sqlite3 'sqlite3 d.db "pragma journal_mode=wal; create table t(a); insert into t values(1); select a from t"'
	try "$1" vim 'vim -es -u NONE -c "normal ihello" -c "wq f" </dev/null; grep -q hello f'
	try "$1" tmux 'tmux -L t -f /dev/null new-session -d "echo ok >ok; sleep 600"; i=0
		until test -s ok; do i=$((i+1)); test $i -lt 600; sleep 0.1; done; tmux -L t kill-server'
	try "$1" perl 'perl -e "system(q(true)) == 0 or die; fork // die; wait"'
	try "$1" flock 'flock lock true'
	try "$1" mkfifo 'mkfifo p; (echo x >p) & read -r l <p; test "$l" = x'
	try "$1" mv 'mkdir -p a b; echo x >a/f; mv a/f b/f; ln b/f a/g; mv b c; test -s c/f'
}

each_mode check
