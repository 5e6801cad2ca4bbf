#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The same attempts in each engine of mode docker, without one, and in wardfs-oci with runc, crun
# and runsc: those of `wardfs attack`, every operation under every verb of the file rules, quotas,
# noexec rules and lists of programs. Prints what each engine holds; docs/containers.md has the
# same table. The controls: `wardfs attack` makes each attempt outside too; the other attempts
# succeed without the rule.
# plain
# timeout: 900
set -eu
. "$WARD_SRC/tests/escape/lib/engines.sh"
for program in runc crun podman dockerd runsc; do
	command -v $program >/dev/null || skip "no $program (Debian packages runc crun podman docker.io runsc)"
done
inside "$@"
trap boxes_end EXIT
verbs=$WARD_SRC/tests/support/file-verbs.py
at=$W/at
mkdir "$at"
printf '[policy]\nversion = 1\nextends = medium\n' >"$at/medium"
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\n' >"$at/plain"
{ cat "$at/plain" && echo 'noexec = *.bin'; } >"$at/noexec"
{ cat "$at/plain" && printf '[process]\nexec = /usr/bin/dash\n'; } >"$at/programs"
{ cat "$at/plain" && printf '[quota /workspace]\ngrowth = 1M\n'; } >"$at/quota"
echo 'work=/workspace' >"$at/facts"

# access(2): a mount for many users answers by mode bits.
sed -n 's/^    "\(access: [^e].*\)": .*/\1/p; s/^    "\(access: executable\)": .*/\1/p' "$verbs" >"$at/wardfs-oci.loose"
# What gVisor of 2022 cannot do, says wrongly, or refuses for another reason. Nothing that reads.
cp "$at/wardfs-oci.loose" "$at/crun+wardfs-oci.loose"
cat "$at/wardfs-oci.loose" - >"$at/runsc.loose" <<'END'
a file without a name (`O_TMPFILE`) in a directory, and a name for it there
change mode
change owner
copy_file_range into it
create a file
exchange a directory with a file
exchange with a file
make a directory
make a pipe
make a socket (bind)
make a symbolic link
open for appending
read an extended attribute
remove an extended attribute
rename away, `RENAME_WHITEOUT`
rename onto a file, `RENAME_NOREPLACE`
rename to a new name, `RENAME_NOREPLACE`
set an extended attribute
set times
set times to now
truncate
END
cp "$at/runsc.loose" "$at/runsc+wardfs-oci.loose"
: >"$at/none.loose"

# The engine names what it cannot do, and starts nothing.
refused_run() {
	[ "$STATUS" -eq 125 ] || [ "$STATUS" -eq 1 ] || return 1
	grep -qF "$text" "$at/said"
}
try() { # try NAME POLICY CMD...: sets STATUS
	STATUS=0
	in_engine "$@" >"$at/out" 2>"$at/said" || STATUS=$?
}

file_rules() {
	cp "$verbs" verbs.py
	python3 "$verbs" make . "$at/verbs"
	loose=$at/none.loose
	[ ! -e "$at/$1.loose" ] || loose=$at/$1.loose
	# It does not run with such a rule.
	left_out=
	case $1 in runsc*) left_out=noexec ;; esac
	[ -z "$left_out" ] || sed -i '/^noexec/d' "$at/verbs"
	python3 "$verbs" state . >"$at/before"
	in_engine "$1" "$at/verbs" /usr/bin/python3 verbs.py attempt /workspace >"$at/answers" 2>"$at/said" ||
		fail "$1: $(cat "$at/said")"
	python3 "$verbs" state . >"$at/after"
	# shellcheck disable=SC2086
	python3 "$verbs" judge "$at/answers" "$at/before" "$at/after" "$loose" $left_out ||
		fail "$1: file rules"
	word=yes
	[ ! -s "$loose" ] || word='yes, other answers'
}

quotas() {
	for rule in plain quota; do
		try "$1" "$at/$rule" sh -c 'head -c 3000000 /dev/zero >large'
		size=$(stat -c %s large)
		rm large
		case $rule in
		plain) [ "$size" -eq 3000000 ] || fail "$1: control: $size bytes, $(cat "$at/said")" ;;
		quota) [ "$size" -le 1048576 ] || fail "$1: a quota of 1M let $size bytes pass" ;;
		esac
	done
	word=yes
}

# programs NAME POLICY TEXT CMD...: CMD runs without the rule, not with it, or the run is refused
programs() {
	name=$1
	rule=$2
	text=$3
	shift 3
	try "$name" "$at/plain" "$@"
	[ "$STATUS" -eq 0 ] || fail "$name: control: $* ended with $STATUS: $(cat "$at/said")"
	try "$name" "$at/$rule" "$@"
	if refused_run; then
		word=refused
	elif [ "$STATUS" -eq 126 ]; then
		word=yes
	else
		fail "$name: $* under $rule ended with $STATUS: $(cat "$at/said")"
	fi
}

for name in $ENGINES; do
	mkdir "$W/$name" "$at/$name"
	project "$W/$name/p"
	cd "$W/$name/p"
	facts=
	case $name in *wardfs-oci) facts="--facts $at/facts" ;; esac
	# An attempt that busy processors did not let happen is made again, twice.
	for again in 1 2 no; do
		# shellcheck disable=SC2086
		"$WARDFS" attack --json $facts --sandbox "$(command_of "$name" "$at/medium")" \
			>"$at/$name/attack.json" 2>"$at/said" || [ $? -eq 1 ] || fail "$name: $(cat "$at/said")"
		python3 "$WARD_SRC/tests/escape/lib/engine-table.py" settled "$at" "$name" >&2 ||
			[ $again = no ] || continue
		break
	done
	file_rules "$name"
	echo "file rules: $word" >"$at/$name/words"
	quotas "$name"
	echo "quotas: $word" >>"$at/$name/words"
	printf '#!/bin/sh\n' >tool.bin
	chmod 755 tool.bin
	programs "$name" noexec 'noexec rule' sh -c 'exec ./tool.bin'
	echo "\`noexec\` rules: $word" >>"$at/$name/words"
	programs "$name" programs '[process] exec' dash -c 'exec id'
	echo "lists of programs: $word" >>"$at/$name/words"
	try "$name" "$at/plain" true
	"$WARDFS" audit show --json >"$at/$name/trail.json"
done
# shellcheck disable=SC2086
python3 "$WARD_SRC/tests/escape/lib/engine-table.py" "$at" $ENGINES >"$at/table" ||
	fail "$(cat "$at/table")"
cat "$at/table"
python3 "$WARD_SRC/tests/escape/lib/engine-table.py" same "$WARD_SRC/docs/containers.md" "$at/table"
