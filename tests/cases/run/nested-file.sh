#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A project file covers everything beneath it, even if its owner has no policy and no kept home,
# and nothing that a session makes there changes that for a later one. A directory that the owner
# chose by `wardfs init` is a project of its own.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
mkdir -p p/sub/deep
p=$WARD_TMP/p
cd p || exit 1
echo kept >sub/deep/secret
printf '[policy]\nversion = 1\n[guard]\nhide = secret\n' >.wardfs.policy
printf '[policy]\nversion = 1\nextends = medium\n[home]\nmode = tmpfs\n' >../no-home.policy

# held DIR: what is started there is under the file of p.
held() {
	cd "$1" || exit 1
	expect 1 "$WARDFS" run --policy "$WARD_TMP/no-home.policy" -- cat "$p/sub/deep/secret"
	has "$ERR" "$p/.wardfs.policy"
	cd "$p" || exit 1
}

# Controls: without a mark beneath, the file holds from everywhere; without the file, sub is a
# project of its own.
for d in "$p" "$p/sub" "$p/sub/deep"; do
	held "$d"
	hasnt "$ERR" "wardfs init"
done
mv .wardfs.policy ../file
git init -q sub
cd sub || exit 1
expect 0 "$WARDFS" run --policy "$WARD_TMP/no-home.policy" -- cat deep/secret
hasnt "$ERR" "wardfs init"
cd .. || exit 1
rm -rf sub/.git
mv ../file .wardfs.policy

# Marks that a session leaves: said, with both directories and the command, and not followed.
for mark in 'git init -q sub' 'touch sub/.wardfs.policy' 'printf "[policy]\nversion = 1\n" >sub/.wardfs.policy' \
	'git init -q sub/deep' 'printf "[policy]\nversion = 1\n" >sub/deep/.wardfs.policy; git init -q sub'; do
	rm -rf sub/.git sub/.wardfs.policy sub/deep/.git sub/deep/.wardfs.policy
	expect 0 "$WARDFS" run --policy "$WARD_TMP/no-home.policy" -- sh -ec "$mark"
	held "$p/sub/deep"
	has "$ERR" "the project is $p, because its .wardfs.policy"
	has "$ERR" "wardfs init"
	has "$ERR" "$p/sub"
	cd sub/deep || exit 1
	expect 1 "$WARDFS" policy explain read secret
	has "$ERR" "the project is $p"
	cd "$p" || exit 1
done

# A home that a session left beneath, while there was no file above, does not end it either.
rm -rf sub/.git sub/deep/.git sub/deep/.wardfs.policy
mv .wardfs.policy ../file
git init -q sub
cd sub || exit 1
expect 0 "$WARDFS" run -- touch /agent-home/kept
expect 0 "$WARDFS" home size
has "$OUT" "$p/sub"
cd .. || exit 1
mv ../file .wardfs.policy
held "$p/sub"
has "$ERR" "the project is $p"

# The owner says that sub is a project. Then it is one, with no more said; what is beside it stays
# under the file.
cd sub || exit 1
expect 0 "$WARDFS" init
expect 0 "$WARDFS" run -- cat deep/secret
hasnt "$ERR" "wardfs init"

# A session gives everybody the right to write at the top of p. The mark there is not passed over:
# where it would decide, what starts beneath is refused, by every verb, with the way out. Controls:
# at the top, and without the right.
cd "$p" || exit 1
rm -rf .git "$XDG_CONFIG_HOME/wardfs/projects"/*sub.policy
"$WARDFS" home clear --all --yes >/dev/null
for mark in .wardfs.policy .git; do
	expect 0 "$WARDFS" run --policy ../no-home.policy -- chmod 777 /workspace
	expect 0 "$WARDFS" run --policy ../no-home.policy -- test -d /workspace/sub
	# What says that sessions were here would decide.
	"$WARDFS" home clear --all --yes >/dev/null
	cd sub || exit 1
	for verb in "run --policy $WARD_TMP/no-home.policy -- cat deep/secret" "policy explain read deep/secret" "policy check"; do
		# shellcheck disable=SC2086
		expect 2 "$WARDFS" $verb
		has "$ERR" "$p/$mark would make that directory the project"
		has "$ERR" "chmod o-w $p"
	done
	# The file is believed before the mark is, whichever is nearer.
	git init -q .
	if [ "$mark" = .git ]; then
		expect 0 "$WARDFS" run --policy "$WARD_TMP/no-home.policy" -- cat deep/secret
	else
		expect 2 "$WARDFS" run --policy "$WARD_TMP/no-home.policy" -- cat deep/secret
	fi
	rm -rf .git
	# Both ways out.
	expect 0 "$WARDFS" init
	expect 0 "$WARDFS" run --policy "$WARD_TMP/no-home.policy" -- cat deep/secret
	rm "$XDG_CONFIG_HOME/wardfs/projects"/*sub.policy
	"$WARDFS" home clear --all --yes >/dev/null
	cd ..
	chmod o-w .
	if [ "$mark" = .wardfs.policy ]; then
		held "$p/sub"
		rm .wardfs.policy
		git init -q .
	else
		cd sub
		expect 0 "$WARDFS" run --policy "$WARD_TMP/no-home.policy" -- test -d /workspace/sub
	fi
done
