# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# For the cases of limits: of each hierarchy that has what is needed, one group of the ordinary
# user's ($made). Sourced once; removes them at the exit.
set -eu
. "$WARD_SRC/tests/lib.sh"

name=wardfs-test.$$
made=
removed() {
	[ ! -d "$1" ] || rmdir "$1"
}
undo() {
	for d in $made; do
		echo $$ >"${d%/"$name"}/cgroup.procs" || :
		# A process that has ended is in the group until its parent has asked, perhaps.
		wait_until 60 removed "$d/shell" || :
		wait_until 60 removed "$d" || :
	done
}
trap undo EXIT
for c in memory pids cpu cpuacct; do
	mount=$(awk -v c="$c" '$0 ~ / - cgroup / { n = split($NF, o, ","); for (i = 1; i <= n; i++) if (o[i] == c) { print $5; exit } }' /proc/self/mountinfo)
	[ -n "$mount" ] || continue
	mkdir "$mount/$name" || skip "no group can be made in $mount"
	made="$made $mount/$name"
	chown 4711:4711 "$mount/$name" "$mount/$name/cgroup.procs"
done
v2=$(awk '$0 ~ / - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
if [ -n "$v2" ] && mkdir "$v2/$name"; then
	made="$made $v2/$name"
	for c in memory pids cpu; do
		grep -qw "$c" "$v2/cgroup.controllers" && echo "+$c" >"$v2/cgroup.subtree_control" || :
	done
	# A group of v2 with processes of its own gives nothing on: the shell stands in one beneath.
	mkdir "$v2/$name/shell"
	chown 4711:4711 "$v2/$name" "$v2/$name/cgroup.procs" "$v2/$name/cgroup.subtree_control" \
		"$v2/$name/shell" "$v2/$name/shell/cgroup.procs"
fi
[ -n "$made" ] || skip "no control groups here"

# enter_delegated: puts this shell, or subshell, there.
enter_delegated() {
	for d in $made; do
		sh -c 'echo "$PPID"' >self
		in=$d
		[ ! -d "$d/shell" ] || in=$d/shell
		echo "$(cat self)" >"$in/cgroup.procs" || exit 1
	done
}
