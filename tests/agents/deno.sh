#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mode deno with Deno itself, as root and as an ordinary user. Each of the two layers refuses what
# the other one lets through. The flags follow the policy, and wardfs refuses options that widen
# them.
# timeout: 300
# plain
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
. "$WARD_SRC/tests/agents/lib/agents.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to act as another user"
agent_there deno

cat >"$WARD_TMP/body.sh" <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
PATH=$WARD_AGENTS/deno/node_modules/.bin:$PATH
project "$HOME/p"
cd "$HOME/p"
echo TOKEN=s3cret >.env
ln -s .env plain.txt
echo "kept" >kept.txt
cat >try.ts <<'T'
const act: Record<string, (...a: string[]) => unknown> = {
	read: (p) => Deno.readTextFileSync(p).trim(),
	write: (p) => Deno.writeTextFileSync(p, "x"),
	env: (n) => Deno.env.get(n),
	run: (p) => new TextDecoder().decode(new Deno.Command(p, { args: ["ran"] }).outputSync().stdout).trim(),
	net: async (h) => { (await Deno.connect({ hostname: h, port: 443 })).close(); return "connected"; },
	fetch: async (u) => (await fetch(u)).status,
	text: async () => (await import("./.env", { with: { type: "text" } })).default.trim(),
};
for (const arg of Deno.args) {
	const [what, ...rest] = arg.split(" ");
	let said: unknown;
	try {
		said = await act[what](...rest);
	} catch (e) {
		said = `${(e as Error).name}`;
	}
	console.log(`${arg}: ${said}`);
}
T

# The control of Deno's layer: without it the walls let this by.
expect 0 "$WARDFS" run --read "$(readlink -f "$(command -v deno)")" -- "$(readlink -f "$(command -v deno)")" run -A --no-config try.ts "read /etc/hostname" "env HOME"
has "$OUT" "read /etc/hostname: wardfs"
# The control of the guard: Deno alone compares paths as they are spelled, and asks nothing for what
# it imports.
expect 0 deno run --no-prompt --no-config "--allow-read=$PWD" "--deny-read=$PWD/.env" try.ts "read .env" "read plain.txt" text
has "$OUT" "read .env: NotCapable"
has "$OUT" "read plain.txt: TOKEN=s3cret"
has "$OUT" "text: TOKEN=s3cret"

# Both.
FOO=1 expect 0 "$WARDFS" run -s both --mode deno try.ts "read kept.txt" "read /etc/hostname" "read .env" "read plain.txt" \
	text "write new.txt" "write .git/config" "env HOME" "env FOO" "run /bin/echo" "net 1.1.1.1"
has "$OUT" "read kept.txt: kept"
has "$OUT" "read /etc/hostname: NotCapable"
has "$OUT" "read .env: NotFound"
has "$OUT" "read plain.txt: NotFound"
has "$OUT" "text: TypeError"
hasnt "$OUT" s3cret
has "$OUT" "write new.txt: undefined"
[ -e new.txt ] || fail "the script wrote no file"
has "$OUT" "write .git/config: NotCapable"
has "$OUT" "run /bin/echo: NotCapable"
has "$OUT" "net 1.1.1.1: NotCapable"
expect 0 "$WARDFS" audit verify both
expect 0 "$WARDFS" audit denials --expected both
has "$OUT" .env
expect 0 "$WARDFS" audit denials both
has "$OUT" "read /etc/hostname"
has "$OUT" "Deno asked for read: /etc/hostname"
has "$OUT" "Deno asked for write: .git/config"
has "$OUT" "Deno asked for net: 1.1.1.1:443"
expect 0 "$WARDFS" audit show -v both
has "$OUT" '"mode":"deno"'
has "$OUT" '"seccomp":"strict"'

# fetch() goes by the proxy inside: nothing but the name is in its way, which nobody serves here.
printf '[policy]\nversion = 1\nextends = medium\nmode = deno\n[network]\nmode = allowlist\nallow = one.example\n' >"$HOME/net.policy"
expect 0 "$WARDFS" run -s fetches --policy "$HOME/net.policy" try.ts "fetch https://one.example/" "fetch https://two.example/"
has "$OUT" "fetch https://one.example/: TypeError"
has "$OUT" "fetch https://two.example/: NotCapable"
expect 0 "$WARDFS" audit denials fetches
has "$OUT" "two.example"
hasnt "$OUT" "198.18.0.1"
hasnt "$OUT" "one.example"

# From standard input, as a test, with an exit status, in `wardfs exec`.
echo 'console.log("from", "stdin"); Deno.exit(7)' >in.js
expect 7 "$WARDFS" run --mode deno - <in.js
[ "$OUT" = "from stdin" ] || fail "standard input: $OUT"
echo 'Deno.test("adds", () => { if (1 + 1 !== 2) throw new Error("no"); })' >sum_test.ts
expect 0 "$WARDFS" run --mode deno -- deno test sum_test.ts
has "$OUT" "1 passed"
echo 'Deno.writeTextFileSync("here", "x"); await new Promise(() => setInterval(() => {}, 1000))' >stay.js
"$WARDFS" run --mode deno -s stays stay.js >../said 2>&1 &
session=$!
wait_until 60 [ -e here ] || fail "no session: $(cat ../said)"
expect 0 "$WARDFS" exec stays try.ts "read /etc/hostname" "read kept.txt"
has "$OUT" "read /etc/hostname: NotCapable"
has "$OUT" "read kept.txt: kept"
expect 2 "$WARDFS" exec stays cat /etc/hostname
has "$ERR" "mode deno runs JavaScript and TypeScript"
kill -TERM $session
wait $session || true

# What would widen the flags.
echo '{"permissions": {"default": {"read": true, "env": true}}, "test": {"permissions": {"all": true}}}' >deno.json
expect 0 "$WARDFS" run --mode deno try.ts "read /etc/hostname"
has "$OUT" NotCapable
printf '%s\n' '#!/bin/sh' 'echo a deno of the project' >deno
chmod +x deno
PATH=$PWD:$PATH expect 0 "$WARDFS" run --mode deno try.ts "read kept.txt"
has "$OUT" "read kept.txt: kept"
mkdir bin
cp "$(readlink -f "$(command -v deno)")" bin/deno
PATH=$PWD/bin:$PATH expect 125 "$WARDFS" run --mode deno try.ts
has "$ERR" "lies in the project"
rm -r bin deno deno.json
for wide in "deno run -A try.ts" "deno run --allow-env try.ts" "deno eval 1" "deno task x" "cat try.ts"; do
	# shellcheck disable=SC2086
	expect 2 "$WARDFS" run --mode deno -- $wide
done
expect 2 "$WARDFS" run --mode deno -- deno try.ts
has "$ERR" "fix: deno run try.ts"
DENO_PERMISSION_BROKER_PATH=$PWD/broker expect 0 "$WARDFS" run --env DENO_PERMISSION_BROKER_PATH --mode deno try.ts "read /etc/hostname"
has "$OUT" NotCapable
PATH=/usr/bin:/bin expect 125 "$WARDFS" run --mode deno try.ts
has "$ERR" "npm install -g deno"

# Memory. With a control group the kernel ends Deno, without one Deno ends itself: the line at the
# end says which limit it was. It starts with less than V8 keeps for itself, and what fits runs.
printf '[policy]\nversion = 1\nextends = medium\nmode = deno\n[limits]\nmemory = 200M\nrequire = where-available\n' >"$HOME/memory.policy"
echo 'const kept = []; for (;;) kept.push(new Array(10000).fill(0).map((_, i) => ({ i })));' >heap.js
echo 'console.log(new Array(10000).fill(0).map((_, i) => ({ i })).length)' >fits.js
expect 0 "$WARDFS" run --policy "$HOME/memory.policy" fits.js
[ "$OUT" = 10000 ] || fail "it does not fit: $OUT $ERR"
status=0
"$WARDFS" run -s starved --policy "$HOME/memory.policy" heap.js >../out 2>../err || status=$?
case $status in
133) has "$(cat ../err)" "the memory limit of 200M for each process was met: the runtime got no more and ended itself; fix: " ;;
137) has "$(cat ../err)" "the memory limit of 200M was met: the kernel ended the command" ;;
*) fail "memory: exit $status: $(cat ../err)" ;;
esac
if [ "$(id -u)" -ne 0 ]; then
	[ $status -eq 133 ] || fail "the ordinary user has a control group here"
fi
expect 0 "$WARDFS" audit show -v --kind limit starved
has "$OUT" memory

# The flags follow the policy.
printf '[policy]\nversion = 1\nextends = medium\nmode = deno\n[files]\nread = /workspace/docs\nwrite = /workspace/docs/*/x\nread = /workspace/old\n' >"$HOME/flags.policy"
printf '[process]\nexec = %s\nexec = /usr/bin/echo\nexec = /usr/lib/*\n' "$(readlink -f "$(command -v deno)")" >>"$HOME/flags.policy"
printf '[network]\nmode = allowlist\nallow = one.example\nallow = two.example:8443,9000\n' >>"$HOME/flags.policy"
expect 0 "$WARDFS" run --policy "$HOME/flags.policy" --dry-run --json try.ts
printf '%s' "$OUT" | python3 "$WARD_SRC/tests/agents/lib/deno-flags.py" || fail "flags: $OUT"
expect 0 "$WARDFS" run --policy "$HOME/flags.policy" try.ts "run /usr/bin/echo" "run /usr/bin/cat"
has "$OUT" "run /usr/bin/echo: ran"
has "$OUT" "run /usr/bin/cat: NotCapable"

# Attempts by a script: nothing is broken but what docs/attack.md names.
mkdir attacked
cd attacked
rc=0
"$WARDFS" attack --mode deno --json >"$HOME/attack.json" || rc=$?
[ $rc -eq 1 ] || fail "attack: exit $rc"
python3 "$WARD_SRC/tests/agents/lib/attack-verdicts.py" "$HOME/attack.json" || fail "attack"
S

# Root in a project of root's, then an ordinary user.
mkdir -p "$WARD_TMP/root"
export BODY="$WARD_TMP/body.sh"
cat >"$WARD_TMP/run.sh" <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
# What a session has of /tmp and /var/tmp is empty, so no program can be listed there.
mount --bind "$WARD_AGENTS" /mnt
export WARD_AGENTS=/mnt
(HOME=$WARD_TMP/root sh "$BODY")
cp "$BODY" "$WARD_TMP/as-user.sh"
as_user "$WARD_TMP/as-user.sh"
S
with_agents "$WARD_TMP/run.sh"
