#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a review session leaves for the host to execute or to follow is applied only by its name,
# also where no single change tells: links through other links, repositories without a name that
# tells, directories renamed around what was there. The controls are changes like them that are
# harmless, and are applied with all others.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
PROJECT=$WARD_TMP/project
fresh() {
	cd "$WARD_TMP"
	rm -rf "$PROJECT"
	project "$PROJECT"
	cd "$PROJECT"
	mkdir -p d/e x/workflows y z/repo.git
	echo f >d/f
	echo ci >x/workflows/ci.yml
	echo harmless >y/file
	git init -q --bare z/repo.git
	ln -s / d/root
	chown -R --reference="$PROJECT" "$PROJECT"/*
}
# flagged LETTER PATH TEXT: it is said, and not applied with all others.
flagged() {
	path=${2##*-> }
	has "$OUT" "! $1 $2   ($3)"
	has "$ERR2" "${path%/}: not applied: $3"
}
# fine PATH: the control; it is applied.
fine() {
	hasnt "$OUT" "! A $1 "
	[ -e "$1" ] || [ -L "$1" ] || fail "control: $1 was not applied: $ERR2"
}
# stage SCRIPT: what a session does; then all of it is applied, as far as that goes.
stage() {
	fresh
	expect 0 "$WARDFS" run --review -- sh -euc "$1"
	expect 0 "$WARDFS" review
	"$WARDFS" review apply >apply.out 2>apply.err || [ $? -eq 1 ] || fail "apply: $(cat apply.err)"
	ERR2=$(cat apply.err)
}
OUTSIDE='a link that leads out of the project'

echo "--- links: by way of another one, staged or the project's own, or of a name that is to come"
stage 'ln -s ../d d/up; ln -s up/../../out d/by-staged; ln -s root/etc d/by-own
	ln -s later/../../../out d/by-later; ln -s "$PWD/d/up/../../out" d/absolute
	ln -s d/up/f in; ln -s ../d/e/../f d/plain; ln -s nothing d/dangling
	ln -s loop d/loop'
for l in by-staged by-later absolute by-own loop; do
	flagged A d/$l "$OUTSIDE"
	[ ! -L d/$l ] || fail "d/$l was applied"
done
for l in in d/up d/plain d/dangling; do
	fine $l
done
[ "$(cat in)" = f ] || fail "control: in leads nowhere"
expect 0 "$WARDFS" review apply d/by-staged
[ -L d/by-staged ] || fail "control: by its name it is applied"

echo "--- repositories that have another name than .git"
stage 'git init -q --bare store; mkdir made made/objects made/refs; echo "ref: refs/heads/m" >made/HEAD
	printf "[core]\n\tfsmonitor = evil\n" >made/config; echo evil >z/repo.git/hooks.new; echo x >y/more
	mkdir near near/objects; echo x >near/HEAD; echo x >near/config'
for f in store/ store/config store/hooks/ made/ made/config made/HEAD z/repo.git/hooks.new; do
	has "$OUT" "! A $f   (part of a git repository)"
done
[ ! -e store ] && [ ! -e made ] && [ ! -e z/repo.git/hooks.new ] || fail "a repository was applied"
for f in y/more near/HEAD near/config; do
	fine $f
done

echo "--- a directory that is renamed around what the host executes then"
stage 'mv x .github; mv y n'
flagged R "x -> .github/" "this host may execute what is in it"
[ ! -e .github ] && [ -e x/workflows ] || fail ".github was applied"
[ -e n/file ] || fail "control: n was not applied: $ERR2"
# An apply may refuse to remove what the session removed.
stage 'rm -r x/workflows; mv x .github; mv y n'
flagged R "x -> .github/" "this host may execute what is in it"
[ -e n/file ] || fail "control: n was not applied: $ERR2"
expect 0 "$WARDFS" review apply .github

# A second project, with its own words.
layout() {
	cd "$WARD_TMP"
	rm -rf "$PROJECT"
	project "$PROJECT"
	cd "$PROJECT"
	mkdir -p tpl/workflows plain/workflows a/b/c deep/er same/dir
	echo 'on: push' >tpl/workflows/ci.yml
	echo 'on: push' >plain/workflows/ci.yml
	ln -s ../../README.md a/b/link
	ln -s near a/b/near-link
	ln -s ../../README.md deep/er/link
	ln -s inner same/dir/link
	for f in README.md notes script tool; do echo "$f" >$f; done
	chmod 755 tool
	chown -R --reference="$PROJECT" "$PROJECT"/*
}
# staged SESSION COMMANDS
staged() { expect 0 "$WARDFS" run --review -s "$1" -- sh -euc "$2"; }
marked() { "$WARDFS" review "$1" | grep -qF -- "! $2   ($3" || fail "not marked: $2 ($3): $("$WARDFS" review "$1")"; }
plain() { "$WARDFS" review "$1" | grep -qxF -- "  $2" || fail "marked, or missing: $2: $("$WARDFS" review "$1")"; }

echo "--- a directory that is renamed so that the host runs what is in it"
layout
staged dirs 'mv tpl .github; mv plain other'
marked dirs 'R tpl -> .github/' 'this host may execute what is in it'
plain dirs 'R plain -> other/'
expect 1 "$WARDFS" review apply
has "$ERR" ".github: not applied: this host may execute what is in it"
[ ! -e .github ] && [ -e tpl/workflows/ci.yml ] && [ -e other/workflows/ci.yml ] || fail "renamed: $(ls -A)"
# Where it comes from is not what it becomes.
expect 1 "$WARDFS" review apply tpl
[ ! -e .github ] || fail "the old name was taken for the new one"
expect 0 "$WARDFS" review apply .github
[ -e .github/workflows/ci.yml ] || fail "control: by its name it is applied"

echo "--- a repository under any name: one that a session makes, and what another one adds"
layout
staged bare 'mkdir -p lib.d/objects lib.d/refs x.d/objects x.d/refs
	echo "ref: refs/heads/m" >lib.d/HEAD; printf "[core]\n\tfsmonitor = touch /tmp/run\n" >lib.d/config; echo c >x.d/config'
marked bare 'A lib.d/config' 'part of a git repository'
plain bare 'A x.d/config'
expect 1 "$WARDFS" review apply
[ ! -e lib.d/config ] && [ -e x.d/config ] || fail "applied: $(ls lib.d x.d)"
expect 0 "$WARDFS" review discard
staged head 'echo "ref: refs/heads/m" >x.d/HEAD; echo "ref: refs/heads/m" >a/HEAD'
marked head 'A x.d/HEAD' 'part of a git repository'
plain head 'A a/HEAD'
expect 0 "$WARDFS" review discard
staged config 'mv x.d y.d; echo more >>y.d/config; cp y.d/config a/config; echo "ref: refs/heads/m" >y.d/HEAD'
plain config 'A a/config'
marked config 'M y.d/config' 'part of a git repository'

echo "--- what lies behind a link of such a name"
layout
mkdir -p tools/hooks tools/other
echo x >tools/hooks/pre-commit
ln -s tools/hooks .lefthook
chown -hR --reference=. tools .lefthook
staged behind 'echo more >>tools/hooks/pre-commit; echo y >tools/hooks/new; echo z >tools/other/new
	echo q >a/b/ci.yml'
marked behind 'M tools/hooks/pre-commit' 'this host may execute it'
marked behind 'A tools/hooks/new' 'this host may execute it'
plain behind 'A a/b/ci.yml'
expect 1 "$WARDFS" review apply tools
[ "$(cat tools/hooks/pre-commit)" = x ] && [ ! -e tools/hooks/new ] && [ -e tools/other/new ] || fail "behind a link: $(ls tools/*)"
expect 0 "$WARDFS" review apply tools/hooks/new
[ -e tools/hooks/new ] || fail "control: by its name it is applied"
layout
staged behind2 'mkdir ed; echo "{}" >ed/tasks.json; ln -s ed .vscode-x; mkdir ci; echo on >ci/x.yml; mkdir .github; ln -s .././/ci/. .github/workflows
	mkdir abs; echo x >abs/x; ln -s "$PWD/abs" .husky-x; ln -s "$PWD/abs" .lefthook'
marked behind2 'A abs/x' 'this host may execute it'
marked behind2 'A ci/x.yml' 'this host may execute it'
plain behind2 'A ed/tasks.json'

echo "--- links that lead out over another link, or from another place"
layout
staged links 'mkdir z; ln -s ../z a/over; ln -s a/over/../../etc/passwd out; ln -s a/b/link in
	mv a/b/link out2; mv a/b/near-link in2; ln -P deep/er/link deep/out3; ln -P same/dir/link same/in3'
marked links 'A out' 'a link that leads out of the project'
marked links 'R a/b/link -> out2' 'a link that leads out of the project'
marked links 'A deep/er/link -> deep/out3' 'a link that leads out of the project'
for line in 'A a/over' 'A in' 'R a/b/near-link -> in2' 'A same/dir/link -> same/in3'; do
	plain links "$line"
done
expect 1 "$WARDFS" review apply
[ ! -L out ] && [ ! -L out2 ] && [ ! -L deep/out3 ] || fail "a link that leads out was applied"
[ -L in ] && [ -L in2 ] && [ -L same/in3 ] && [ -L a/over ] || fail "control: links that stay: $(ls a same)"
expect 0 "$WARDFS" review apply out2
[ -L out2 ] || fail "control: by its name it is applied"
# A pattern is no name, also where a file is called so.
layout
staged star 'ln -s /etc "*"; echo x >plain.txt'
expect 1 "$WARDFS" review apply '*'
[ ! -L '*' ] && [ -e plain.txt ] || fail "a pattern named a link: $(ls)"
expect 0 "$WARDFS" review apply './*'
[ -L '*' ] || fail "control: by its name it is applied"
layout
staged up 'mv deep/er er; mv same/dir dir'
marked up 'R deep/er -> er/' 'a link in it leads out of the project'
plain up 'R same/dir -> dir/'
# More than is looked at counts as such.
layout
mkdir many
(cd many && seq 10001 | xargs touch)
chown -R --reference=. many
staged many 'mv many more; mv plain other'
marked many 'R many -> more/' 'it has more in it than wardfs looks at'
plain many 'R plain -> other/'

echo "--- a file of another mode in the place of one that was moved away"
layout
staged modes 'mv script old; echo x >script; chmod 755 script; echo y >new; chmod 755 new; mv notes kept; mv tool notes'
marked modes 'A script' 'it becomes executable'
marked modes 'R tool -> notes' 'it becomes executable'
plain modes 'A new'

echo "--- a link in the place of a directory that an apply has just made"
command -v strace >/dev/null || skip "no strace (Debian package strace)"
strace -o /dev/null true 2>/dev/null || skip "nothing can be traced here"
layout
mkdir "$WARD_TMP/outside"
chmod 700 "$WARD_TMP/outside"
# The control: nobody is in the way.
staged mkdir1 'mkdir -m 777 wide'
expect 0 "$WARDFS" review apply
[ "$(stat -c %a wide)" = 777 ] || fail "control: mode $(stat -c %a wide)"
rmdir wide
staged mkdir2 'mkdir -m 777 wide'
# It is made beside first.
made() { [ -d "$(echo .wardfs-apply-*)" ]; }
{ wait_until 60 made && beside=$(echo .wardfs-apply-*) && rmdir "$beside" && ln -s "$WARD_TMP/outside" "$beside"; } &
other=$!
strace -f -qq -o /dev/null -e trace=mkdirat -e inject=mkdirat:delay_exit=3000000 \
	"$WARDFS" review apply >apply.out 2>&1 || [ $? -eq 1 ]
wait $other || fail "the link was not put there"
[ -L "$(echo .wardfs-apply-*)" ] || fail "no link"
[ "$(stat -c %a "$WARD_TMP/outside")" = 700 ] || fail "apply changed a directory outside: $(cat apply.out)"

echo "--- a project that is a git directory itself"
layout
mkdir objects refs
echo x >objects/x
echo x >refs/x
chown -R --reference=. objects refs
staged top 'echo c >new'
plain top 'A new'
expect 0 "$WARDFS" review discard
echo "ref: refs/heads/m" >HEAD
chown --reference=. HEAD
staged top2 'echo c >new'
marked top2 'A new' 'part of a git repository'
expect 1 "$WARDFS" review apply
[ ! -e new ] || fail "it was applied"

echo "--- a repository among the objects of git"
layout
git add .
git -c user.name=a -c user.email=a@b commit -qm base
chown -R --reference=. .git
staged inner 'git init -q --bare .git/objects/evil; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m theirs'
marked inner 'A .git/objects/evil/config' 'part of a git repository'
expect 1 "$WARDFS" review apply
[ ! -e .git/objects/evil/config ] || fail "it was applied"
[ "$(git log --format=%s | head -1)" = theirs ] || fail "control: the commit did not arrive"
