#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# inotify inside reports the host's changes: one event a change, for what the policy shows and
# nothing else, never recorded as the agent's. Our process that makes these events changes
# nothing, and nobody waits for it.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
pid=
trap '[ -z "$pid" ] || kill $pid 2>/dev/null || :' EXIT
mkdir p
cp "$WARD_SRC/tests/support/inotify.py" p/watch.py
cat >all.policy <<'P'
[policy]
version = 1
[files]
write = /workspace
read = /workspace/kept
deny = denied*
hide = *.pem
P

# begin SESSION OUT ARG…: runs the watcher in a session, until it is ready
begin() {
	session=$1 out=$2
	shift 2
	"$WARDFS" run --policy ../all.policy --session "$session" -- python3 watch.py 120 "$@" >"$out" 2>err &
	pid=$!
	said ready
}
said() { # LINE: the watcher said it
	line=$1
	is_said() { grep -qx -e "$line" "$out"; }
	wait_until 60 is_said || fail "not '$line' but: $(cat "$out" err)"
}
# The guard watches a directory a moment after it was first asked for; from then on no change is
# lost.
watched() { # DIR
	dir=$1
	is_told() {
		: >"$dir/probe" && rm "$dir/probe"
		sleep 0.2
		grep -q 'probe$' "$out"
	}
	wait_until 60 is_told || fail "nothing is told: $(cat "$out" err)"
}
finish() {
	: >"$1/stop"
	wait $pid || fail "$session: $(cat err)"
	rm "$1/stop"
}
only() { # LINE…: since mark(), these lines and no other; files that are closed may be told so more than once
	tail -n "+$from" "$out" | grep -v -e ' probe$' -e ' close-write ' >since || :
	printf '%s\n' "$@" >wanted
	cmp -s since wanted || fail "told: $(cat since)
wanted: $(cat wanted)"
	mark
}
mark() { from=$(($(wc -l <"$out") + 1)); }

scenario() {
	mkdir -p src/sub src/was gone
	for f in a b c e; do echo "$f" >"src/$f.js"; done
	begin "$1" told src src/e.js src/was
	watched src
	said 'src delete probe'
	sync_told() { # whatever came before is told by now
		: >"src/mark$1" && said "src create mark$1" && rm "src/mark$1" && said "src delete mark$1"
	}
	sync_told 0
	mark
	echo more >>src/a.js && said 'src close-write a.js' && only 'src modify a.js'
	echo new >src/n.js && said 'src modify n.js' && said 'src close-write n.js' && only 'src create n.js' 'src modify n.js'
	rm src/n.js && said 'src delete n.js' && only 'src delete n.js'
	# A file that is moved there is a whole one: who waits for that hears of it.
	mv src/b.js src/d.js && said 'src close-write d.js' && only 'src delete b.js' 'src create d.js'
	mkdir src/new && said 'src create dir new' && only 'src create dir new'
	rmdir src/new && said 'src delete dir new' && only 'src delete dir new'
	chmod 640 src/a.js && said 'src attrib a.js' && only 'src attrib a.js'
	mv src/sub gone/sub && said 'src delete dir sub' && only 'src delete dir sub'
	ln -s nowhere src/link && said 'src create link' && only 'src create link'
	# As an editor saves: the watch of the file itself ends with the file.
	echo saved >gone/e && mv gone/e src/e.js && said 'src create e.js'
	said 'src/e.js ignored .'
	said 'src/e.js delete-self .'
	rmdir src/was && said 'src delete dir was'
	said 'src/was ignored .'
	sync_told 1
	mark
	# While somebody writes, the file is not told to be closed.
	mkfifo gone/open gone/go
	(
		echo open >gone/open
		read -r _ <gone/go
	) 3>>src/c.js &
	writer=$!
	read -r _ <gone/open
	echo more >>src/c.js && said 'src modify c.js'
	sync_told 3
	! grep -q 'close-write c.js' "$out" || fail "closed while it is written: $(cat "$out")"
	echo go >gone/go && wait $writer && said 'src close-write c.js'
	mark
	# A file that the policy hides or does not let the session read makes no event, and is not
	# counted.
	echo key >src/k.pem && echo more >>src/k.pem && mv src/k.pem src/l.pem && rm src/l.pem
	echo key >src/denied && rm src/denied
	mkdir src/x.pem && rmdir src/x.pem
	sync_told 2
	only 'src create mark2' 'src delete mark2'
	finish src
	rm -r src gone
}

# --- as root, with passthrough ---
cd p
scenario first
"$WARDFS" audit show first --json >trail
grep -q '"kind":"external"' trail || fail "no change of others is recorded: $(cat trail)"
if grep -E '"kind":"(create|remove|rename|attr|deny)"' trail; then fail "recorded as the agent's"; fi
if grep -E '"kind":"open".*/src/[a-z]*.js"' trail; then fail "recorded as the agent's"; fi

# --- the project's own directory, which is the root of the tree ---
begin top ../toptold .
watched .
echo new >top.js && said '. create top.js' && said '. modify top.js'
rm top.js && said '. delete top.js'
finish .

# --- a tool that waits for files to be closed, or replaced ---
mkdir tool
echo one >tool/f
"$WARDFS" run --policy ../all.policy --session entr -- timeout 120 sh -c 'echo tool/f | entr -n -s "cat tool/f; [ ! -e tool/end ] || kill \$PPID"' \
	>ran 2>err &
pid=$!
out=ran
said one
# The guard watches a moment later: the same is written until it is seen.
runs() {
	printf '%s\n' "$1" >tool/f
	sleep 0.3
	grep -qx "$1" ran
}
wait_until 60 runs two || fail "entr: $(cat ran err)"
wait_until 60 runs three || fail "entr: $(cat ran err)"
: >tool/end
wait_until 60 runs four || fail "entr: $(cat ran err)"
wait $pid || :
rm -r tool

# --- an ordinary user ---
mkdir -p ../home/p
cp watch.py ../home/p
cp ../all.policy ../home/
sed -n '/^begin()/,/^}/p; /^said()/,/^}/p; /^watched()/,/^}/p; /^finish()/,/^}/p; /^only()/,/^}/p; /^mark()/p; /^scenario()/,/^}/p' "$0" >../home/functions.sh
cat >../home/user.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
. ./functions.sh
pid=
trap '[ -z "$pid" ] || kill $pid 2>/dev/null || :' EXIT
mkdir -m 700 run
export XDG_RUNTIME_DIR="$PWD/run"
cd p
scenario rootless
S
chmod -R a+rX ../home
(expect 0 as_user "$WARD_TMP/home/user.sh")

# --- somebody inside looks at a name all the time: what the kernel keeps of that loses no event ---
mkdir looked
begin looked told looked
watched looked
"$WARDFS" exec looked -- sh -c 'until [ -e looked/stop ]; do stat looked/f; done' >/dev/null 2>&1 &
looker=$!
counted() { [ "$(grep -cx "looked $1 f" told)" -ge "$2" ]; }
for i in 1 2 3 4 5 6 7 8 9 10; do
	: >looked/f && wait_until 60 counted create $i || fail "not created $i times: $(cat told)"
	rm looked/f && wait_until 60 counted delete $i || fail "not removed $i times: $(cat told)"
done
# The session may end before the shell does.
finish looked
wait $looker || :

# --- what the agent does is told once ---
mkdir own
begin own told own
watched own
said 'own delete probe'
mark
"$WARDFS" exec own -- sh -c 'cd own; echo one >f; echo two >>f; rm f; mkdir d; rmdir d' || fail "exec"
: >own/mark && said 'own create mark'
tail -n "+$from" told | grep -v probe >since
[ "$(grep -c 'create f' since)" = 1 ] && [ "$(grep -c 'create dir d' since)" = 1 ] &&
	[ "$(grep -c 'modify f' since)" -le 2 ] || fail "told: $(cat since)"
finish own

# --- its requests change nothing, and the same of anybody else is decided as ever ---
# The agent asks for what is just being replayed, in a directory where it may change nothing.
mkdir kept
cp "$WARD_SRC/tests/cases/run/lib/replay-forge.py" forge.py
"$WARDFS" run --policy ../all.policy --session forge -- python3 forge.py kept >forged 2>err &
pid=$!
out=forged
said ready
i=0
while ! grep -q '^tried' forged && [ $i -lt 3000 ]; do
	: >kept/f && mkdir kept/d && rmdir kept/d && rm kept/f
	i=$((i + 1))
done
wait $pid || fail "forge: $(cat forged err)"
grep -q '^tried [1-9][0-9]* events [1-9]' forged || fail "control: $(cat forged err)"
[ -z "$(ls kept)" ] || fail "left: $(ls kept)"

# --- a replayer that is stopped holds up nobody ---
mkdir held
begin held told held
watched held
inits() { # PID: its children that are wardfs-init
	for child in $(cat "/proc/$1/task/$1/children"); do
		[ "$(cat "/proc/$child/comm")" != wardfs-init ] || echo "$child"
	done
}
# The starter is among them: it goes on when it has something to start.
for p in $(inits "$(inits $pid)"); do kill -STOP "$p"; done
echo seen >held/f
sees() { [ "$("$WARDFS" exec held -- cat held/f)" = seen ]; }
wait_until 60 sees || fail "what the host changes is not seen"
i=0
while [ $i -lt 300 ]; do : >"held/$i"; i=$((i + 1)); done
! grep -q 'held create f' told || fail "the control: nothing was stopped: $(cat told)"
# The session may end before the shell does.
"$WARDFS" exec held -- sh -c ': >held/stop' || :
wait $pid || fail "held: $(cat err)"
