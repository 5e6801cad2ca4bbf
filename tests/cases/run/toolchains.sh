#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tools that people build and debug with, as far as this host has them; a server on loopback for a
# second process; and a debugger, which is refused in words that a person understands.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1

# A server and its client are two processes, on a port that the system chose; from outside nobody
# reaches it.
cp "$WARD_SRC/tests/cases/run/lib/toolchains-serve.py" serve.py
cat >client.py <<'P'
import sys, urllib.request
print(urllib.request.urlopen("http://127.0.0.1:" + open("port").read(), timeout=30).read().decode(), end="")
P
expect 0 "$WARDFS" run -- sh -c '
	/usr/bin/python3 serve.py &
	i=0
	until [ -s port ]; do i=$((i + 1)); [ $i -lt 600 ] || exit 9; sleep 0.05; done
	/usr/bin/python3 client.py; rc=$?; kill $!; exit $rc'
has "$OUT" "hello from inside"
rm -f port
/usr/bin/python3 serve.py &
server=$!
trap 'kill $server 2>/dev/null || :' EXIT
wait_until 60 test -s port || fail "control: no server"
expect 0 /usr/bin/python3 client.py
has "$OUT" "hello from inside"
expect 1 "$WARDFS" run -- /usr/bin/python3 client.py
has "$ERR" "refused"
kill $server
trap - EXIT

# gdb says what it cannot do, and ends.
if command -v gdb >/dev/null; then
	expect 0 gdb -nx -batch -ex run --args /bin/sh -c 'exit 7'
	has "$OUT" "exited with code 07"
	"$WARDFS" run -- gdb -nx -batch -ex run --args /bin/sh -c 'exit 7' >out 2>&1 </dev/null || : # what gdb exits with says nothing
	has "$(cat out)" "Operation not permitted"
	hasnt "$(cat out)" "exited with code 07"
	expect 0 "$WARDFS" run -- gdb -nx -batch -ex 'info functions ^main$' /usr/bin/python3
fi
# Built with the address sanitizer a program runs, and still finds what is wrong.
printf '#include <stdlib.h>\nint main(int c, char **v) { char *p = malloc(1); (void)v; return c > 1 ? p[c] : 0; }\n' >asan.c
if gcc -fsanitize=address asan.c -o asan 2>/dev/null; then
	expect 0 "$WARDFS" run -- ./asan
	expect 1 "$WARDFS" run -- ./asan overflow
	has "$ERR" heap-buffer-overflow
	# the control: why the profile says what it says
	expect 1 "$WARDFS" run -e LSAN_OPTIONS=detect_leaks=1 -- ./asan
	has "$ERR" ptrace
fi
if command -v javac >/dev/null && command -v java >/dev/null; then
	mkdir classes
	cat >Hello.java <<'J'
public class Hello { public static void main(String[] a) { System.out.println("java " + (40 + 2)); } }
J
	expect 0 "$WARDFS" run -- sh -c 'javac -d classes Hello.java && java -Xshare:auto -cp classes Hello'
	has "$OUT" "java 42"
fi
if command -v go >/dev/null; then
	printf 'package main\nimport "fmt"\nfunc main() { fmt.Println("go", 42) }\n' >hello.go
	expect 0 "$WARDFS" run --read "$(go env GOROOT)" -- sh -c 'GOCACHE=/tmp/go go run hello.go'
	has "$OUT" "go 42"
fi
# A toolchain in a home: [system] read shows it where it is.
if command -v cargo >/dev/null && root=$(rustc --print sysroot 2>/dev/null) && [ -x "$root/bin/cargo" ]; then
	printf '[policy]\nversion = 1\nextends = medium\n[system]\nread = %s\n' "$root" >../rust.policy
	mkdir -p hello/src
	printf '[package]\nname = "hello"\nversion = "0.1.0"\nedition = "2021"\n' >hello/Cargo.toml
	printf 'fn main() { println!("rust {}", 42); }\n' >hello/src/main.rs
	expect 0 "$WARDFS" run --policy ../rust.policy -e "PATH=$root/bin:/usr/bin:/bin" -- sh -c 'cd hello && cargo run -q --offline'
	has "$OUT" "rust 42"
fi
exit 0
