#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Nothing that `review apply` applies without its name is executed by the host by another name: by
# way of links above what the list names, links on the way of others, what an apply leaves behind
# because it refuses another change, and modes that come with a directory or with a link. The
# controls are like them and harmless, and are applied.
# timeout: 300
set -eu
. "$WARD_SRC/tests/lib.sh"
PROJECT=$WARD_TMP/project
fresh() {
	cd "$WARD_TMP"
	rm -rf "$PROJECT"
	project "$PROJECT"
	cd "$PROJECT"
}
# stage NAME SCRIPT: what a session does; then all of it is applied, as far as that goes.
stage() {
	chown -R --reference="$PROJECT" "$PROJECT"
	expect 0 "$WARDFS" run --review -s "$1" -- sh -euc "$2"
	expect 0 "$WARDFS" review "$1"
	"$WARDFS" review apply >apply.out 2>apply.err || [ $? -eq 1 ] ||
		fail "apply: $(cat apply.err)"
}
held() {
	for path; do
		grep -q "^wardfs: $path: not applied: .*: name it itself" apply.err ||
			fail "$path was not held back: $(cat apply.out apply.err)"
	done
}
fine() {
	for path; do
		! grep -q "^wardfs: $path: " apply.err && { [ -e "$path" ] || [ -L "$path" ]; } ||
			fail "control: $path was not applied: $(cat apply.err)"
	done
}

echo "--- a session's links above what the list names"
fresh
stage above 'mkdir -p gh/workflows docs v/bin v/lib; echo on >gh/workflows/ci.yml; ln -s gh .github
	echo x >v/bin/python; echo x >v/lib/x; ln -s v .venv; echo x >docs/x; ln -s docs manual
	mkdir -p n h r/store; echo x >r/store/git_target; ln -s ../r h/repo; ln -s ../h n/.jj'
held .github gh/workflows gh/workflows/ci.yml .venv v/bin/python n/.jj r/store/git_target
fine docs/x manual v/lib/x gh
expect 0 "$WARDFS" review apply gh/workflows gh/workflows/ci.yml
[ -e gh/workflows/ci.yml ] || fail "control: by its name it is applied"

echo "--- the project's own links, one above and one beneath another"
fresh
mkdir -p gh wf other
echo on >wf/ci.yml
ln -s gh .github
ln -s ../wf gh/workflows
stage chain 'echo evil >wf/ci.yml; echo evil >wf/new.yml; echo fine >other/new.yml'
held wf/ci.yml wf/new.yml
fine other/new.yml
[ "$(cat .github/workflows/ci.yml)" = on ] || fail "the host would execute it"

echo "--- a link on the way of another one, put there or put elsewhere"
fresh
mkdir -p tools/hooks
echo x >tools/hooks/pre-commit
ln -s a .lefthook
ln -s tools/hooks a
stage way 'ln -sfn agent a; mkdir agent; echo evil >agent/pre-commit; ln -s agent b'
held a agent/pre-commit
fine b
[ "$(cat .lefthook/pre-commit)" = x ] || fail "the host would execute it"
fresh
mkdir -p tools/hooks
echo x >tools/hooks/pre-commit
ln -s tools/hooks .lefthook
stage instead 'mv tools old; ln -s agent tools; mkdir -p agent/hooks; echo evil >agent/hooks/pre-commit'
held tools agent/hooks/pre-commit
fine old agent

echo "--- a link deep in a project, behind a directory that nobody can read, to what is not there yet"
fresh
mkdir -p aa a/b/c/d/e zz
ln -s ../../../../../later a/b/c/d/e/.lefthook
chmod 0 aa zz
stage deep 'mkdir later; echo evil >later/run; echo fine >later.txt'
held later/run
fine later.txt
chmod 755 aa zz

echo "--- a repository that comes together from what an apply refuses to take away"
# The first session leaves half of one. The second one takes the half away by changes that cannot be
# applied, and adds the other half.
half='mkdir q; mkdir q/objects q/refs; echo a >q/objects/k; echo a >q/refs/k'
other='echo "ref: refs/heads/m" >q/HEAD; printf "[core]\n\tfsmonitor = evil\n" >q/config'
fresh
stage half1 "$half"
fine q/objects/k q/refs/k
expect 0 "$WARDFS" review discard
stage moved "mkdir sub; mv q/refs sub/.lefthook; $other; mkdir r; cp q/HEAD q/config r"
held q/HEAD q/config sub/.lefthook
fine r/config
[ ! -e q/HEAD ] || fail "q is a repository of the agent's"
fresh
stage half2 "$half"
expect 0 "$WARDFS" review discard
stage around "mkdir sub; mv q sub/.lefthook; mkdir q; $other"
held sub/.lefthook
[ ! -e q/HEAD ] || fail "q is a repository of the agent's"
fresh
stage gone1 'mkdir -p x/workflows y/workflows; echo evil >x/workflows/ci.yml; echo y >y/workflows/z'
fine x/workflows/ci.yml
expect 0 "$WARDFS" review discard
stage gone2 'mkdir sub; mv x/workflows sub/.lefthook; mv x .github; mv y z'
held .github
fine z/workflows/z

echo "--- modes that come with a directory, or by a link"
fresh
mkdir scripts tools more
for f in scripts/run tools/run more/run script other data tool; do echo x >$f; done
chmod 755 tools/run tool
stage modes 'rm -r scripts; mv tools scripts; mv more moved; ln -sf tool script; ln -sf data other'
held scripts script
fine moved/run other
[ ! -x script ] && [ ! -x scripts/run ] || fail "it became executable"

echo "--- commits have what is held back: said. The control: nothing is held back"
git_identity
for what in .github/workflows src; do
	fresh
	echo x >a
	git add a
	git commit -qm base
	stage "commit-${what##*/}" "mkdir -p $what; echo x >$what/x.yml; git add -A
		git -c user.name=a -c user.email=a@b commit -qm theirs"
	[ "$(git log --format=%s | head -1)" = theirs ] || fail "control: the commit did not arrive"
	if [ "$what" = src ]; then
		fine src/x.yml
		! grep -q "commits may have" apply.err || fail "said: $(cat apply.err)"
	else
		held .github/workflows/x.yml
		grep -q "the session's commits may have the files that were not applied" apply.err ||
			fail "not said: $(cat apply.err)"
	fi
done
