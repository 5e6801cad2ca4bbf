#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The broker that answers Deno's permission requests: its answers, its records, and what closes a
# connection. A Python stand-in called Deno sends requests that no real Deno would. agents/deno.sh
# uses Deno itself.
# timeout: 300
set -eu
if [ "${1-}" != inside ]; then
	exec unshare -m --propagation private sh "$0" inside
fi
. "$WARD_SRC/tests/lib.sh"
# A program that is listed for execution cannot lie in /var/tmp.
mount -t tmpfs tmpfs /srv
HOME=/srv/home
export HOME
mkdir -p $HOME/.local/bin /srv/beside
cp "$(readlink -f /usr/bin/python3)" $HOME/.local/bin/deno
cd /srv
project p
cd p
cp "$WARD_SRC/tests/cases/run/lib/deno-broker-ask.py" run
echo >x.ts
echo kept >kept.txt
echo TOKEN=s3cret >.env
mkdir sub
cat >../policy <<P
[policy]
version = 1
extends = medium
mode = deno
[guard]
deny = secret.txt
[network]
mode = allowlist
allow = one.example
allow = two.example:8443
publish = 8000
P
ask() { expect 0 "$WARDFS" run --policy ../policy "$@"; }

echo "--- answers, by the policy"
echo >secret.txt
ask -s asks x.ts "read kept.txt" "read ./sub/../kept.txt" "read $PWD/kept.txt" "read /workspace/kept.txt" "read secret.txt" \
	"read .env" "read /etc/hostname" "read ../beside/x" "read /workspace/../etc/hostname" "read" "write kept.txt" "write .git/config" \
	"write .git" "write /tmp/x" "write <TMP>" "write" "env HOME" "env" "sys hostname" "run" "run /bin/true" "run git" "run ls" "ffi /lib/x.so" "ffi ./sub/x.so" "other x" \
	"net one.example:443" "net one.example:22" "net two.example:8443" "net three.example:443" "net one.example" "net" \
	"net 0.0.0.0:8000" "net 0.0.0.0:8001" "net 198.18.0.1:3128" "net 198.18.0.1:22" "import one.example:443" "import three.example:443"
for line in "read kept.txt: allow" "read ./sub/../kept.txt: allow" "read $PWD/kept.txt: allow" "read /workspace/kept.txt: allow" \
	"read secret.txt: deny" "read .env: allow" "read /etc/hostname: deny" "read ../beside/x: deny" "read /workspace/../etc/hostname: deny" \
	"read: deny" "write kept.txt: allow" "write .git/config: deny" "write /tmp/x: allow" "write <TMP>: allow" \
	"write: deny" "env HOME: allow" "env: allow" "sys hostname: allow" "run: deny" "run /bin/true: deny" "run git: deny" "ffi /lib/x.so: deny" \
	"other x: deny" "net one.example:443: allow" "net one.example:22: deny" "net two.example:8443: allow" "net three.example:443: deny" \
	"net one.example: deny" "net: deny" "net 0.0.0.0:8000: allow" "net 0.0.0.0:8001: deny" \
	"net 198.18.0.1:3128: allow" "net 198.18.0.1:22: deny" "import one.example:443: allow" \
	"import three.example:443: deny"; do
	has "$OUT" "$line"
done

# fetch() asks for the proxy that the variables name. Without a network there is none.
sed 's/^mode = allowlist/mode = none/; /^allow = /d; /^publish/d' ../policy >../none
expect 0 "$WARDFS" run --policy ../none x.ts "net 198.18.0.1:3128"
has "$OUT" "net 198.18.0.1:3128: deny"

echo "--- records, as the script spelled it"
expect 0 "$WARDFS" audit verify asks
expect 0 "$WARDFS" audit show --kind deny asks
for text in "Deno asked for read: ../beside/x" "Deno asked for read: /workspace/../etc/hostname" "Deno asked for run, all of it" \
	"Deno asked for net: three.example:443" "Deno asked for ffi: /lib/x.so"; do
	has "$OUT" "$text"
done
hasnt "$OUT" "asked for read: kept.txt"
# Programs and libraries are files, no hosts, and each record names who asked.
expect 0 "$WARDFS" audit show --json --kind deny asks
printf '%s\n' "$OUT" | python3 "$WARD_SRC/tests/cases/run/lib/deno-broker-records.py" || fail "records: $OUT"
expect 0 "$WARDFS" audit denials asks
has "$OUT" "read /srv/beside/x"
has "$OUT" "run /bin/true"
has "$OUT" "Deno asked for run: git"
has "$OUT" "Deno asked for run: ls"
has "$OUT" "secret.txt"
# The advice for each: a program, a file outside of the trees, and a right that no line gives.
has "$OUT" "to permit: exec = /bin/true
    in:        [process] of "
has "$OUT" "to permit: read = /etc/hostname
    in:        [system] of "
has "$OUT" "where the program lies"
has "$OUT" "loads no library"
hasnt "$OUT" "read = /bin/true"
hasnt "$OUT" "plain pattern"
ask -s writes x.ts "write /etc/x" "write /workspace/kept.txt"
expect 0 "$WARDFS" audit denials writes
has "$OUT" "only trees, the home and /tmp can be written"
hasnt "$OUT" "to permit"
printf '[files]\nread = /workspace\n' | cat ../policy - >../reads
expect 0 "$WARDFS" run --policy ../reads -s reads x.ts "write kept.txt"
has "$OUT" "write kept.txt: deny"
expect 0 "$WARDFS" audit denials reads
has "$OUT" "to permit: write = /workspace/kept.txt"
hasnt "$OUT" "to permit: read"

echo "--- a list of programs without the runtime"
printf '[process]\nexec = /usr/bin/true\n' | cat ../policy - >../listed
expect 126 "$WARDFS" run --policy ../listed x.ts "read kept.txt"
has "$ERR" "x.ts was not started: this mode runs it with "
has "$ERR" "Add the line exec = "

echo "--- the directory of the one who asks"
ask x.ts "chdir sub" "read ../kept.txt" "read ../../beside/x"
has "$OUT" "read ../kept.txt: allow"
has "$OUT" "read ../../beside/x: deny"

echo "--- what is no question ends the connection, and no other one"
for bad in 'raw hello' 'raw {}' 'raw []' 'raw {"v":2,"id":1,"permission":"env","value":null}' \
	'raw {"v":1,"id":"1","permission":"env","value":null}' 'raw {"v":1,"id":1,"permission":"env","value":7}' \
	'raw {"v":1,"id":1,"permission":"env"}' 'raw {"v":1,"id":1,"id":2,"permission":"env","value":null}' \
	'raw {"v":1,"id":1,"permission":"read\u0000","value":"a"}' 'long 400000'; do
	ask x.ts "$bad" "again" "env HOME"
	has "$OUT" ": closed"
	has "$OUT" "env HOME: allow"
done

echo "--- what no file can be called is refused, and the script goes on"
ask -s names x.ts 'raw {"v":1,"id":1,"permission":"read","value":"kept.txt\u0000b"}' 'path 5000' 'path 100000' "env HOME"
[ "$(printf '%s\n' "$OUT" | grep -c ': deny')" -eq 3 ] || fail "names: $OUT"
has "$OUT" "env HOME: allow"
expect 0 "$WARDFS" audit show --kind deny names
has "$OUT" "Deno asked for read: kept.txt"
hasnt "$OUT" "$(printf '%05000d' 0 | tr 0 a)"
ask x.ts "many 40" "env HOME"
has "$OUT" "env HOME: allow"

echo "--- the policy in force decides, also after a reload"
sed 's/^deny = secret.txt/deny = kept.txt/; s/^allow = one.example/allow = three.example/' ../policy >../other
"$WARDFS" run --policy ../policy -s reloads x.ts "read kept.txt" "net one.example:443" "make before" "await after" "read kept.txt" \
	"read secret.txt" "net one.example:443" "net three.example:443" >../out 2>../err &
pid=$!
wait_until 120 test -e before || fail "nothing was asked: $(cat ../out ../err)"
expect 0 "$WARDFS" policy reload reloads ../other
echo >after
wait "$pid" || fail "$(cat ../out ../err)"
[ "$(cat ../out)" = "read kept.txt: allow
net one.example:443: allow
read kept.txt: deny
read secret.txt: allow
net one.example:443: deny
net three.example:443: allow" ] || fail "$(cat ../out)"
expect 0 "$WARDFS" audit show --kind deny reloads
has "$OUT" "other"

echo "--- many questions take no more of the processors than the policy gives"
spent() { # PID: milliseconds of CPU time
	awk -v t="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print int(($12 + $13) * 1000 / t) }' "/proc/$1/stat"
}
rm -f before after
printf '[limits]\ncpus = 0.1\n' | cat ../policy - >../slow
"$WARDFS" run --allow-missing limit-cpus --policy ../slow x.ts "make before" "await after" "flood 6000" "make flooded" "await ended" >../out 2>../err &
pid=$!
wait_until 120 test -e before || fail "nothing was asked: $(cat ../out ../err)"
used=$(spent "$pid")
echo >after
wait_until 280 test -e flooded || fail "no end of questions: $(cat ../out ../err)"
used=$(($(spent "$pid") - used))
echo >ended
wait "$pid" || fail "$(cat ../out ../err)"
read -r _ _ all took <../out
[ "$all" = all ] || fail "$(cat ../out)"
[ $((used * 5)) -lt "$took" ] || fail "answers took $used of $took ms of a processor"
printf '[limits]\ncpu-time = 2s\n' | cat ../policy - >../short
expect 0 "$WARDFS" run --allow-missing limit-cpu-time --policy ../short x.ts "flood 60000"
has "$OUT" "flood 60000: closed"

echo "--- one is used for its own session alone, and none where the policy lists programs"
expect 0 "$WARDFS" run --policy ../policy --dry-run x.ts
has "$OUT" "broker       used: "
[ -z "$(find "$XDG_RUNTIME_DIR" -name permission)" ] || fail "a socket stays: $(find "$XDG_RUNTIME_DIR")"
printf '[process]\nexec = %s\nexec = /usr/bin/true\n' "$HOME/.local/bin/deno" >>../policy
expect 1 "$WARDFS" run --policy ../policy x.ts "env HOME"
has "$ERR" "no broker"
expect 0 "$WARDFS" run --policy ../policy --dry-run x.ts
has "$OUT" "broker       not used: [process] exec lists programs"
expect 0 "$WARDFS" run --policy ../policy --dry-run --json x.ts
printf '%s' "$OUT" | python3 -c 'import json, sys; assert json.load(sys.stdin)["runtime"]["broker"]["used"] is False'
