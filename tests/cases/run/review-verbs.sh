#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# learn, attach, quotas, `log`, reload and `changes = discard` with staged changes: as without
# review, and nothing is in the project.
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review-steps.sh"
trap steps_end EXIT

store=${XDG_STATE_HOME:-$HOME/.local/state}/wardfs
unchanged() { [ "$(whole)" = "$before" ] || fail "$1: the project changed"; }
policy() { printf '[policy]\nversion = 1\nextends = medium\n' >"$WARD_TMP/policy" && cat >>"$WARD_TMP/policy"; }

echo '--- log: the trail has the same records as without review'
work='cat changed; echo new >>changed; rm removed; mv renamed moved; mkdir sub; echo z >sub/z; ln sub/z sub/y
	chmod 600 untouched; (: >new.pem) 2>/dev/null || :; truncate -s 3 d/one; rm -r gone; ln -s changed link'
for log in opens io; do
	policy <<-END
		[audit]
		log = $log
	END
	for how in direct review; do
		fresh
		before=$(whole)
		set -- --policy "$WARD_TMP/policy" --session "$how-$log"
		[ "$how" = direct ] || set -- "$@" --review
		expect 1 "$WARDFS" run "$@" -- sh -c "$work; exit 1"
		if [ "$how" = direct ]; then
			[ "$(whole)" != "$before" ] || fail 'control: nothing changed'
		else
			unchanged "log = $log"
		fi
		"$WARDFS" audit show --json "$how-$log" >"$WARD_TMP/$how.jsonl"
		python3 "$WARD_SRC/tests/cases/run/lib/review-verbs-log.py" "$WARD_TMP/$how.jsonl" >"$WARD_TMP/$how"
		[ "$(wc -l <"$WARD_TMP/$how")" -gt 12 ] || fail "control: few records: $(cat "$WARD_TMP/$how")"
		expect 0 "$WARDFS" audit verify "$how-$log"
	done
	diff "$WARD_TMP/direct" "$WARD_TMP/review" || fail "log = $log: other records"
done

sizes=
echo '--- quotas: what is staged counts as what is written'
policy <<-END
	[quota /workspace]
	growth = 100K
	files = 20
END
for how in direct review; do
	fresh
	before=$(whole)
	set -- --policy "$WARD_TMP/policy"
	[ "$how" = direct ] || set -- "$@" --review
	expect 2 "$WARDFS" run "$@" -- sh -c 'head -c 60000 /dev/zero >a; head -c 30000 /dev/zero >>changed
		rm a; head -c 60000 /dev/zero >a; head -c 60000 /dev/zero >b; stat -c %s a b changed
		i=0; while [ $i -lt 30 ]; do : >f$i || exit 1; i=$((i + 1)); done'
	has "$ERR" 'quota'
	sizes="$sizes $(echo "$OUT" | tr '\n' ' '):"
	[ "$how" = direct ] || unchanged quotas
done
[ "${sizes%%:*}" = "$(echo "$sizes" | cut -d: -f2)" ] || fail "sizes: $sizes"
steps_session used --policy "$WARD_TMP/policy"
inside used 'head -c 50000 /dev/zero >a'
expect 0 "$WARDFS" quota --json used
has "$OUT" '"used": 50000'
steps_over used

echo '--- permissions of directories, the session'\''s own and the project'\''s'
said=
for how in direct review; do
	fresh
	set --
	[ "$how" = direct ] || set -- --review
	expect 0 "$WARDFS" run "$@" -- sh -c 'mkdir new; echo y >new/one; { for mode in 600 500 300 100 000 700; do
		chmod $mode new d
		for dir in new d; do stat -c %n $dir/one; cat $dir/one; ls $dir; echo >$dir/$mode; echo $mode >>$dir/one; done
		done; cat new/one d/one; } 2>&1'
	has "$OUT" 'Permission denied' '700'
	[ "$how" = direct ] && said=$OUT || same 'permissions' "$said" "$OUT"
done

echo '--- reload: a tighter and a looser policy, for staged files'
fresh
before=$(whole)
printf 'secret\n' >hidden
own
before=$(whole)
policy </dev/null
steps_session reloaded --policy "$WARD_TMP/policy"
inside reloaded 'echo new >>changed; echo new >added; cat hidden >/dev/null'
policy <<-END
	[files]
	read = /workspace/changed
	deny = /workspace/added
	hide = /workspace/hidden
END
expect 0 "$WARDFS" policy reload reloaded "$WARD_TMP/policy"
expect 1 "$WARDFS" exec reloaded -- sh -c 'grep new changed && ! echo more >>changed && ! cat added && ! cat hidden; exit 1'
has "$OUT" new
has "$ERR" 'added: Permission denied' 'hidden: No such file' 'changed: Permission denied'
policy </dev/null
expect 0 "$WARDFS" policy reload reloaded "$WARD_TMP/policy"
[ "$(inside reloaded 'echo more >>changed; cat changed added hidden')" = "$(printf 'old changed\nnew\nmore\nnew\nsecret')" ] ||
	fail 'reloaded'
steps_over reloaded
unchanged reload
expect 0 "$WARDFS" review apply -s reloaded
[ "$(cat added)" = new ] || fail 'not applied'

echo '--- exec: a step, and the staged files; from outside and inside'
fresh
before=$(whole)
steps_session executed
expect 3 "$WARDFS" exec executed -- sh -c 'echo exec >>changed; exit 3'
[ "$("$WARDFS" exec executed -- tail -n1 changed)" = exec ] || fail 'exec'
expect 0 "$WARDFS" review log -s executed
[ "$(echo "$OUT" | grep -c ' exec ')" -ge 2 ] || fail "no steps: $OUT"
steps_over executed
unchanged exec

echo '--- attach: what is typed is staged'
fresh
before=$(whole)
python3 "$WARD_SRC/tests/cases/run/lib/review-verbs-attach.py" || fail attach
unchanged attach
expect 0 "$WARDFS" review diff -s typed
has "$OUT" '+typed'

echo '--- learn: a policy that stages is learned under, and the proposal stages, too'
fresh
before=$(whole)
policy <<-END
	[tree /workspace]
	changes = review
END
work='cat d/one >>changed; mkdir made; echo x >made/o'
expect 0 "$WARDFS" learn --policy "$WARD_TMP/policy" -- sh -c "$work"
has "$OUT" '[tree /workspace]' 'changes = review' 'write = /workspace/changed'
has "$ERR" 'under the proposal the command succeeds'
unchanged learn
policy </dev/null
expect 0 "$WARDFS" learn --policy "$WARD_TMP/policy" -- sh -c "$work"
hasnt "$OUT" 'changes = review'
[ "$(whole)" != "$before" ] || fail 'control: without it the project changes'
fresh
before=$(whole)
policy <<-END
	[tree /workspace]
	changes = review
END
expect 0 "$WARDFS" learn --policy "$WARD_TMP/policy" --write -- sh -c "$work"
owner=$(find "$HOME" "${XDG_CONFIG_HOME:-$HOME}" -path '*/wardfs/projects/*.policy' | head -n1)
expect 0 "$WARDFS" run -- sh -c 'echo later >>changed'
unchanged 'a run under what was learned'
printf '[policy]\nversion = 1\nextends = medium\n[tree /workspace]\nhardlinks = read\n' >"$owner"
expect 0 "$WARDFS" learn --policy "$WARD_TMP/policy" --write -- sh -c "$work"
expect 0 "$WARDFS" run -- sh -c 'echo later >>changed'
unchanged 'a run under what was added to a file'
rm "$owner"

echo '--- changes = discard: thrown away at the end'
policy <<-END
	[tree /workspace]
	changes = discard
END
expect 0 "$WARDFS" run --policy "$WARD_TMP/policy" -s away -- sh -c 'echo x >>changed; rm d/one; cat changed'
has "$OUT" x
hasnt "$ERR" 'wardfs review'
unchanged discard
[ ! -e "$store/reviews/away" ] || fail 'what was discarded is there'
expect 125 "$WARDFS" review away
expect 0 "$WARDFS" audit verify away
