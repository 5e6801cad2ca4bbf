#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The steps of docs/ci.md, taken from the page: a pull request's tests run, cannot do what the
# page rules out, decide the job's status, and leave a trail that verifies. Also docs/upgrade.md:
# what it removes is gone.
# plain
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root: the steps call sudo"
git_identity

# step SERVICE NAME: the shell of that step.
step() {
	python3 "$WARD_SRC/tests/cases/run/lib/ci-page-step.py" "$WARD_SRC/docs/ci.md" "$1" "$2"
}
mkdir bin
# The runner's sudo, and wardfs as it is installed.
printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
printf '#!/bin/sh\nexec "%s" "$@"\n' "$WARDFS" >bin/wardfs
chmod 755 bin/*
PATH=$PWD/bin:$PATH
export RUN=17 CI_JOB_ID=18 RUNNER_TOKEN=s3cr3t
echo secret >runner-secret
project pr
cd pr || exit 1
cat >hostile.sh <<'END'
# A test cannot do these commands of the page; each line of output would be a fault.
[ -z "${RUNNER_TOKEN-}" ] || echo "the token"
cat "$1/runner-secret" 2>/dev/null && echo "another file"
ls "$1/pr" 2>/dev/null && echo "the checkout"
mkdir -p .git/hooks && echo x >.git/hooks/post-checkout
(setsid sleep 913 </dev/null >/dev/null 2>&1 &)
python3 -c 'import socket; socket.create_connection(("192.0.2.1", 80), 3)' 2>/dev/null && echo "the network"
echo tested
END
printf 'test:\n\t@sh hostile.sh %s\n\t@exit $$(cat status)\n' "$(dirname "$PWD")" >Makefile
echo 0 >status
git add -A
git commit -qm "a stranger's"
# Control: outside it does all of that (but for the network, and what it leaves running).
sed '/sleep/d;/socket/d' hostile.sh >../control.sh
expect 0 sh ../control.sh "$(dirname "$PWD")"
for one in "the token" "another file" "the checkout"; do
	has "$OUT" "$one"
done
[ -e .git/hooks/post-checkout ] || fail "control: no hook"
rm .git/hooks/post-checkout

for service in github gitlab; do
	case $service in
	github) run=test after=trail id=ci-17 ;;
	gitlab) run=script after=after_script id=ci-18 ;;
	esac
	step $service $run >../run.sh
	grep -q 'wardfs run --policy' ../run.sh || fail "$service: no run: $(cat ../run.sh)"
	expect 0 sh -e ../run.sh
	[ "$OUT" = tested ] || fail "$service: $OUT"
	[ -z "$(git status --porcelain)" ] || fail "the checkout was changed: $(git status --porcelain)"
	[ ! -e .git/hooks/post-checkout ] || fail "a hook was left"
	# The job fails as the tests do, and the trail is kept all the same.
	echo 3 >status
	git commit -qam fails
	case $service in github) RUN=19 ;; *) CI_JOB_ID=20 ;; esac
	rc=0
	sh -e ../run.sh >../out 2>&1 || rc=$?
	[ $rc -eq 2 ] || fail "$service: make exits with 2, the step with $rc: $(cat ../out)"
	step $service $after >../after.sh
	expect 0 sh -e ../after.sh
	has "$OUT" ": intact"
	tar -tf trail.tar | grep -q '/trail.jsonl$' || fail "no trail"
	rm trail.tar
	echo 0 >status
	git commit -qam again
	expect 0 "$WARDFS" audit show --json --kind session.start "$id"
done
# The step that installs is shell, and what it calls is there.
step github install >../install.sh
sh -n ../install.sh || fail "install"
expect 0 "$WARD_SRC/bootstrap" help
has "$OUT" "./bootstrap package"
has "$(cat ../install.sh)" "./bootstrap package"
"$WARDFS" doctor >/dev/null || [ $? -eq 1 ] || fail "doctor"

# Removing: what the page names is what there is.
expect 0 "$WARDFS" run -- true
expect 0 "$WARDFS" home clear --all --yes
has "$OUT" "cleared: $PWD"
expect 0 "$WARDFS" home list
[ -z "$OUT" ] || fail "homes are left: $OUT"
# Also what an agent kept, such as a sign-in. The control: it was there.
as_user -c '
	set -e
	mkdir -p proj .local/bin && cd proj
	printf "#!/bin/sh\necho kept >\"\$CODEX_HOME/auth.json\"\n" >../.local/bin/codex
	chmod +x ../.local/bin/codex
	export PATH="$HOME/.local/bin:$PATH"
	"$WARDFS" run -- codex
	"$WARDFS" init
	[ "$(find ~ -name wardfs | wc -l)" -eq 3 ] && grep -rqx kept ~/.local/share/wardfs
	eval "$(sed -n "/^As each user/,/^As root/s/^rm /rm /p" "$WARD_SRC/docs/upgrade.md")"
	[ -z "$(find ~ -name wardfs)" ]' || fail "what the page removes leaves something"
